"""Runs below the accelerated clock, as a program of its own: starts the daemons, submits the jobs, waits, cleans up.

`slurm_execution.py` starts it with a plan, reads what it tells on standard output, a line of JSON each, and keeps its
standard input open for as long as it lives itself. Nothing but the standard library is used here, so that it begins
quickly, and only waits that the clock's library accelerates: no timeouts of locks or pipes.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from harness.slurm import accounting
from harness.slurm.execution_folder import NAME_OF_CLOCK, locked, processes_by_folder, remove_folder

#: Of `prctl`: the signal that a process gets when its parent ends.
_SIGNAL_AT_END_OF_PARENT = 1

#: How long daemons may take to answer [s of the machine's own time, whatever the clock says].
PATIENCE = 60.0

#: How long nothing may happen while nothing runs before what still waits is given up [s of the workload].
STANDSTILL = 1800.0


class UnexpectedExitError(Exception):
    """Whoever watches is gone, or wants an end."""


def tell(what: str, **more: Any) -> None:
    """Write down what happened, for whoever watches."""
    print(json.dumps({"what": what, **more}), flush=True)


def watched() -> None:
    """Raise if nobody holds the other end of standard input any more."""
    try:
        if os.read(0, 1) == b"":
            raise UnexpectedExitError
    except BlockingIOError:
        pass


def wait_until(time_: float) -> None:
    """Sleep until a time of the accelerated clock, and look now and then whether somebody still watches."""
    while (left := time_ - time.time()) > 0:
        time.sleep(min(left, 5.0))
        watched()


def called(*command: str, **rights: Any) -> "subprocess.CompletedProcess[str]":
    """Call a command of Slurm's, and wait for it."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **rights)


def share_clock(plan: dict[str, Any]) -> None:
    """Give the memory of the accelerated clock to the user of the daemons, and to the group of the jobs' users.

    Its names are written to the folder: another execution removes it if this one is killed.
    """
    names = os.environ.get("FAKETIME_SHARED", "")
    (Path(plan["folder"]) / "clock").write_text(names)
    if (rights := plan["rights"] or plan["drop"]) is None:
        return
    group = (plan["accounts"] or {}).get("group")
    for name in NAME_OF_CLOCK.findall(names):
        for place in (Path(f"/dev/shm/{kind}{name}") for kind in ("", "sem.")):
            if place.exists():
                os.chown(place, rights["user"], -1 if group is None else group)
                place.chmod(0o600 if group is None else 0o660)


def drop_rights(user: int, group: int) -> None:
    """Go on as an unprivileged user, for good. All that is needed is imported: root alone may be able to read it."""
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


class Daemons:
    """The processes of one small Slurm."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.speed = float(plan["speed"])
        # The arguments that start a daemon as its user, if this program is root's.
        self.rights = {**plan["rights"], "extra_groups": []} if plan.get("rights") else {}
        self.running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(self, name: str, command: list[str], *, as_root: bool = False) -> None:
        """Start one daemon, which ends with this program; what it prints goes to a file. Only slurmd is ever root's."""
        log = Path(self.plan["folder"]) / "log" / name
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        rights = {} if as_root else self.rights
        here, library = os.getpid(), ctypes.CDLL(None)

        def end_with_this() -> None:
            library.prctl(_SIGNAL_AT_END_OF_PARENT, signal.SIGKILL)
            if os.getppid() != here:
                os._exit(1)

        with open(written, "wb") as file:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, preexec_fn=end_with_this, **rights
            )
        self.running.append((name, process))

    def fail(self, why: str, log: str) -> NoReturn:
        """Tell that it cannot be, and end."""
        tell("failed", why=why, log=log)
        raise UnexpectedExitError

    def wait(self, ready: Callable[[], bool], what: str, whose: str = "slurmctld") -> None:
        """Wait until `ready()`; give up when a daemon has ended, or after a while."""
        deadline = time.time() + PATIENCE * self.speed
        while not ready():
            for name, process in self.running:
                if process.poll() is not None:
                    self.fail(f"{name} has ended", self.last_words(name))
            if time.time() > deadline:
                self.fail(what, self.last_words(whose))
            wait_until(time.time() + 0.1 * self.speed)

    def last_words(self, name: str) -> str:
        """Return the end of what a daemon printed."""
        log = Path(self.plan["folder"]) / "log" / name
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        telling = [line for line in lines if "error" in line or "fatal" in line] or lines
        return " | ".join(telling[-3:])

    def start_all(self) -> None:
        """Start munge, the controller and one daemon a node, and wait until every node is idle."""
        folder, programs = Path(self.plan["folder"]), self.plan["programs"]
        files = [f"--{name}-file={folder}/munge/{name}" for name in ("key", "pid", "log", "seed")]
        socket = folder / "munge" / "socket"
        self.start("munged", [programs["munged"], "-F", "--force", f"--socket={socket}", *files])
        self.wait(socket.exists, "munged did not open its socket", "munged")
        if self.plan["accounts"]:
            accounting.start_database(self)
            self.start_controller()
            accounting.fill_database(self)
            self.stop("slurmctld")
        self.start_controller()
        for number, node in enumerate(self.plan["nodes"]):
            self.start(f"slurmd-{number}", [programs["slurmd"], "-D", "-N", node], as_root=True)
        self.wait(self.all_idle, "not every node became idle")

    def start_controller(self) -> None:
        """Start the controller, which has forgotten everything, and wait until it answers."""
        programs = self.plan["programs"]
        self.start("slurmctld", [programs["slurmctld"], "-D", "-c"])
        self.wait(lambda: "UP" in self.answer(programs["scontrol"], "ping"), "slurmctld does not answer")

    def stop(self, name: str) -> None:
        """End one daemon, and wait until it has."""
        ((process, place),) = [(one[1], place) for place, one in enumerate(self.running) if one[0] == name]
        process.terminate()
        process.wait()
        del self.running[place]

    def tried(self, name: str, *words: str, **rights: Any) -> str:
        """Return the output of a program that must succeed."""
        done = called(self.plan["programs"][name], *words, **rights)
        if done.returncode != 0:
            said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
            self.fail(f"{name} {' '.join(words)}", " | ".join(said[-3:]))
        return done.stdout

    def all_idle(self) -> bool:
        """Return whether every node serves."""
        listed = self.answer(self.plan["programs"]["sinfo"], "-h", "-N", "-o", "%N %t").split("\n")
        states = dict(line.split() for line in listed if line.strip())
        return len(states) >= len(self.plan["nodes"]) and all(state in ("idle", "resv") for state in states.values())

    def answer(self, *command: str) -> str:
        """Return what a command of Slurm's prints."""
        return called(*command).stdout

    def stop_all(self) -> None:
        """End every process that belongs to this execution, known by the configuration in its environment."""
        for signalled in (signal.SIGTERM, signal.SIGKILL):
            for _ in range(30):
                for _, process in self.running:
                    process.poll()
                left = processes_by_folder().get(self.plan["folder"], [])
                if not left:
                    return
                for number in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, signalled)
                time.sleep(0.1 * self.speed)


