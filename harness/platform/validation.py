"""Checks of a node type. Each error is one sentence with the type and the state."""

import math
import re
import reprlib
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.platform.machine import NodeType, PerformanceState, SleepState

#: The loads of a load curve [%].
LOADS = tuple(range(0, 101, 10))

#: The highest number of a partition, in logs and on nodes.
MOST_PARTITION = 2**31 - 1

#: The most features of a platform, and partitions if they overlap: the bits of a whole number.
MOST_BITS = 62

_NAME = re.compile(r"[\w.:/-]+")

_QUOTES = reprlib.Repr()
_QUOTES.maxstring = _QUOTES.maxother = 80


def quoted(value: object) -> str:
    """Return a value in quotes, with the middle of a long one left out."""
    return _QUOTES.repr(value)


def check_curve(where: str, curve: tuple[float, ...]) -> None:
    """Refuse a curve that is not eleven watts which never decrease with the load. Equal neighbours are measured."""
    if len(curve) != len(LOADS):
        raise HarnessError(f"{where}: a load curve of {len(curve)} values; expected 11 watts, at 0, 10, …, 100 % load")
    for load, watts in zip(LOADS, curve, strict=True):
        _at_least_zero(f"{where}, its load curve", f"the power at {load} % load", watts, "W")
    for (load, watts), (next_load, next_watts) in pairwise(zip(LOADS, curve, strict=True)):
        if next_watts < watts:
            raise HarnessError(
                f"{where}: its load curve falls from {watts:g} W at {load} % load to {next_watts:g} W at "
                f"{next_load} %; expected watts that never decrease with the load"
            )


def check_node(where: str, node: "NodeType") -> None:
    """Check sizes, powers, performance states and sleep states. The curve is checked already."""
    for what, number, least in (("count", node.count, 1), ("cores", node.cores, 1), ("partition", node.partition, 0)):
        if not isinstance(number, Integral) or number < least:
            raise HarnessError(f"{where}: {what} = {quoted(number)}; expected a whole number of at least {least}")
    if node.partition > MOST_PARTITION:
        raise HarnessError(f"{where}: partition = {quoted(node.partition)}; expected at most {MOST_PARTITION:,}")
    _check_names(where, node)
    check_countables(f"{where}: resources", node.resources)
    _at_least_zero(where, "ops", node.ops, "operations per second")
    if not (isinstance(node.memory, Real) and node.memory > 0):
        raise HarnessError(f"{where}: memory = {node.memory!r}; expected KB above 0")
    _check_powers(where, node.idle, node.peak)
    _check_performances(where, node)
    _check_sleeps(where, node)


def check_countables(where: str, countables: object) -> None:
    """Refuse resources with impossible names or numbers."""
    for name, count in dict(countables).items():  # type: ignore[call-overload]
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise HarnessError(f"{where}: the name {quoted(name)}; expected letters, digits, _, - and .")
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 2**53:
            raise HarnessError(f"{where}: {name} = {quoted(count)}; expected a whole number of at least 0")


def _check_names(where: str, node: "NodeType") -> None:
    """Refuse features and partitions with impossible names or numbers."""
    for feature in node.features:
        if not isinstance(feature, str) or not _NAME.fullmatch(feature):
            raise HarnessError(f"{where}: the feature {quoted(feature)}; expected letters, digits, _, - and .")
    for partition in node.partitions:
        number = isinstance(partition, int) and 0 <= partition <= MOST_PARTITION
        if not number and not (isinstance(partition, str) and _NAME.fullmatch(partition)):
            raise HarnessError(f"{where}: the partition {quoted(partition)}; expected a name, or a number from 0")
    if node.partition and node.partitions:
        raise HarnessError(f"{where}: partition = {node.partition} and partitions; expected it among them")


