"""Makes the tables of orders.md: orders as expressions, fitted to the published distribution of scores, and replayed.

Carastan-Santos and de Camargo (SC17) simulated how bad it is to run a job first, for jobs of 6,912 runtimes r, widths n
and submissions s, and fitted expressions to it: two operations on three base functions, one of each letter.
"""

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from harness import leaderboard, tournament
from harness.cli import main
from harness.errors import HarnessError
from harness.present.tables import known_format, render

LOGS = ("KTH-SP2", "CTC-SP2", "SDSC-SP2", "HPC2N", "SDSC-DS", "LANL-CM5")
CRITERION = "mean_bounded_slowdown"

#: As they are printed: name, expression, and the constant of log10(s) if that of the rest is 1.
PRINTED = (
    ("F1", "log10(r) * n + log10(s)", 870.0),
    ("F2", "sqrt(r) * n + log10(s)", 25_600.0),
    ("F3", "r * n + log10(s)", 6.86e6),
    ("F4", "r * sqrt(n) + log10(s)", 5.30e5),
)

Floats = npt.NDArray[Any]

#: How a base function of a letter is written.
BASES: dict[str, Callable[[Floats], Floats]] = {
    "{}": lambda x: x,
    "log10({})": np.log10,
    "sqrt({})": np.sqrt,
    "(1 / {})": lambda x: 1 / x,
}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Fit:
    """An expression with its constants, and how far it is from the scores."""

    text: str  # without constants
    terms: tuple[str, ...]
    constants: Floats
    error: float  # mean, absolute
    weighted: float  # root of the mean square, by (r·n)²

    @property
    def code(self) -> str:
        """The expression in Python, with its constants, of the first of which it is a multiple."""
        scaled = self.constants / abs(self.constants[0])
        return " + ".join(f"{constant:.6g} * {term}" for constant, term in zip(scaled, self.terms, strict=True))


@app.command()
def orders(
    scores: Annotated[Path, typer.Argument(help="score-distribution.csv.gz: r, n, s, score")],
    judged: Annotated[int, typer.Option(help="number of expressions of each ranking to replay", min=0)] = 3,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Fit every expression to the scores, rank them, and replay the first and F1 to F4 on six logs."""
    known_format(format)
    fits = list(every_fit(*read(scores)))
    by_error = sorted(fits, key=lambda fit: fit.error)
    by_weight = sorted(fits, key=lambda fit: fit.weighted)
    rows = [
        (name, fit.text, ours, printed, 1 + by_error.index(fit), 1 + by_weight.index(fit))
        for name, text, printed in PRINTED
        for fit in fits
        if fit.text == text
        for ours in [float(fit.constants[1] / fit.constants[0])]
    ]
    heads = ("order", "expression", "constant", "printed", "by mean error", "by weighted error")
    typer.echo(render(heads, rows, format, digits=4) + "\n")
    firsts = [("by mean error", fit) for fit in by_error[:8]] + [("by weighted error", fit) for fit in by_weight[:4]]
    table = [(ranking, fit.text, fit.code, fit.error, fit.weighted) for ranking, fit in firsts]
    typer.echo(render(("ranking", "expression", "fitted", "mean error", "weighted"), table, format, digits=3) + "\n")
    known = {text for _, text, _ in PRINTED}
    new = [fit for ranking in (by_error, by_weight) for fit in [f for f in ranking if f.text not in known][:judged]]
    if new:
        typer.echo(replayed(new, format))


def read(path: Path) -> tuple[Floats, ...]:
    """Read the columns r, n, s and score."""
    if not path.is_file():
        raise HarnessError(f"{path}: there is no such file: expected the scores, as r, n, s, score")
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return tuple(np.loadtxt(file, delimiter=",", unpack=True))


def every_fit(r: Floats, n: Floats, s: Floats, score: Floats) -> Iterator[Fit]:
    """Fit each expression by least squares, weighted by (r·n)²; those that are the same function are fitted once."""
    weights = r * n
    seen = set()
    for bases, operations in product(product(BASES, repeat=3), product("+*/", repeat=2)):
        values = [BASES[base](x) for base, x in zip(bases, (r, n, s), strict=True)]
        texts = [base.format(x) for base, x in zip(bases, "rns", strict=True)]
        terms, written = [values[0]], [texts[0]]
        for operation, value, text in zip(operations, values[1:], texts[1:], strict=True):
            if operation == "+":
                terms, written = [*terms, value], [*written, text]
            else:
                with np.errstate(divide="ignore", invalid="ignore"):
                    terms[-1] = terms[-1] * value if operation == "*" else terms[-1] / value
                written[-1] = f"{written[-1]} {operation} {text}"
        columns = np.column_stack(terms)
        if not np.isfinite(columns).all():  # the logarithm of one processor is 0
            continue
        same = tuple(np.round((columns[:5] / columns[0]).ravel(), 9))
        if (len(terms), same) in seen:
            continue
        seen.add((len(terms), same))
        constants = np.linalg.lstsq(columns * weights[:, None], score * weights, rcond=None)[0]
        off = score - columns @ constants
        weighted = float(np.sqrt(np.average(off**2, weights=weights**2)))
        yield Fit(" + ".join(written), tuple(written), constants, float(np.abs(off).mean()), weighted)


def replayed(new: list[Fit], format: str) -> str:
    """Hold a tournament of these, of F1 to F4 and of shortest first, under EASY; a plugin is made of them."""
    with TemporaryDirectory() as folder:
        plugin, field = Path(folder) / "expressions.py", Path(folder) / "expressions.toml"
        lines = ['"""Orders that were fitted."""', "", "import math", "", "import harness", ""]
        names = [f"expression-{letter}" for letter in ascii_lowercase[: len(new)]]
        for name, fit in zip(names, new, strict=True):
            code = fit.code.replace("log10", "math.log10").replace("sqrt", "math.sqrt")
            lines += [
                "",
                f"def {name.replace('-', '_')}(job, clock):",
                f'    """Order by {fit.text}, fitted."""',
            ]
            lines += ["    r, n, s = max(job.estimate, 1.0), job.procs, max(job.submit, 1.0)", f"    return {code}", ""]
        offered = (f'harness.Order("{name}", {name.replace("-", "_")}, timed=True)' for name in names)
        lines += ["", "@harness.hookimpl", "def order_queue():", f"    return [{', '.join(offered)}]", ""]
        plugin.write_text("\n".join(lines))
        everybody = ", ".join(f'"{name}"' for name in ("fcfs", "spf", "f1", "f2", "f3", "f4", *names))
        logs = ", ".join(f'"{log}"' for log in LOGS)
        field.write_text(
            f'workloads = [{logs}]\nplatforms = "log"\n[[scheduler]]\norder = [{everybody}]\nstart = "easy"\n'
        )
        frame = tournament(field, Path(folder) / "out", plugins=[plugin]).frame()
    named = "\n".join(f"{name}: {fit.code}" for name, fit in zip(names, new, strict=True))
    return f"{named}\n\n{leaderboard(frame, CRITERION, format=format)}"


if __name__ == "__main__":
    main(app)
