"""A leaderboard says the same in every format, and no more than the results allow."""

import csv
import io
import json
import math
from dataclasses import asdict

import fields
import pytest

from harness.errors import HarnessError
from harness.report.tables import FORMATS
from harness.tournament.conclusion import conclusion, notes
from harness.tournament.leaderboard import leaderboard, show
from harness.tournament.ranking import rank

LOGS = {f"log{number}": fields.steps(10, 1.5, 3.0, 6.0) for number in range(3)}
FRAME = fields.results(LOGS, mean_bounded_slowdown=[5.0, 6.0, 7.0], energy=[3.0, 2.0, 2.5], utilisation=[0.5, 0.5, 0.5])


@pytest.mark.parametrize("form", FORMATS)
def test_everything_is_in_every_format(form):
    text = leaderboard(FRAME, "mean_wait", form)
    for word in ("policy0", "policy1", "policy2", "8.25", "33"):
        assert word in text
    words = conclusion(rank(FRAME, "mean_wait"))
    assert (words in text) == (form in ("table", "json", "markdown", "html"))
    assert ("mean wait [s]" in text) == (form not in ("csv", "json"))


def test_the_best_of_each_column_is_marked():
    rows = [line.split() for line in leaderboard(FRAME, "mean_wait").splitlines() if "policy" in line][:3]
    assert rows == [
        ["1", "policy0", "*1", "1.00–1.00", "*8.25", "0.5", "3", "a", "yes"],
        ["2", "policy1", "2", "2.00–2.00", "16.5", "0.5", "*2", "ab", "yes"],
        ["3", "policy2", "3", "3.00–3.00", "33", "0.5", "2.5", "b", "no"],
    ]


def test_csv_is_the_table_alone():
    table = list(csv.DictReader(io.StringIO(leaderboard(FRAME, "mean_wait", "csv"))))
    assert [row["scheduler"] for row in table] == ["policy0", "policy1", "policy2"]
    assert [float(row["mean_wait"]) for row in table] == [8.25, 16.5, 33.0]
    assert {"rank", "mean_rank", "low", "high", "group", "Pareto"} < set(table[0])


def test_json_is_everything():
    ranking = rank(fields.results({"log": [[1.0, 2.0, 3.0]]}, energy=[1.0, math.nan, 2.0]), "mean_wait")
    read = json.loads(show(ranking, "json"))
    assert set(read) == {"conclusion", "notes", *asdict(ranking)}
    assert read["notes"] == list(notes(ranking))
    assert read["standings"][1]["means"] == {"mean_wait": 2.0, "energy": None}
    assert read["standings"][0]["interval"] == [None, None]
    assert read["wins"] == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


def test_adequacy_is_shown_where_it_is_known():
    assert "adequacy" not in leaderboard(FRAME.assign(adequacy=math.nan), "mean_wait")
    assert "adequacy [s]" in leaderboard(FRAME.assign(adequacy=600.0), "mean_wait", "markdown")


def test_waits_of_preempted_jobs_are_not_mistaken_for_all_their_waiting():
    assert any("first start" in note for note in notes(rank(FRAME.assign(preemptions=2.0), "mean_wait")))
    assert not any("first start" in note for note in notes(rank(FRAME.assign(preemptions=0.0), "mean_wait")))


def test_adequacy_is_over_the_logs_as_they_are_not_their_variations():
    frame = fields.results({"log": [[1.0, 2.0], [2.0, 1.0], [2.0, 1.0]]})
    frame["adequacy"] = [300.0, 600.0, *[math.nan] * 4]
    ranking = rank(frame, "mean_wait")
    assert {s.scheduler: s.means["adequacy"] for s in ranking.standings} == {"policy0": 300.0, "policy1": 600.0}
    assert "Adequacy is over the 1 of 3 blocks that replay a log with waits." in notes(ranking)
    assert not any("Adequacy" in note for note in notes(rank(frame[:2], "mean_wait")))
    frame.loc[0, "adequacy"] = math.nan  # undefined for one of them: the others have nothing to be compared with
    assert "adequacy" not in show(rank(frame, "mean_wait"), "csv")


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_names_from_files_are_harmless(form):
    name = "<script>|$x\x1b"
    frame = FRAME.replace({"scheduler": {"policy0": name}, "workload": {"log0": name}})
    frame.loc[frame.index[:1], ["status", "error"]] = ["failed", name]
    text = leaderboard(frame, "mean_wait", form)
    assert "script" in text
    assert "\x1b" not in text
    if form != "table":
        escaped = {"markdown": r"\<script>\|\$x", "latex": r"\textbar{}\$x", "html": "&lt;script&gt;|$x"}[form]
        assert text.count("script") == text.count(escaped)


def test_refusals():
    with pytest.raises(HarnessError, match="no table format 'tabel'; did you mean 'table'"):
        leaderboard(FRAME, format="tabel")


