"""The gallery: its policies do what the papers say on cases by hand, pass the checks, and cost nobody anything."""

import ast
import importlib.util
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.strategies import rows, workload

import harness
from harness.disk import bundled
from harness.errors import HarnessError
from harness.platform.machine import NodeType, Platform
from harness.policy.gallery import example_descriptions, examples
from harness.policy.registry import Plugins, plugins
from harness.present.tables import render
from harness.testing import check_policy
from harness.testing.offered import offered_policies

FILES = examples()
PAGE = bundled.folder("plugins") / "examples" / "README.md"


def starts(example: str, jobs: list[tuple[int, int, int, int]], procs: int = 4, **given: object) -> list[float]:
    """When jobs of (submit, processors, runtime, estimate) begin under an example."""
    return run(example, jobs, procs, **given).frame["start"].tolist()


def run(example: str, jobs: list[tuple[int, int, int, int]], procs: int = 4, **parts: object) -> harness.Schedule:
    signal = parts.pop("signal", None)
    return harness.simulate(workload(jobs), procs, harness.Scheduler(**parts), plugins=[example], signal=signal)


# ---------------------------------------------------------------- asked for, and not otherwise


def test_nobody_has_them_who_does_not_ask() -> None:
    every = Plugins().policies
    for name, path in FILES.items():
        assert str(path) not in set(Plugins().origins.values())
        assert not any(name.replace("_", "-") in policies for policies in every.values())


@pytest.mark.parametrize("name", FILES)
def test_an_example_is_had_by_its_name(name: str) -> None:
    paths, policies = offered_policies(name)
    assert [policy.name for policy in policies] == [name.replace("_", "-")]
    assert policies[0].name in plugins(*paths).policies[policies[0].hook]
    assert plugins(name).policies[policies[0].hook][policies[0].name].parameters == policies[0].parameters


def test_a_file_of_ones_own_comes_before_an_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = FILES["relaxed"].read_text(encoding="utf-8").replace('Start("relaxed"', 'Start("mine"')
    Path("relaxed").mkdir()
    Path("relaxed/own.py").write_text(text, encoding="utf-8")
    assert "mine" in plugins("relaxed").policies["start_jobs"]


def test_what_is_neither_is_refused() -> None:
    with pytest.raises(HarnessError, match=r"--plugins relaxd: no such file .* did you mean 'relaxed'"):
        plugins("relaxd")


@pytest.mark.parametrize("name", FILES)
def test_it_names_its_source_and_uses_public_names_only(name: str) -> None:
    [one] = [one for one in example_descriptions() if one.name == name]
    assert one.rule.endswith(".")
    assert re.search(r"\((19|20)\d\d\)", one.source)
    assert len(one.hooks) == 1
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= {"harness", "math"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    assert {node.attr for node in used if node.value.id == "harness"} <= set(harness.__all__)


def test_the_page_is_what_is_listed() -> None:
    listed = [(one.name, ", ".join(one.hooks), one.rule, one.source) for one in example_descriptions()]
    table = render(("name", "decides", "rule", "source"), listed, "markdown").strip()
    shown = re.search(
        r"<!-- generated: harness list examples .*?-->\n(.*?)\n<!-- end -->",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert shown
    assert shown[1].strip() == table
    assert re.findall(r"\]\((\w+)\.py\)", PAGE.read_text()) == list(FILES)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_it_passes_the_checks(name: str) -> None:
    check_policy(name.replace("_", "-"), plugins=[FILES[name]], examples=3)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("log", ["KTH-SP2", "SDSC-SP2"])
@pytest.mark.parametrize(
    ("name", "base", "less"),
    [
        ("relaxed", "easy", "mean_wait"),
        ("selective", "easy", "mean_bounded_slowdown"),
        ("selective", "conservative", "mean_response"),
        ("slack", "conservative", "mean_bounded_slowdown"),
        ("gang", "none", "mean_bounded_slowdown"),
    ],
)
def test_its_effect_has_the_sign_that_the_page_tells(name: str, base: str, less: str, log: str) -> None:
    jobs = harness.prepare(harness.read_workload(log))
    theirs = harness.simulate(jobs, scheduler=harness.Scheduler(start=base)).measures()
    ours = harness.simulate(jobs, scheduler=harness.Scheduler(start=name), plugins=[name]).measures()
    assert ours[less] < theirs[less]
    assert (ours["max_wait"] > theirs["max_wait"]) == (name != "gang")


# ---------------------------------------------------------------- by hand: four processors


HALF, ALL = (0, 2, 10, 10), (0, 4, 10, 10)  # the second cannot begin beside the first, which is expected to end at 10


@pytest.mark.parametrize(("relax", "begins"), [(0.0, [0, 10, 20]), (0.3, [0, 10, 20]), (0.4, [0, 14, 0])])
def test_relaxed_delays_the_first_by_a_share_of_its_wait(relax: float, begins: list[float]) -> None:
    """The first waits 10 s; whoever takes 14 s beside it costs it 4 s."""
    assert starts("relaxed", [HALF, ALL, (0, 2, 14, 14)], start=f"relaxed(relax={relax})") == begins


def test_relaxed_does_not_add_delays_up() -> None:
    """A second one who would delay it by 4 s more may not: it may begin at 15 s, whoever asks."""
    jobs = [(0, 1, 10, 10), ALL, (0, 2, 14, 14), (1, 1, 17, 17), (1, 1, 13, 13)]
    assert starts("relaxed", jobs, start="relaxed(relax=0.5)") == [0, 14, 0, 24, 1]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6).flatmap(lambda procs: st.tuples(st.just(procs), rows(procs))))
