"""The golden corpus: each of its runs gives the schedule whose digest is stored."""

import pytest
from corpus import COUNT, changes, digest, digest_of_log, draw, log_runs, stored

GROUPS = 20


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("group", range(GROUPS))
def test_the_schedules_of_the_corpus_are_unchanged(group: int) -> None:
    found = {str(run.number): digest(run) for run in draw()[group::GROUPS]}
    assert changes(found, stored()) == []


@pytest.mark.data
@pytest.mark.parametrize("parts", log_runs(), ids=" ".join)
def test_the_schedules_of_real_logs_are_unchanged(parts: tuple[str, str, str]) -> None:
    assert changes({" ".join(parts): digest_of_log(*parts)}, stored()) == []


def test_the_corpus_has_enough_schedules() -> None:
    digests = stored()
    assert len([name for name in digests if name.isdigit()]) == COUNT
    assert sum(1 for one in digests.values() if not one.refused) >= 600


def test_a_changed_digest_is_reported() -> None:
    digests = stored()
    name = next(name for name, one in digests.items() if not one.refused)
    other = next(one for one in digests.values() if one.starts not in ("", digests[name].starts))
    assert len(changes({name: other}, digests)) == 1
