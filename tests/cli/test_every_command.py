"""Every command runs, on a few jobs: `make test` leaves none of them out."""

import shlex

import pytest
import typer.main
from calling import Call

from harness.cli import app
from harness.cli.examples import EXAMPLES

#: Jobs of sixteen processors, and a bundled example of an accounting dump.
JOBS, DUMP = "'lublin(jobs=60, procs=16)'", "sacct.txt --procs 128"

#: Command → a call that does its work and succeeds. Each runs in a folder with DUMP and a schedule.
WORKS = {
    "run": f"{JOBS} --order spf --start easy",
    "compare": f"{JOBS} 'fcfs + easy' 'spf + easy'",
    "forecast": "--state state.txt --procs 64 --repetitions 2",
    "adequacy": f"{DUMP} --repetitions 1",
    "identify": f"{DUMP} --order fcfs --jobs 40",
    "tournament": "field.toml",
    "tune": "tuning.toml --trials 2",
    "report": "tournaments/field --out page.html",
    "check": "gate.json --field field.toml --update",
    "verify": "schedule.csv --procs 16",
    "list": "orders",
    "data list": "",
    "data show": JOBS,
    "data example": "another.txt --jobs 20",
    "data outages": f"{DUMP} --out events.csv",
    "plugin new": "my-policy",
    "theory delays": "--servers 4 --arrival-rate 3 --mean-service 1",
    "theory infinite-server": "sacct.txt",
    "theory stability": JOBS,
}
#: Command → a call that is refused, where what it does needs a log or takes long. Other tests see it succeed.
REFUSED = {
    "bench": "nothing",
    "execute": "sacct.txt --slurm missing.conf",
    "data fetch": "NO-SUCH-LOG",
    "plugin check": "missing.py",
    "theory compare": "--jobs many",
    "theory service-rate": "--figure 99",
    "theory other-simulators": "--format nothing",
    "theory oar-executions": "missing.txt",
    "theory kth-calendar": "--format nothing",
    "theory identify": "--jobs many",
    "theory peas": "--format nothing",
    "warm-up": "no-such-policy",
}
STATE = """JOBID|USER|STATE|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS
11|ann|RUNNING|2026-11-19T08:00:00|2026-11-19T08:10:00|1:50:00|4:00:00|48
12|eve|PENDING|2026-11-19T09:10:00|N/A|0:00|2:00:00|64
"""
FIELD = """
workloads = ["lublin(jobs=60, procs=16, seed=1)", "lublin(jobs=60, procs=16, seed=2)"]
{more}
[[scheduler]]
order = {order}
"""


def test_each_command_is_called_here() -> None:
    groups = {name for name, inner in typer.main.get_command(app).commands.items() if hasattr(inner, "commands")}  # type: ignore[attr-defined]
    assert WORKS.keys() | REFUSED.keys() == EXAMPLES.keys() - groups - {""}


def test_each_command_does_its_work(
    harness_says: Call, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("commands")
    monkeypatch.chdir(folder)
    (folder / "field.toml").write_text(FIELD.format(more="", order='["fcfs", "spf"]'))
    (folder / "tuning.toml").write_text(FIELD.format(more='objectives = ["mean_wait"]', order='"wfp3(power=1..3)"'))
    (folder / "state.txt").write_text(STATE)
    made = harness_says("data", "example", "sacct.txt", "--jobs", "120")
    assert made.status == 0
    assert harness_says("run", "lublin(jobs=30, procs=16)", "--schedule", "schedule.csv").status == 0
    for command, arguments in WORKS.items():
        answer = harness_says(*command.split(), *shlex.split(arguments))
        assert answer.status == 0, f"{command} {arguments}\n{answer.err}"
        assert answer.out or answer.err, command


@pytest.mark.quick_cases(len(REFUSED))
@pytest.mark.parametrize("command", REFUSED)
def test_each_other_command_refuses_in_a_sentence(
    harness_says: Call, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("refused"))
    answer = harness_says(*command.split(), *shlex.split(REFUSED[command]))
    assert answer.status == 2
    assert answer.err.strip()
