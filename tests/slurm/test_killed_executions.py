"""An execution whose programs are killed leaves no process behind, and the next one removes its folder."""

import os
import signal
import sys
import time
import warnings
from pathlib import Path

import pytest
from ending import end_it, left_behind, processes_below, started, wait_for, wait_until_none
from real_slurm import needs_slurm

from harness.errors import HarnessError
from harness.slurm import slurm_execution
from harness.slurm.configuration import read_slurm
from harness.slurm.execution_folder import NAME_OF_CLOCK
from harness.slurm.private_dir import private_folder, remove_leftovers

#: The command in a system without namespaces.
WITHOUT_NAMESPACE = (
    sys.executable,
    "-c",
    "from harness.slurm import confinement; confinement._WAYS = (); from harness.cli import main; main()",
)

#: The processes that are there at a moment, and whether the command is interrupted then.
MOMENTS = {
    "before the controller is up": (("munged",), False),
    "while jobs run": (("slurmctld", "slurmd", "sleep"), False),
    "while ending": (("slurmctld", "slurmd", "sleep"), True),
}


@pytest.fixture
def next_execute(few, configuration, monkeypatch):
    """What another execution does first: it returns the warnings of it."""

    def stopped(*_):
        raise HarnessError("stopped")

    def execute():
        monkeypatch.setattr(slurm_execution, "_attempt", stopped)
        given = read_slurm(configuration)
        with (
            warnings.catch_warnings(record=True, action="always") as told,
            pytest.raises(HarnessError, match="stopped"),
        ):
            slurm_execution.execute(few, given)
        return [str(one.message) for one in told if "harness-execution-" in str(one.message)]

    return execute


def clock_of(number):
    """The shared memory of the clock that a process runs by."""
    names = NAME_OF_CLOCK.findall(os.fsdecode(Path(f"/proc/{number}/environ").read_bytes()))
    return [Path(f"/dev/shm/{kind}{name}") for name in names for kind in ("", "sem.")]


def kill(*numbers):
    for number in numbers:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue


@needs_slurm
@pytest.mark.slow
@pytest.mark.parametrize("victims", [("leader",), ("inside",), ("leader", "inside"), ("leader", "inside", "faketime")])
@pytest.mark.parametrize("moment", MOMENTS)
def test_no_process_is_left_and_no_folder_after_the_next(
    tmp_path,
    configuration,
    temporary,
    next_execute,
    moment,
    victims,
):
    names, interrupted = MOMENTS[moment]
    process = started(configuration.name, tmp_path)
    there = wait_for(process, temporary, *names)
    clock = clock_of(next(number for number, name in there.items() if name == "munged"))
    assert any(path.exists() for path in clock)
    if interrupted:
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    numbers = {name: number for number, name in there.items()} | {"leader": process.pid}
    kill(*(numbers[name] for name in victims))
    process.communicate(timeout=60)
    wait_until_none(temporary)
    if left_behind(temporary):
        assert set(victims) >= {"leader", "inside"} or interrupted
        assert any("which an execution left that was killed" in told for told in next_execute())
    assert left_behind(temporary) == []
    assert not any(path.exists() for path in clock)


@needs_slurm
@pytest.mark.slow
def test_without_a_namespace_daemons_end_with_their_starter_and_the_next_execute_kills_the_jobs(
    tmp_path,
    configuration,
    temporary,
    next_execute,
):
    process = started(configuration.name, tmp_path, before=WITHOUT_NAMESPACE)
    there = wait_for(process, temporary, "slurmctld", "slurmd", "sleep")
    assert "unshare" not in there.values()
    kill(process.pid, *(number for number, name in there.items() if name == "inside"))
    process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    daemons = {"munged", "slurmctld", "slurmd", "inside"}
    while daemons & set(processes_below(temporary).values()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not daemons & set(processes_below(temporary).values())
    (told,) = next_execute()
    assert "programs of it" in told
    assert left_behind(temporary) == []


@needs_slurm
@pytest.mark.slow
def test_without_a_namespace_the_kill_of_the_command_leaves_nothing(tmp_path, configuration, temporary):
    end_it(signal.SIGKILL, configuration.name, tmp_path, temporary, "sleep", before=WITHOUT_NAMESPACE)


@needs_slurm
@pytest.mark.slow
def test_an_execution_that_lives_is_left_alone(tmp_path, configuration, temporary):
    process = started(configuration.name, tmp_path)
    there = wait_for(process, temporary, "sleep")
    assert remove_leftovers() == []
    os.kill(process.pid, signal.SIGSTOP)  # it lives, though it does nothing
    assert remove_leftovers() == []
    assert set(there) <= set(processes_below(temporary))
    os.kill(process.pid, signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert left_behind(temporary) == []


def test_a_folder_in_use_stays(temporary):
    with private_folder() as folder:
        assert remove_leftovers() == []
        assert folder.is_dir()
    assert not list(temporary.iterdir())


def test_only_folders_of_the_caller_are_removed(temporary, tmp_path):
    """Neither the target of a link, nor a folder of another name, nor one of another user."""
    (tmp_path / "file").touch()
    (temporary / "harness-execution-link").symlink_to(tmp_path)
    (temporary / "harness-other").mkdir()
    (temporary / "harness-execution-mine").mkdir()
    (temporary / "harness-execution-mine" / "link").symlink_to(tmp_path)
    there = {"harness-execution-link", "harness-other"}
    if os.getuid() == 0:
        (temporary / "harness-execution-theirs").mkdir()
        os.chown(temporary / "harness-execution-theirs", 12345, 12345)
        there.add("harness-execution-theirs")
    (told,) = remove_leftovers()
    assert told.startswith(f"removed {temporary}/harness-execution-mine")
    assert {path.name for path in temporary.iterdir()} == there
    assert (tmp_path / "file").exists()


def test_a_folder_names_no_other_shared_memory_than_that_of_clocks(temporary):
    other = Path("/dev/shm/harness-test-of-leftovers")
    clock = Path("/dev/shm/sem.faketime_sem_4194305")  # above every number of a process
    folder = temporary / "harness-execution-mine"
    folder.mkdir()
    try:
        for path in (other, clock):
            path.touch()
        (folder / "clock").write_text(f"/faketime_sem_4194305 /{other.name} /../..{temporary}/faketime_shm_x")
        remove_leftovers()
        assert other.exists()
        assert not clock.exists()
    finally:
        other.unlink(missing_ok=True)
        clock.unlink(missing_ok=True)


def test_the_folder_of_an_execution_is_closed_to_other_users(temporary):
    before = os.umask(0)
    try:
        with private_folder() as folder:
            assert folder.parent == temporary
            assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)