def submit_all(daemons: Daemons) -> tuple[float, dict[int, int]]:
    """Submit every job at its time, and cancel those that give up waiting.

    Returns when the workload's time 0 was, and Slurm's number of each job.
    """
    plan = daemons.plan
    # Not always as long after the controller began: the phases of its loops are chance.
    first = float(int(time.time()) + 2 + int(0.2 * daemons.speed) + random.randrange(plan["phases"]))
    tell("began", at=first)
    for number, (begin, end, nodes) in enumerate(plan["kept"]):
        keep(daemons, f"kept{number}", first + begin, first + end, nodes)
    numbers: dict[int, int] = {}
    gone = list(plan["cancellations"])
    for job, submit, arguments in plan["jobs"]:
        while gone and gone[0][0] < submit:
            cancel(plan, numbers, first, *gone.pop(0))
        wait_until(first + submit)
        done = called(plan["programs"]["sbatch"], *arguments)
        lag = time.time() - (first + submit)
        if done.returncode == 0:
            numbers[job] = int(done.stdout.split(";")[0])
        refused = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["?"])[-1]
        tell("submitted", job=job, lag=lag, refused=refused, ended=ended(plan))
        watched()
    for time_, job in gone:
        cancel(plan, numbers, first, time_, job)
    return first, numbers


def keep(daemons: Daemons, name: str, begin: float, end: float, nodes: str) -> None:
    """Reserve nodes for nobody: for the one who runs Slurm, of whom no job asks for it."""
    plan = daemons.plan
    if end <= time.time():
        return
    since, until = (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time_)) for time_ in (max(begin, time.time()), end))
    words = (f"StartTime={since}", f"EndTime={until}", f"Nodes={nodes}", f"Users={plan['user']}")
    daemons.tried("scontrol", "create", "reservation", f"ReservationName={name}", *words, "Flags=OVERLAP,IGNORE_JOBS")


def cancel(plan: dict[str, Any], numbers: dict[int, int], first: float, time_: float, job: int) -> None:
    """Cancel a job at its time, if it still waits."""
    wait_until(first + time_)
    if job in numbers:
        called(plan["programs"]["scancel"], "--state=PENDING", str(numbers[job]))
        tell("cancelled", job=job, ended=ended(plan))


def ended(plan: dict[str, Any]) -> int:
    """Return how many jobs have ended."""
    written = Path(plan["folder"]) / "log" / "jobcomp"
    return written.read_bytes().count(b"\n") if written.exists() else 0


def wait_for_the_end(daemons: Daemons, jobs: int, kept: float) -> None:
    """Wait until all jobs have ended, or nothing more happens, though no nodes are kept any more."""
    plan = daemons.plan
    squeue = plan["programs"]["squeue"]
    before, since = -1, max(kept, time.time())
    while (now := ended(plan)) < jobs:
        if now != before:
            before, since = now, max(kept, time.time())
            tell("ended", ended=now)
        if time.time() - since > STANDSTILL and not daemons.answer(squeue, "-h", "-t", "R,CG").strip():
            tell("stranded", waiting=daemons.answer(squeue, "-h", "-o", "%j %r").splitlines())
            return
        wait_until(time.time() + max(1.0, 0.2 * daemons.speed))
    tell("ended", ended=now)


def main(path: str) -> None:
    """Carry out the plan at `path`."""
    plan = json.loads(Path(path).read_text(encoding="utf-8"))
    folder = Path(plan["folder"])
    locked(folder, fcntl.LOCK_SH)  # for as long as this program lives
    share_clock(plan)
    if plan["drop"]:
        drop_rights(**plan["drop"])
    os.set_blocking(0, False)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    daemons = Daemons(plan)
    try:
        daemons.start_all()
        first, numbers = submit_all(daemons)
        wait_for_the_end(daemons, len(numbers), first + max((end for _, end, _ in plan["kept"]), default=0.0))
        tell("done", first=first, numbers=numbers)
    except (UnexpectedExitError, KeyboardInterrupt):
        pass
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        daemons.stop_all()
        try:
            watched()
        except UnexpectedExitError:  # the program that removes the folder is gone
            remove_folder(folder)


if __name__ == "__main__":
    main(sys.argv[1])
