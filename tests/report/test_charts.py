"""Charts and tables show what they are drawn from: every one against the frame of its run or tournament."""

import base64
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.present.words import lasting, readable
from harness.ranking.ranking import rank
from harness.report.energy_section import pareto_front
from harness.report.page import Page, run_page, tournament_page
from harness.report.page_subject import PageData
from harness.report.ratio_diagram import diagram
from harness.report.winners_section import winners
from harness.results.charts.figures import Figure
from harness.results.charts.run_figures import _median
from harness.results.charts.thinning import distribution
from harness.results.measures import MEASURES


def plain(trace: dict[str, Any], name: str) -> np.ndarray[Any, Any]:
    """A column of a trace as numbers."""
    values = trace[name]
    return np.frombuffer(base64.b64decode(values["bdata"]), f"<{values['dtype']}") if "bdata" in values else values


def drawn(page: Page, name: str) -> list[Figure]:
    found = [figure for figure in page.figures if figure.name.startswith(f"{name}-")]
    assert found
    return found


@pytest.fixture(scope="module")
def schedule() -> harness.Schedule:
    """A run with a log, energy, sleep and rates that change."""
    workload = harness.prepare(harness.lublin(jobs=150, procs=44, seed=3, load=0.9))
    jobs = workload.jobs.assign(logged_wait=np.arange(len(workload)) % 7 * 40.0)
    scheduler = harness.Scheduler(start="easy", rate="coin", sleep="timeout(idle=60)", energy="cores")
    return harness.simulate(replace(workload, jobs=jobs, procs=None), "synthetic-11", scheduler, timeline=True)


@pytest.fixture(scope="module")
def one(schedule: harness.Schedule) -> Page:
    return run_page(schedule)


@pytest.fixture(scope="module")
def many(store: Path) -> Page:
    return tournament_page(harness.Results(store), "mean_wait")


@pytest.fixture(scope="module")
def done(store: Path) -> pd.DataFrame:
    return harness.Results(store).frame()


