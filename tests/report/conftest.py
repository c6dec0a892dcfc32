"""A small tournament whose names try to break out of the page that shows them."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hostile import HOSTILE, Renamed

import harness

FIELD = """
about = '''{hostile}'''
platforms = "synthetic-11"
workloads = [
    {{source = "{log}", name = '''{hostile}'''}},
    "lublin(jobs=120, procs=64, seed=1)",
]

[[scheduler]]
order = ["fcfs", "spf", "lpf"]
start = "easy"
rate = "coin"
sleep = "timeout(idle=60)"
"""


def swf_line(job: int) -> str:
    """A job of a log that says how long it waited."""
    submit, run, procs = job * 40, 30 + job * 97 % 900, 1 + job * 31 % 64
    return f"{job} {submit} {job * 13 % 300} {run} {procs} -1 -1 {procs} {run + 60} -1 1 {job % 4} -1 -1 -1 -1 -1 -1\n"


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished tournament."""
    folder = tmp_path_factory.mktemp("store")
    log = folder / "log.swf"
    log.write_text(f"; Computer: {HOSTILE}\n; MaxProcs: 128\n" + "".join(map(swf_line, range(1, 151))))
    field = folder / "field.toml"
    field.write_text(FIELD.format(hostile=HOSTILE, log=log))
    harness.tournament(field, folder / "results", workers=1, command="harness tournament field.toml")
    return folder / "results"


@pytest.fixture(scope="session")
def page(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of that tournament, in which a scheduler is called as nobody may call a policy."""
    from harness.report.page import tournament_page
    from harness.report.rendering import render

    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(tournament_page(Renamed(store))), encoding="utf-8")
    return path


@pytest.fixture
def doctored(store: Path) -> Callable[[Callable[[pd.DataFrame], pd.DataFrame]], harness.Results]:
    """The results after something was done to their frame."""

    def doctored(change: Callable[[pd.DataFrame], pd.DataFrame]) -> harness.Results:
        class Changed(harness.Results):
            def frame(self) -> pd.DataFrame:
                return change(super().frame())

        return Changed(store)

    return doctored
