"""Measures of energy; not a number if it was not accounted."""

import math
from typing import TYPE_CHECKING

import numpy as np

from harness.results.measures.declaring import measure, ratio
from harness.results.measures.job_measures import mean_response
from harness.results.measures.machine_measures import elapsed

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

_JOULES_PER_KWH = 3.6e6


@measure("W", "less", "∫ P dt / ∫ dt, P = power of all nodes")
def mean_power(schedule: "Schedule") -> float:
    """Power drawn by all nodes, averaged over time."""
    return ratio(_joules(schedule, "energy"), elapsed(schedule))


@measure("kWh", "less", "∫ P dt", headline=True)
def energy(schedule: "Schedule") -> float:
    """Energy drawn by all nodes over the run."""
    return _joules(schedule, "energy") / _JOULES_PER_KWH


@measure("kWh", "less", "Σ over nodes of ∫ (power while no core is busy) dt")
def idle_energy(schedule: "Schedule") -> float:
    """Part of the energy that nodes drew while none of their cores was busy."""
    return _joules(schedule, "idle_energy") / _JOULES_PER_KWH


@measure("kWh", "less", "Σ over nodes of ∫ (power while asleep) dt")
def sleep_energy(schedule: "Schedule") -> float:
    """Part of the energy that sleeping nodes drew."""
    return _joules(schedule, "sleep_energy") / _JOULES_PER_KWH


@measure("kWh", "less", "Σ over nodes of ∫ (power while falling asleep or waking) dt")
def transition_energy(schedule: "Schedule") -> float:
    """Part of the energy that nodes drew while they fell asleep or woke."""
    return _joules(schedule, "transition_energy") / _JOULES_PER_KWH


@measure("", "neither", "Σ over nodes of time asleep / (number of nodes · ∫ dt)", headline=True, share=True)
def share_asleep(schedule: "Schedule") -> float:
    """Share of the nodes' time that they were asleep."""
    return ratio(schedule.outcome.nodes["asleep"].sum(), schedule.platform.nodes * elapsed(schedule))


@measure("J/(procs·s)", "less", "∫ P dt / Σ N·S, S = work at reference speed")
def energy_per_work(schedule: "Schedule") -> float:
    """Energy per processor-second of finished work, at reference speed."""
    work = schedule.workload.jobs["work"].to_numpy(np.float64)[schedule.ran_mask]
    return ratio(_joules(schedule, "energy"), np.sum(schedule.ran_column("procs") * work))


@measure("J·s", "less", "∫ P dt · mean response")
def energy_delay_product(schedule: "Schedule") -> float:
    """Energy times average response time: low only if both are low."""
    return _joules(schedule, "energy") * mean_response(schedule)


@measure("g", "less", "∫ P·I dt, I = carbon intensity")
def carbon(schedule: "Schedule") -> float:
    """Carbon dioxide emitted for the energy of all nodes, by the carbon intensity in the signal."""
    return _heard(schedule, "carbon")


@measure("€", "less", "∫ P·I dt, I = price of energy")
def cost(schedule: "Schedule") -> float:
    """Cost of the energy of all nodes, by the price in the signal."""
    return _heard(schedule, "price")


def _heard(schedule: "Schedule", kind: str) -> float:
    there = schedule.metered and schedule.meter is not None and schedule.meter.signal.kind == kind
    return schedule.meter.total if there and schedule.meter else math.nan


def _joules(schedule: "Schedule", field: str) -> float:
    return float(schedule.outcome.nodes[field].sum()) if schedule.metered else math.nan
