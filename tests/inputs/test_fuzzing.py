"""What is spoilt is read or refused with a sentence: a few inputs of every reader here, thousands as a study."""

from pathlib import Path

import pytest
from further_readers import further_readers
from fuzzing import COMMAND, GOOD, REPORT, faults, outcome, study
from hypothesis import HealthCheck, Phase, given, settings
from shared.readers import Reader, readers

from harness.disk.data_search import cache_folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in, and nothing kept but compiled code."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "kernels").symlink_to(cache_folder() / "kernels")
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def surprises(reader: Reader, number: int) -> list[str]:
    """What is neither read nor refused as it should be, of so many inputs."""
    found = []

    @settings(
        max_examples=number, phases=[Phase.generate], derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(reader.inputs)
    def attempt(content: object) -> None:
        arguments = [argument.replace("\0", "") for argument in reader.arguments(Path(), content, len(found))]
        said = outcome(arguments)
        found.append("" if said.kind in GOOD else f"{reader.name}: {arguments}: {said}")

    attempt()
    return [one for one in found if one]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_few_spoilt_inputs_of_every_reader(here: Path) -> None:
    made = here / "made"
    made.mkdir()
    everyone = [*readers(made), *further_readers()]
    assert [one for reader in everyone for one in surprises(reader, 4)] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("reader", further_readers(), ids=lambda reader: reader.name)
def test_the_valid_inputs_of_further_readers_are_read(here: Path, reader: Reader) -> None:
    for content in reader.valid:
        found = outcome(reader.arguments(Path(), content, 0))
        assert found.kind == "accepted", found.seen


def test_the_page_tells_of_every_reader_and_of_no_fault(here: Path) -> None:
    made = here / "made"
    made.mkdir()
    lines = REPORT.read_text(encoding="utf-8").splitlines()
    assert f"    {COMMAND}" in lines
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")][2:]
    assert [(row[0], row[1]) for row in rows[:-1]] == [(one.name, str(one.number)) for one in readers(made)]
    assert {row[-1] for row in rows} == {"0"}


@pytest.mark.study
def test_thousands_of_spoilt_inputs_of_every_reader() -> None:
    found = study()
    assert [fault for tried in found.values() for fault in faults(tried)] == []
