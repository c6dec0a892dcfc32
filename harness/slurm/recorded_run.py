"""The timeline and the places of a replay under Slurm's rules, as the engine would have written them down."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.engine.records.recording_records import PLACEMENT, SAMPLE
from harness.slurm.loops import Decided


def samples_of(jobs: Any, cpus: int) -> Any:
    """Return how the system went on from each instant at which a job came, began or left, for a timeline.

    `jobs` are records of the engine; those that it would not accept never are in the system.
    """
    came = jobs[~np.isnan(jobs["end"])]
    ran, gone = came[~np.isnan(came["start"])], came[np.isnan(came["start"])]
    instants, where = np.unique(
        np.concatenate((came["submit"], ran["start"], ran["end"], gone["end"])), return_inverse=True
    )

    def counted(at_submit: float, at_start: Any, at_end: Any, at_leaving: float) -> Any:
        """Return the running sum of what is added when jobs come, begin, end, and leave without having begun."""
        parts = ((came, at_submit), (ran, at_start), (ran, at_end), (gone, at_leaving))
        added = np.concatenate([np.broadcast_to(values, len(them)) for them, values in parts])
        return np.cumsum(np.bincount(where, added, minlength=len(instants)))

    samples = np.zeros(len(instants), SAMPLE)
    samples["time"], samples["up"], samples["rate"] = instants, cpus, 1.0
    samples["queued"] = np.rint(counted(1, -1, 0, -1))
    samples["running"] = np.rint(counted(0, 1, -1, 0))
    samples["busy"] = np.rint(counted(0, ran["procs"], -ran["procs"].astype(np.float64), 0))
    samples["free"] = cpus - samples["busy"]
    waiting = counted(0, -ran["service"], 0, 0) + np.cumsum(
        np.bincount(where[: len(came)], np.nan_to_num(came["service"]), minlength=len(instants))
    )
    samples["work"] = np.maximum(0.0, waiting + counted(0, ran["end"], -ran["end"], 0) - samples["running"] * instants)
    return samples


def placements_of(decided: Sequence[Decided]) -> Any:
    """Return who was on which node, with how many processors, from when until when."""
    stays = [
        (place, node, cpus, one.start, one.end)
        for place, one in enumerate(decided)
        for node, cpus in (one.places or {}).items()
    ]
    return np.array(stays, PLACEMENT)
