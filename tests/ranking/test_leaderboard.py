"""A leaderboard says the same in every format, and no more than the results allow."""

import csv
import io
import json
import math
from dataclasses import asdict
from types import SimpleNamespace

import fields
import pytest
from hypothesis import given, settings

from harness.errors import HarnessError
from harness.present.tables import FORMATS
from harness.ranking.conclusion import _listed, _overloaded, conclusion, notes
from harness.ranking.leaderboard import interval, leaderboard, ranking_text
from harness.ranking.ranking import rank

LOGS = {f"log{number}": fields.steps(10, 1.5, 3.0, 6.0) for number in range(3)}
FRAME = fields.results(LOGS, mean_bounded_slowdown=[5.0, 6.0, 7.0], energy=[3.0, 2.0, 2.5], utilisation=[0.5, 0.5, 0.5])


@pytest.mark.parametrize("form", FORMATS)
def test_everything_is_in_every_format(form):
    text = leaderboard(FRAME, "mean_wait", form, unit="variation")
    for word in ("policy0", "policy1", "policy2", "1.5", "36"):
        assert word in text
    words = conclusion(rank(FRAME, "mean_wait", unit="variation"))
    text = json.dumps(json.loads(text), ensure_ascii=False) if form == "json" else text
    assert (words in text) == (form in ("table", "json", "markdown", "html"))
    assert ("mean wait [s]" in " ".join(text.split())) == (form not in ("csv", "json", "table"))


def test_the_best_of_each_column_is_marked():
    rows = [line.split() for line in leaderboard(FRAME, "mean_wait").splitlines() if "policy" in line][:3]
    assert rows == [
        ["1", "policy0", "*1", "1", "*1.5", "*9", "0.5", "3", "yes"],
        ["2", "policy1", "2", "2", "3", "18", "0.5", "*2", "yes"],
        ["3", "policy2", "3", "4", "6", "36", "0.5", "2.5", "no"],
    ]
    rows = [line.split() for line in leaderboard(FRAME, "mean_wait", unit="variation").splitlines()]
    assert [row[3:5] + row[-2:-1] for row in rows if "policy2" in row] == [["4", "4–4", "c"]]


def test_csv_is_the_table_alone():
    table = list(csv.DictReader(io.StringIO(leaderboard(FRAME, "mean_wait", "csv"))))
    assert [row["scheduler"] for row in table] == ["policy0", "policy1", "policy2"]
    assert [float(row["mean_wait"]) for row in table] == [1.5, 3.0, 6.0]
    assert [float(row["mean_wait, variations"]) for row in table] == [9.0, 18.0, 36.0]
    assert {"rank", "mean_rank", "ratio", "low", "high", "p_value", "Pareto"} < set(table[0])


@settings(max_examples=20)
@given(fields.tournaments(schedulers=(2, 6), workloads=(6, 7), variations=(1, 2)))
def test_every_column_is_that_of_the_ranking(costs):
    frame = fields.results(costs)
    standings = rank(frame, "mean_wait").standings
    for row, own in zip(csv.DictReader(io.StringIO(leaderboard(frame, "mean_wait", "csv"))), standings, strict=True):
        columns = ("rank", "mean_rank", "ratio", "low", "high", "p_value", "mean_wait")
        numbers = [float(row[name] or "nan") for name in columns]
        expected = [own.rank, own.mean_rank, own.ratio, *own.interval, own.p_value, own.mean]
        assert numbers == pytest.approx(expected, nan_ok=True)
        assert (row["scheduler"], row["group"]) == (own.scheduler, own.groups)
    heads, *lines = [line for line in leaderboard(frame, "mean_wait", "markdown").splitlines() if line[:1] == "|"]
    if "95 % interval" in heads:
        place = [head.strip() for head in heads.split("|")].index("95 % interval")
        shown = [line.split("|")[place].strip() for line in lines[1:]]
        assert shown == ["", *(interval(standing) for standing in standings[1:])]


def test_json_is_everything():
    ranking = rank(fields.results({"log": [[1.0, 2.0, 3.0]]}, energy=[1.0, math.nan, 2.0]), "mean_wait")
    read = json.loads(ranking_text(ranking, "json"))
    assert set(read) == {"conclusion", "notes", "parameters", *asdict(ranking)}
    assert read["notes"] == list(notes(ranking))
    assert read["standings"][1]["means"] == {"mean_wait": 2.0, "energy": None}
    assert read["standings"][1]["interval"] == [None, None]
    assert read["wins"] == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


def test_adequacy_is_shown_where_it_is_known():
    assert "adequacy" not in leaderboard(FRAME.assign(adequacy=math.nan), "mean_wait")
    assert "adequacy, 3 of 3 logs [s]" in leaderboard(FRAME.assign(adequacy=600.0), "mean_wait", "markdown")


