"""What reports/theory.md publishes besides the comparisons of the simulator is what the commands give."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.theory_command import app
from harness.disk.bundled import folder

PAGE = (folder("reports") / "theory.md").read_text(encoding="utf-8")


def table(section: str, number: int = 0) -> list[list[str]]:
    """The rows of a table below a heading, cell by cell, without its head."""
    found: list[list[list[str]]] = [[]]
    for line in PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0].splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [rows[2:] for rows in found if rows][number]


def answer(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*arguments, "--format", "json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)  # type: ignore[no-any-return]


@pytest.mark.parametrize("row", table("Limits of the constant"), ids=lambda row: row[0])
def test_the_constant_of_other_laws(row: list[str]) -> None:
    law = row[0].split(" ")[0]
    found = answer("stability", "--widths", "0.5,0.5", "--service-law", law)
    values = (found[f"jobs_in_service_{law}"], *found[f"jobs_in_service_{law}_interval"])
    assert [f"{value:.4f}" for value in values] == row[1:]


@pytest.mark.parametrize("law", ["deterministic", "hyperexponential"])
def test_ten_processors_alike(law: str) -> None:
    found = answer("stability", "--widths", ",".join(["0.1"] * 10), "--service-law", law)
    low, high = found[f"jobs_in_service_{law}_interval"]
    assert f"{found[f'jobs_in_service_{law}']:.4f} ({low:.4f} to {high:.4f})" in " ".join(PAGE.split())
    assert f"closed form is {found['jobs_in_service']:.4f}" in " ".join(PAGE.split())


@pytest.mark.data
@pytest.mark.parametrize("row", table("Logs"), ids=lambda row: row[0])
def test_the_verdicts_on_logs(row: list[str]) -> None:
    found = answer("stability", row[0])
    says = {True: "stable", False: "unstable"}
    closed = f"{found['load']:.2f}", says[found["closed_form_stable"]]
    assert [*closed, f"{found['saturated_load']:.2f}", says[found["stable"]]] == row[1:]


@pytest.mark.data
@pytest.mark.parametrize("row", table("Logs", 1), ids=lambda row: row[0])
def test_busy_processors_beside_the_model(row: list[str]) -> None:
    found = answer("infinite-server", row[0])
    told = []
    for of in ("", "log_", "log_unqueued_"):
        told += [
            f"{found[f'{of}mean_busy']:.1f}",
            f"{found[f'{of}deviation_busy']:.1f}",
            str(found[f"{of}servers_p95"]),
        ]
    assert told == row[1:]


@pytest.mark.data
def test_what_is_said_of_sdsc_sp2() -> None:
    found = answer("infinite-server", "SDSC-SP2")
    apart = answer("infinite-server", "SDSC-SP2", "--release", "independent")
    fixed, logged = (answer("infinite-server", "SDSC-SP2", "--limit-law", law) for law in ("deterministic", "logged"))
    told = " ".join(PAGE.split())
    for words in (
        f"Of the jobs, {found['completion_probability']:.3f} are not stopped by their limit: "
        f"{found['completed']:,} of the {found['completed'] + found['killed']:,} that",
        f"other systems, it would be {apart['completion_probability']:.3f}",
        f"is then {fixed['mean_busy']:.1f} processors on SDSC-SP2 in place of {found['mean_busy']:.1f}",
        f"only {logged['completion_probability']:.3f} of the jobs would complete, not "
        f"{found['completion_probability']:.3f}",
    ):
        assert words in told
