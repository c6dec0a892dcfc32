"""What the ratios of `speed_ratios.py` were, release by release: `bench.json`, its page and its picture."""

import json
from collections.abc import Mapping
from pathlib import Path

from harness.disk.atomic import replacing
from harness.present.tables import render

#: The ratios of every release by their names, the oldest release first.
Releases = dict[str, dict[str, float]]

KEPT = Path(__file__).with_name("bench.json")

#: So many releases are shown; `bench.json` keeps all.
SHOWN = 5


def releases() -> Releases:
    """Return what every release was measured to give."""
    found: Releases = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def kept() -> dict[str, float]:
    """Return the ratios of the last release."""
    return list(releases().values())[-1]


def publish(version: str, values: Mapping[str, float], goals: Mapping[str, float]) -> list[Path]:
    """Write what a release was measured to give in place of what was measured of it before; return where."""
    earlier = {name: was for name, was in releases().items() if name != version}
    written = pages({**earlier, version: {name: round(value, 3) for name, value in values.items()}}, goals)
    for path, text in written.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return list(written)


def pages(released: Releases, goals: Mapping[str, float]) -> dict[Path, str]:
    """Return what is published beside this script: the numbers, the page and its picture."""
    shown = dict(list(released.items())[-SHOWN:])
    rows = [(name, *(was.get(name) for was in shown.values()), round(goal, 3)) for name, goal in goals.items()]
    table = render(("ratio", *shown, "goal, at most"), rows, "markdown")
    return {
        KEPT: json.dumps(released, indent=2) + "\n",
        KEPT.with_suffix(".md"): PAGE.format(table=table),
        KEPT.with_suffix(".svg"): picture(shown, goals),
    }


PAGE = """# How fast the engine is

Written by

    harness bench ratios --update

which measures for some minutes, puts the numbers of this version into `bench.json`, where those of earlier ones stay,
and replaces this page and its picture. Each number is the ratio of two least processor times of the simulation alone,
out of three taken in turn in one run, so that it says more of the engine than of the machine. Starts are of whole
processes, a cold one and a second one out of one; readings and tournaments are by the clock. A dash stands where a log,
a second core or Dask was missing, or the ratio is newer.
`harness bench ratios --check` measures again and fails if one is worse than in the last release by more than 15 %
(`--within`); `--quick` leaves out what takes more than a few seconds.
`harness bench` gives jobs per second on your machine.

![The ratios of each release, as shares of their goals](bench.svg)

{table}

"4 n over n" is what four times as many jobs cost on a stream that asks for 1.3 times what the machine can do, so that
the queue grows fourfold as well: 4 is as good as can be, 16 where every job looks at everybody who waits. Jobs that
conservative backfilling moves are such work: each early end lets a share of all who wait begin earlier, and each of
these promises is a result.
"""

#: Measures of the picture: a row of the ratios, and what stands beside the bars.
STEP, LEFT, WIDE, MOST = 26, 250, 420, 1.5


def picture(shown: Releases, goals: Mapping[str, float]) -> str:
    """Draw the ratios as shares of their goals: a row for each, in it a bar for each release, the last one dark."""
    high = STEP * len(goals) + 30
    thick = (STEP - 8) / len(shown)
    bars = []
    for k, (name, goal) in enumerate(goals.items()):
        top = STEP * k + 8
        bars.append(f'<text x="{LEFT - 8}" y="{top + 13}" text-anchor="end">{name}</text>')
        for place, (version, values) in enumerate(shown.items()):
            if name not in values:
                continue
            length = WIDE / MOST * min(values[name] / goal, MOST)
            colour = "#4477aa" if values[name] <= goal else "#cc6677"
            last = place == len(shown) - 1
            bars.append(
                f'<rect x="{LEFT}" y="{top + thick * place:.4g}" width="{length:.1f}" height="{thick:.4g}" '
                f'fill="{colour}" opacity="{1 if last else 0.4}">'
                f"<title>{version}: {values[name]:.3g}</title></rect>"
            )
            if last:
                bars.append(f'<text x="{LEFT + length + 6:.1f}" y="{top + 13}">{values[name]:.3g}</text>')
    line = LEFT + WIDE / MOST
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 60} {high}" font-family="sans-serif" '
        f'font-size="13">\n<title>The ratios of {", ".join(shown)}, as shares of their goals</title>\n'
        + "\n".join(bars)
        + f'\n<line x1="{line}" y1="0" x2="{line}" y2="{high - 22}" stroke="#222"/>'
        f'<text x="{line}" y="{high - 8}" text-anchor="middle">goal</text>\n</svg>\n'
    )
