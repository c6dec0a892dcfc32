"""Rankings of fields in which some schedulers cannot run on some platforms."""

import csv
import io
import json
import math

import pandas as pd
import pytest

from harness.ranking.by_platform import parts, refused_rows, refused_table
from harness.ranking.leaderboard import leaderboard
from harness.ranking.ranking import rank


def field(*lacking: tuple[str, str], failed: tuple[tuple[str, str], ...] = ()) -> pd.DataFrame:
    """Two logs on two platforms of one size each and on one of the log's size, without the `lacking` combinations.

    Scheduler `a` is the best on `small`, and `c` on the others.
    """
    rows = []
    for log, own in (("one", "100 processors"), ("two", "200 processors")):
        for platform in ("small", "large", own):
            for number, scheduler in enumerate("abc"):
                if (scheduler, platform) in lacking:
                    continue
                wait = 1.0 + number if platform == "small" else 4.0 - number
                done = (scheduler, platform) not in failed
                rows.append(
                    {
                        "workload": log,
                        "platform": platform,
                        "variation": 0,
                        "seed": 0,
                        "scheduler": scheduler,
                        "status": "done" if done else "failed",
                        "error": None if done else "no",
                        "mean_wait": wait if done else math.nan,
                    }
                )
    return pd.DataFrame(rows)


def test_a_field_without_gaps_has_one_ranking() -> None:
    (part,) = parts(field())
    assert part.where == ""
    assert len(part.frame) == len(field())
    assert "On " not in leaderboard(field(), "mean_wait")
    (part,) = parts(field(failed=(("a", "small"),)))  # a failure is no reason to rank apart
    assert part.where == ""


def test_each_platform_is_ranked_and_those_that_all_share() -> None:
    found = parts(field(("a", "large")))
    assert [part.where for part in found] == [
        "the platforms that all schedulers share (small, 100 processors, 200 processors)", "small", "large",
        "100 processors, 200 processors",
    ]  # fmt: skip
    best = [rank(part.frame, "mean_wait").standings[0].scheduler for part in found]
    assert best == ["a", "a", "c", "c"]
    for part in found:
        ranking = rank(part.frame, "mean_wait")
        assert not ranking.left_out
        assert not ranking.blocks_left_out
    assert {s.scheduler for s in rank(found[0].frame, "mean_wait").standings} == set("abc")
    assert set(found[0].frame["platform"]) == {"small", "100 processors", "200 processors"}


def test_schedulers_that_share_no_platform_are_ranked_on_each_alone() -> None:
    lacking = [("a", "large"), ("b", "small"), ("c", "100 processors"), ("c", "200 processors")]
    found = parts(field(*lacking))
    assert [part.where for part in found] == ["small", "large", "100 processors, 200 processors"]
    assert [set(part.frame["scheduler"]) for part in found] == [set("ac"), set("bc"), set("ab")]


def test_the_one_platform_that_all_share_is_ranked_once() -> None:
    found = parts(field(("a", "large"), ("b", "100 processors"), ("b", "200 processors")))
    assert [part.where for part in found] == [
        "the platforms that all schedulers share (small)", "large", "100 processors, 200 processors",
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["table", "markdown", "html", "latex"])
def test_people_get_every_ranking_with_its_platform(form: str) -> None:
    text = " ".join(leaderboard(field(("a", "large")), "mean_wait", form).split())
    shared = "the platforms that all schedulers share (small, 100 processors, 200 processors)"
    for where in (shared, "small", "large", "100 processors, 200 processors"):
        assert f"On {where}:" in text
    assert "Left out" not in text


def test_programs_get_every_ranking_with_its_platform() -> None:
    frame = field(("a", "large"))
    rows = list(csv.DictReader(io.StringIO(leaderboard(frame, "mean_wait", "csv"))))
    assert [(row["where"], row["scheduler"]) for row in rows if row["where"] == "large"] == [
        ("large", "c"),
        ("large", "b"),
    ]
    assert len(rows) == 3 + 3 + 2 + 3
    read = json.loads(leaderboard(frame, "mean_wait", "json"))
    assert [len(one["standings"]) for one in read["rankings"]] == [3, 3, 2, 3]
    assert read["rankings"][2]["where"] == "large"


def test_a_platform_on_which_every_run_failed_is_left_out_of_the_text() -> None:
    frame = field(("a", "large"), failed=(("b", "large"), ("c", "large")))
    assert "On large" not in leaderboard(frame, "mean_wait")


def test_refused_combinations_are_listed_once_for_each_reason() -> None:
    refused = pd.DataFrame(
        [
            {"workload": f"w{w}", "platform": "plain", "scheduler": f"order{k} + timeout", "reason": "no sleep states"}
            for w in range(2)
            for k in range(36)
        ]
        + [{"workload": "w0", "platform": "log", "scheduler": "fcfs", "reason": "no size"}]
    )
    assert list(refused_rows(refused)) == [
        (
            "72",
            "order0 + timeout, order1 + timeout, order2 + timeout and 33 others",
            "plain",
            "w0, w1",
            "no sleep states",
        ),
        ("1", "fcfs", "log", "w0", "no size"),
    ]
    assert refused_table(refused, "table").count("no sleep states") == 1
    assert refused_table(refused[:0], "table") == ""
