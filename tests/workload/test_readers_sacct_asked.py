"""What jobs asked for besides processors is read from what sacct prints: TRES, constraints, command lines."""

from pathlib import Path

import pytest

from harness.workload.resource_columns import features_of, names_in
from harness.workload.sacct import read_sacct
from harness.workload.sacct_requests import gres_of, options_of

HEAD = "JobIDRaw|Submit|Start|End|TimelimitRaw|ReqCPUS|ReqMem|Partition|Constraints|ReqTRES|State|NodeList|SubmitLine"
JOB = (
    "{job}|2026-01-01T08:00:00|2026-01-01T08:00:05|2026-01-01T08:00:25|10|4|8G|{partition}|{constraint}|{tres}|"
    "COMPLETED|n1|{line}"
)
PLAIN = {"partition": "batch", "constraint": "", "tres": "billing=4,cpu=4,mem=8G,node=1", "line": "sbatch job.sh"}


@pytest.fixture
def jobs(tmp_path: Path):
    """The jobs of a dump with these differences to a plain one, and the header."""

    def read(*changes: dict[str, str]):
        path = tmp_path / "dump.log"
        lines = [JOB.format(job=k, **(PLAIN | change)) for k, change in enumerate(changes, 1)]
        path.write_text("\n".join((HEAD, *lines, "")))
        log = read_sacct(path, cache=False)
        return log.jobs, log.header

    return read


def test_a_job_that_asks_for_nothing_is_read_as_before(jobs) -> None:
    frame, _ = jobs({})
    assert list(frame.columns) == list(frame.columns[:18])
    assert frame[["run", "estimate", "procs", "memory"]].iloc[0].tolist() == [20, 600, 4, 2 * 1024**2]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"tres": "cpu=4,node=2"}, {"nodes": 2}),
        ({"line": "sbatch -N 2 -n 4 job.sh --nodes=7"}, {"nodes": 2}),
        ({"line": "sbatch --ntasks-per-node=2 job.sh"}, {"nodes": 2}),
        ({"tres": "cpu=4,gres/gpu=6,gres/gpu:a100=6,node=2"}, {"nodes": 2, "needs_gpu": 3, "needs_gpu:a100": 3}),
        ({"tres": "cpu=4,gres/gpu=2,node=1"}, {"nodes": 1, "needs_gpu": 2}),
        ({"tres": "cpu=4,gres/gpu=2,node=1", "line": "sbatch --gres=gpu:2 x"}, {"needs_gpu": 2}),
        ({"tres": "cpu=4,license/matlab=2,node=1"}, {"needs_matlab": 2}),
        ({"line": "sbatch -L matlab:3,ansys job.sh"}, {"needs_matlab": 3, "needs_ansys": 1}),
        ({"line": "sbatch --exclusive job.sh"}, {"exclusive": 1}),
        ({"line": "sbatch --exclusive=user job.sh"}, {}),
        ({"line": "sbatch job.sh --exclusive"}, {}),
        ({"line": "sbatch --mem=2G job.sh"}, {"node_memory": 2 * 1024**2}),
        ({"constraint": "intel&gpu"}, {"features": 3}),
        ({"constraint": "intel|amd"}, {"any_feature": 3}),
        ({"line": "sbatch -C intel job.sh"}, {"features": 1}),
        ({"line": "sbatch -N 2 --gpus-per-node=a100:4 job.sh"}, {"nodes": 2, "needs_gpu": 4}),
        ({"line": "sbatch -N 2 --gpus=3 job.sh"}, {"nodes": 2, "needs_gpu": 3}),
    ],
)
def test_what_a_job_asks_for(jobs, change: dict[str, str], found: dict[str, int]) -> None:
    frame, _ = jobs(change, {})
    asked = frame.columns[18:]
    assert {name: value for name, value in frame.loc[0, asked].to_dict().items() if value > 0} == found
    assert not (frame.loc[1, asked] > 0).any()


