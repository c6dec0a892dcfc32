"""A small field, a policy that changes its mind, and a baseline of both."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import harness

if TYPE_CHECKING:
    from harness.gate.verdict import Verdict

GATE = """
workloads = ["lublin(jobs=80, procs=16, seed=1, load=0.9)", "poisson(jobs=60, procs=8, seed=2, load=0.9)"]

[[scheduler]]
order = ["spf", "mine"]
start = ["easy", "none"]
"""

#: An order policy of somebody's own, in plain Python, so that nothing is compiled; {score} is what it returns.
MINE = """
import time
import harness

def mine(job, clock):
    return {score}

@harness.hookimpl
def order_queue():
    return [harness.Order("mine", mine, compiled=False)]
"""

FIRST_COME = "job.submit"
LAST_COME = "-job.submit"


class Bench:
    """A folder with a field, a plugin and a baseline of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.field, self.baseline, self.plugin = folder / "gate.toml", folder / "gate.json", folder / "mine.py"
        self.field.write_text(GATE)
        self.decide(FIRST_COME)

    def decide(self, score: str) -> None:
        """Give the policy another mind."""
        self.plugin.write_text(MINE.format(score=score))
        os.utime(self.plugin, ns=(len(score),) * 2)  # however quickly one was written after the other

    def make(self, **options: object) -> "Verdict":
        return self.check(field=self.field, update=True, **options)

    def check(self, **options: object) -> "Verdict":
        return harness.check(self.baseline, plugins=[self.plugin], **options)  # type: ignore[no-any-return]

    def edit(self, pattern: str, replacement: str) -> None:
        """Change the baseline as a person would."""
        text = self.baseline.read_text()
        changed = re.sub(pattern, replacement, text, count=1)
        assert changed != text, pattern
        self.baseline.write_text(changed)
