"""Makes the table of other-simulators.md: Batsim (outputs that come with Evalys) and SPARS, with nodes that sleep.

Each case builds our platform and workload from their input, runs our nearest policies, and compares the result with
their output: makespan, waits, energy, and how long the nodes spent in each state.
"""

import gzip
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import typer

from harness import (
    NodeType,
    Platform,
    Schedule,
    Scheduler,
    SleepState,
    Workload,
    log_from_frame,
    prepare,
    read_workload,
    simulate,
)
from harness.cli import main
from harness.disk.data_search import find_data
from harness.present.tables import known_format, render

#: Time of nodes by state [node·s]. A node is idle while its job waits for another node to wake.
STATES = ("computing", "idle", "sleeping", "switching")


@dataclass(frozen=True)
class Outcome:
    """The results of one simulator for one case."""

    makespan: float  # [s] from 0 to the last completion
    mean_wait: float  # [s] from submission to the beginning of service, boot included
    energy: float  # [J]
    states: dict[str, float]  # of STATES [node·s]


@dataclass(frozen=True)
class Case:
    """One of their runs and ours."""

    name: str
    policies: str
    theirs: Outcome
    ours: Outcome
    later: int  # jobs whose service begins at another time than theirs, by more than a millisecond

    @property
    def row(self) -> tuple[Any, ...]:
        """Return the row of the table: theirs and ours in turn."""
        pairs = [(self.theirs.makespan, self.ours.makespan), (self.theirs.mean_wait, self.ours.mean_wait)]
        pairs += [(self.theirs.energy / 1e6, self.ours.energy / 1e6)]
        pairs += [(self.theirs.states[s] / 3600, self.ours.states[s] / 3600) for s in STATES]
        return (self.name, self.policies, self.later, *(value for pair in pairs for value in pair))


