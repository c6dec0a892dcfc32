"""The pool of runs: every thing is begun once, when there is room for it, and comes back with its own result."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.experiment.pool import Stop, Threads, completed, pool_of, thread_count


@given(things=st.lists(st.integers(), max_size=30), room=st.integers(1, 5))
def test_everything_is_done_once_and_never_more_at_a_time_than_there_is_room(things: list[int], room: int) -> None:
    begun, done = 0, 0

    def asked() -> Iterator[int]:
        nonlocal begun
        for thing in things:
            begun += 1
            assert begun - done <= room
            yield thing

    with ThreadPoolExecutor(2) as threads:

        def square(thing: int) -> "Future[int]":
            return threads.submit(lambda: thing * thing)

        found = []
        for thing, future in completed(asked(), square, lambda: room):
            done += 1
            found.append((thing, future.result()))
    assert sorted(found) == sorted((thing, thing * thing) for thing in things)


def test_room_may_shrink_below_what_has_begun() -> None:
    """As when machines leave a cluster."""
    room = iter([4, 1, 1, 2])
    with ThreadPoolExecutor(4) as threads:
        found = completed(range(9), lambda thing: threads.submit(pow, thing, 2), lambda: next(room, 2))
        assert sorted((thing, future.result()) for thing, future in found) == [(k, k * k) for k in range(9)]


def test_what_is_closed_is_told_to_stop() -> None:
    began, stopped = Event(), Event()

    def work(thing: int, stop: Stop) -> None:
        began.set()
        while not stop():
            pass
        stopped.set()

    with closing(Threads(1)) as threads:
        threads.call(work, 1)
        began.wait(10)
    assert stopped.is_set()


def test_a_pool_is_closed_where_its_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Threads] = []
    monkeypatch.setattr(Threads, "close", lambda self: closed.append(self))
    with pytest.raises(KeyboardInterrupt), pool_of(1) as pool:
        raise KeyboardInterrupt
    assert closed == [pool]


@pytest.mark.parametrize("workers", [0, -1, 10**9])
def test_numbers_of_threads_that_cannot_be_meant(workers: int) -> None:
    with pytest.raises(HarnessError, match=f"workers = {workers}: expected at least 1"):
        thread_count(workers)
