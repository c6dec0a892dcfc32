"""How `harness adequacy` prints executions of one workload: the distances of all pairs, and of replays from them."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.present.words import readable

if TYPE_CHECKING:
    from harness.results.adequacy import Adequacy
    from harness.results.executions import Execution, Executions


def render_executions(
    executions: "Executions",
    replays: "Sequence[Adequacy]",
    overheads: dict[str, str],
    facts: dict[str, Any],
    heading: list[str],
    format: str,
) -> str:
    """Return a table of the distances: first each replay from its execution, then all pairs of executions."""
    from harness.present.json_text import to_json
    from harness.present.tables import render

    upper, level = executions.upper
    if format == "json":
        return to_json(
            facts
            | asdict(executions)
            | {"replays": [asdict(found) for found in replays], "P_ideal": executions.ideal, "upper": upper}
            | {"level": level, "overheads": overheads}
        )
    rows = [_row(*found.streams, found, executions.ideal, found.scale.skill) for found in replays]
    rows += [_row(pair.one, pair.other, pair, executions.ideal) for pair in executions.pairs]
    headers = ("one", "other", "jobs", "P", "median |V − v|", "p95 |V − v|", "skill", "P / P_ideal")
    units = ("", "", "", "s", "s", "s", "", "")
    sentences = [*facts.get("submissions", ()), *incident_sentences(executions), *_verdicts(executions, replays)]
    if overheads:
        specs = ", ".join(f"{name} {spec}" for name, spec in overheads.items())
        sentences.append(f"Overheads fitted to these executions: {specs}.")
    if format != "table":
        return render(headers, rows, format, units=units, caption=" ".join(sentences))
    return "\n".join([*heading, "", render(headers, rows, format, units=units), "", *sentences])


def incident_sentences(executions: "Executions") -> list[str]:
    """Return a sentence for each incident, and the distance between executions without incidents."""
    found = [sentence for one in executions.executions for sentence in describe_incidents(one)]
    usual = sum(pair.usual for pair in executions.pairs)
    if usual:
        upper, level = executions.upper
        found.append(
            f"P_ideal = {executions.ideal:,.1f} s, measured: the mean of {usual} pairs of executions without "
            f"incidents; {level:.0%} of such pairs are below {upper:,.1f} s."
        )
    elif executions.pairs:
        found.append("No two executions without incidents: P_ideal is not known.")
    return found


def describe_incidents(execution: "Execution") -> list[str]:
    """Return a sentence for each incident of an execution."""
    return [f"Incident in {execution.name}: {incident}." for incident in execution.incidents]


def _row(one: str, other: str, found: Any, ideal: float, skill: float | None = None) -> tuple[Any, ...]:
    ratio = found.P / ideal if ideal > 0 else None
    return one, other, found.jobs, found.P, found.median, found.p95, skill, ratio


def _verdicts(executions: "Executions", replays: "Sequence[Adequacy]") -> list[str]:
    upper, level = executions.upper
    disturbed = {one.name for one in executions.executions if one.incidents}
    usual = [found for found in replays if found.streams[1] not in disturbed]
    if not usual or math.isnan(upper):
        return []
    different = sum(upper < found.P for found in usual)
    mean = sum(found.P for found in usual) / len(usual)
    return [
        f"The replay is {mean:,.1f} s from the executions without incidents, {readable(mean / executions.ideal, 3)} "
        f"times P_ideal. It differs from {different} of {len(usual)} of them by more than {level:.0%} of the pairs do."
    ]
