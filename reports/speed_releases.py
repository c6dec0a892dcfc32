"""The ratios of `speed_ratios.py` for each release: `bench.json`, its page and its picture."""

import json
from collections.abc import Mapping
from pathlib import Path

from harness.disk.atomic import replacing
from harness.present.tables import render

#: The ratios of every release by their names, the oldest release first.
Releases = dict[str, dict[str, float]]

KEPT = Path(__file__).with_name("bench.json")

#: Number of releases on the page; `bench.json` has all of them.
SHOWN = 5


def releases() -> Releases:
    """Return the measured ratios of every release."""
    found: Releases = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def kept() -> dict[str, float]:
    """Return the ratios of the last release."""
    return list(releases().values())[-1]


def publish(version: str, values: Mapping[str, float], goals: Mapping[str, float]) -> list[Path]:
    """Write the measured ratios of a release, in place of earlier ones of this release; return the files."""
    earlier = {name: was for name, was in releases().items() if name != version}
    written = pages({**earlier, version: {name: round(value, 3) for name, value in values.items()}}, goals)
    for path, text in written.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return list(written)


def pages(released: Releases, goals: Mapping[str, float]) -> dict[Path, str]:
    """Return the published files: the numbers, the page and its picture."""
    shown = dict(list(released.items())[-SHOWN:])
    rows = [(name, *(was.get(name) for was in shown.values()), round(goal, 3)) for name, goal in goals.items()]
    table = render(("ratio", *shown, "goal, at most"), rows, "markdown")
    return {
        KEPT: json.dumps(released, indent=2) + "\n",
        KEPT.with_suffix(".md"): PAGE.format(table=table),
        KEPT.with_suffix(".svg"): picture(shown, goals),
    }


PAGE = """# How fast the engine is

`harness bench` prints the jobs per second on your machine. This page compares releases. The command

    harness bench ratios --update

measures for some minutes. It writes the numbers of this version into `bench.json`, keeps those of earlier versions
there, and replaces this page and its picture.

- Each number is a ratio of two processor times of the simulation alone, the least of three runs each, taken in turn.
  Such ratios depend more on the engine than on the machine.
- Starts are times of whole processes, the first one (cold) and the second one. Times of reading and of tournaments
  are by the clock.
- A dash means that a log, a second core or Dask was missing, or that the ratio is newer.
- `harness bench ratios --check` measures again. It fails if a ratio is worse than in the last release by more than 15
  % (`--within`). `--quick` leaves out ratios that take more than a few seconds.

![The ratios of each release, as shares of their goals](bench.svg)

{table}

"4 n over n" is the cost of four times as many jobs on a stream that needs 1.3 times the capacity of the machine. The
queue then grows fourfold as well. 4 is the best possible value. 16 means that each job causes a visit to all waiting
jobs. Conservative backfilling has to do such work: after each early end, a share of all waiting jobs can start
earlier, and each moved reservation is a result.
"""

#: Sizes in the picture: height of a row, width of the names, width of the bars, largest share.
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