# ---------------------------------------------------------------- one run


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40))
def test_half_of_the_values_are_at_most_their_median(values: list[int]) -> None:
    middle = _median(distribution(values))
    assert middle == sorted(values)[(len(values) + 1) // 2 - 1]


@pytest.mark.parametrize(("name", "column", "least"), [("waits", "wait", 1.0), ("slowdowns", "bounded_slowdown", 0.0)])
def test_distributions_are_the_shares_of_jobs(
    one: Page, schedule: harness.Schedule, name: str, column: str, least: float
) -> None:
    (figure,) = drawn(one, name)
    values = np.maximum(schedule.ran[column].to_numpy(), least)
    x, y = (plain(figure.data[0], axis) for axis in "xy")
    assert x[:-1] == pytest.approx(np.unique(values), rel=1e-6)
    assert x[-1] == max(x[-2], 10)
    assert y == pytest.approx([*((values <= point).mean() for point in np.unique(values)), 1], rel=1e-6)
    half = np.quantile(values, 0.5, method="inverted_cdf")
    shown = lasting(half) if name == "waits" else readable(half, 3)
    assert f"easy {shown}" in figure.caption
    if name == "waits":
        assert figure.caption.endswith(f"Longest wait: fcfs + easy {lasting(values.max())}.")


def test_classes_of_jobs(one: Page, schedule: harness.Schedule) -> None:
    (figure,) = drawn(one, "classes")
    (tiles,), ran = figure.data, schedule.ran
    edges = ((0, 1), (1, 4), (4, 16), (16, 64))
    lengths = (0, 60, 600, 3600, 3 * 3600, 12 * 3600, np.inf)
    shown, longest = 0, 0.0
    for row, (short, long) in enumerate(itertools.pairwise(lengths)):
        end = f"> {lasting(short)}" if long == np.inf else f"≤ {lasting(long)}"
        assert tiles["y"][row] == end
        for low, high in edges:
            own = ran[(ran["procs"] > low) & (ran["procs"] <= high) & (ran["run"] > short) & (ran["run"] <= long)]
            name = f"{high}" if high == 1 else f"{low + 1}–{high}"
            if name not in tiles["x"]:
                assert own.empty
                continue
            column = tiles["x"].index(name)
            assert tiles["customdata"][row][column] == len(own)
            shown += len(own)
            if len(own):
                longest = max(longest, own["wait"].mean())
                assert tiles["z"][row][column] == pytest.approx(np.log10(1 + own["wait"].mean()))
                assert tiles["text"][row][column] == lasting(own["wait"].mean())
            else:
                assert (tiles["z"][row][column], tiles["text"][row][column]) == (None, "")
    assert shown == len(ran)
    assert tiles["zmax"] == pytest.approx(np.log10(1 + longest))
    assert f"The longest, {lasting(longest)}," in figure.caption


def test_states_and_rates_are_the_timeline(one: Page, schedule: harness.Schedule) -> None:
    whole = schedule.timeline
    day = (whole["time"] - whole["time"].iloc[0]) / 86400
    (states,), (rates,) = drawn(one, "states"), drawn(one, "rates")
    expected = {
        "busy processors": whole["busy"],
        "running": whole["running"],
        "waiting": whole["running"] + whole["queued"],
        "rate": whole["rate"],
        "asleep": whole["asleep"],
        "switching": whole["switching"],
    }
    traces = {trace["name"]: trace for trace in (*states.data, *rates.data)}
    assert set(traces) == set(expected)
    for name, values in expected.items():
        assert plain(traces[name], "x") == pytest.approx(day.to_numpy(), rel=1e-6)
        assert plain(traces[name], "y") == pytest.approx(values.to_numpy(), rel=1e-6)
    assert (plain(traces["waiting"], "customdata") == whole["queued"]).all()
    assert [traces[name]["yaxis"] for name in expected] == ["y", "y2", "y2", "y", "y2", "y2"]
    full = (whole["busy"] >= schedule.platform.cores).mean()
    assert f"At most {whole['busy'].max()} processors are busy (all of them at {full:.0%}" in states.caption
    assert f"and {whole['queued'].max()} jobs waiting" in states.caption
    assert f"between {whole['rate'].min():.3g} and {whole['rate'].max():.3g}" in rates.caption
    assert f"at most {whole['asleep'].max()} of {schedule.platform.nodes} nodes are asleep" in rates.caption


def test_the_system_over_time(one: Page, schedule: harness.Schedule) -> None:
    (figure,), whole = drawn(one, "time"), schedule.timeline
    queued, busy, power = figure.data
    assert [trace["yaxis"] for trace in figure.data] == ["y", "y2", "y3"]
    assert (plain(queued, "y") == whole["queued"]).all()
    time = whole["time"].to_numpy()
    edges = np.linspace(time[0], time[-1], 97)
    for trace, name in ((busy, "busy"), (power, "power")):
        means = []
        for begin, end in itertools.pairwise(edges):
            overlap = np.clip(np.minimum(time[1:], end) - np.maximum(time[:-1], begin), 0, None)
            means.append((overlap * whole[name].to_numpy()[:-1]).sum() / (end - begin))
        assert plain(trace, "y") == pytest.approx(means, rel=1e-5)
        assert plain(trace, "x") == pytest.approx((edges[:-1] - time[0]) / 86400, rel=1e-5, abs=1e-9)
    assert f"Longest queue: fcfs + easy {whole['queued'].max()} jobs." in figure.caption
    assert f"averaged over {lasting(edges[1] - edges[0])} each; drag" in figure.caption
    domains = [figure.layout[name]["domain"] for name in ("yaxis", "yaxis2", "yaxis3")]
    assert domains[0][1] == 1
    assert domains[2][0] == pytest.approx(0)
    for above, below in itertools.pairwise(domains):
        assert above[0] - below[1] == pytest.approx(0.06)
        assert above[1] - above[0] == pytest.approx(below[1] - below[0])


def test_residence_times_job_by_job(one: Page, schedule: harness.Schedule) -> None:
    (figure,), frame = drawn(one, "residence"), schedule.frame
    tiles, diagonal = figure.data
    ours = np.maximum(frame["response"].to_numpy(), 1)
    theirs = np.maximum((frame["logged_wait"] + frame["logged_run"]).to_numpy(), 1)
    middle = np.array(tiles["x"])
    assert tiles["y"] == tiles["x"]
    assert len(middle) == 48
    counts = np.zeros((48, 48), int)
    for mine, other in zip(ours, theirs, strict=True):
        counts[np.abs(np.log(middle / mine)).argmin(), np.abs(np.log(middle / other)).argmin()] += 1
    assert tiles["customdata"] == counts.tolist()
    for row, of_row in zip(tiles["z"], counts, strict=True):
        assert row == [pytest.approx(np.log10(1 + n)) if n else None for n in of_row]
    assert diagonal["x"] == diagonal["y"] == [1, pytest.approx(max(ours.max(), theirs.max()) * 1.01)]
    row = next(section for section in one.sections if section.name == "adequacy").data["rows"][0]
    off = np.abs(frame["response"] - frame["logged_wait"] - frame["logged_run"])
    assert row["P"] == readable(np.sqrt((off**2).mean()), 5)
    assert (row["median"], row["p95"]) == (readable(off.median(), 5), readable(off.quantile(0.95), 5))
    assert (
        f"within {readable(off.median(), 4)} s of it, 95 % within {readable(off.quantile(0.95), 4)} s" in figure.caption
    )


# ---------------------------------------------------------------- a tournament


def test_capacity_of_every_scheduler(many: Page, done: pd.DataFrame, store: Path) -> None:
    procs = harness.Results(store).about["platforms"][0]["procs"]
    standings = [s.scheduler for s in many.sections[0].data["ranking"].standings]
    for figure in drawn(many, "capacity"):
        own = done[done["workload"] == figure.when].groupby("scheduler")
        for trace, column in zip(figure.data, ("effective_load", "job_wasting"), strict=True):
            means = (own[column].mean() / procs).reindex(standings)
            assert trace["x"] == pytest.approx(means.to_list())
            assert [name.split(". ")[0] for name in trace["y"]] == ["1", "2", "3"]
            assert trace["meta"]["policies"] == [0, 1, 2]
        wasted = own["job_wasting"].mean() / procs
        assert f"{wasted.idxmax()} wastes the most, {wasted.max():.1%} of" in figure.caption


def test_every_measure_against_energy(many: Page, done: pd.DataFrame) -> None:
    standings = [s.scheduler for s in many.sections[0].data["ranking"].standings]
    figures = drawn(many, "pareto")
    assert len(figures) == 2 * 3  # two measures, all workloads and each
    for figure in figures:
        name = "mean_wait" if "mean_wait" in figure.name else "mean_bounded_slowdown"
        where = figure.when.split(", ", 1)[1]
        runs = done if where == "all workloads" else done[done["workload"] == where]
        front, *points = figure.data
        means = runs.groupby("scheduler")[["energy", name]].mean()
        for place, (scheduler, point) in enumerate(zip(standings, points, strict=True)):
            own = runs[runs["scheduler"] == scheduler]
            assert point["x"] == [pytest.approx(own["energy"].mean())]
            assert point["y"] == [pytest.approx(own[name].mean())]
            assert (point["text"], point["meta"]) == ([str(place + 1)], {"policy": place})
            assert ("error_x" in point) == ("bars contain 95 %" in figure.caption) == (len(own) > 1)
            for bars, column in (("error_x", "energy"), ("error_y", name)) if len(own) > 1 else ():
                mean, low, high = own[column].mean(), *own[column].quantile([0.025, 0.975])
                assert point[bars]["array"] == [pytest.approx(high - mean)]
                assert point[bars]["arrayminus"] == [pytest.approx(mean - low)]
        rows = [*means.itertuples(index=False, name=None)]
        beaten = {a for a in rows for b in rows if a != b and a[0] >= b[0] and a[1] >= b[1]}
        best = [row for row in rows if row not in beaten]
        assert [*zip(front["x"], front["y"], strict=True)] == [tuple(map(pytest.approx, row)) for row in sorted(best)]


def test_where_many_compete_only_the_best_are_numbered(one: Page) -> None:
    names = [f"s{number}" for number in range(14)]
    frame = pd.DataFrame({"scheduler": names, "workload": "w", "status": "done", "energy": [*range(14)]})
    frame = frame.assign(mean_wait=[5, 9, 3, *[9] * 10, 1], mean_bounded_slowdown=1.0)
    ranking = rank(frame.assign(platform="p", variation=0, seed=0), "mean_wait")
    subject = PageData(frame, MEASURES, names, {}, [], by="mean_wait", ranking=ranking)
    for count, numbered in ((14, [0, 2, 13]), (12, [*range(12)])):
        few = replace(subject, frame=frame.head(count), schedulers=names[:count])
        figure = next(iter(pareto_front(few)))
        assert [place for place, point in enumerate(figure.data[1:]) if point["text"] != [""]] == numbered
        assert figure.layout["showlegend"] == (count == 12)
        assert ("of those on the dotted line" in figure.caption) == (count == 14)


def test_means_wins_and_ranks_of_the_leaderboard(many: Page, done: pd.DataFrame) -> None:
    data = many.sections[0].data
    standings = data["ranking"].standings
    for row in data["rows"]:
        own = done[done["scheduler"] == row["scheduler"]]
        own = own[own["workload"] == row["workload"]] if row["workload"] else own
        assert row["runs"] == len(own)
        assert standings[row["policy"]].scheduler == row["scheduler"]
        for measure, (_, exact) in zip(data["measures"], row["cells"], strict=True):
            mean = own[measure["name"].replace(" ", "_")].mean()
            assert float(exact or "nan") == pytest.approx(mean, rel=1e-8, nan_ok=True)
    assert len(data["rows"]) == 3 * 3
    waits = done.pivot(index="workload", columns="scheduler", values="mean_wait")
    for i, row in enumerate(standings):
        for j, column in enumerate(standings):
            cell, mine, other = data["matrix"][i][j], waits[row.scheduler], waits[column.scheduler]
            if i == j:
                assert cell is None
                continue
            counts = ((mine < other).sum(), (mine == other).sum(), (mine > other).sum())
            assert (cell["wins"], cell["ties"], cell["losses"]) == counts
            assert cell["share"] == round(100 * (counts[0] + counts[1] / 2) / len(waits))


def test_the_intervals_of_a_page_are_those_of_its_ranking() -> None:
    """Twelve workloads on which three schedulers come in any order."""
    dice = np.random.default_rng(1)
    parts = [
        pd.DataFrame({"scheduler": ["a", "b", "c"], "workload": f"w{number}", "mean_wait": 1.0 + dice.permutation(3)})
        for number in range(12)
    ]
    frame = pd.concat(parts).assign(status="done", platform="p", variation=0, seed=0)
    ranking = rank(frame, "mean_wait")
    standings = ranking.standings
    data = winners.gather(PageData(frame, MEASURES, [s.scheduler for s in standings], {}, [], ranking=ranking))
    assert data is not None
    assert [figures[0] for figures in data["figures"]] == [readable(s.mean, 4) for s in standings]
    assert [ratio for ratio, _ in data["ratios"]] == [readable(s.ratio, 3) for s in standings]
    diagram = data["diagram"]
    assert [place.scheduler for place in diagram.places] == [s.scheduler for s in standings]
    assert diagram.one == diagram.places[0].x
    known = {text: x for x, text in diagram.ticks}
    for place, standing in zip(diagram.places[1:], standings[1:], strict=True):
        low, high = standing.interval
        assert low < standing.ratio < high
        assert place.low < place.x < place.high
        assert (place.low <= diagram.one <= place.high) == (standing.p_value > 0.05)
        # The axis is logarithmic: as far from 1 as the ratio, in units of a tick that is known.
        text, x = next((text, x) for text, x in known.items() if text != "1")
        step = (x - diagram.one) / np.log(float(text))
        assert place.x - diagram.one == pytest.approx(step * np.log(standing.ratio), abs=0.3)


def test_intervals_that_reach_too_far_are_cut_off() -> None:
    """Six workloads just suffice, so the intervals are wide beyond use; the diagram keeps to the ratios."""
    dice = np.random.default_rng(2)
    waits = pd.DataFrame(np.exp(dice.normal(size=(6, 3))), columns=["a", "b", "c"]).rename_axis("workload")
    frame = waits.melt(var_name="scheduler", value_name="mean_wait", ignore_index=False).reset_index()
    drawn = diagram(rank(frame.assign(status="done", platform="p", variation=0, seed=0), "mean_wait"))
    assert drawn is not None
    assert all(drawn.left <= x <= drawn.right for place in drawn.places[1:] for x in (place.low, place.x, place.high))


def test_nobody_has_a_place_in_the_page_of_one_run(one: Page, many: Page) -> None:
    assert all("places in the ranking" in figure.caption for figure in drawn(many, "capacity"))
    assert not any("places in the ranking" in figure.caption for figure in drawn(one, "capacity"))


def test_the_gantt_chart_of_a_run_is_embedded_rectangle_by_rectangle(one: Page, schedule: harness.Schedule) -> None:
    (chart,) = next(section for section in one.sections if section.name == "runs").data["gantts"]
    frame, boxes = schedule.ran.set_index("job"), chart["rectangles"]
    job, core, cores, begin, end = (plain(boxes, name) for name in ("job", "core", "cores", "begin", "end"))
    number, procs, wait = (plain(chart["jobs"], name) for name in ("number", "procs", "wait"))
    assert sorted(number) == sorted(frame.index)
    assert (procs == frame["procs"].loc[number]).all()
    assert wait == pytest.approx(frame["wait"].loc[number].to_numpy(), rel=1e-6)
    assert (chart["whole"], chart["cores"], chart["count"]) == (True, schedule.platform.cores, len(frame))
    origin = schedule.frame["submit"].min()
    assert chart["begin"] == frame["start"].min() - origin
    assert chart["end"] == frame["end"].max() - origin
    area = np.bincount(job, (end - begin) * cores)
    served = (frame["run"] * frame["procs"]).loc[number].to_numpy()
    assert area == pytest.approx(served, rel=1e-3, abs=2)
    for place, own in enumerate(number):
        assert begin[job == place].min() == pytest.approx(
            frame["start"][own] + frame["boot"][own] - frame["start"].min(), rel=1e-5, abs=0.1
        )
        assert end[job == place].max() == pytest.approx(frame["end"][own] - frame["start"].min(), rel=1e-5)
    assert ((core >= 0) & (core + cores <= schedule.platform.cores)).all()
    sizes = np.concatenate([np.full(kind.count, kind.cores) for kind in schedule.platform.types])
    assert (plain(chart, "nodes") == np.cumsum(sizes) - sizes).all()
    assert chart["busiest"] == f"{len(frame)} jobs, the widest of {frame['procs'].max()} processors"
