"""The loop is run in slices, between which progress is told and what was recorded is taken away."""

from shared.running import choose
from shared.strategies import powered, workload

from harness.engine import simulate as engine


def test_slices_change_nothing(monkeypatch):
    """A thousand jobs take a thousand instants in the first slice, and one in each of the others."""
    jobs = workload([(k, 1, 3, 3) for k in range(1000)])
    runs = []
    for seconds in (0.2, 0.0):
        monkeypatch.setattr(engine, "SLICE_SECONDS", seconds)
        told, samples, places = [], [], []
        extras = engine.Extras(None, lambda s, to=samples: to.extend(s.tolist()), lambda p, to=places: to.extend(p))
        outcome = engine.simulate(
            jobs,
            powered(2),
            choose(energy="cores"),
            progress=lambda *done, to=told: to.append(done),
            extras=extras,
        )
        assert told == sorted(told)
        assert {total for _, total in told} == {1000}
        assert len(places) == 1000
        assert len(samples) == outcome.clock.instants
        runs.append((outcome.jobs.tolist(), samples))
    assert len(told) > 100
    assert repr(runs[0]) == repr(runs[1])
