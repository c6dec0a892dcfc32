"""A baseline on disk: a small sorted JSON file with the results of a field and its versions, and a zip file with
starts.

The JSON file has a digest of every schedule and is meant for review. The zip file of the same name has all starts,
about 1.5 bytes a job, under the digests of their schedules. They are not compared. They only show which job was the
first to start at another time, and a check without them is as strict. The digests ensure that both files belong
together. A check reports a missing zip file.
"""

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from harness.disk.atomic import replacing_both
from harness.disk.size_limit import SMALL, max_size, too_large
from harness.disk.stored import DAMAGED, stored_bytes, zip_of
from harness.errors import HarnessError
from harness.experiment.field import PARTS

if TYPE_CHECKING:
    from harness.results.schedule import Schedule

#: The version of the format; raised when the meaning of a baseline changes.
SCHEMA = 1

Starts = npt.NDArray[np.float64]

#: The key of a run in a baseline: workload, platform, variation, seed, and the policies by part.
Key = tuple[str, str, int, int, tuple[tuple[str, str], ...]]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Versions(_Keys):
    """The versions that made a baseline."""

    harness: str
    engine: str
    measures: str  # of their source
    resampling: str
    python: str  # major.minor: digests of policies depend on the bytecode


class BaselineRun(_Keys):
    """The result of one run."""

    workload: str
    platform: str
    variation: int
    seed: int
    policies: dict[str, str]
    schedule: str  # its digest
    measures: dict[str, float | None]
    scheduler: str = ""  # the external scheduler that made the schedule; "" if the policies made it

    @field_validator("policies")
    @classmethod
    def _of_every_part(cls, policies: dict[str, str]) -> dict[str, str]:
        policies = {"predict": "requested", "hold": "none"} | policies  # for baselines made before these parts existed
        if policies.keys() != set(PARTS):
            raise ValueError(f"expected one policy each of {', '.join(PARTS)}")
        return policies

    @property
    def key(self) -> Key:
        """Its key among the runs."""
        return self.workload, self.platform, self.variation, self.seed, tuple(sorted(self.policies.items()))


class ReplacedBaseline(_Keys):
    """The summary of a replaced baseline."""

    replaced: str  # the day
    harness: str
    measures: dict[str, float]  # means over its runs, for the measures in DEFAULT_TOLERANCES


class Baseline(_Keys):
    """The results of a field, and the versions that made them."""

    versions: Versions
    field: dict[str, Any]  # the content of its TOML file
    tolerances: dict[str, float]  # measure → relative tolerance, if it is not the default
    workloads: dict[str, str]  # name → digest
    platforms: dict[str, str]
    policies: dict[str, dict[str, str]]  # hook → name → version of its source
    runs: tuple[BaselineRun, ...]
    former: tuple[ReplacedBaseline, ...] = ()  # the oldest first

    @property
    def text(self) -> str:
        """The text of the file: the same bytes for the same content."""
        content = {"schema": SCHEMA, **self.model_dump()}
        if not self.former:  # keeps the text of baselines without former ones
            del content["former"]
        content["runs"] = [
            past.model_dump(exclude_defaults=True) for past in sorted(self.runs, key=lambda past: past.key)
        ]
        return json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_baseline(path: Path) -> tuple[Baseline, str]:
    """Read a baseline; return it and its text."""
    try:
        text = stored_bytes(path, "a baseline").decode()
        if len(text) > max_size() // SMALL:
            raise too_large(path, SMALL)
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{path}: cannot be read as a baseline: {error}; expected JSON") from error
    schema = content.pop("schema", None) if isinstance(content, dict) else None
    if not isinstance(schema, int):
        raise HarnessError(f"{path}: not a baseline: expected what harness check --update writes")
    if schema != SCHEMA:
        raise HarnessError(
            f"{path}: a baseline of schema {schema!r}, but this harness compares schema {SCHEMA}: expected one that it "
            "made (harness check --field FIELD --update), or the version of the harness that made this one"
        )
    try:
        return Baseline.model_validate_json(json.dumps(content)), text
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise HarnessError(f"{path}: {where}: {first['msg']}; expected what harness check --update writes") from error


def write_baseline(path: Path, baseline: Baseline, packed: Mapping[str, bytes]) -> None:
    """Write a baseline and the packed starts by digest: both files, or neither."""
    with replacing_both(path, starts_path(path)) as (text, starts):
        with zipfile.ZipFile(starts, "w") as archive:
            for digest in sorted(packed):
                archive.writestr(zipfile.ZipInfo(digest), packed[digest])  # dated 1980: the same bytes at any time
        text.write_text(baseline.text, encoding="utf-8")


def starts_path(path: Path) -> Path:
    """Return the path of the starts of a baseline."""
    return path.with_suffix(".starts.zip")


def read_packed(path: Path, runs: int) -> dict[str, bytes]:
    """Read the packed starts of a baseline with `runs` runs, by digest; empty if there is no such file."""
    if not os.path.exists(starts_path(path)):
        return {}
    stored = stored_bytes(starts_path(path), "what --update writes")
    try:
        with zip_of(stored, runs) as archive:
            if sum(one.file_size for one in archive.infolist()) > len(stored):
                raise ValueError("it unpacks to more than it holds")
            return {name: archive.read(name) for name in archive.namelist()}
    except DAMAGED as error:
        raise HarnessError(f"{starts_path(path)}: cannot be read: {error}; expected what --update writes") from error


def pack(schedule: "Schedule") -> bytes:
    """Pack all starts of a schedule, in log order, as differences from the submits."""
    columns = schedule.frame
    # Differences of the bits are exact, unlike those of the numbers. Grouped by significance, bytes compress better.
    bits = _bits(columns["start"].to_numpy()) - _bits(columns["submit"].to_numpy())
    return zlib.compress(bits.view(np.uint8).reshape(-1, 8).T.tobytes(), 9)


def unpack(packed: bytes, submit: npt.NDArray[Any]) -> Starts:
    """Unpack starts from `pack`, with the submits of the same workload."""
    try:
        content = zlib.decompressobj().decompress(packed, 8 * len(submit) + 1)
        if len(content) != 8 * len(submit):
            raise ValueError("they have another number of jobs")
        rows = np.frombuffer(content, np.uint8).reshape(8, -1).T
        bits = np.ascontiguousarray(rows).view("<i8").ravel() + _bits(submit)
    except (zlib.error, ValueError) as error:
        raise HarnessError(f"starts of {len(submit)} jobs cannot be unpacked: {error}; expected others") from error
    return bits.view(np.float64)


def _bits(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(values, "<f8").view("<i8")