def test_waits_of_preempted_jobs_are_not_mistaken_for_all_their_waiting():
    assert any("first start" in note for note in notes(rank(FRAME.assign(preemptions=2.0), "mean_wait")))
    assert not any("first start" in note for note in notes(rank(FRAME.assign(preemptions=0.0), "mean_wait")))


def test_adequacy_is_over_the_logs_as_they_are_not_their_variations():
    frame = fields.results({"log": [[1.0, 2.0], [2.0, 1.0], [2.0, 1.0]]})
    frame["adequacy"] = [300.0, 600.0, *[math.nan] * 4]
    ranking = rank(frame, "mean_wait")
    assert {s.scheduler: s.means["adequacy"] for s in ranking.standings} == {"policy0": 300.0, "policy1": 600.0}
    assert "adequacy, 1 of 1 log [s]" in ranking_text(ranking, "markdown")
    assert not any("Adequacy" in note for note in notes(rank(frame[:2], "mean_wait")))
    frame.loc[0, "adequacy"] = math.nan  # undefined for one of them: the others have nothing to be compared with
    assert "adequacy" not in ranking_text(rank(frame, "mean_wait"), "csv")


def test_the_column_of_adequacy_states_how_many_logs_it_covers():
    costs = {name: [[1.0, 2.0]] for name in ("generated", "known", "silent", "waits")}
    frame = fields.results(costs)
    frame["adequacy"] = frame["workload"].map({"known": 300.0, "waits": 500.0})
    for by in ("mean_wait", "adequacy"):  # also where the logs without one are left out
        ranking = rank(frame, by)
        assert "adequacy, 2 of 4 logs [s]" in ranking_text(ranking, "markdown")
        (row, _) = csv.DictReader(io.StringIO(ranking_text(ranking, "csv")))
        assert (float(row["adequacy"]), row["adequacy_logs"]) == (400.0, "2")
        (note,) = (note for note in notes(ranking) if "Adequacy" in note)
        assert note.startswith("Adequacy covers 2 of 4 logs: it is undefined for generated and silent, ")


def test_the_nearest_to_the_log_can_be_asked_for():
    ranking = rank(fields.results({"log": [[600.0, 300.0], [math.nan] * 2]}, "adequacy"), "adequacy")
    assert [(s.scheduler, s.mean) for s in ranking.standings] == [("policy1", 300.0), ("policy0", 600.0)]
    assert (ranking.blocks, ranking.blocks_left_out) == (1, 1)


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


def said(costs, by="mean_wait", **choices):
    ranking = rank(fields.results(costs, by), by, **choices)
    return conclusion(ranking), " ".join(notes(ranking))


def test_one_is_best():
    words, more = said({"log": fields.steps(40, 1.0, 2.0, 3.0)})
    assert words == (
        "policy0 is best by mean wait (mean rank 1 of 3 over 40 variations of log); significantly better than all "
        "others (p = 0.0002 at most); policy1 has 2 times its mean wait, 95 % interval 2–2."
    )
    assert "hold for variations of log, not for other workloads" in more
    assert (
        "Differences are tested by permutations of the ratios at 5 %, corrected for 3 pairs; schedulers that share "
        in more
    )


def test_some_cannot_be_told_from_the_first():
    words, more = said({"log": [[1.0, 1.1, 3.0, 4.0], [1.1, 1.0, 3.0, 4.0]] * 10 + [[1.0, 1.1, 3.0, 4.0]]})
    assert words.startswith("policy0 ranks first by mean wait (mean rank 1.48 of 4 over 21 variations of log); ")
    assert (
        "; significantly better than 2 of 3 others (p = 0.0002 at most), not significantly better than policy1; "
        "policy1 has 1 times its" in words
    )
    assert "if their ratio stays as it is, about 5,169 variations" in more


def test_few_workloads_say_so():
    """In 1,000 times as long a wait on each of three workloads there is a size, and no certainty."""
    words, more = said({name: [[1.0, 1000.0]] for name in "abc"})
    assert words.endswith("; 3 workloads cannot show whether that is more than chance: at least 6 are needed.")
    assert "Verdicts" not in more
    ranking = rank(fields.results({name: [[1.0, 1000.0]] for name in "abc"}), "mean_wait")
    assert (ranking.standings[1].ratio, ranking.groups) == (pytest.approx(1000.0), ())


def test_no_difference():
    words, _ = said({"log": [[1.0, 2.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0], [1.0, 3.0, 2.0]] * 2})
    assert words.startswith("policy0 ranks first by mean wait (mean rank 1.75 of 3")
    assert "over 8 variations of log), but is not significantly better than any other (p = 0.81 at least)" in words


