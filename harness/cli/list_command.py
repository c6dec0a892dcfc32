"""`harness list`: policies, workloads, platforms, events, measures and more, by name."""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import options
from harness.cli.console import echo
from harness.errors import HarnessError, did_you_mean
from harness.policy.kinds import KINDS

if TYPE_CHECKING:
    from harness.platform.machine import NodeType
    from harness.policy.kinds import Policy

Rows = list[tuple[str, ...]]

FIGURES = ("procs", "memory", "idle–peak [W]")
PLATFORMS = ("name", "nodes", *FIGURES, "sleep states", "about")
#: Columns of a table of servers. If several nodes were measured together, the numbers are for one node.
SERVERS = ("row", "vendor", "system", "processor", "result", "nodes", *FIGURES, "refused because")


def list_names(
    what: Annotated[
        str | None, typer.Argument(help="orders, starts, selections, hooks, … (default: everything)")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="with `platforms`: list the rows of this server table, and why some are refused"),
    ] = None,
    plugins: options.PluginPaths = None,
    max_size: options.MaxSize = None,
    format: options.Format = "table",
) -> None:
    """List names: policies, hooks, workloads, platforms, events, measures, and functions for policies."""
    from harness.present.tables import render

    kinds = _kinds(tuple(plugins or ()))
    if source is not None:
        if what != "platforms":
            raise HarnessError(f"--from {source}: expected 'harness list platforms' with it")
        echo(render(*_servers(source), format))
        return
    if what is not None and what not in kinds:
        raise HarnessError(f"nothing to list under {what!r}; {did_you_mean(what, kinds)}")
    for kind in [what] if what else list(kinds):
        headers, rows = kinds[kind]
        if what is None and format == "table":
            echo(f"\n{kind}")
        echo(render(headers, rows(), format))


def _kinds(plugins: tuple[str, ...]) -> dict[str, tuple[tuple[str, ...], Callable[[], Rows]]]:
    """Return each kind with its column heads and a function that returns its rows."""
    hooks: Rows = [(k.hook, f"harness.{k.__name__}", k.question(), f"harness list {k.plural}") for k in KINDS.values()]
    policies = ("name", "parameters", "rule", "reads")
    kinds: dict[str, tuple[tuple[str, ...], Callable[[], Rows]]] = {
        kind.plural: (policies, lambda hook=kind.hook: _policies(hook, plugins))  # type: ignore[misc]
        for kind in KINDS.values()
    }
    kinds["hooks"] = (("hook", "policy kind", "question", "policies"), lambda: hooks)
    kinds["workloads"] = (("name", "jobs", "procs", "about"), _workloads)
    kinds["platforms"] = (PLATFORMS, lambda: _platforms(plugins))
    kinds["fields"] = (("name", "about"), _fields)
    kinds["examples"] = (("name", "decides", "rule", "source"), _examples)
    kinds["records"] = (("record", "field", "kind", "meaning"), _records)
    kinds["verbs"] = (("function", "what it does", "for"), _verbs)
    kinds["events"] = (("event", "subject", "meaning"), _events)
    kinds["measures"] = (("name", "unit", "better", "formula", "meaning"), lambda: _measures(plugins))
    return kinds


def _policies(hook: str, paths: Iterable[str]) -> Rows:
    from harness.policy.registry import plugins

    offered = plugins(*paths).policies[hook]
    return [
        (name, ", ".join(f"{k}={v}" for k, v in policy.parameters.items()), policy.summary, _reads(policy))
        for name, policy in offered.items()
    ]


def _reads(policy: "Policy") -> str:
    """Return the state that a policy declares to read, in words."""
    if policy.reads is None:
        return "everything"
    return ", ".join(policy.reads) or "nothing"


def _workloads() -> Rows:
    from harness.workload.catalogue import catalogue

    generated: Rows = [
        ("lublin", "any", "any", "generated: Lublin and Feitelson's model, lublin(jobs=10000, procs=256, seed=1)"),
        ("poisson", "any", "any", "generated: Poisson arrivals, exponential runtimes, for validation"),
    ]
    return generated + [(t.name, str(t.jobs or ""), str(t.procs or ""), t.about) for t in catalogue().values()]


def _platforms(paths: tuple[str, ...]) -> Rows:
    from harness.platform.finding import bundled_platforms
    from harness.platform.platform_reading import read_platform

    read = {name: read_platform(name, plugins=paths) for name in bundled_platforms()}
    return [
        (name, str(p.nodes), str(p.cores), *_figures(p.types), _sleeps(p.types), p.about) for name, p in read.items()
    ]


def _servers(source: str) -> tuple[tuple[str, ...], Rows]:
    """Return every row of a table of servers, with the reason if a platform description cannot use it."""
    from dataclasses import astuple

    from harness.platform.finding import find_platform
    from harness.platform.server_tables import read_servers

    servers = read_servers(find_platform(source))
    rows = {server: (str(node.cores), *_figures((node,)), "") for server, node in servers.types.items()}
    rows |= {server: ("", "", "", reason) for server, reason in servers.refused.items()}
    ordered = sorted(rows, key=lambda server: server.row)
    return SERVERS, [(*map(str, astuple(server)), *rows[server]) for server in ordered]


def _figures(types: "tuple[NodeType, ...]") -> tuple[str, str]:
    """Return the memory and power of nodes, as ranges from the smallest to the largest node."""
    memory = sorted(t.memory / 1024**2 for t in types)
    low, high = min(t.idle for t in types), max(t.peak for t in types)
    spread = f"{memory[0]:g}" if memory[0] == memory[-1] else f"{memory[0]:g}–{memory[-1]:g}"
    watts = "" if math.isnan(high) else f"{'?' if math.isnan(low) else format(low, '.4g')}–{high:.4g}"
    return ("" if math.isinf(memory[-1]) else f"{spread} GB"), watts


def _sleeps(types: "tuple[NodeType, ...]") -> str:
    return ", ".join(dict.fromkeys(state.name for t in types for state in t.sleep))


def _fields() -> Rows:
    import tomllib

    from harness.experiment.field_reading import bundled_fields

    about = {name: tomllib.loads(path.read_text(encoding="utf-8"))["about"] for name, path in bundled_fields().items()}
    return [(name, " ".join(text.split())) for name, text in about.items()]


def _examples() -> Rows:
    from harness.policy.gallery import example_descriptions

    return [(one.name, ", ".join(one.hooks), one.rule, one.source) for one in example_descriptions()]


def _records() -> Rows:
    from harness.engine.records.docs import fields

    return list(fields())


def _verbs() -> Rows:
    from harness.policy.vocabulary import described

    return list(described())


def _events() -> Rows:
    from harness.workload.events import EVENTS

    return [(name, *about) for name, about in EVENTS.items()]


def _measures(paths: tuple[str, ...]) -> Rows:
    from harness.results.measures import extra_measures, known_measures

    return [(m.name, m.unit, m.better, m.formula, m.meaning) for m in known_measures(extra_measures(paths)).values()]
