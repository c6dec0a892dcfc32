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
    sys.modules.pop("speed_ratios")


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
    values = iter([1.0] * 2 + [9.0, 1.0] * speed_ratios.ROUNDS + [1.0] * 2 + [1.1, 1.0] * speed_ratios.ROUNDS)
    noisy = speed_ratios.Ratio("noisy", "", 2.0, lambda: (lambda: next(values), lambda: next(values)))
    (found,) = speed_ratios.check(0.15, ratios=(noisy,))
    assert not found.worse


def test_both_pieces_of_every_ratio_take_time(speed_ratios, monkeypatch):
    """On streams of a few jobs."""
    whole = speed_ratios.stream
    monkeypatch.setattr(speed_ratios, "stream", lambda jobs, **load: whole(200, **load))
    for ratio in speed_ratios.RATIOS[:4]:
        assert all(piece() > 0 for piece in ratio.pair()), ratio.name


def test_the_published_page_has_the_published_numbers(speed_ratios):
    values = json.loads((REPORTS / "bench.json").read_text())
    assert list(values) == [ratio.name for ratio in speed_ratios.RATIOS]
    page = (REPORTS / "bench.md").read_text()
    picture = (REPORTS / "bench.svg").read_text()
    for name in values:
        assert f"| {name} " in page
        assert f">{name}</text>" in picture
