"""What the tests of the engine share."""

import pytest
from shared.running import choose

from harness.engine.simulate import simulate


@pytest.fixture(autouse=True)
def _own_cache(request, tmp_path_factory, monkeypatch):
    """Compiled kernels are kept with pytest's own cache: the loop is compiled once, not in every run of the tests."""
    keeper = getattr(request.config, "cache", None)
    folder = keeper.mkdir("kernels") if keeper else tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("HARNESS_CACHE", str(folder))


@pytest.fixture(scope="session")
def run():
    """Simulate with `choose(**parts)`."""

    def run(workload, platform, *, seed=0, plain=False, **parts):
        return simulate(workload, platform, choose(**parts), seed=seed, plain=plain)

    return run
