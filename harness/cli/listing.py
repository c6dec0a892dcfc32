"""`harness list`: what there is to choose from."""

from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from harness.errors import HarnessError, did_you_mean

Rows = list[tuple[str, ...]]


def list_names(
    what: Annotated[str | None, typer.Argument(help="orders, starts, selections, …; all kinds without it")] = None,
    plugins: Annotated[list[str] | None, typer.Option(help="a plugin file or folder; may be repeated")] = None,
    format: Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")] = "table",
) -> None:
    """List the policies, workloads, platforms and measures there are, and the records that policies read."""
    from harness.report.tables import render

    kinds = _kinds(tuple(plugins or ()))
    if what is not None and what not in kinds:
        raise HarnessError(f"nothing to list under {what!r}; {did_you_mean(what, kinds)}")
    for kind in [what] if what else list(kinds):
        headers, rows = kinds[kind]
        if what is None and format == "table":
            print(f"\n{kind}")
        print(render(headers, rows(), format))


def _kinds(plugins: tuple[str, ...]) -> dict[str, tuple[tuple[str, ...], Callable[[], Rows]]]:
    """Kind → column heads and where its rows come from."""
    hooks = {
        "orders": "order_queue",
        "starts": "start_jobs",
        "selections": "select_resources",
        "rates": "set_rate",
        "sleeps": "set_sleep",
        "energies": "account_energy",
    }
    policies = ("name", "parameters", "rule")
    kinds: dict[str, tuple[tuple[str, ...], Callable[[], Rows]]] = {
        kind: (policies, lambda hook=hook: _policies(hook, plugins))  # type: ignore[misc]
        for kind, hook in hooks.items()
    }
    kinds["workloads"] = (("name", "jobs", "procs", "about"), _workloads)
    kinds["platforms"] = (("name", "nodes", "procs"), lambda: _platforms(plugins))
    kinds["records"] = (("record", "field", "kind", "meaning"), _records)
    kinds["measures"] = (("name", "unit", "better", "meaning"), lambda: _measures(plugins))
    return kinds


def _policies(hook: str, paths: Iterable[str]) -> Rows:
    from harness.plugins import plugins

    offered = plugins(*paths).policies[hook]
    return [
        (name, ", ".join(f"{k}={v}" for k, v in policy.parameters.items()), policy.summary)
        for name, policy in offered.items()
    ]


def _workloads() -> Rows:
    from harness.workload.catalogue import catalogue

    generated: Rows = [
        ("lublin", "any", "any", "generated: Lublin and Feitelson's model, lublin(jobs=10000, procs=256, seed=1)"),
        ("poisson", "any", "any", "generated: Poisson arrivals, exponential runtimes, for validation"),
    ]
    return generated + [(t.name, str(t.jobs), str(t.procs or ""), t.about) for t in catalogue().values()]


def _platforms(paths: tuple[str, ...]) -> Rows:
    from harness.run import bundled_platforms, read_platform

    read = {name: read_platform(name, plugins=paths) for name in bundled_platforms()}
    return [(name, str(p.nodes), str(p.cores)) for name, p in read.items()]


def _records() -> Rows:
    from harness.records import fields

    return list(fields())


def _measures(paths: tuple[str, ...]) -> Rows:
    from harness.results.metrics import MEASURES
    from harness.run import extra_measures

    return [(m.name, m.unit, m.better, m.meaning) for m in (*MEASURES.values(), *extra_measures(paths))]
