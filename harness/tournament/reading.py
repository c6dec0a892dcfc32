"""From a TOML file to a field: every name checked before anything runs, every mistake said by line."""

import inspect
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import bundled
from harness.errors import HarnessError, did_you_mean
from harness.plugins import plugins as load_plugins
from harness.policy import Choice, Policy, Scheduler
from harness.tournament.field import PARTS, Exclusion, Field, Source, chosen, expand, schedulers_of
from harness.tournament.page import Page
from harness.workload.prepare import prepare

_KEYS = ("about", "workloads", "platforms", "seeds", "resamples", "scheduler", "exclude")
_PLACES = ("workload", "platform")  # what an exclusion may name besides policies


def bundled_fields() -> dict[str, Path]:
    """The fields that come with the harness, by name."""
    return {path.stem: path for path in sorted(bundled.folder("policies").glob("*.toml"))}


def read_field(source: str | Path, *, plugins: Iterable[str | Path] = ()) -> Field:
    """Read a field by path or bundled name: `classic`, `my-field.toml`."""
    path = bundled_fields().get(str(source), Path(source))
    if not path.is_file():
        raise HarnessError(f"{source}: no such field; {did_you_mean(Path(source).stem, bundled_fields())}")
    try:
        page = Page(path, path.read_text(encoding="utf-8"))
        table = tomllib.loads(page.text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise HarnessError(f"{path}: cannot be read as a field: {error}; expected TOML") from error
    return field_of(table, page, plugins=plugins)


def field_of(table: dict[str, Any], page: Page, *, plugins: Iterable[str | Path] = ()) -> Field:
    """The field that a table describes; `page` is where it is written."""
    return _Reader(page, load_plugins(*map(str, plugins)).policies).field(table)


@dataclass(frozen=True)
class _Reader:
    page: Page
    policies: Mapping[str, Mapping[str, Policy]]

    def field(self, table: dict[str, Any]) -> Field:
        self.check_keys(table, _KEYS)
        for key in ("workloads", "scheduler"):
            if not table.get(key):
                what = "a list" if key == "workloads" else "tables [[scheduler]]"
                raise self.page.refusal(f"no {key}: expected {what} with at least one", key)
        workloads = tuple(self.workload(entry) for entry in self.listed(table["workloads"], "workloads", str, dict))
        platforms = tuple(map(str, self.listed(table.get("platforms", "log"), "platforms", str, int)))
        seeds = tuple(self.listed(table.get("seeds", 0), "seeds", int))
        resamples = table.get("resamples", 0)
        for key, number in (("resamples", resamples), *(("seeds", seed) for seed in seeds)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise self.page.refusal(f"{key} = {number!r}: expected whole numbers of at least 0", key)
        about = table.get("about", "")
        if not isinstance(about, str):
            raise self.page.refusal(f"about = {about!r}: expected a text", "about")
        everyone: dict[Scheduler, dict[str, Choice]] = {}
        for number, group in enumerate(self.tables(table, "scheduler")):
            everyone |= schedulers_of(self.group(group, number), self.policies)
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
                raise self.page.refusal(
                    f"no combination has {words}: expected some of this field", "", "exclude", number
                )
            excluded |= covered
        if len(excluded) == len(workloads) * len(platforms) * len(everyone):
            raise self.page.refusal("everything is excluded: expected something to run", "", "exclude")
        return Field(
            name=self.page.path.stem,
            about=" ".join(about.split()),
            page=self.page,
            workloads=workloads,
            platforms=tuple(dict.fromkeys(platforms)),
            schedulers=tuple(everyone),
            seeds=tuple(dict.fromkeys(seeds)),
            resamples=resamples,
            excluded=frozenset(excluded),
        )

    def check_keys(self, table: Mapping[str, Any], known: Iterable[str], name: str = "", number: int = 0) -> None:
        for key in table:
            if key not in (known := tuple(known)):
                raise self.page.refusal(f"there is no key {key!r}; {did_you_mean(key, known)}", key, name, number)

    def listed(self, value: Any, key: str, *kinds: type, table: str = "", number: int = 0) -> list[Any]:
        """One or several values; a single one need not be a list."""
        values = value if isinstance(value, list) else [value]
        words = {str: "texts", int: "whole numbers", dict: "tables"}
        if not values or not all(type(one) in kinds for one in values):
            expected = " or ".join(words[kind] for kind in kinds)
            raise self.page.refusal(f"{key} = {value!r}: expected {expected}, at least one", key, table, number)
        return values

    def tables(self, table: dict[str, Any], key: str) -> list[dict[str, Any]]:
        return self.listed(table[key], key, dict) if key in table else []

    def workload(self, entry: str | dict[str, Any]) -> Source:
        if isinstance(entry, str):
            return Source(entry, {})
        options = [name for name, p in inspect.signature(prepare).parameters.items() if p.kind is p.KEYWORD_ONLY]
        self.check_keys(entry, ("source", "name", *options))
        source, name = entry.get("source"), entry.get("name", "")
        if not isinstance(source, str) or not isinstance(name, str):
            raise self.page.refusal(f'the workload {entry}: expected source = "a path or a name"', "workloads")
        return Source(source, {key: value for key, value in entry.items() if key in options}, name)

    def group(self, table: dict[str, Any], number: int) -> dict[str, list[str]]:
        """The policies of one [[scheduler]], sweeps expanded."""
        self.check_keys(table, PARTS, "scheduler", number)
        group: dict[str, list[str]] = {}
        for part, value in table.items():
            group[part] = []
            for spec in self.listed(value, part, str, table="scheduler", number=number):
                with self.page.saying(spec, "scheduler", number):
                    every = expand(spec, self.policies[Scheduler.HOOKS[part]])
                    for one in every:
                        chosen(one, part, self.policies)
                    group[part] += every
        return group

    def exclusion(self, table: dict[str, Any], number: int) -> Exclusion:
        self.check_keys(table, (*_PLACES, *PARTS), "exclude", number)
        names, choices = {}, {}
        for key, value in table.items():
            values = self.listed(
                value, key, str, *((int,) if key == "platform" else ()), table="exclude", number=number
            )
            if key in _PLACES:
                names[key] = tuple(map(str, values))
                continue
            with self.page.saying(key, "exclude", number):
                choices[key] = tuple(chosen(spec, key, self.policies) for spec in values)
        return Exclusion(names, choices)