def test_names_are_in_the_header(jobs) -> None:
    frame, header = jobs({"constraint": "new&big", "partition": "debug"}, {"constraint": "big"})
    assert names_in(header, "Feature") == {1: "new", 2: "big"}
    assert names_in(header, "Partition") == {1: "debug", 2: "batch"}
    assert frame["features"].tolist() == [3, 2]


def test_who_waits_for_whom(jobs) -> None:
    told = (
        "-d afterok:1",
        "--dependency=after:1:2",
        "-d afterok:2,afterany:1:3",
        "-d afterok:1?afterok:2",
        "-d singleton",
    )
    frame, _ = jobs({}, *({"line": f"sbatch {line} job.sh"} for line in told))
    assert frame["preceding"].tolist() == [-1, 1, 1, 2, -1, -1]
    assert frame["x_preceding_2"].tolist() == [-1, -1, 2, 1, -1, -1]
    assert frame["x_preceding_3"].tolist() == [-1, -1, -1, 3, -1, -1]
    assert "x_preceding_4" not in frame
    end, success, start = range(3)
    assert frame["x_after"].tolist() == [-1, success, start, success, -1, -1]
    assert frame["x_after_2"].tolist() == [-1, -1, start, end, -1, -1]
    assert frame["x_after_3"].tolist() == [-1, -1, -1, end, -1, -1]
    assert "x_after_4" not in frame


def test_who_waits_for_more_than_there_is_room_for(jobs) -> None:
    frame, _ = jobs({}, {"line": "sbatch -d afterok:" + ":".join("1" * 9) + " job.sh"})
    assert frame["preceding"].tolist() == [-1, -1]


def notes_of(tmp_path: Path, *lines: str, ids: tuple[str, ...] = ()) -> dict[str, int]:
    """What reading a dump says of dependencies: detail → jobs."""
    rows = [
        JOB.format(**(PLAIN | {"job": ids[k] if ids else k + 1, "line": f"sbatch {line} job.sh"}))
        for k, line in enumerate(lines)
    ]
    path = tmp_path / "dump.log"
    head = HEAD.replace("JobIDRaw", "JobID") if ids else HEAD
    path.write_text("\n".join([head, *rows]) + "\n")
    return {step.detail: step.jobs for step in read_sacct(path, cache=False).reading if step.name == "dependencies"}


def test_a_job_that_is_not_in_the_dump_holds_nobody_and_the_others_do(jobs, tmp_path: Path) -> None:
    lines = ("", "-d afterok:1", "-d afterany:77", "-d afterany:1:78")
    frame, _ = jobs(*({"line": f"sbatch {line} job.sh"} for line in lines))
    assert frame["preceding"].tolist() == [-1, 1, 77, 1]
    assert notes_of(tmp_path, *lines) == {"on jobs that are not in the dump: ignored": 2}


def test_dependencies_that_are_not_heeded_are_counted(tmp_path: Path) -> None:
    told = notes_of(tmp_path, "", "-d singleton", "-d afterok:1?afterok:2", "-d afterok:1")
    assert told == {"on any of several jobs, on a job name, or the like: ignored": 2}
    told = notes_of(tmp_path, "", "-d afterok:7_1", "-d afterok:7", ids=("7_1", "7_2", "8"))
    assert told["refer to Slurm's job numbers, which are not kept: ignored"] == 1


def test_constraints_that_say_more_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "dump.log"
    path.write_text(HEAD + "\n" + JOB.format(job=1, **(PLAIN | {"constraint": "[a*2&b*1]"})) + "\n")
    (step,) = [step for step in read_sacct(path, cache=False).reading if step.name == "constraints"]
    assert step.jobs == 1
    assert "'[a*2&b*1]'" in step.detail


