"""The dump that `harness data example` writes is read as one of sacct's, and could have happened."""

from pathlib import Path

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.experiment.example_dump import PROCS, write_example_dump
from harness.workload.log_reading import read_workload


def test_it_is_read_without_a_complaint_and_fits_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    write_example_dump(path, jobs=300)
    log = read_workload(str(path))
    assert [(step.name, step.jobs) for step in log.reading] == [("job steps", 300)]
    jobs = log.jobs
    assert len(jobs) == 300
    assert (jobs["wait"] >= 0).all()
    assert (jobs["run"] <= jobs["estimate"]).all()
    assert jobs["user"].nunique() > 10
    begin = (jobs["submit"] + jobs["wait"]).to_numpy()
    end = begin + jobs["run"].to_numpy()
    for now in begin:  # somebody begins just when the machine is fullest
        assert np.sum(jobs["procs"].to_numpy()[(begin <= now) & (now < end)]) <= PROCS


def test_it_is_the_same_for_everybody_but_for_the_seed(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        write_example_dump(tmp_path / name, jobs=50, seed=seed)
    one, same, other = ((tmp_path / name).read_bytes() for name in ("one", "same", "other"))
    assert one == same != other


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="cannot be written"):
        write_example_dump(tmp_path / "nowhere" / "sacct.txt", jobs=5)