def _check_performances(where: str, node: "NodeType") -> None:
    if node.performance and (_unknown(node.idle) or _unknown(node.peak)):
        raise HarnessError(
            f"{where}: performance states without watts at full speed; expected idle and peak, or a curve"
        )
    for state in node.performance:
        _check_performance(where, state, node)
    for slower, faster in pairwise(node.performance):
        if not slower.rate < faster.rate:
            raise HarnessError(
                f"{where}: the performance state at rate {faster.rate:g} comes after the one at rate {slower.rate:g}; "
                "expected each rate once, the slowest first"
            )


def _check_sleeps(where: str, node: "NodeType") -> None:
    names: set[str] = set()
    for state in node.sleep:
        _check_sleep(where, state, node.idle)
        if state.name in names:
            raise HarnessError(f"{where}: two sleep states are called {quoted(state.name)}; expected different names")
        names.add(state.name)
    for light, deep in pairwise(node.sleep):
        if deep.watts > light.watts:
            raise HarnessError(
                f"{where}: the sleep state {quoted(deep.name)} draws {deep.watts:g} W and comes after "
                f"{quoted(light.name)}, which draws {light.watts:g} W; expected sleep states from the lightest to the "
                "deepest"
            )


def _check_powers(where: str, idle: float, peak: float) -> None:
    for what, watts in (("idle", idle), ("peak", peak)):
        if not _unknown(watts):
            _at_least_zero(where, f"the {what} power", watts, "W")
    if idle > peak:
        raise HarnessError(f"{where}: it draws {idle:g} W idle and {peak:g} W at full load; expected no more when idle")


def _check_performance(where: str, state: "PerformanceState", node: "NodeType") -> None:
    """Check one state. Power may decrease with the rate, as on some measured platforms."""
    if not (isinstance(state.rate, Real) and 0 < state.rate < math.inf):
        raise HarnessError(f"{where}: a performance state at rate {state.rate!r}; expected above 0, 1 is full speed")
    where = f"{where}, its performance state at rate {state.rate:g}"
    _at_least_zero(where, "the idle power", state.idle, "W")
    _at_least_zero(where, "the peak power", state.peak, "W")
    _check_powers(where, state.idle, state.peak)
    if state.rate == 1 and (state.idle, state.peak) != (node.idle, node.peak):
        raise HarnessError(
            f"{where}: it draws {state.idle:g} to {state.peak:g} W, the node type itself {node.idle:g} to "
            f"{node.peak:g} W; expected the same at full speed, or no state at rate 1"
        )


def _check_sleep(where: str, state: "SleepState", idle: float) -> None:
    if not state.name:
        raise HarnessError(f'{where}: a sleep state without a name; expected one, as in name = "off"')
    where = f"{where}, its sleep state {quoted(state.name)}"
    _at_least_zero(where, "the power asleep", state.watts, "W")
    for what, seconds in (("falling asleep (down)", state.down), ("waking (up)", state.up)):
        _at_least_zero(where, f"the time of {what}", seconds, "s")
    for what, joules in (("falling asleep (down_energy)", state.down_energy), ("waking (up_energy)", state.up_energy)):
        _at_least_zero(where, f"the energy of {what}", joules, "J")
    for what, seconds, joules in (("down", state.down, state.down_energy), ("up", state.up, state.up_energy)):
        if seconds == 0 and joules > 0:
            raise HarnessError(
                f"{where}: {what}_energy = {joules:g} J in {what} = 0 s; expected a time above 0 in which to draw it"
            )
    if state.watts > idle:
        raise HarnessError(f"{where}: it draws {state.watts:g} W asleep but {idle:g} W idle; expected no more asleep")


def _at_least_zero(where: str, what: str, value: float, unit: str) -> None:
    if not (isinstance(value, Real) and 0 <= value < math.inf):
        raise HarnessError(f"{where}: {what} is {value!r} {unit}; expected a number of at least 0")


def _unknown(watts: float) -> bool:
    return isinstance(watts, float) and math.isnan(watts)
