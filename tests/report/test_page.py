"""What is on the page, whatever the state of the tournament and whatever its names."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hostile import HOSTILE, Renamed
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError
from harness.policy.scheduler import Scheduler
from harness.report import rendering
from harness.report.page import run_page, tournament_page
from harness.report.provenance_section import of_run, of_tournament
from harness.report.rendering import embedded, render
from harness.report.replays import choose
from harness.report.winners_section import all_measures
from harness.results.charts.figures import label
from harness.results.measures import MEASURES
from harness.workload.events import Events

Doctored = Callable[[Callable[[pd.DataFrame], pd.DataFrame]], harness.Results]


def test_the_page_answers_in_order_and_stays_by_itself(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    questions = [
        "Who wins, and how sure are we?",
        "At what energy?",
        "Where and when do they differ?",
        "Run by run",
        "How far is this from the real machine?",
        "What exactly was run?",
    ]
    places = [text.index(f"{question}</h2>") for question in questions]
    assert places == sorted(places)
    assert len(text.encode()) < 10e6
    outside_scripts = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"(src|href)=\"(?!#|data:)", outside_scripts)
    assert "simulated again for this page" in text
    assert "ranks first" in text or "is best" in text or "share the first rank" in text


def test_a_page_allows_its_own_scripts_alone(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy).split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert digests
    assert rules == {
        "default-src": "'none'",
        "script-src": " ".join(f"'sha256-{digest}'" for digest in digests),
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
    }


def test_every_input_is_named_with_its_hash(store: Path, page: Path) -> None:
    text, about = page.read_text(encoding="utf-8"), harness.Results(store).about
    for thing in (*about["workloads"], *about["platforms"]):
        assert thing["digest"] in text
    assert "harness tournament field.toml" in text
    assert about["versions"]["engine"] in text


def test_every_part_of_every_scheduler_is_named(store: Path) -> None:
    frame = harness.Results(store).frame()
    data = of_tournament(harness.Results(store), frame, ())
    assert {policy["part"] for policy in data["policies"]} == set(Scheduler.HOOKS)
    assert ("energy", frame["energy_policy"].iloc[0]) in {(p["part"], p["spec"]) for p in data["policies"]}


def test_policies_of_queues_and_each_hold_are_named() -> None:
    scheduler = Scheduler(
        "fcfs", "none + wide(partition=0, order=spf, start=easy)", hold="limits(user_jobs=9) + calendar(kth-sp2)"
    )
    schedule = harness.simulate("lublin(jobs=20, procs=8)", 8, scheduler)
    rows = of_run(schedule, "", ())["policies"]
    named = [(row["part"], row["spec"]) for row in rows if row["part"].split()[0] in ("order", "start", "hold")]
    assert named == [
        *(("order", "fcfs"), ("start", "none"), ("order of wide", "spf"), ("start of wide", "easy")),
        *(("hold", "limits(user_jobs=9)"), ("hold", "calendar(table='kth-sp2')")),
    ]
    assert len({row["version"] for row in rows if row["part"].startswith("start")}) == 2


def test_the_least_energy_is_named_and_what_the_first_takes_more(doctored: Doctored) -> None:
    frugal = {"fcfs": 80.0, "spf": 100.0, "lpf": 120.0}
    results = doctored(lambda frame: frame.assign(energy=frame["order"].map(frugal)))
    page = tournament_page(results, "mean_wait")
    said = next(section for section in page.sections if section.name == "energy").data["conclusion"]
    assert page.sections[0].data["ranking"].standings[0].scheduler.startswith("spf")
    assert re.match(r"fcfs .* takes the least energy, 80 kWh .*; spf .*, which ranks first, takes 25.0% more,", said)


def test_measures_that_tell_nobody_apart_come_last(store: Path) -> None:
    frame = harness.Results(store).frame()
    shown = all_measures(frame, list(frame["scheduler"].unique()), MEASURES)
    names = [column["name"].replace(" ", "_") for column in shown["measures"]]
    assert {column["name"]: column["covers"] for column in shown["measures"] if column["covers"]} == {
        "adequacy": ", 1 of 2 logs",
        "skill": ", 1 of 2 logs",
    }
    alike = [frame.groupby("scheduler")[name].mean().nunique() == 1 for name in names]
    assert alike == sorted(alike)
    assert set(alike) == {False, True}


@pytest.mark.parametrize(("schedulers", "workloads", "rows"), [(3, 1, 3), (3, 2, 9), (300, 2, 900), (301, 2, 301)])
def test_measures_of_each_workload_unless_there_is_one_or_there_are_too_many(
    schedulers: int, workloads: int, rows: int
) -> None:
    names = [f"s{number}" for number in range(schedulers)]
    parts = [
        pd.DataFrame({"scheduler": names, "workload": f"w{number}", "status": "done", "mean_wait": float(number)})
        for number in range(workloads)
    ]
    shown = all_measures(pd.concat(parts), names[::-1], MEASURES)
    assert len(shown["rows"]) == rows
    assert [row["scheduler"] for row in shown["rows"][:schedulers]] == names[::-1]
    assert shown["rows"][0]["cells"] == [(f"{(workloads - 1) / 2:g}",) * 2]
    assert shown["workloads"] == [f"w{number}" for number in range(workloads) if rows > schedulers]


def test_jobs_that_no_average_knows_of_are_mentioned(doctored: Doctored) -> None:
    def strand(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[0, "stranded"] = 7
        return frame

    warnings = tournament_page(doctored(strand)).warnings
    assert len(warnings) == 1
    assert "7 of 150 jobs" in warnings[0]
    assert tournament_page(doctored(lambda frame: frame)).warnings == []


def test_a_run_with_failures_says_which_and_whom_they_stranded() -> None:
    events = Events(pd.DataFrame({"time": [100], "event": ["node-down"], "subject": [3]}), source="storm.csv")
    schedule = harness.simulate(
        harness.lublin(jobs=60, procs=8, seed=2), harness.plain(8), events=events, timeline=True
    )
    stranded = schedule.measures()["stranded"]
    assert stranded > 0
    page = run_page(schedule)
    assert f"{stranded:.0f} of 60 jobs" in page.warnings[0]
    text = render(page)
    assert "storm.csv" in text
    assert page.sections[-1].data["events"]["digest"] in text


def test_waits_shorter_than_the_axis_are_not_said_to_be_longer() -> None:
    schedule = harness.simulate(harness.lublin(jobs=1, procs=8, seed=1), harness.plain(8), timeline=True)
    waits = next(figure for figure in run_page(schedule).figures if figure.name.startswith("waits"))
    assert waits.caption.count("fcfs + easy 1 s or less") == 2


@given(
    st.recursive(
        st.text() | st.floats() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_embedded_json_cannot_end_its_script(value: object) -> None:
    text = str(embedded(value))
    assert not set(text) & set("<>&\u2028\u2029")
    json.loads(text, parse_constant=pytest.fail)


@given(st.text())
def test_labels_have_no_markup(text: str) -> None:
    assert not set(label(text)) & set("<>\"'")


def test_a_tournament_that_is_not_complete_says_so(store: Path, doctored: Doctored) -> None:
    planned = harness.Results(store).planned
    text = render(tournament_page(doctored(lambda frame: frame.iloc[:-1])))
    assert f"{planned - 1} of {planned} runs are done" in text
    assert "1 run was not tried yet" in text


def test_failed_runs_are_listed_with_their_errors(doctored: Doctored) -> None:
    def fail(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[0, ["status", "error"]] = "failed", f"it went {HOSTILE}"
        return frame

    text = render(tournament_page(doctored(fail)))
    assert "1 run failed" in text
    assert "Runs that failed" in text
    assert "it went &lt;/script&gt;" in text


def test_a_tournament_of_failures_still_has_a_page(doctored: Doctored) -> None:
    text = render(tournament_page(doctored(lambda frame: frame.assign(status="failed", error="no luck"))))
    assert "Nothing can be ranked" in text
    assert "no luck" in text


def test_a_tournament_that_has_just_begun_still_has_a_page(doctored: Doctored) -> None:
    text = render(tournament_page(doctored(lambda frame: frame.iloc[:0])))
    assert "no run is done yet." in text


def test_a_slip_in_the_measure_is_refused(store: Path) -> None:
    with pytest.raises(HarnessError, match="mean_wait"):
        tournament_page(harness.Results(store), "mean_wiat")


def test_a_schedule_that_is_not_the_stored_one_is_not_shown(doctored: Doctored) -> None:
    page = tournament_page(doctored(lambda frame: frame.assign(schedule_digest="another")))
    text = render(page)
    assert "are no longer those in the store" in text
    assert "Run by run" not in text


def test_what_another_version_ran_is_shown_if_its_schedule_is_the_same(doctored: Doctored) -> None:
    text = render(tournament_page(doctored(lambda frame: frame.assign(identity="of another engine"))))
    assert "simulated again for this page" in text
    assert "Run by run" in text


def test_the_best_and_the_worst_are_looked_at_and_the_slow_are_named() -> None:
    names = [f"s{number}" for number in range(8)]
    frame = pd.DataFrame(
        {"scheduler": names, "workload": "w", "variation": 0, "platform": "p", "seed": 0, "status": "done"}
    ).assign(jobs=[1e4, 1e6, *[1e4] * 6])
    wanted, remarks = choose(frame, names)
    assert [one.row["scheduler"] for one in wanted] == ["s0", "s2", "s3", "s7"]
    assert [one.repeated for one in wanted] == [True, False, False, False]
    assert any("s1 on w" in remark for remark in remarks)
    again, _ = choose(frame.assign(seconds=[99.0] * 8), names)
    assert [one.place for one in again] == [one.place for one in wanted]  # however fast this machine is
    preempting, _ = choose(frame.assign(preemptions=[5e4] + [0] * 7, jobs=4e4), names)
    assert [one.row["scheduler"] for one in preempting] == ["s1", "s2", "s3", "s7"]


def test_who_is_asked_for_is_looked_at() -> None:
    names = ["a", "b", "c", "d", "e", "f"]
    frame = pd.DataFrame(
        {"scheduler": names, "workload": "w", "variation": 0, "platform": "p", "seed": 0, "status": "done", "jobs": 1e6}
    )
    wanted, remarks = choose(frame, names, ["e", "b"])
    assert [one.row["scheduler"] for one in wanted] == ["b", "e"]
    assert remarks == []
    with pytest.raises(HarnessError, match="there is no scheduler 'g' to look at"):
        choose(frame, names, ["g"])


@pytest.mark.parametrize(("lacking", "images"), [("jinja2", False), ("plotly", False), ("kaleido", True)])
def test_what_a_page_needs_is_missed_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch, lacking: str, images: bool
) -> None:
    monkeypatch.setattr(rendering, "find_spec", lambda name: None if name == lacking else name)
    extra = "images" if images else "report"
    with pytest.raises(HarnessError, match=rf"needs {lacking}, .* pip install 'sched-harness\[{extra}\]'"):
        rendering.require(images=images)
    if images:
        rendering.require()  # pages alone are made without it


def test_pictures_need_a_browser_and_say_so(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kaleido = pytest.importorskip("kaleido")
    from kaleido.errors import ChromeNotFoundError

    from harness.report.images import draw

    def refuse(jobs: object) -> None:
        raise ChromeNotFoundError

    monkeypatch.setattr(kaleido, "write_fig_from_object_sync", refuse)
    with pytest.raises(HarnessError, match="Chrome or Chromium"):
        draw(tournament_page(harness.Results(store)), tmp_path)


def test_pictures_are_files_with_names_that_every_system_takes(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kaleido = pytest.importorskip("kaleido")

    from harness.report.images import draw

    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(kaleido, "write_fig_from_object_sync", asked.extend)
    page = tournament_page(Renamed(store))
    draw(page, tmp_path / "images")
    assert "ratios.svg" in [path.name for path in (tmp_path / "images").iterdir()]
    assert len({job["path"] for job in asked}) == 2 * len(page.shown_first)
    for job in asked:
        assert re.fullmatch(r"[\w.-]{1,64}\.(svg|png)", job["path"].name)
        json.dumps(job["fig"])  # nothing but what a file can hold
