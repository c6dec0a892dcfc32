"""Every option is known wherever one can be given, and part of what a workload is."""

import inspect
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from preparing import log_of

from harness.cli.adequacy_command import adequacy
from harness.cli.identify_command import identify
from harness.cli.infinite_server_command import infinite_server
from harness.cli.run_command import run
from harness.cli.theory_command import delays, stability
from harness.experiment.field_reading import read_field
from harness.workload.preparation import Preparation
from harness.workload.prepare import prepare


def test_digest_is_content_and_options() -> None:
    log, other = log_of(run=[1, 2]), log_of(run=[1, 3])
    digests = {
        prepare(log).digest,
        prepare(other).digest,
        prepare(log, load=2).digest,
        prepare(log, jobs=2).digest,
        prepare(log, overrun="clip").digest,
        prepare(log, estimates="factor(1)").digest,
        prepare(log, estimates="factor(2)").digest,
        prepare(log, width=2).digest,
        prepare(log, filter="run > 0").digest,
    }
    assert len(digests) == 9
    assert prepare(log, filter="(run>0)").digest == prepare(log, filter="run > 0").digest
    assert prepare(log, load=2).digest == prepare(log, load=2.0).digest


@pytest.mark.parametrize(
    ("options", "digest"),
    [
        ({}, "fadc2773f31eb73d"),
        ({"estimates": "factor( 2.50 )"}, "302461f316550b41"),
        ({"load": 2}, "ac7bedb4dc938f8c"),
        ({"filter": "(procs<=4)"}, "9707373cd795298b"),
        ({"jobs": 10, "start": 0, "stop": 1000000000.0}, "c87c6a179215f2aa"),
        (
            {"unknown": "cancel", "overrun": "clip", "procs_from": "used", "memory": "ignored", "width": 2},
            "b5b6c296a62ff986",
        ),
    ],
)
def test_what_was_published_keeps_its_identity(options: dict[str, Any], digest: str) -> None:
    assert Preparation(**options).digest("0" * 64)[:16] == digest


def test_an_option_that_is_not_given_changes_no_identity() -> None:
    @dataclass(frozen=True, kw_only=True)
    class More(Preparation):
        shift: float | None = None

    assert More(load=2).digest("0" * 64) == Preparation(load=2).digest("0" * 64)
    assert More(shift=1).digest("0" * 64) != Preparation().digest("0" * 64)


@pytest.mark.slow
def test_a_type_checker_knows_the_options(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    call = "import harness\nharness.prepare(harness.lublin(), {})\n"
    calls = {
        "right": 'estimates="actual", load=2, procs_from="used"',
        "misspelt": 'estmates="actual"',
        "of_the_wrong_kind": 'load="2"',
        "no_such_word": 'overrun="kill"',
        "in_no_order": '"actual"',
    }
    for name, options in calls.items():
        (tmp_path / f"{name}.py").write_text(call.format(options))
    paths = [str(tmp_path / f"{name}.py") for name in calls]
    said, *_ = api.run(["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={tmp_path}", *paths])
    refused = {Path(line.split(":")[0]).stem for line in said.splitlines() if ": error:" in line}
    assert refused == set(calls) - {"right"}, said


def test_every_option_is_known_wherever_one_can_be_given(tmp_path: Path) -> None:
    names = [field.name for field in fields(Preparation)]
    assert list(inspect.signature(prepare).parameters) == ["log", *names]
    field = tmp_path / "own.toml"
    given: Any = {"start": 0, "stop": 9, "jobs": 5, "filter": "run > 0", "width": 2, "load": 2}
    given |= {"zeros": "keep", "seconds_at": 2}
    options = ", ".join(f"{name} = {json.dumps(vars(Preparation(**given))[name])}" for name in names)
    field.write_text(f'workloads = [{{ source = "lublin", {options} }}]\n[[scheduler]]\n')
    [source] = read_field(field).workloads
    assert list(source.options) == names
    assert [name for name in names if f"\n{name}: " not in (prepare.__doc__ or "")] == []
    for command in (run, adequacy, identify, delays, stability, infinite_server):
        assert set(names) - {"start", "stop"} <= set(inspect.signature(command).parameters) > {"from_", "to"}
