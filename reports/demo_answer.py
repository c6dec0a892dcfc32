"""Draws the picture at the top of README.md, demo-answer.svg: what `make demo` answers, as ratios with intervals."""

from pathlib import Path
from typing import Annotated

import typer

import harness
from harness.cli import main
from harness.disk.atomic import replacing
from harness.report.ratio_diagram import diagram
from harness.report.rendering import drawing

PICTURE = Path(__file__).with_name("demo-answer.svg")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def draw(
    out: Annotated[Path, typer.Option(help="the folder of the tournament")] = Path("tournaments/demo"),
) -> None:
    """Run the field `demo`, unless its results are there, and draw how much longer jobs wait under each scheduler."""
    text = picture(out)
    with replacing(PICTURE) as temporary:
        temporary.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {PICTURE}")


def picture(out: Path) -> str:
    """Return the picture, in grey that is seen by day and by night."""
    laid_out = diagram(harness.rank(harness.tournament("demo", out).frame(), by="mean_bounded_slowdown"))
    assert laid_out is not None  # six schedulers
    return drawing(laid_out).replace('fill="currentColor" stroke="none"', 'fill="#777" color="#777" stroke="none"', 1)


if __name__ == "__main__":
    main(app)