_COMPARED = [f"{what} {whose}" for what in ("makespan", "mean wait", "energy", *STATES) for whose in ("theirs", "ours")]
HEADERS = ("case", "our policies", "jobs that begin at another time", *_COMPARED)
UNITS = ("", "", "", "s", "s", "s", "s", "MJ", "MJ", *["node·h"] * 8)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def other_simulators(
    folder: Annotated[
        str, typer.Argument(help="The folder with `batsim-evalys` and `spars`, below HARNESS_DATA or here.")
    ] = "reference-schedules",
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """Do two other simulators, given the same jobs, nodes and policies, find the same energy?"""
    known_format(format)
    place = find_data(folder)
    rows = [case.row for case in (*batsim_cases(place / "batsim-evalys"), *spars_cases(place / "spars"))]
    typer.echo(render(HEADERS, rows, format, units=UNITS))


def ours(workload: Workload, platform: Platform, scheduler: Scheduler) -> tuple[Outcome, "pd.Series[float]"]:
    """Return our outcome, and when the service of each job begins (index: its number)."""
    schedule = simulate(workload, platform, scheduler, timeline=True)
    frame = schedule.frame[schedule.frame["run"] > 0].set_index("job")  # an opening takes no time
    begin = frame["start"] + frame["boot"]
    makespan = float(frame["end"].max())
    states = states_of(schedule, makespan)
    return Outcome(
        makespan, float((begin - frame["submit"]).mean()), float(schedule.outcome.nodes["energy"].sum()), states
    ), begin


def states_of(schedule: Schedule, makespan: float) -> dict[str, float]:
    """Add up how long our nodes (of one core each) spent in each state."""
    timeline = schedule.timeline
    lasts = np.diff(timeline["time"], append=makespan)
    spent = {name: float((timeline[name] * lasts).sum()) for name in ("busy", "asleep", "switching")}
    total = makespan * schedule.platform.nodes
    return dict(
        zip(STATES, (spent["busy"], total - sum(spent.values()), spent["asleep"], spent["switching"]), strict=True)
    )


# ---------------------------------------------------------------- Batsim

#: Their variants that our policies express → start and sleep policy.
BATSIM = {
    "conservative": ("conservative", "never"),
    "easy": ("easy", "never"),
    "opportunistic_shutdown": ("easy", "timeout(idle=0)"),
}


def batsim_platform(path: Path, count: int) -> Platform:
    """Read the first `count` nodes of a SimGrid platform. Their last power states are sleep, switching off, and on.

    Batsim draws idle power while a delay job runs, so that idle and peak are alike.
    """
    root = ElementTree.fromstring(gzip.decompress(path.read_bytes()).strip())
    host = next(host for host in root.iter("host") if host.get("id") == "host0")  # all are alike
    said = {prop.get("id"): prop.get("value", "") for prop in host.iter("prop")}
    watts = [float(state.split(":")[0]) for state in said["watt_per_state"].split(",")]
    speeds = [float(speed.strip().removesuffix("f").removesuffix("M")) for speed in host.get("speed", "").split(",")]
    asleep, off, on = (int(state) for state in said["sleep_pstates"].split(":"))
    down, up = 1 / speeds[off], 1 / speeds[on]  # a transition is one operation at that speed
    nap = SleepState("off", watts[asleep], down, up, down * watts[off], up * watts[on])
    return Platform("Batsim's", (NodeType(count, 1, idle=watts[0], peak=watts[0], sleep=(nap,)),))


def batsim_cases(folder: Path) -> list[Case]:
    """Replay every variant of `medium_late` that our policies express."""
    workload = prepare(read_workload(folder / "medium_late.medium_late.json.gz"))
    platform = batsim_platform(folder / "medium_late.platform.xml.gz", 32)
    cases = []
    for variant, (start, sleep) in BATSIM.items():
        said = _table(folder, variant, "out_schedule").iloc[0]
        jobs = _table(folder, variant, "out_jobs").set_index("job_id")
        changes = _table(folder, variant, "out_machine_states")
        lasts = np.diff(changes["time"], append=said["makespan"])
        switching = changes["nb_switching_on"] + changes["nb_switching_off"]
        counts = (changes["nb_computing"], changes["nb_idle"], changes["nb_sleeping"], switching)
        states = {name: float((count * lasts).sum()) for name, count in zip(STATES, counts, strict=True)}
        makespan, wait, joules = (float(said[name]) for name in ("makespan", "mean_waiting_time", "consumed_joules"))
        theirs = Outcome(makespan, wait, joules, states)
        mine, begin = ours(workload, platform, Scheduler(start=start, sleep=sleep, energy="cores"))
        apart = (jobs["starting_time"] - begin).abs() > 1e-3
        cases.append(Case(f"Batsim {variant}", f"{start}, {sleep}", theirs, mine, int(apart.sum())))
    return cases


def _table(folder: Path, variant: str, what: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"medium_late.{variant}.{what}.csv.gz")


# ---------------------------------------------------------------- SPARS

#: Seconds without a job after which a node sleeps: the runs that SPARS's authors published.
TIMEOUTS = tuple(range(300, 3601, 300))

#: The number of a job that only lets our run begin at 0, and not with the first submission.
OPENING = 0


def spars_workload(path: Path) -> Workload:
    """Read their jobs, and add an empty one at 0, when their nodes begin."""
    jobs = pd.DataFrame(json.loads(gzip.decompress(path.read_bytes()))["jobs"])
    names = {"job_id": "job", "subtime": "submit", "res": "procs", "runtime": "run", "reqtime": "estimate"}
    workload = prepare(log_from_frame(jobs.rename(columns=names)[list(names.values())], "SPARS"))
    opening = {"job": OPENING, "submit": 0.0, "procs": 1, "work": 0.0, "estimate": 0.0}
    return replace(workload, jobs=pd.concat([workload.jobs, workload.jobs[:1].assign(**opening)], ignore_index=True))


def spars_platform(path: Path) -> Platform:
    """Read their machines, all alike: a machine that is active draws the same with and without a job."""
    machines = json.loads(gzip.decompress(path.read_bytes()))["machines"]
    machine = machines[0]
    states = machine["states"]
    active = machine["dvfs_profiles"][machine["dvfs_mode"]]["power"]
    down, up = (states[s]["transitions"][0]["transition_time"] for s in ("switching_off", "switching_on"))
    energies = (down * states["switching_off"]["power"], up * states["switching_on"]["power"])
    nap = SleepState("sleeping", states["sleeping"]["power"], down, up, *energies)
    return Platform("SPARS's", (NodeType(len(machines), 1, idle=active, peak=active, sleep=(nap,)),))


def spars_cases(folder: Path) -> list[Case]:
    """Replay every timeout they published."""
    workload = spars_workload(folder / "Tugas_HandsOn.workload.json.gz")
    platform = spars_platform(folder / "Tugas_HandsOn.platform.json.gz")
    cases = []
    for timeout in TIMEOUTS:
        log = pd.read_csv(folder / f"results.generated_{timeout}.node_log.csv.gz")
        lasts = (log["finish_time"] - log["start_time"]) * (log["nodes"].astype(str).str.count(" ") + 1)
        active = log["state"] == "active"
        states = {
            "computing": float(lasts[active & (log["job_id"] >= 0)].sum()),
            "idle": float(lasts[active & (log["job_id"] < 0)].sum()),
            "sleeping": float(lasts[log["state"] == "sleeping"].sum()),
            "switching": float(lasts[log["state"].str.startswith("switching")].sum()),
        }
        jobs = pd.read_csv(folder / f"results.generated_{timeout}.raw_job_log.csv.gz").set_index("job_id")
        energy = pd.read_csv(folder / f"results.generated_{timeout}.energy_log.csv.gz")["energy_consumption"].sum()
        wait = float((jobs["start_time"] - jobs["subtime"]).mean())
        theirs = Outcome(float(jobs["finish_time"].max()), wait, float(energy), states)
        sleep = f"timeout(idle={timeout})"
        mine, begin = ours(workload, platform, Scheduler(start="easy", select="soonest", sleep=sleep, energy="cores"))
        apart = (jobs["start_time"] - begin).abs() > 1e-3
        cases.append(Case(f"SPARS {timeout}", f"easy, soonest, {sleep}", theirs, mine, int(apart.sum())))
    return cases


if __name__ == "__main__":
    main(app)