# ---------------------------------------------------------------- in words


def said(costs, **choices):
    ranking = rank(fields.results(costs), "mean_wait", **choices)
    return conclusion(ranking), " ".join(notes(ranking))


def test_one_is_best():
    words, more = said({"log": fields.steps(40, 1.0, 2.0, 3.0)})
    assert words == (
        "policy0 is best by mean wait (mean rank 1.0 of 3, 95 % interval 1.0–1.0 over 40 variations of log); "
        "distinguishable from all others (Friedman test, p = 4.2e-18)."
    )
    assert "speak of variations of log, not of other workloads" in more
    assert "Mean ranks at least 0.52 apart differ significantly (Nemenyi)" in more


def test_some_cannot_be_told_from_the_first():
    words, _ = said({"log": [[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 4.0]] * 10 + [[1.0, 2.0, 3.0, 4.0]]})
    assert words.startswith("policy0 ranks first by mean wait (mean rank 1.5 of 4, 95 % interval 1.3–1.7 over 21 ")
    assert words.endswith("; indistinguishable from policy1.")


def test_few_workloads_separate_few_policies():
    levels = [float(level) for level in range(1, 21)]
    words, more = said({name: [levels] for name in "abc"})
    assert words.endswith("; indistinguishable from policy1, policy2, policy3, policy4, policy5 and 12 others.")
    assert "3 workloads hardly separate 20 schedulers: critical difference 17.1, where mean ranks differ by 19" in more
    assert "With 3 workloads an interval is little more than the range" in more
    words, more = said({name: [levels] for name in "ab"})
    assert "2 workloads cannot separate 20 schedulers: critical difference 21.0" in more
    assert words.endswith("; indistinguishable from all others.")


def test_no_difference():
    words, _ = said({"log": [[1.0, 2.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0], [1.0, 3.0, 2.0]]})
    assert words.startswith("policy0 ranks first by mean wait (mean rank 1.8 of 3")
    assert words.endswith("over 4 variations of log), but no two of the 3 can be told apart (Friedman test, p = 0.78).")


def test_two_schedulers():
    words, _ = said({"log": fields.steps(10, 1.0, 2.0)})
    assert words.endswith("; distinguishable from the other (Wilcoxon test, p = 0.002).")
    words, more = said({name: [[1.0, 2.0]] for name in "abc"})
    assert words.endswith("over 3 workloads), but the two cannot be told apart (Wilcoxon test, p = 0.25).")
    assert "3 workloads cannot separate two schedulers: Wilcoxon's test needs 6." in more


def test_ties():
    assert said({"log": [[1.0, 1.0]] * 3})[0] == "All 2 schedulers are equal by mean wait, over 3 variations of log."
    words, _ = said({"log": fields.steps(20, 1.0, 1.0, 3.0)})
    assert words.startswith("policy0 and policy1 share the first rank by mean wait (mean rank 1.5 of 3 over 20")
    assert words.endswith("; distinguishable from all others (Friedman test, p = 2.1e-09).")


def test_one_job_stream_and_one_scheduler():
    words, more = said({"log": [[1.0, 2.0, 3.0]]})
    assert words == (
        "policy0 ranks first by mean wait (mean rank 1.0 of 3 over log); "
        "whether that is more than chance, one job stream cannot say."
    )
    assert more.startswith("This is one job stream, replayed in 1 block: variations of the workload")
    assert said({"log": [[4.5]]}) == ("There is nothing to compare policy0 with; its mean wait over log is 4.5.", "")


def test_workloads_that_disagree():
    costs = {name: fields.steps(4, 1.0, 2.0, 3.0) for name in "abcdefgh"} | {"odd": fields.steps(4, 2.0, 1.0, 3.0)}
    words, more = said(costs)
    assert "over 36 variations of 9 workloads" in words
    assert "policy0 does not have the best mean rank on odd." in more
    assert "whose variations only repeat them: unit 'variation' asks about these alone." in more


def test_what_was_left_out_is_said():
    _, more = said({"log": [[None, 1.0, 2.0], [1.0, None, 2.0], *fields.steps(8, 1.0, 2.0, 3.0)]})
    assert "Left out: 2 of 10 blocks, because of policy0 (1 failed) and policy1 (1 failed)." in more
    assert more.endswith("The first error: PolicyError: no")
    _, more = said({"log": [[1.0, 2.0, None], [1.0, 2.0, None], [1.0, 2.0, 3.0]]})
    assert "Left out: policy2, with a value in 1 of 3 blocks only (2 failed)." in more


def test_unknown_energy_is_said():
    frame = fields.results({"log": fields.steps(3, 1.0, 2.0)}, energy=[3.0, math.nan])
    more = " ".join(notes(rank(frame, "mean_wait")))
    assert "On the Pareto front of mean wait and energy: policy0." in more
    assert "because their energy is not known in every block: policy1." in more
