"""Spoil valid inputs of every reader, and count what the command line makes of them.

Each reader is put to it in a process of its own, with a limit to its memory, under the eyes of another that ends it
when one input takes too long. `python tests/inputs/fuzzing.py` writes reports/inputs.md.

`python tests/inputs/fuzzing.py --seconds 60` puts all readers to it in turn for a minute, with a fixed seed, and exits
with status 1 if there is a finding.
"""

import argparse
import contextlib
import faulthandler
import io
import itertools
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import category

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
ROOT = Path(__file__).parents[2]
REPORT = ROOT / "reports/inputs.md"
COMMAND = "python tests/inputs/fuzzing.py"

#: So much processor time one input may take [s]: most take a few hundredths of a second. And so much of any time, on a
#: machine that does other things too.
PATIENCE, STILL = 60.0, 600.0
#: So much more memory than before it may take [bytes].
MEMORY = 2 << 30
#: No sentence is longer.
LONGEST = 600
#: What comes of an input that is read, or refused as it should be; everything else is a fault.
GOOD = ("accepted", "refused")


@dataclass(frozen=True)
class Outcome:
    """What came of one input: one of `GOOD`, or a fault in a word, and what was seen."""

    kind: str
    seen: str = ""


def outcome(arguments: list[str]) -> Outcome:
    """Call the command line, in this process, and judge what it says."""
    import harness.cli

    out, err = io.StringIO(), io.StringIO()
    status: Any = 0
    sys.argv = ["harness", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            harness.cli.main()
    except SystemExit as end:
        status = end.code
    except MemoryError:
        return Outcome("memory", traceback.format_exc())
    except BaseException:
        return Outcome("traceback", traceback.format_exc())
    return judged(status, out.getvalue(), err.getvalue())


def judged(status: Any, out: str, err: str) -> Outcome:
    """Judge an exit status and what was printed."""
    drives = {letter for letter in out + err if category(letter) in ("Cc", "Cf", "Cs") and letter not in "\n\t"}
    said = [line for line in err.splitlines() if line.startswith("harness: ")]
    if drives:
        return Outcome("drives the terminal", f"{drives} {err}")
    if "not enough memory" in err:
        return Outcome("memory", err)
    if "Traceback" in out + err:
        return Outcome("traceback", err)
    if any(len(line) > LONGEST for line in said):
        return Outcome("too long", err)
    if status == 2 and not out:
        return Outcome("refused", said[0]) if len(said) == 1 else Outcome("not one sentence", err)
    return Outcome("accepted") if status in (0, None) or out else Outcome(f"status {status}", err)


# A process for each reader


def child(name: str, made: Path, start: int, number: int) -> None:
    """Put one reader to its inputs, from number `start` on; print a line for each."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from shared.readers import readers

    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    reader = next(reader for reader in readers(made) if reader.name == name)
    turn = 0

    def attempt(content: Any) -> None:
        nonlocal turn
        turn += 1
        if turn > start:
            arguments = reader.arguments(Path(), content, turn)
            arguments = [argument.replace("\0", "") for argument in arguments]  # which no shell can give
            found = outcome(arguments)
            print(json.dumps([turn, found.kind, found.seen, arguments]), file=answers, flush=True)

    for content in reader.valid:  # compiles, and shows that they are valid
        for k in range(max(1, len(reader.calls))):
            found = outcome(reader.arguments(Path(), content, k))
            assert found.kind == "accepted", (name, found)
    print(json.dumps([0, "ready", "", []]), file=answers, flush=True)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    limits = settings(
        max_examples=number, phases=[Phase.generate], database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    if number:
        seed(13)(limits(given(reader.inputs)(attempt)))()


def study_of(name: str, made: Path, number: int) -> list[tuple[int, Outcome, list[str]]]:
    """What came of each input of a reader."""
    found: list[tuple[int, Outcome, list[str]]] = []
    done = 0
    while True:
        with tempfile.TemporaryDirectory() as folder:
            last = None
            for turn, kind, seen, arguments in _lines(name, made, Path(folder), done, number):
                last = kind
                if turn:
                    done = turn
                    found.append((turn, Outcome(kind, seen), arguments))
                elif kind not in ("ready", "over"):  # it was ended, or it crashed
                    done += 1
                    found.append((done, Outcome(kind, seen), []))
            if last == "over":
                return found


def _lines(name: str, made: Path, folder: Path, start: int, number: int) -> Iterator[tuple[int, str, str, list[str]]]:
    cache = folder / "cache"
    cache.mkdir()
    from harness.disk.data_search import cache_folder

    (cache / "kernels").symlink_to(cache_folder() / "kernels")
    place = folder / "here"
    place.mkdir()
    command = [sys.executable, __file__, name, str(made), str(start), str(number)]
    environment = os.environ | {"HARNESS_CACHE": str(cache), "PYTHONWARNINGS": "default"}
    with (
        (folder / "stderr").open("w+b") as err,
        subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=err) as process,
    ):
        assert process.stdout is not None
        while _heard(process):
            line = process.stdout.readline()
            if not line:
                break
            yield tuple(json.loads(line))
        else:
            process.send_signal(signal.SIGABRT)  # faulthandler says where it is
            process.wait()
            err.seek(0)
            newest = max(filter(Path.is_file, place.rglob("*")), key=lambda path: path.stat().st_mtime)
            seen = f"{newest.name}: {newest.read_bytes()[:600]!r} {err.read().decode(errors='replace')[-3000:]}"
            yield 0, "hang", seen, []
            return
        err.seek(0)
        said = err.read().decode(errors="replace")[-3000:]
        assert process.wait() <= 0, said
        yield 0, "over" if process.returncode == 0 else f"signal {-process.returncode}", said, []


def _heard(process: subprocess.Popen[bytes]) -> bool:
    """Wait for the next line of a process; return whether it came before the patience was over."""
    before = _computed(process.pid)
    for _ in range(int(STILL)):
        if select.select([process.stdout], [], [], 1.0)[0]:
            return True
        if _computed(process.pid) > before + PATIENCE:
            return False
    return False


def _computed(pid: int) -> float:
    """How much processor time a process has taken [s]."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")