@pytest.mark.parametrize(
    "change",
    [
        {"tres": "cpu=4,gres/gpu=two,node=1"},
        {"tres": "cpu=4,gres/gpu=-2,node=1"},
        {"tres": "cpu=4,license/matlab=1e3,node=1"},
        {"tres": "cpu=4,gres/gpu=,node=1"},
        {"tres": "cpu=4,node=\u00b2"},
        {"tres": "cpu=4,gres/gpu=" + "9" * 5000},
        {"line": "sbatch --gres=gpu:-1 job.sh"},
        {"line": "sbatch --gres=gpu:a100:1e9 job.sh"},
        {"line": "sbatch --gres=gpu: job.sh"},
        {"line": "sbatch --gpus-per-node=a100:\u00b2 job.sh"},
        {"line": "sbatch --gpus=many job.sh"},
        {"line": "sbatch -L matlab:+1 job.sh"},
    ],
)
def test_malformed_numbers_of_resources_are_counted(jobs, tmp_path: Path, change: dict[str, str]) -> None:
    frame, _ = jobs(change, {})
    assert not (frame[frame.columns[18:]] > 0).any(axis=None)
    noted = [step for step in read_sacct(tmp_path / "dump.log", cache=False).reading if step.name == "resources"]
    assert [step.jobs for step in noted] == [1]


@pytest.mark.parametrize("line", ["--gres=gpu:\u00b2", "-N \u00b2", "--ntasks-per-node=\u00b2", "-N " + "9" * 5000])
def test_numbers_in_other_scripts_are_no_numbers(jobs, line: str) -> None:
    frame, _ = jobs({"line": f"sbatch {line} job.sh"})
    assert "nodes" not in frame


@pytest.mark.parametrize(
    ("text", "number"), [("gpu", 1), ("gpu:1g.10gb", 1), ("gpu:a100:2", 2), ("craynetwork:2K", 2048)]
)
def test_types_of_resources_are_no_numbers(text: str, number: int) -> None:
    assert list(gres_of(text).values()) == [number]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", (["a"], [])),
        ("a&b&c", (["a", "b", "c"], [])),
        ("a|b", ([], ["a", "b"])),
        ("(a|b)", ([], ["a", "b"])),
        ("a&(b|c)", (["a"], ["b", "c"])),
        ("(b|c)&a", (["a"], ["b", "c"])),
        ("(a|b)&(c|d)", None),
        ("a|b&c", None),
        ("[a|b]", None),
        ("a*2", None),
        (" a & ( b | c ) & d ", (["a", "d"], ["b", "c"])),
        ("", ([], [])),
        *(
            (odd, None)
            for odd in ("a&", "&a", "a&&b", "a|", "|a", "a||b", "(a|b", "a|b)", "&(a|b)", "(a|b)&", "(a|b)c&")
        ),
        *((odd, None) for odd in ("a b", "a&b c", "(a)", "()", "a()", "&", "a&(b|c)d", "(a|b)(c|d)")),
    ],
)
def test_constraints(text: str, found: object) -> None:
    assert features_of(text) == found


def test_command_lines() -> None:
    assert options_of("srun -N2 -c 4 --mem=10 -p long -J 'a b' ./run -N 3") == {
        "nodes": "2", "cpus-per-task": "4", "mem": "10",
    }  # fmt: skip
    assert options_of("sbatch --wrap 'unbalanced") == {}
    # What is the program's own is not Slurm's, whatever comes before the program.
    assert options_of("sbatch --requeue -H job.sh --nodes 64 -d afterok:1") == {}
    assert options_of("sbatch --wait -W -N 3 job.sh -N 4") == {"nodes": "3"}
    assert options_of("srun --wait 5 -W 7 -N 3 job.sh -N 4") == {"nodes": "3"}
    assert options_of("sbatch -G 2 --gpus-per-node=a100:4 job.sh") == {"gpus": "2", "gpus-per-node": "a100:4"}
    assert gres_of("gpu:a100:2,nvme") == {"gpu": 2, "nvme": 1}