def test_two_schedulers():
    words, _ = said({"log": fields.steps(10, 1.0, 2.0)})
    assert "is best by mean wait" in words
    assert words.endswith(
        "; significantly better than the other (p = 0.002); policy1 has 2 times its mean wait, 95 % interval 2–2."
    )


def test_more_is_better():
    words, _ = said({"log": fields.steps(10, 1.0, 2.0)}, by="utilisation")
    assert words.startswith("policy1 is best by utilisation")
    assert words.endswith("(p = 0.002); policy0 has 0.5 times its utilisation, 95 % interval 0.5–0.5.")


def test_ranks_that_sizes_contradict():
    """Better by a little on most workloads, and much worse on the others."""
    dice = [[1.0, 1.01]] * 16 + [[4.0, 1.0]] * 14
    words, more = said({f"log{n:02}": [block] for n, block in enumerate(dice)})
    assert words.startswith("policy0 ranks first")
    assert "Significantly better by their ratios, despite a worse mean rank: policy1 than policy0." in more


def test_ties():
    assert said({"log": [[1.0, 1.0]] * 3})[0] == "All 2 schedulers are equal by mean wait, over 3 variations of log."
    words, _ = said({"log": fields.steps(20, 1.0, 1.0, 3.0)})
    assert words.startswith("policy0 and policy1 share the first rank by mean wait (mean rank 1.5 of 3 over 20")
    assert "; significantly better than the other (p = 0.0002)" in words


def test_one_job_stream_and_one_scheduler():
    words, more = said({"log": [[1.0, 2.0, 3.0]]})
    assert words == (
        "policy0 ranks first by mean wait (mean rank 1 of 3 over log); "
        "one job stream cannot show whether that is more than chance."
    )
    assert more.startswith("This is one job stream, replayed in 1 block: variations of the workload")
    assert said({"log": [[4.5]]}) == ("Only policy0 was ranked; its mean wait over log is 4.5.", "")


def test_workloads_that_disagree():
    costs = {name: fields.steps(4, 1.0, 2.0, 3.0) for name in "abcdefgh"} | {"odd": fields.steps(4, 2.0, 1.0, 3.0)}
    words, more = said(costs)
    assert "over 36 variations of 9 workloads" in words
    assert "policy0 does not have the best mean rank on odd." in more
    assert "whose variations only repeat them: --unit variation tests these alone." in more


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
    assert "as their energy is not known in every block: policy1." in more


def test_a_star_that_is_bought_is_told():
    """The first lets somebody wait four times as long as the other does, and the last is not asked."""
    frame = fields.results({"log": fields.steps(7, 1.0, 2.0, 3.0)}, max_wait=[7200.0, 1800.0, 9e9])
    more = " ".join(notes(rank(frame, "mean_wait")))
    assert "policy0 has a disadvantage: its longest wait is 2 h, that of policy1 is 30 min." in more
    assert "price" not in " ".join(notes(rank(frame.assign(max_wait=1.0), "mean_wait")))


def test_nobody_has_the_shortest_wait_where_anybody_preempts():
    marked = FRAME.assign(max_wait=[5.0, 6.0, 7.0] * 30)
    assert "*5" in leaderboard(marked, "mean_bounded_slowdown")
    assert "*5" not in leaderboard(marked.assign(preemptions=1.0, mean_bounded_slowdown=1.0), "mean_bounded_slowdown")


def test_overload_is_told():
    frame = fields.results({"calm": [[1.0, 2.0]], "busy": [[1.0, 2.0]]}, offered_load=[0.7, 0.7])
    assert not any("machine can do" in note for note in notes(rank(frame, "mean_wait")))
    frame.loc[frame["workload"] == "busy", "offered_load"] = 1.25
    assert any("than the machine can do on busy (125 %)" in note for note in notes(rank(frame, "mean_wait")))


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "p0"),
        (2, "p0 and p1"),
        (3, "p0, p1 and p2"),
        (6, "p0, p1, p2, p3, p4 and p5"),
        (7, "p0, p1, p2, p3, p4 and 2 others"),
    ],
)
def test_names_are_listed_up_to_six(count, words):
    """`and 1 others` would be longer than the name itself."""
    assert _listed([f"p{number}" for number in range(count)]) == words


def test_overload_of_a_variation_is_not_said_of_the_log() -> None:
    """The log of the tutorial brings 75 % of what its machine can do, one of its variations half as much again."""
    alone = SimpleNamespace(loads={"log": 1.2, "other": 0.9}, variations=2, workloads=("log", "other"))
    varied = SimpleNamespace(loads={"log": 1.48}, variations=21, workloads=("log",))
    calm = SimpleNamespace(loads={"log": 0.99}, variations=21, workloads=("log",))
    assert "can do on log (120 %): " in next(_overloaded(alone))
    assert "can do on log or a variation of it (up to 148 %): " in next(_overloaded(varied))
    assert list(_overloaded(calm)) == []
