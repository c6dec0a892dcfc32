"""Options that commands share: what is replayed, where and by whom, and how its jobs are prepared."""

from typing import Annotated, Any

import typer


def _policy(question: str, kind: str) -> Any:
    return typer.Option(metavar="POLICY", help=f"{question} see `harness list {kind}`")


Workload = Annotated[str, typer.Argument(help="a log by path or short name, or lublin(jobs=…)")]
Platform = Annotated[str | None, typer.Option(help="a platform by name or path")]
Procs = Annotated[int | None, typer.Option(help="a plain cluster of so many processors", min=1)]
Order = Annotated[str, _policy("who is next?", "orders")]
Start = Annotated[str, _policy("who starts now?", "starts")]
Select = Annotated[str, _policy("on which nodes?", "selections")]
Rate = Annotated[str, _policy("how fast?", "rates")]
Sleep = Annotated[str, _policy("which nodes sleep?", "sleeps")]
Energy = Annotated[str, _policy("how many watts? (the richest the platform allows)", "energies")]
ProcsFrom = Annotated[str, typer.Option(help="width of a job: requested or used processors")]
Estimates = Annotated[str, typer.Option(help="requested, actual, or factor(f)")]
Overrun = Annotated[str, typer.Option(help="jobs over their estimate: raise it, or clip them")]
Unknown = Annotated[str, typer.Option(help="jobs without a runtime: drop, or replay as cancel")]
Memory = Annotated[str, typer.Option(help="memory per processor: requested, or ignored")]
Jobs = Annotated[int | None, typer.Option(help="the first so many jobs, before any is dropped", min=1)]
From = Annotated[float | None, typer.Option("--from", help="jobs submitted from then on [s after the first]")]
To = Annotated[float | None, typer.Option(help="jobs submitted before then [s after the first]")]
Filter = Annotated[str | None, typer.Option(metavar="CONDITION", help="jobs like 'procs <= 64 and user != 3'")]
Lenient = Annotated[bool, typer.Option("--lenient", help="skip malformed lines, and count them")]
Seed = Annotated[int, typer.Option(help="of the policies that flip coins", min=0)]
PluginPaths = Annotated[list[str] | None, typer.Option("--plugins", help="a plugin file or folder; may be repeated")]
Format = Annotated[str, typer.Option(help="table, json, csv, markdown, latex or html")]
