"""All the real logs are read and prepared, and every job of them is accounted for."""

from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.workload.describe import describe
from harness.workload.log import Log
from harness.workload.prepare import prepare
from harness.workload.swf import read_swf, write_swf

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One cache for the tests of this file, so that each log is parsed once."""
    return str(tmp_path_factory.mktemp("real-cache"))


@pytest.fixture
def logs(data: Path, cache: str, monkeypatch: pytest.MonkeyPatch) -> list[Log]:
    monkeypatch.setenv("HARNESS_CACHE", cache)
    return [read_swf(path) for path in sorted((data / "traces").glob("*.swf.gz"))]


def accounted(log: Log, **options: str) -> None:
    """Nothing is lost without a word: jobs in are jobs out and jobs that a step says it dropped."""
    try:
        prepared = prepare(log, **options)  # type: ignore[arg-type]
    except HarnessError as error:
        pytest.fail(f"{log.name}: {error}")
    dropped = sum(step.jobs for step in prepared.preparation if step.detail.endswith("dropped"))
    assert len(log.jobs) == len(prepared) + dropped, log.name
    assert prepared.preparation[: len(log.reading)] == log.reading
    assert (prepared.jobs["procs"] > 0).all()
    assert (prepared.jobs["estimate"] >= prepared.jobs["work"]).all()


@pytest.mark.parametrize("options", [{}, {"unknown": "cancel", "procs_from": "used", "overrun": "clip"}])
def test_jobs_in_are_jobs_out_and_jobs_dropped(logs: list[Log], options: dict[str, str]) -> None:
    assert len(logs) == 30
    for log in logs:
        accounted(log, **options)


def test_every_log_can_be_described(logs: list[Log]) -> None:
    for log in logs:
        about = describe(log)
        assert about.jobs == sum(about.statuses.values()) == len(log.jobs)
        known = int((log.jobs["submit"] >= 0).sum())
        assert sum(about.arrivals_by_hour) == sum(about.arrivals_by_weekday) == known
        assert all(0 < hazard.jobs <= about.jobs for hazard in about.hazards), log.name


def test_the_excerpts_survive_writing(logs: list[Log], tmp_path: Path) -> None:
    for log in logs:
        if len(log.jobs) < 25_000:
            write_swf(log, tmp_path / "copy.swf.gz")
            assert read_swf(tmp_path / "copy.swf.gz", cache=False).digest == log.digest, log.name