def test_relaxed_by_nothing_is_easy(case: tuple[int, list[tuple[int, int, int, int]]]) -> None:
    procs, jobs = case
    easy = harness.simulate(workload(jobs), procs, harness.Scheduler(start="easy")).frame["start"]
    assert starts("relaxed", jobs, procs, start="relaxed(relax=0)") == easy.tolist()


@pytest.mark.parametrize(
    ("start", "begins"),
    [
        ("selective(threshold=100)", [0, 37, 0, 12, 14]),  # the wide one is promised nothing
        ("selective(threshold=2)", [0, 30, 0, 40, 14]),  # promised 30 s when it has waited for 10 s
        ("selective", [0, 10, 20, 20, 45]),  # all slowdowns so far are 1, and so is everybody's factor
    ],
)
def test_selective_promises_to_who_has_waited(start: str, begins: list[float]) -> None:
    jobs = [HALF, ALL, (0, 2, 30, 30), (12, 1, 25, 25), (14, 1, 10, 10)]
    assert starts("selective", jobs, start=start)[:4] == begins[:4]


@pytest.mark.parametrize(("slack", "begins"), [(0.0, [0, 10, 20]), (0.3, [0, 10, 20]), (0.4, [0, 14, 0])])
def test_slack_is_a_share_of_the_request(slack: float, begins: list[float]) -> None:
    assert starts("slack", [HALF, ALL, (0, 2, 14, 14)], start=f"slack(slack={slack})") == begins


def test_lookahead_packs_what_easy_does_not() -> None:
    """Beside a running job three of five processors are free: 2 and 2 come first in the queue, 2 and 1 fill them."""
    jobs = [(0, 2, 10, 10), (0, 5, 10, 10), (0, 2, 9, 9), (0, 2, 9, 9), (0, 1, 9, 9)]
    assert starts("lookahead", jobs, 5, start="lookahead") == [0, 10, 0, 20, 0]
    jobs = [(0, 2, 10, 10), (0, 5, 10, 10), (0, 2, 9, 9), (0, 3, 9, 9), (0, 2, 9, 9)]
    assert starts("lookahead", jobs, 5, start="lookahead") == [0, 10, 20, 0, 20]
    assert starts("lookahead", jobs, 5, start="easy")[2:4] == [0, 20]


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(0, 4),
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from((5, 10, 20))), max_size=6),
)
def test_no_set_of_jobs_uses_more_than_lookahead(runs: int, free: int, spare: int, others: list) -> None:
    """Of all sets behind the first, by trying them: those that run past its begin have only what is spare then."""
    spare = min(spare, runs - 1)  # the first does not fit, and needs all that is not spare
    jobs = [(0, runs, 10, 10), (0, runs + free - spare, 10, 10), *((0, procs, run, run) for procs, run in others)]
    begun = starts("lookahead", jobs, runs + free, start="lookahead")
    used = sum(procs for (procs, _), start in zip(others, begun[2:], strict=True) if start == 0)
    sets = (some for size in range(len(others) + 1) for some in itertools.combinations(others, size))
    fitting = (
        sum(procs for procs, _ in some)
        for some in sets
        if sum(procs for procs, run in some if run > 10) <= spare and sum(procs for procs, _ in some) <= free
    )
    assert used == max(fitting)
    assert begun[1] == 10


def _loaded(name: str) -> object:
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", FILES[name])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 6).flatmap(lambda procs: st.tuples(st.just(procs), rows(procs))), st.sampled_from((0.0, 0.5, 2.0))
)
def test_nobody_begins_later_than_his_slack(case: tuple[int, list], slack: float) -> None:
    """In plain Python, so that what is kept of every job can be looked at: its first promise and its slack."""
    procs, jobs = case
    theirs, latest = _loaded("slack"), {}

    def watched(plan, state, per_job, slack=1.0):
        theirs.slack(plan, state, per_job, slack)
        latest.update({job: per_job[job].latest for job in range(len(state.jobs))})

    kept = harness.per_job(("latest", "promised", "anew"))
    policy = harness.register(harness.Start("watched", watched, memory=kept, compiled=False, least={"slack": 0}))
    try:
        begins = harness.simulate(workload(jobs), procs, harness.Scheduler(start=f"watched(slack={slack})")).outcome
    finally:
        harness.unregister(policy)
    for job, record in enumerate(begins.jobs):
        assert record["start"] <= latest[job]


