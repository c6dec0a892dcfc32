"""The limits that SECURITY.md states are those of the program."""

import re
from pathlib import Path

from harness.disk.size_limit import SMALL, TABLE, TREE, max_size, size_words
from harness.disk.stored import LONGEST_LINE
from harness.experiment.isolation import COMPILING, LOADING
from harness.platform import machine, windows
from harness.slurm import configuration, slurm_names, slurm_reservations

PAGE = Path(__file__).resolve().parents[2] / "SECURITY.md"

NUMBERS = {
    "nodes of a platform": machine.MOST_NODES,
    "different node types of a platform": machine.MOST_TYPES,
    "reservations of a table": windows.MOST_WINDOWS,
    "reservations of an execution": slurm_reservations._MOST_CREATED,
    "characters of a Slurm configuration, with all files that it includes": configuration._LARGEST,
    "files of a Slurm configuration": configuration._MOST_FILES,
    "settings of a Slurm configuration": configuration._MOST_SETTINGS,
    "nodes of a Slurm configuration": slurm_names.MOST_NODES,
}


def test_the_limits_are_those_of_the_program(monkeypatch):
    monkeypatch.delenv("HARNESS_MAX_SIZE", raising=False)
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sizes = {
        "an input, unpacked; a download": max_size(),
        "a table of text, unpacked": max_size() // TABLE,
        "JSON and other text, unpacked": max_size() // TREE,
        "TOML and baselines, unpacked": max_size() // SMALL,
        "a line of a text log or table": LONGEST_LINE,
    }
    times = {
        "time to import a plugin with `--isolate`": LOADING,
        "time to load and compile a run in a process of its own": COMPILING,
    }
    assert dict(rows) == {
        "limit": "value",
        **{what: size_words(size) for what, size in sizes.items()},
        **{what: f"{number:,}" for what, number in NUMBERS.items()},
        **{what: f"{seconds:,.0f} s" for what, seconds in times.items()},
        "time of a simulation": "none without `--limit`",
    }
