"""Draws the pictures of slurm.md: distances of replays, their predictive value, and effects of load and length."""

import math
from itertools import pairwise
from pathlib import Path

from slurm_figures import Figures

from harness.disk.atomic import replacing

_BLACK, _BLUE, _ORANGE, _GREY = "#222", "#1c7ed6", "#e8590c", "#aaa"
_STYLE = "<style>text{font:11px sans-serif;fill:#222}.small{font-size:9px;fill:#666}</style>"
_TICKS = (1, 3, 10, 30, 100, 300, 1000, 3000)


def draw(rows: list[Figures], grown: dict[str, Figures], folder: Path) -> None:
    """Draw all pictures to a folder."""
    found = {"slurm-near.svg": near(rows), "slurm-foretold.svg": foretold(rows), "slurm-growth.svg": growth(grown)}
    for name, text in found.items():
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _picture(wide: int, tall: int, parts: list[str]) -> str:
    """Return parts as a picture on white paper."""
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    size = f'width="{wide}" height="{tall}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{_STYLE}{paper}{"".join(parts)}</svg>\n'


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{words}</text>'


def _dot(x: float, y: float, colour: str, title: str) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.85"><title>{title}</title></circle>'
    )


def _ring(x: float, y: float, colour: str, title: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="none" stroke="{colour}"><title>{title}</title></circle>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "#ddd") -> str:
    return f'<path d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}" stroke="{colour}" fill="none"/>'


def near(rows: list[Figures]) -> str:
    """Draw P of each configuration and workload in a line: between executions, of the replay, of the best policy."""
    order = list(dict.fromkeys(one.configuration for one in rows))
    rows = sorted(rows, key=lambda one: order.index(one.configuration))
    kinds = (
        ("if nobody waited", _GREY, [one.nobody for one in rows]),
        ("best policy without Slurm's rules", _ORANGE, [one.policies[one.best] for one in rows]),
        ("replay", _BLUE, [one.replay for one in rows]),
        ("between executions", _BLACK, [one.between for one in rows]),
    )
    left, wide, top, step = 230, 470, 50, 14
    high = max(max(values) for _, _, values in kinds) * 1.1

    def at(p: float) -> float:
        return left + wide * math.log(max(p, 1.0)) / math.log(high)

    bottom = top + step * len(rows)
    parts = []
    for tick in (tick for tick in _TICKS if tick < high):
        parts += [
            _line(at(tick), top - 8, at(tick), bottom),
            _text(at(tick), bottom + 14, f"{tick}", 'text-anchor="middle"'),
        ]
    parts.append(_text(left, bottom + 30, "P: root of the mean squared difference of residence times [s]"))
    for x, (name, colour, _) in zip((130, 270, 340, 555), kinds[::-1], strict=True):
        parts += [_dot(x, 16, colour, name), _text(x + 8, 20, name)]
    for row, one in enumerate(rows):
        y = top + step * row + step / 2
        if row == 0 or rows[row - 1].configuration != one.configuration:
            parts += [_text(8, y + 4, one.configuration), _line(0, y - step / 2, left + wide, y - step / 2)]
        parts.append(_text(left - 10, y + 3, one.workload, 'class="small" text-anchor="end"'))
        parts += [_dot(at(values[row]), y, colour, f"{name} {values[row]:.1f} s") for name, colour, values in kinds]
    return _picture(left + wide + 20, bottom + 42, parts)


def foretold(rows: list[Figures]) -> str:
    """Draw P between executions against P between replays, both by logarithms; the line is where they are equal."""
    size, left, top = 400, 60, 20
    high = 1.3 * max(max(one.between, one.replays) for one in rows)

    def at(p: float) -> float:
        return size * math.log(max(p, 1.0)) / math.log(high)

    parts = [_line(left, top + size, left + size, top, _GREY)]
    for tick in (tick for tick in _TICKS if tick < high):
        x, y = left + at(tick), top + size - at(tick)
        parts += [_line(x, top, x, top + size), _line(left, y, left + size, y)]
        parts += [_text(x, top + size + 14, f"{tick}", 'text-anchor="middle"')]
        parts += [_text(left - 6, y + 4, f"{tick}", 'text-anchor="end"')]
    for one in rows:
        title = f"{one.configuration}, {one.workload}: {one.replays:.1f} s and {one.between:.1f} s"
        parts.append(_dot(left + at(one.replays), top + size - at(one.between), _BLUE, title))
    parts.append(_text(left, top + size + 32, "P between replays [s]"))
    middle = top + size / 2
    parts.append(
        _text(14, middle, "P between executions [s]", f'transform="rotate(-90 14 {middle:.0f})" text-anchor="middle"')
    )
    return _picture(left + size + 20, top + size + 44, parts)


def growth(grown: dict[str, Figures]) -> str:
    """Draw P between executions and between replays over the load, and over the number of jobs."""
    parts: list[str] = []
    panels = (
        ("load [% of the machine]", {"load-50": 50, "load-70": 70, "": 90}, 0, 100),
        ("jobs", {"75-jobs": 75, "": 150, "300-jobs": 300}, 0, 320),
    )
    high = 1.15 * max((max(one.between, one.replays) for one in grown.values()), default=1.0)
    for panel, (label, places, low, most) in enumerate(panels):
        left, top, wide, tall = 60 + 330 * panel, 40, 260, 220
        parts += [_line(left, top, left, top + tall, "#888"), _line(left, top + tall, left + wide, top + tall, "#888")]
        parts.append(_text(left + wide / 2, top + tall + 32, label, 'text-anchor="middle"'))
        for value in places.values():
            x = left + wide * (value - low) / (most - low)
            parts.append(_text(x, top + tall + 15, f"{value}", 'text-anchor="middle"'))
        for tick in range(0, int(high) + 1, 50):
            y = top + tall * (1 - tick / high)
            parts += [_text(left - 6, y + 4, f"{tick}", 'text-anchor="end"'), _line(left - 3, y, left, y, "#888")]
        for seed, mark in (("first", _dot), ("second", _ring)):
            for kind, colour in (("executions", _BLACK), ("replays", _BLUE)):
                points = []
                for name, value in places.items():
                    one = grown.get(f"{seed}-{name}" if name else seed)
                    if one is not None:
                        p = one.between if kind == "executions" else one.replays
                        points.append((left + wide * (value - low) / (most - low), top + tall * (1 - p / high), p))
                parts += [_line(*a[:2], *b[:2], colour) for a, b in pairwise(points)]
                parts += [mark(x, y, colour, f"{seed}, between {kind}: {p:.0f} s") for x, y, p in points]
    for place, (name, colour) in enumerate((("between executions", _BLACK), ("between replays", _BLUE))):
        parts += [_dot(70 + 150 * place, 16, colour, name), _text(80 + 150 * place, 20, name)]
    parts.append(_text(380, 20, "filled: first workload, open: second; P [s]"))
    return _picture(680, 310, parts)
