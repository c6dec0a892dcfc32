"""What the engine's speed is held to."""

import json
import sys

import pytest

from harness.disk.bundled import folder

REPORTS = folder("reports")


@pytest.fixture
def speed_ratios(monkeypatch):
    monkeypatch.syspath_prepend(str(REPORTS))
    import speed_ratios

    yield speed_ratios
    for name in ("speed_ratios", "speed_pieces", "speed_releases"):
        sys.modules.pop(name)


def steady(module, value):
    return module.Ratio("steady", "always the same", 2.0, lambda: (lambda: value, lambda: 1.0))


@pytest.mark.parametrize(("value", "worse"), [(1.0, False), (1.14, False), (1.16, True), (0.2, False)])
def test_a_ratio_is_worse_beyond_the_bound(speed_ratios, monkeypatch, value, worse):
    monkeypatch.setattr(speed_ratios, "kept", lambda: {"steady": 1.0})
    (found,) = speed_ratios.check(0.15, ratios=(steady(speed_ratios, value),))
    assert found.worse is worse
    assert found.value == value


def test_noise_is_not_taken_for_a_regression(speed_ratios, monkeypatch):
    monkeypatch.setattr(speed_ratios, "kept", lambda: {"noisy": 1.0})
    values = iter([9.0, 1.0] * speed_ratios.ROUNDS + [1.1, 1.0] * speed_ratios.ROUNDS)
    noisy = speed_ratios.Ratio("noisy", "", 2.0, lambda: (lambda: next(values), lambda: next(values)))
    (found,) = speed_ratios.check(0.15, ratios=(noisy,))
    assert not found.worse


def test_what_cannot_be_measured_is_no_regression_and_says_why(speed_ratios, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setattr(speed_ratios, "kept", lambda: {"conservative on RICC": 1.0})
    (ratio,) = (one for one in speed_ratios.RATIOS if one.name == "conservative on RICC")
    (found,) = speed_ratios.check(0.15, ratios=(ratio,))
    assert (found.value, found.worse) == (None, False)
    assert "RICC" in found.why


def test_names_of_ratios_are_their_own(speed_ratios):
    names = [ratio.name for ratio in speed_ratios.RATIOS]
    assert len(set(names)) == len(names)


def test_a_part_of_the_ratios_is_not_published(harness_says):
    answer = harness_says("bench", "ratios", "--quick", "--update")
    assert answer.status == 2
    assert answer.err == "harness: --update publishes all ratios; expected it without --quick\n"


@pytest.mark.slow
def test_both_pieces_of_every_ratio_take_time(speed_ratios, monkeypatch):
    """On streams of a few jobs."""
    import speed_pieces

    whole = speed_pieces.stream
    monkeypatch.setattr(speed_pieces, "stream", lambda jobs, **load: whole(200, **load))
    for ratio in speed_ratios.RATIOS[:4]:
        assert all(piece() > 0 for piece in ratio.pair()), ratio.name


def test_the_published_page_has_the_published_numbers(speed_ratios):
    from speed_releases import SHOWN, kept, releases

    page, picture = ((REPORTS / f"bench.{kind}").read_text() for kind in ("md", "svg"))
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("| ")}
    for ratio in speed_ratios.RATIOS:
        for version, values in list(releases().items())[-SHOWN:]:
            if ratio.name in values:
                assert f" {values[ratio.name]:g} " in rows[ratio.name], version
        if ratio.name in kept():
            assert f">{ratio.name}</text>" in picture


def test_every_release_keeps_its_numbers_and_the_newest_replaces_its_own(speed_ratios, monkeypatch, tmp_path):
    import speed_releases

    monkeypatch.setattr(speed_releases, "KEPT", tmp_path / "bench.json")
    (tmp_path / "bench.json").write_text(json.dumps({"1.0": {"a": 1.5}, "1.1": {"a": 1.4}}))
    speed_releases.publish("1.2", {"a": 1.3, "b": 7.0}, {"a": 2.0, "b": 5.0})
    speed_releases.publish("1.1", {"a": 1.2}, {"a": 2.0, "b": 5.0})
    assert speed_releases.releases() == {"1.0": {"a": 1.5}, "1.2": {"a": 1.3, "b": 7.0}, "1.1": {"a": 1.2}}
    assert speed_releases.kept() == {"a": 1.2}
    row = next(line for line in (tmp_path / "bench.md").read_text().splitlines() if line.startswith("| a "))
    assert [cell.strip() for cell in row.split("|")[2:-1]] == ["1.5", "1.3", "1.2", "2"]
    picture = (tmp_path / "bench.svg").read_text()
    assert all(f"<title>{one}</title>" in picture for one in ("1.0: 1.5", "1.2: 1.3", "1.2: 7", "1.1: 1.2"))
