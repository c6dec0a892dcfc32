"""What the tests of reading share."""

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of their own, because what is tested here must be read and not remembered.

    Elsewhere tests use the user's: compiling the loop anew for every session would take longer than the tests.
    """
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