def test_gang_gives_everybody_a_turn() -> None:
    """Two wide jobs of 10 s take turns of 4 s; with one row, one after the other."""
    shared = run("gang", [ALL, ALL], start="gang(quantum=4)").frame
    assert shared[["start", "end"]].to_numpy().tolist() == [[0, 18], [4, 20]]
    assert starts("gang", [ALL, ALL], start="gang(quantum=4, rows=1)") == [0, 10]


def test_gang_puts_side_by_side_who_has_room() -> None:
    """Two halves share a row, a wide one has another; when the halves are done it keeps the machine."""
    frame = run("gang", [HALF, (0, 4, 6, 6), (0, 2, 3, 3)], start="gang(quantum=4)").frame
    assert frame[["start", "end"]].to_numpy().tolist() == [[0, 16], [4, 14], [0, 3]]


@pytest.mark.parametrize(("width", "end"), [(1, 190.0), (3, 130.0), (4, 100.0)])
def test_utilisation_sets_the_rate_after_a_period(width: int, end: float) -> None:
    """100 s of work: 10 s at full rate, then at 0.5 for a quarter of the machine, 0.75 for three, full for all."""
    frame = run("utilisation", [(0, width, 100, 100)], rate="utilisation(period=10)").frame
    assert frame["end"].tolist() == [pytest.approx(end)]


def test_utilisation_counts_only_the_last_period() -> None:
    """Full at first, then a quarter: the slow rate begins with the first period in which little was used."""
    frame = run("utilisation", [(0, 3, 10, 10), (0, 1, 50, 50)], rate="utilisation(period=10)").frame
    assert frame["end"].tolist() == [10.0, pytest.approx(20 + 30 / 0.5)]


def test_many_who_wait_make_it_fast() -> None:
    jobs = [(0, 1, 100, 100), (0, 4, 10, 10), (0, 4, 10, 10)]
    assert run("utilisation", jobs, start="none", rate="utilisation(period=10, many=1)").frame["end"][0] == 100
    assert run("utilisation", jobs, start="none", rate="utilisation(period=10, many=2)").frame["end"][0] == 190


HOUR = 3600
DIRTY = harness.Signal(
    "made", "carbon", np.arange(48) * HOUR, np.array(2 * [{12: 100.0, 13: 50.0}.get(hour, 300.0) for hour in range(24)])
)


@pytest.mark.parametrize(("hours", "delay", "begins"), [(1, 6, 13), (2, 6, 12), (1, 4.25, 12), (1, 3, 8), (1, 0, 8)])
def test_lowest_window_waits_for_the_cleanest_hours(hours: int, delay: float, begins: int) -> None:
    """On the first day somebody comes every hour and nobody is held; on the second, at eight, somebody is."""
    jobs = [(hour * HOUR, 1, 60, 60) for hour in range(24)] + [(32 * HOUR, 1, hours * HOUR, hours * HOUR)]
    begun = starts("lowest_window", jobs, hold=f"lowest-window(delay={delay * HOUR})", signal=DIRTY)
    assert begun[:24] == [hour * HOUR for hour in range(24)]
    assert begun[24] == (24 + begins) * HOUR


@pytest.mark.parametrize(
    ("how", "begins"),
    [("by=slot", 13), ("by=saving", 12), ("by=saving, length=60", 13), ("by=window, length=3600", 13)],
)
def test_other_ways_to_choose_an_hour(how: str, begins: int) -> None:
    """At eight somebody of two hours: 13 is the cleanest hour, 12 and 13 are the cleanest two.

    Waiting for 12 saves 200 a second of a minute, in 14,460 s, for 13 it saves 250 in 18,060 s, which is more; of two
    hours it saves 225 in 21,600 s and 125 in 25,200 s.
    """
    jobs = [(hour * HOUR, 1, 60, 60) for hour in range(24)] + [(32 * HOUR, 1, 2 * HOUR, 2 * HOUR)]
    begun = starts("lowest_window", jobs, hold=f"lowest-window({how})", signal=DIRTY)
    assert begun[24] == (24 + begins) * HOUR


def test_without_a_signal_nobody_is_held() -> None:
    assert starts("lowest_window", [(0, 1, 60, 60), (90000, 1, 60, 60)], hold="lowest-window") == [0, 90000]


@pytest.mark.parametrize("start", ["relaxed", "selective", "slack", "lookahead"])
def test_plans_name_nodes_where_memory_binds(start: str) -> None:
    """The first node alone has memory for the third job, which waits for it; the fourth takes the other meanwhile."""
    nodes = Platform("bound", (NodeType(1, 1, memory=4.0), NodeType(1, 1, memory=2.0)))
    rows = [(0, 1, 9, 9, {"memory": 4.0}), (0, 1, 2, 2), (1, 1, 5, 5, {"memory": 4.0}), (3, 1, 4, 4, {"memory": 1.0})]
    found = harness.simulate(workload(rows), nodes, harness.Scheduler(start=start), plugins=[start])
    assert list(found.frame["start"]) == [0, 0, 9, 3]