def study(names: list[str] | None = None, share: float = 1.0) -> dict[str, list[tuple[int, Outcome, list[str]]]]:
    """What came of every input, by reader; `share` of them is tried."""
    from shared.readers import readers

    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(2) as pool:
        chosen = [reader for reader in readers(Path(made)) if names is None or reader.name in names]
        flying = {one.name: pool.submit(study_of, one.name, Path(made), int(one.number * share)) for one in chosen}
        return {name: future.result() for name, future in flying.items()}


def report(found: dict[str, list[tuple[int, Outcome, list[str]]]]) -> str:
    """The published page."""
    from harness.present.tables import render

    rows = []
    for name, tried in found.items():
        kinds = Counter(outcome.kind for _, outcome, _ in tried)
        rows.append((name, len(tried), kinds["refused"], kinds["accepted"], len(faults(tried))))
    total = [sum(column) for column in list(zip(*rows, strict=True))[1:]]
    return (
        f"""# Spoilt inputs, and the reactions to them

No input, however spoilt, may cause anything but a result or a clear refusal. This page counts {total[0]:,} inputs of
{len(rows)} readers. Hypothesis spoils valid inputs: bytes, numbers, words, lines, brackets, cells and packings. The
command that reads such an input gets it. A `slurm.conf` passes all steps of `harness execute` that need no Slurm.

Two results are allowed: the input is read, or it is refused with one sentence and exit status 2. All else is a fault:

- a traceback, a signal or another exit status;
- more than one sentence, or a sentence of more than {LONGEST} letters;
- letters that drive a terminal;
- more than {MEMORY >> 30} GB of memory, or more than {PATIENCE:.0f} s of processor time.

Regenerate (half an hour on two cores):

    {COMMAND}

"""
        + render(
            ("reader", "inputs", "refused with a sentence", "read", "anything else"),
            [*rows, ("together", *total)], "markdown",
        )
        + "\n"
    )  # fmt: skip


def faults(tried: list[tuple[int, Outcome, list[str]]]) -> list[str]:
    """What came of inputs and should not have."""
    return [f"{turn} {arguments}: {o.kind}: {o.seen}" for turn, o, arguments in tried if o.kind not in GOOD]


# All readers in turn, for so many seconds


def rounds(seconds: float, number: int) -> None:
    """Put all readers in turn to spoilt inputs, drawn by the seed `number`, until the time is over."""
    from further_readers import further_readers
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st
    from shared.readers import Reader, readers

    made = Path.cwd() / "made"
    made.mkdir()
    everyone = [*readers(made), *further_readers()]
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    once = settings(
        max_examples=2, phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    turn = 0

    def attempt(reader: Reader, content: Any) -> None:
        nonlocal turn
        turn += 1
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)  # ends the process, whatever it computes
        arguments = [argument.replace("\0", "") for argument in reader.arguments(Path(), content, turn)]
        tell(reader.name, "begun", "", arguments)
        found = outcome(arguments)
        tell(reader.name, found.kind, "" if found.kind in GOOD else found.seen, arguments)

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def tell(*words: Any) -> None:
        print(json.dumps(words), file=answers, flush=True)

    end = time.monotonic() + seconds
    for place in itertools.count():
        for reader in everyone:
            if place and time.monotonic() > end:  # each has its turn once
                return
            seed(1000 * number + place)(once(given(st.just(reader), reader.inputs)(attempt)))()


def fuzz(seconds: float, number: int) -> int:
    """Run the rounds in a process of their own; print the findings, and return their number."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as err:
        place, cache = Path(folder) / "here", Path(folder) / "cache"
        place.mkdir()
        cache.mkdir()
        from harness.disk.data_search import cache_folder

        (cache / "kernels").symlink_to(cache_folder() / "kernels")
        command = [sys.executable, __file__, "--rounds", "--seconds", str(seconds), "--seed", str(number)]
        environment = os.environ | {"HARNESS_CACHE": str(cache)}
        done = subprocess.run(command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=err, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode:
            err.seek(0)
            said = err.read().decode(errors="replace")[-3000:]
            lines.append([*(lines or [["all readers"]])[-1][:1], f"status {done.returncode}", said, []])
    ended = [line for line in lines if line[1] != "begun"]
    findings = [line for line in ended if line[1] not in GOOD]
    for name, kind, seen, arguments in findings:
        print(f"{name}: {kind}: {arguments}: {seen}\n")
    print(f"{len(ended):,} inputs of {len({line[0] for line in ended})} readers, {len(findings)} findings")
    return len(findings)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, help="put all readers to spoilt inputs in turn for so long")
    options.add_argument("--seed", type=int, default=13, help="of the inputs")
    options.add_argument("--rounds", action="store_true", help=argparse.SUPPRESS)
    given_options, _ = options.parse_known_args()
    if given_options.rounds:
        rounds(given_options.seconds, given_options.seed)
    elif given_options.seconds is not None:
        sys.exit(min(fuzz(given_options.seconds, given_options.seed), 1))
    elif sys.argv[1:]:
        name, made, start, number = sys.argv[1:]
        child(name, Path(made), int(start), int(number))
    else:
        outcomes = study()
        REPORT.write_text(report(outcomes), encoding="utf-8")
        for name, tried in outcomes.items():
            print(*faults(tried), sep=f"\n{name}: ")
