"""Read a field from a TOML file: every name is checked before anything runs, and every error names its line."""

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.disk import bundled
from harness.disk.stored import stored_bytes, toml_of
from harness.errors import HarnessError, did_you_mean
from harness.experiment.field import (
    AS_CONFIGURED,
    PARTS,
    Exclusion,
    Field,
    Source,
    chosen,
    expand,
    schedulers_of,
    with_first_jobs,
    with_snapshot,
)
from harness.experiment.source_text import SourceText
from harness.platform.sizing import OF_THE_LOG
from harness.platform.windows import read_windows
from harness.policy.kinds import Policy
from harness.policy.own_queues import OWN, OwnQueue, queue_tables, queues_of, with_queues
from harness.policy.registry import plugins as load_plugins
from harness.policy.scheduler import Chosen, Scheduler
from harness.policy.spec import Choice
from harness.policy.timing import TIMING_FIELDS, DecisionTiming
from harness.workload.catalogue import catalogue
from harness.workload.preparation import Preparation
from harness.workload.signals import Signal, read_signal

if TYPE_CHECKING:
    from harness.slurm.slurm_scheduler import SlurmScheduler

_KEYS = (
    *("about", "workloads", "platforms", "reservations", "seeds", *TIMING_FIELDS, "signal", "resamples"),
    *("scheduler", "exclude"),
)
_A_LOG = "a log: list it in a field under workloads = […], or pass it to harness compare"
_NAMED = ("workload", "platform", "slurm")  # keys of an exclusion that are not policies


def bundled_fields() -> dict[str, Path]:
    """Return the fields that come with the harness, by name."""
    return {path.stem: path for path in sorted(bundled.folder("policies").glob("*.toml"))}


def read_field(source: str | Path, *, slurms: Iterable[str] = (), plugins: Iterable[str | Path] = ()) -> Field:
    """Read a field by its path or its bundled name: `classic`, `my-field.toml`.

    `slurms` are Slurm configurations that compete in addition. With them, `source` may also be a single workload.
    """
    path = bundled_fields().get(str(source), Path(source))
    more = f"\n[[scheduler]]\nslurm = {json.dumps([*slurms])}\n" if slurms else ""
    if more and path.suffix.lower() != ".toml":
        name = re.sub(r"\W+", "-", path.name.split(".")[0]).strip("-") or "slurm"
        text = f"workloads = [{json.dumps(str(source))}]\n"
        return parse_field(SourceText(Path(f"{name}.toml"), text + more), plugins=plugins)
    if str(source).lower() in map(str.lower, catalogue()):
        raise HarnessError(f"{source} is {_A_LOG}")
    if not path.is_file():
        raise HarnessError(f"{source}: no such field; {did_you_mean(Path(source).stem, bundled_fields())}")
    try:
        text = stored_bytes(path, "a field").decode()
    except UnicodeDecodeError as error:
        raise HarnessError(f"{path}: cannot be read as a field: {error}; expected TOML, not {_A_LOG}") from error
    if path.suffix.lower() != ".toml":
        try:
            toml_of(text, path, "a field")
        except HarnessError as error:  # the file may be a log
            raise HarnessError(f"{error}, not {_A_LOG}") from error
    return parse_field(SourceText(path, text + more), plugins=plugins)


def parse_field(written: SourceText, *, plugins: Iterable[str | Path] = ()) -> Field:
    """Read a field from its text."""
    return field_of(toml_of(written.text, written.path, "a field"), written, plugins=plugins)


def field_from_store(about: Mapping[str, Any], *, plugins: Iterable[str | Path] = ()) -> Field:
    """Read a field from its description in a store."""
    read = parse_field(SourceText(Path(f"{about['name']}.toml"), about["text"]), plugins=plugins)
    read = with_snapshot(replace(read, resamples=about["resamples"]), about.get("state"))
    return with_first_jobs(read, about.get("jobs"))


def field_of(table: dict[str, Any], written: SourceText, *, plugins: Iterable[str | Path] = ()) -> Field:
    """Read a field from its table; `written` is its file."""
    return _Reader(written, load_plugins(*map(str, plugins)).policies).field(table)


@dataclass(frozen=True)
class _Reader:
    written: SourceText
    policies: Mapping[str, Mapping[str, Policy]]

    def field(self, table: dict[str, Any]) -> Field:
        self.check_keys(table, _KEYS)
        for key in ("workloads", "scheduler"):
            if not table.get(key):
                what = "a list" if key == "workloads" else "tables [[scheduler]]"
                raise self.written.refusal(f"no {key}: expected {what} with at least one", key)
        workloads = tuple(self.workload(entry) for entry in self.listed(table["workloads"], "workloads", str, dict))
        platforms = tuple(
            self.platform(entry)
            for entry in self.listed(table.get("platforms", self.usual_platform(table)), "platforms", str, int, dict)
        )
        self.check_repeats(list(platforms), "platforms")
        seeds = tuple(self.listed(table.get("seeds", 0), "seeds", int))
        resamples = table.get("resamples", 0)
        for key, number in (("resamples", resamples), *(("seeds", seed) for seed in seeds)):
            if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**63:
                raise self.written.refusal(
                    f"{key} = {number!r}: expected whole numbers of at least 0, and of 64 bits", key
                )
        timing, signal = self.timing(table), self.signal(table)
        about = table.get("about", "")
        if not isinstance(about, str):
            raise self.written.refusal(f"about = {about!r}: expected a text", "about")
        everyone: dict[Scheduler, Chosen] = {}
        for number, group in enumerate(self.tables(table, "scheduler")):
            everyone |= self.schedulers(group, number, table)
        excluded: set[tuple[int, str, Scheduler]] = set()
        for number, entry in enumerate(self.tables(table, "exclude")):
            exclusion = self.exclusion(entry, number)
            covered = {
                (k, platform, scheduler)
                for k, workload in enumerate(workloads)
                for platform in platforms
                for scheduler, choices in everyone.items()
                if exclusion.covers(workload, platform, choices)
            }
            if not covered:
                words = ", ".join(f"{key} = {value!r}" for key, value in entry.items()) or "nothing"
                raise self.written.refusal(
                    f"no combination has {words}: expected some of this field", "", "exclude", number
                )
            excluded |= covered
        if len(excluded) == len(workloads) * len(platforms) * len(everyone):
            raise self.written.refusal("everything is excluded: expected something to run", "", "exclude")
        return Field(
            name=self.written.path.stem,
            about=" ".join(about.split()),
            written=self.written,
            workloads=workloads,
            platforms=platforms,
            schedulers=everyone,
            seeds=seeds,
            timing=timing,
            signal=signal,
            reservations=self.reservations(table),
            resamples=resamples,
            excluded=frozenset(excluded),
        )

    def usual_platform(self, table: Mapping[str, Any]) -> str:
        """Return the platform of a field that names none: with a Slurm configuration, the nodes of that
        configuration.
        """
        groups = self.tables(dict(table), "scheduler")
        return AS_CONFIGURED if any("slurm" in group for group in groups) else OF_THE_LOG

    def schedulers(self, group: dict[str, Any], number: int, field: dict[str, Any]) -> dict[Scheduler, Chosen]:
        """Read the schedulers of one [[scheduler]] of a field."""
        if "slurm" in group:
            return self.slurms(group, number, field)
        parts = self.group(group, number)
        with self.written.locating("", "scheduler", number):
            return schedulers_of(parts, self.policies)

    def slurms(self, table: dict[str, Any], number: int, field: dict[str, Any]) -> dict[Scheduler, Chosen]:
        """Read one [[scheduler]] of Slurm configurations."""
        for key in table:
            if key != "slurm":
                raise self.written.refusal(
                    f"{key} next to slurm: a configuration determines all decisions; expected slurm alone",
                    key, "scheduler", number,
                )  # fmt: skip
        from harness.slurm.slurm_scheduler import read_slurm_scheduler

        found: dict[Scheduler, SlurmScheduler] = {}
        for key in (*TIMING_FIELDS, "signal", "reservations"):
            if key in field:
                raise self.written.refusal(f"{key}: a Slurm decides by its configuration alone; expected none", key)
        for spec in self.listed(table["slurm"], "slurm", str, table="scheduler", number=number):
            with self.written.locating(spec, "scheduler", number):
                one = read_slurm_scheduler(spec)
                if same := [other.configured for other in found.values() if other.digest == one.digest]:
                    raise HarnessError(f"{spec} is the same configuration as {same[0]}: expected another one")
            found[Scheduler(**one.names)] = one
        return dict(found)

    def timing(self, table: Mapping[str, Any]) -> DecisionTiming:
        timing = DecisionTiming()
        for name in filter(table.__contains__, TIMING_FIELDS):
            with self.written.locating(name):
                timing = replace(timing, **{name: table[name]})
        return timing

    def signal(self, table: Mapping[str, Any]) -> Signal | None:
        """Read the external signal."""
        given = table.get("signal")
        if not isinstance(given, str | None):
            raise self.written.refusal(f"signal = {given!r}: expected the name of a file, or daily(…)", "signal")
        with self.written.locating("signal"):
            return read_signal(given) if given else None

    def reservations(self, table: Mapping[str, Any]) -> str:
        """Return the file of advance reservations; raise an error if it is not such a table."""
        given = table.get("reservations", "")
        if not isinstance(given, str):
            raise self.written.refusal(f"reservations = {given!r}: expected the name of a file", "reservations")
        with self.written.locating("reservations"):
            if given:
                read_windows(given)
        return given

    def check_keys(self, table: Mapping[str, Any], known: Iterable[str], name: str = "", number: int = 0) -> None:
        for key in table:
            if key not in (known := tuple(known)):
                raise self.written.refusal(f"there is no key {key!r}; {did_you_mean(key, known)}", key, name, number)

    def listed(self, value: Any, key: str, *kinds: type, table: str = "", number: int = 0) -> list[Any]:
        """Return the values of a key as a list; a single value need not be written as a list."""
        values = value if isinstance(value, list) else [value]
        words = {str: "texts", int: "whole numbers", dict: "tables", list: "lists of texts"}
        if not values or not all(type(one) in kinds for one in values):
            expected = " or ".join(words[kind] for kind in kinds)
            raise self.written.refusal(f"{key} = {value!r}: expected {expected}, at least one", key, table, number)
        self.check_repeats(values, key, table, number)
        return values

    def check_repeats(self, values: list[Any], key: str, table: str = "", number: int = 0) -> None:
        """Refuse a value that is listed twice."""
        known: set[str] = set()
        for value in values:
            if repr(value) in known:
                problem = f"{key}: {value!r:.80} is listed twice: expected it once"
                raise self.written.refusal(problem, key, table, number)
            known.add(repr(value))

    def tables(self, table: dict[str, Any], key: str) -> list[dict[str, Any]]:
        return self.listed(table[key], key, dict) if key in table else []

    def platform(self, entry: str | int | dict[str, Any], table: str = "", number: int = 0) -> str:
        """Read a platform: its name, a number of processors, or {nodes = NAME, size = NUMBER or "log"}."""
        word = "platform" if table else "platforms"
        if not isinstance(entry, dict):
            return str(entry)
        self.check_keys(entry, ("nodes", "size"), table, number)
        nodes, size = entry.get("nodes"), entry.get("size", OF_THE_LOG)
        counted = isinstance(size, int) and not isinstance(size, bool) and size > 0
        if not isinstance(nodes, str) or not (counted or size == OF_THE_LOG):
            expected = 'expected {nodes = "NAME", size = "log"}, or a number of processors as the size'
            raise self.written.refusal(f"{word}: {entry}: {expected}", word, table, number)
        return f"{nodes.removesuffix(')')}, procs={size})" if nodes.endswith(")") else f"{nodes}(procs={size})"

    def workload(self, entry: str | dict[str, Any]) -> Source:
        if isinstance(entry, str):
            return Source(entry, {})
        options = [field.name for field in fields(Preparation)]
        self.check_keys(entry, ("source", "name", "procs", "state", *options))
        name, procs, state = entry.get("name", ""), entry.get("procs"), entry.get("state", "")
        source = entry.get("source", "" if state else None)
        if procs is not None and (isinstance(procs, bool) or not isinstance(procs, int) or not 0 < procs < 2**31):
            raise self.written.refusal(f"procs = {procs!r}: expected a number of processors", "workloads")
        if not (isinstance(source, str) and isinstance(name, str) and isinstance(state, str)):
            raise self.written.refusal(f'the workload {entry}: expected source = "a path or a name"', "workloads")
        return Source(source, {key: value for key, value in entry.items() if key in options}, name, procs, state)

    def group(self, table: dict[str, Any], number: int) -> dict[str, list[Choice]]:
        """Read the policies of one [[scheduler]], sweeps expanded."""
        self.check_keys(table, (*PARTS, "queues"), "scheduler", number)
        group: dict[str, list[Choice]] = {}
        table, sets = self.with_queues(table, number)
        for part, value in table.items():
            group[part] = []
            beside_it = sets if part == "start" else [[]]
            for spec in (with_queues(one, own) for one in self.specs(value, part, number) for own in beside_it):
                with self.written.locating(spec, "scheduler", number):
                    every = expand(spec, self.policies[Scheduler.HOOKS[part]])
                    group[part] += [chosen(one, part, self.policies) for one in every]
            self.check_repeats([str(choice) for choice in group[part]], part, "scheduler", number)
        return group

    def with_queues(self, table: dict[str, Any], number: int) -> tuple[dict[str, Any], list[list[OwnQueue]]]:
        """Return the parts of one [[scheduler]], and every set of queues with their own policies, from tables or a
        file.
        """
        if "queues" not in table:
            return table, [[]]
        given = table["queues"]
        with self.written.locating("queues", "scheduler", number):
            where = "queues" if isinstance(given, dict) else str(given)
            tables = given if isinstance(given, dict) else queue_tables(where)
            points = itertools.product(*(self.own_queues(name, queue) for name, queue in tables.items()))
            sets = [queues_of(dict(zip(tables, point, strict=True)), where) for point in points]
        parts = {"start": Scheduler().start} | table
        return {part: value for part, value in parts.items() if part != "queues"}, sets

    def own_queues(self, name: str, given: Any) -> list[Any]:
        """Return every table that results from the lists and sweeps in the table of one queue."""
        if not isinstance(given, dict):
            return [given]  # queues_of raises the error
        lists = {key: value if isinstance(value, list) else [value] for key, value in given.items() if key in OWN}
        if any(not values or not all(isinstance(one, str) for one in values) for values in lists.values()):
            return [given]
        for part, values in lists.items():
            lists[part] = [point for one in values for point in expand(one, self.policies[Scheduler.HOOKS[part]])]
            self.check_repeats(lists[part], f"{name}: {part}")
        return [given | dict(zip(lists, point, strict=True)) for point in itertools.product(*lists.values())]

    def specs(self, value: Any, part: str, number: int) -> list[str]:
        """Return the policies of a part as written; each hold may be a list of several that apply together."""
        kinds = (str, list) if part == "hold" else (str,)
        specs = self.listed(value, part, *kinds, table="scheduler", number=number)
        return [
            spec
            if isinstance(spec, str)
            else " + ".join(self.listed(spec, part, str, table="scheduler", number=number))
            for spec in specs
        ]

    def exclusion(self, table: dict[str, Any], number: int) -> Exclusion:
        self.check_keys(table, (*_NAMED, *PARTS), "exclude", number)
        names, choices = {}, {}
        for key, value in table.items():
            kinds = (str, int, dict) if key == "platform" else (str,)
            values = self.listed(value, key, *kinds, table="exclude", number=number)
            if key == "platform":
                names[key] = tuple(self.platform(one, "exclude", number) for one in values)
                continue
            if key in _NAMED:
                names[key] = tuple(map(str, values))
                continue
            with self.written.locating(key, "exclude", number):
                choices[key] = tuple(chosen(spec, key, self.policies) for spec in values)
        return Exclusion(names, choices)
