"""Fields: the product they stand for, and what is said about mistakes in them."""

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.small_fields import FIELD, Write

from harness.disk.bundled import folder
from harness.errors import HarnessError
from harness.experiment.field import expand
from harness.experiment.field_reading import bundled_fields, read_field
from harness.experiment.run_matrix import make_run_matrix
from harness.policy.registry import plugins
from harness.policy.scheduler import Scheduler
from harness.policy.spec import parse

RATES = plugins().policies["set_rate"]


@given(
    workloads=st.integers(1, 3),
    platforms=st.lists(st.integers(16, 20), min_size=1, max_size=3, unique=True),
    orders=st.lists(st.sampled_from(["fcfs", "lcfs", "spf", "wfp3(power=2)"]), min_size=1, max_size=4, unique=True),
    starts=st.lists(st.sampled_from(["none", "easy", "conservative"]), min_size=1, max_size=3, unique=True),
    seeds=st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True),
    resamples=st.integers(0, 3),
)
def test_a_field_is_the_product_of_its_lists(tmp_path_factory, workloads, platforms, orders, starts, seeds, resamples):
    path = tmp_path_factory.mktemp("product") / "field.toml"
    path.write_text(
        f"workloads = {[f'lublin(seed={k})' for k in range(workloads)]}\nplatforms = {platforms}\nseeds = {seeds}\n"
        f"resamples = {resamples}\n[[scheduler]]\norder = {orders}\nstart = {starts}\n"
    )
    found = list(read_field(path).combinations())
    schedulers = [Scheduler(order=order, start=start) for order, start in itertools.product(orders, starts)]
    wanted = itertools.product(range(workloads), range(resamples + 1), map(str, platforms), seeds, schedulers)
    assert set(found) == set(wanted)
    assert len(found) == len(set(found))


numbers = st.lists(st.integers(0, 20), min_size=1, max_size=4, unique=True)
rates = st.lists(st.sampled_from([0.25, 0.5, 1, 2.5]), min_size=1, max_size=3, unique=True)


@given(low=numbers, high=numbers, slow=rates)
def test_a_sweep_is_every_point_the_policy_takes(low, high, slow):
    points = list(itertools.product(low, high, slow))
    if len(points) > 1:
        points = [(a, b, c) for a, b, c in points if a <= b and c <= 1]  # 1 is the default of `fast`
    spec = f"hysteresis(low={low}, high={high}, slow={slow})"
    if not points:
        with pytest.raises(HarnessError, match="expected some with low ≤ high and slow ≤ fast"):
            expand(spec, RATES)
        return
    assert [tuple(parse(one)[1].values()) for one in expand(spec, RATES)] == points
    assert {parse(one)[0] for one in expand(spec, RATES)} == {"hysteresis"}


def test_words_can_be_swept_too() -> None:
    starts = plugins().policies["start_jobs"]
    swept = expand("easy(backfill_order=[spf, sjf-width], reservations=2)", starts)
    assert swept == ["easy(backfill_order=spf, reservations=2)", "easy(backfill_order=sjf-width, reservations=2)"]
    assert expand("conservative", starts) == ["conservative"]


def test_groups_add_up_and_repetitions_count_once(write: Write) -> None:
    field = read_field(
        write(
            'workloads = "lublin"\n[[scheduler]]\norder = ["fcfs", "spf"]\nstart = "easy(reservations=[1, 2])"\n'
            '[[scheduler]]\norder = "spf"\nstart = ["easy", "preempt(at=any)"]\n'
        )
    )
    assert [(s.order, s.start) for s in field.schedulers] == [
        ("fcfs", "easy"),
        ("fcfs", "easy(reservations=2)"),
        ("spf", "easy"),
        ("spf", "easy(reservations=2)"),
        ("spf", "preempt"),
    ]


def test_exclusions_take_away_what_they_name_and_nothing_else(write: Write) -> None:
    everything = 'workloads = ["lublin(seed=1)", "lublin(seed=2)"]\nplatforms = [64, 128]\n[[scheduler]]\n' + (
        'order = ["fcfs", "lcfs"]\nstart = ["easy", "easy(reservations=2)", "preempt(at=arrival)"]\n'
    )
    before = set(read_field(write(everything)).combinations())
    after = set(
        read_field(
            write(
                everything + '[[exclude]]\norder = "fcfs"\nstart = "preempt"\n'
                '[[exclude]]\nworkload = "lublin(seed=2)"\nplatform = 128\nstart = "easy(reservations=2)"\n'
            )
        ).combinations()
    )
    assert after == {
        (workload, variation, platform, seed, scheduler)
        for workload, variation, platform, seed, scheduler in before
        if not (scheduler.order == "fcfs" and scheduler.start == "preempt(at=arrival)")
        and not (workload == 1 and platform == "128" and scheduler.start == "easy(reservations=2)")
    }
    assert len(after) < len(before)


LUBLIN = "lublin(jobs=10000, procs=256, seed=1)"  # how tables call the workload "lublin"
SCHEDULER = '[[scheduler]]\norder = "fcfs"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("workload = 1\n" + SCHEDULER, 1, ["no key 'workload'", "did you mean 'workloads'"]),
        ('workloads = "lublin"\n\n[[scheduler]]\nordr = "fcfs"\n', 4, ["'ordr'", "did you mean 'order'"]),
        ('workloads = "lublin"\n[[scheduler]]\n# fcsf\norder = ["fcfs",\n  "fcsf"]\n', 5, ["'fcsf'", "mean 'fcfs'"]),
        (f'workloads = "lublin"\n{SCHEDULER}[[scheduler]]\norder = "spf(power=2)"\n', 5, ["no parameter 'power'"]),
        (f'workloads = "lublin"\n{SCHEDULER}start = "easy(reservations=0)"\n', 4, ["expected at least 1"]),
        (f'workloads = "lublin"\n{SCHEDULER}start = "easy(backfill_order=spff)"\n', 4, ["'spff'", "mean 'spf'"]),
        (f'workloads = "lublin"\n{SCHEDULER}start = "easy(reservations=[])"\n', 4, ["at least one value"]),
        (f'workloads = "lublin"\n{SCHEDULER}start = 3\n', 4, ["start = 3", "expected texts"]),
        (SCHEDULER, 1, ["no workloads", "expected a list"]),
        ('workloads = "lublin"\n', 1, ["no scheduler", "[[scheduler]]"]),
        (f'workloads = ["lublin"]\nplatforms = []\n{SCHEDULER}', 2, ["platforms = []", "at least one"]),
        (f'workloads = ["lublin"]\nseeds = -1\n{SCHEDULER}', 2, ["seeds = -1", "at least 0"]),
        (f'workloads = ["lublin"]\nresamples = true\n{SCHEDULER}', 2, ["resamples = True", "whole numbers"]),
        (f'workloads = [\n  {{source = "lublin", lod = 1}}]\n{SCHEDULER}', 2, ["'lod'", "did you mean 'load'"]),
        (f"workloads = [{{load = 1}}]\n{SCHEDULER}", 1, ["expected source"]),
        (f'workloads = "lublin"\n{SCHEDULER}[[exclude]]\nstart = "none"\n', 4, ["no combination has start = 'none'"]),
        (f'workloads = "lublin"\n{SCHEDULER}[[exclude]]\norder = "fcfs"\n', 4, ["everything is excluded"]),
        (f'workloads = "lublin"\n{SCHEDULER}[[exclude]]\nordre = "fcfs"\n', 5, ["'ordre'", "did you mean 'order'"]),
        (f'workloads = "lublin"\n{SCHEDULER}[[exclude]]\norder = "fcsf"\n', 5, ["'fcsf'", "did you mean 'fcfs'"]),
        (f'workloads = "lublin"\n{SCHEDULER}start = "easy{"(" * 2000}"\n', 4, ["…"]),
        (
            f'workloads = "lublin"\n{SCHEDULER}rate = "fixed(rate={list(range(1, 2001))})"\n'
            f'sleep = "timeout(idle={list(range(2000))})"',
            2,
            ["4,000,000 schedulers: expected at most 1,000,000"],
        ),
        (f'workloads = ["lublin", "lublin"]\n{SCHEDULER}', 1, ["workloads: 'lublin' is listed twice"]),
        (f'workloads = "lublin"\nseeds = [1, 2, 1]\n{SCHEDULER}', 2, ["seeds: 1 is listed twice"]),
        (f'workloads = "lublin"\nplatforms = [64, "64"]\n{SCHEDULER}', 2, ["platforms: '64' is listed twice"]),
        (f'workloads = "lublin"\n{SCHEDULER}rate = ["full", "full"]\n', 4, ["rate: 'full' is listed twice"]),
        (
            f'workloads = "lublin"\n{SCHEDULER}rate = ["fixed(rate=[0.5, 1])", "fixed"]\n',
            4,
            ["rate: 'fixed' is listed twice"],
        ),
        (f'workloads = "lublin"\nseeds = {10**30}\n{SCHEDULER}', 2, [f"seeds = {10**30}", "of 64 bits"]),
        (
            f'workloads = "lublin"\nresamples = {10**9}\n{SCHEDULER}',
            2,
            ["1,000,000,001 runs: expected at most 1,000,000"],
        ),
        (f'workloads = "lublin"\n{SCHEDULER}[scheduler.queues.a]\norder = "spf"\n', 4, ["'a'", "expected queue=…"]),
        (f'workloads = "lublin"\n{SCHEDULER}[scheduler.queues.a]\nqueu = 1\n', 4, ["no 'queu'", "mean 'queue'"]),
        (f'workloads = "lublin"\n{SCHEDULER}queues = "no.toml"\n', 4, ["no.toml", "there is no such file"]),
        # What is only found when workloads are prepared and policies meet platforms:
        (f'workloads = ["lublin",\n "nowhere.swf"]\n{SCHEDULER}', 2, ["nowhere.swf", "no such file"]),
        (f'workloads = [{{source = "lublin", load = -1}}]\n{SCHEDULER}', 1, ["expected a number above 0"]),
        (f'workloads = "lublin"\nplatforms = ["log", "peas"]\n{SCHEDULER}', 2, ["peas"]),
        (
            f'workloads = [\n  "lublin",\n  {{source = "poisson", name = "{LUBLIN}"}},\n]\n{SCHEDULER}',
            1,
            ["two workloads are called", "name ="],
        ),
        (f'workloads = "lublin"\n{SCHEDULER}energy = "peas"\n', 2, ["needs the peak power"]),
        (f'workloads = "{"long" * 1000}"\n{SCHEDULER}', 1, ["no log file and no trace"]),
    ],
)
def test_a_mistake_is_said_by_line_with_what_would_be_right(
    write: Write, text: str, line: int, words: list[str]
) -> None:
    path = write(text)
    with pytest.raises(HarnessError) as refused:
        make_run_matrix(read_field(path))
    assert str(refused.value).startswith(f"{path}, line {line}: "), refused.value
    assert [word for word in words if word not in str(refused.value)] == [], refused.value
    assert len(str(refused.value)) < 1000, "quotes too much back"


def test_what_is_no_toml_is_refused_with_its_place(write: Write, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"at line 2, .*expected TOML"):
        read_field(write("workloads = 1\nseeds = =\n"))
    with pytest.raises(HarnessError, match="did you mean 'classic'"):
        read_field("clasic")
    for much in (f"workloads = {'[' * 5000}{']' * 5000}\n", f"seeds = {'9' * 5000}\n", f"about{'.a' * 5000} = 1\n"):
        with pytest.raises(HarnessError, match=r"field\.toml"):
            read_field(write(much))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(HarnessError, match="expected TOML"):
        read_field(tmp_path / "binary.toml")


def test_a_log_in_the_place_of_a_field_is_told_its_own(write: Write, tmp_path: Path) -> None:
    log = tmp_path / "some.swf"
    log.write_text("1 0 -1 10 1 -1 -1 1 20 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    for source in (log, "kth-sp2"):
        with pytest.raises(HarnessError, match="a log: list it in a field under workloads"):
            read_field(source)
    bare = tmp_path / "field"  # a field needs no ending
    bare.write_text(write(f'workloads = "{log}"\nplatforms = 4\n{SCHEDULER}').read_text())
    assert read_field(bare).workloads


def test_a_log_that_names_no_processors_needs_a_platform(write: Write, tmp_path: Path) -> None:
    log = tmp_path / "bare.swf"
    log.write_text("1 0 -1 10 1 -1 -1 1 20 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    with pytest.raises(HarnessError, match="how many processors"):
        make_run_matrix(read_field(write(f'workloads = "{log}"\n{SCHEDULER}')))
    assert len(make_run_matrix(read_field(write(f'workloads = "{log}"\nplatforms = 4\n{SCHEDULER}'))).runs) == 1


SOME = """
workloads = ["lublin(jobs=20, procs=16, seed=1)", {bare}]
platforms = [16, "log", {{nodes = "synthetic-11", size = 32}}]
[[scheduler]]
order = ["fcfs", "spf", "lpf"]
sleep = ["never", "timeout(idle=60)"]
"""


def test_every_combination_that_can_run_does_and_the_others_are_listed_once(write: Write, tmp_path: Path) -> None:
    """Plain platforms have no sleep states, and a log that names no processors has no platform of its own."""
    bare = tmp_path / "bare.swf"
    bare.write_text("1 0 -1 10 1 -1 -1 1 20 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    plan = make_run_matrix(read_field(write("seeds = [0, 1]" + SOME.format(bare=f'"{bare}"'))))
    ran = {(run.workload.name[:4], run.platform.name, run.policies["sleep"][:5]) for run in plan.runs}
    assert ran == {
        *(("lubl", "16 processors", "never"), ("bare", "16 processors", "never")),
        *((log, "synthetic-11(procs=32)", sleep) for log in ("lubl", "bare") for sleep in ("never", "timeo")),
    }
    reasons: dict[str, int] = {}
    for one in plan.refused:
        assert not any(
            (run.workload.name, run.platform.name, run.policies) == (one.workload, one.platform, one.policies)
            for run in plan.runs
        )
        reasons[one.reason] = reasons.get(one.reason, 0) + 1
    # Three orders: on 16 and on the log's 16, which are one platform, twice for lublin; on 16 for the bare log.
    assert sorted(reasons.values()) == [6, 9]
    assert any("lacks" in reason for reason in reasons)
    assert any("does not state how many processors" in reason for reason in reasons)


def test_a_field_of_which_nothing_can_run_is_refused(write: Write) -> None:
    text = 'workloads = "lublin"\nplatforms = [16, 32]\n[[scheduler]]\nsleep = "timeout(idle=60)"\n'
    with pytest.raises(HarnessError, match=r"field\.toml, line 3: .*lacks"):
        make_run_matrix(read_field(write(text)))


def test_a_mistake_in_a_field_is_no_combination_that_cannot_run(write: Write) -> None:
    for mistake in ('"nowhere"', '"peas"'):
        with pytest.raises(HarnessError, match="line 2"):
            make_run_matrix(read_field(write(f'workloads = "lublin"\nplatforms = [16, {mistake}]\n{SCHEDULER}')))


@pytest.mark.parametrize(
    "excluded",
    [
        '{nodes = "synthetic-11", size = 32}',
        '"synthetic-11(procs=32)"',
        '[{nodes = "synthetic-11", size = 32}, 99]',
        '["nothing of the kind", {nodes = "synthetic-11", size = 32}]',
    ],
)
def test_an_exclusion_names_a_platform_in_every_form_of_a_field(write: Write, excluded: str) -> None:
    text = 'workloads = "lublin"\nplatforms = [16, {nodes = "synthetic-11", size = 32}, {nodes = "synthetic-11"}]\n'
    field = read_field(write(f"{text}{SCHEDULER}[[exclude]]\nplatform = {excluded}\n"))
    assert [platform for _, _, platform, _, _ in field.combinations()] == ["16", "synthetic-11(procs=log)"]
    for form in ('{nodes = "synthetic-11"}', '[16, {nodes = "synthetic-11", size = "log"}]', "16"):
        found = read_field(write(f"{text}{SCHEDULER}[[exclude]]\nplatform = {form}\n"))
        assert len(list(found.combinations())) < 3
    for wrong, why in (
        ('{node = "x"}', "did you mean 'nodes'"),
        ("{nodes = 5}", "expected {nodes"),
        ("1.5", "expected"),
    ):
        with pytest.raises(HarnessError, match=why) as refused:
            read_field(write(f"{text}{SCHEDULER}[[exclude]]\nplatform = {wrong}\n"))
        assert ", line 6: " in str(refused.value)


def test_two_preparations_of_one_log_have_names_and_identities_of_their_own(write: Write) -> None:
    plan = make_run_matrix(
        read_field(
            write(
                'workloads = ["lublin(jobs=50)", {source = "lublin(jobs=50)", load = 2}, '
                f'{{source = "lublin(jobs=50)", load = 3, name = "crowded"}}]\n{SCHEDULER}'
            )
        )
    )
    names = [workload.name for workload in plan.workloads]
    assert names == ["lublin(jobs=50, procs=256, seed=1)", "lublin(jobs=50, procs=256, seed=1) (load=2)", "crowded"]
    assert len({run.identity for run in plan.runs}) == 3


def test_identities_are_the_same_every_time_and_differ_for_every_run(write: Write, turned: None) -> None:
    field = read_field(write("resamples = 2\n" + FIELD))
    once, again = make_run_matrix(field), make_run_matrix(read_field(write("resamples = 2\n" + FIELD, "other")))
    assert [run.identity for run in once.runs] == [run.identity for run in again.runs]
    assert len({run.identity for run in once.runs}) == len(list(field.combinations())) == 2 * 3 * 2 * 3


def test_a_policy_whose_source_changes_makes_another_identity(write: Write, tmp_path: Path) -> None:
    def identity(score: str, declared: str = "") -> str:
        plugin = tmp_path / "mine.py"
        plugin.write_text(
            f"import harness\n\ndef mine(job, clock):\n    return {score}\n\n"
            f"@harness.hookimpl\ndef order_queue():\n    return [harness.Order('mine', mine{declared})]\n"
        )
        text = 'workloads = "lublin(jobs=20)"\n[[scheduler]]\norder = "mine"\n'
        plugins.__globals__["_plugins"].cache_clear()  # an edit within the clock's tick would go unseen
        return make_run_matrix(read_field(write(text), plugins=[plugin]), [str(plugin)]).runs[0].identity

    first = identity("job.submit")
    assert identity("job.submit") == first
    assert len({first, identity("-job.submit"), identity("job.submit", ", varies=True")}) == 3


@pytest.mark.parametrize("name", bundled_fields())
def test_every_bundled_field_is_right(name: str) -> None:
    field = read_field(name)
    assert field.about.endswith(".")
    assert field.schedulers


def test_the_demo_needs_no_files() -> None:
    plan = make_run_matrix(read_field("demo"))
    assert len(plan.runs) == len(plan.workloads) * 6


def test_the_example_of_the_documentation_is_right(write: Write) -> None:
    readme = (folder("policies") / "README.md").read_text()
    example = re.search(r"```toml\n(.*?)```", readme, re.DOTALL)
    assert example is not None
    field = read_field(write(example[1]))
    assert len(list(field.combinations())) == 2 * 2 * 7 - 2 * 2
    assert len(expand("hysteresis(low=[2, 8], high=[4, 8])", RATES)) == 3


def test_queues_of_their_own_are_tables_of_a_scheduler_or_of_a_file(write: Write, tmp_path: Path) -> None:
    tables = (
        '[{0}express]\nqueue = [1, "short"]\norder = "spf"\n[{0}wide]\npartition = 3\nstart = "easy(reservations=2)"\n'
    )
    parts = 'workloads = "lublin"\n[[scheduler]]\nstart = ["none", "easy"]\n'
    here = read_field(write(parts + tables.format("scheduler.queues.")))
    (tmp_path / "queues.toml").write_text(tables.format(""))
    there = read_field(write(f'{parts}queues = "{tmp_path / "queues.toml"}"\n'))
    own = "express(queue=[1, short], order=spf, start=easy) + wide(partition=3, order=fcfs, start=easy(reservations=2))"
    for field in (here, there):
        assert [scheduler.start for scheduler in field.schedulers] == [f"none + {own}", f"easy + {own}"]
        for scheduler, chosen in field.schedulers.items():
            assert scheduler.choose(plugins().policies).names == chosen.names


def test_alternatives_of_a_queue_are_a_product(write: Write) -> None:
    text = """
workloads = "lublin"
[[scheduler]]
start = ["none", "easy"]
[scheduler.queues.a]
queue = [1, 2]
order = ["fcfs", "spf"]
[scheduler.queues.b]
queue = 3
start = "easy(reservations=[1, 2])"
"""
    field = read_field(write(text))
    assert [scheduler.start for scheduler in field.schedulers] == [
        f"{first} + a(queue=[1, 2], order={order}, start=easy) + b(queue=3, order=fcfs, start=easy(reservations={k}))"
        for first in ("none", "easy")
        for order in ("fcfs", "spf")
        for k in (1, 2)
    ]
    for wrong, words in (
        ('order = ["fcfs", "fcfs"]', "twice"),
        ("order = []", "name of one policy"),
        ('order = ["fcfz"]', "'fcfs'"),
    ):
        with pytest.raises(HarnessError, match=words):
            read_field(write(text.replace('order = ["fcfs", "spf"]', wrong)))


def test_who_is_asked_first_tells_runs_apart(write: Write) -> None:
    one, other = "a(queue=1, order=spf)", "b(queue=2, start=none)"
    starts = [f"easy + {one} + {other}", f"easy + {other} + {one}"]
    field = read_field(write(f'workloads = "lublin(jobs=9)"\n[[scheduler]]\nstart = {starts}\n'))
    assert len({run.identity for run in make_run_matrix(field).runs}) == 2


def test_reservations_are_of_all_platforms_and_tell_runs_apart(write: Write, tmp_path: Path) -> None:
    table = tmp_path / "kept.csv"
    text = 'workloads = "lublin(jobs=9, procs=8)"\nplatforms = ["log", "16"]\n{}[[scheduler]]\nstart = "easy"\n'
    table.write_text("begin,end,procs\n0,100000,8\n")
    plain = make_run_matrix(read_field(write(text.format(""))))
    reserved = make_run_matrix(read_field(write(text.format(f"reservations = {str(table)!r}\n"))))
    assert [platform.name for platform in reserved.platforms] == [
        "8 processors, reserved by kept.csv",
        "16 processors, reserved by kept.csv",
    ]
    assert [told["windows"] for told in reserved.provenance()["platforms"]] == [1, 1]
    table.write_text("begin,end,procs\n0,90000,8\n")
    moved = make_run_matrix(read_field(write(text.format(f"reservations = {str(table)!r}\n"))))
    assert len({run.identity for plan in (plain, reserved, moved) for run in plan.runs}) == 6
    first = reserved.runs[0].simulate().frame["start"].min()
    assert first >= 100000 > plain.runs[0].simulate().frame["start"].min()
    for wrong, words in (("7", "name of a file"), ("'no.csv'", "no.csv")):
        with pytest.raises(HarnessError, match=words):
            read_field(write(text.format(f"reservations = {wrong}\n")))
    table.write_text("begin,end\n1997-01-01,1997-01-02\n")
    with pytest.raises(HarnessError, match="does not say when it began"):
        make_run_matrix(read_field(write(text.format(f"reservations = {str(table)!r}\n"))))


def test_what_says_whose_a_queue_is_is_no_sweep(write: Write) -> None:
    spec = "easy(reservations=[1, 2]) + a(queue=[1, 2], order=[fcfs, spf])"
    field = read_field(write(f'workloads = "lublin"\n[[scheduler]]\nstart = "{spec}"\n'))
    assert [scheduler.start for scheduler in field.schedulers] == [
        f"{first} + a(queue=[1, 2], order={order}, start=easy)"
        for first in ("easy", "easy(reservations=2)")
        for order in ("fcfs", "spf")
    ]


def test_runs_that_differ_in_a_queue_alone_are_two(write: Write) -> None:
    starts = [f"easy + a(queue={queue}, order={order})" for queue in (1, 2) for order in ("fcfs", "spf")]
    field = read_field(write(f'workloads = "lublin(jobs=9)"\n[[scheduler]]\nstart = {[*starts, "easy"]}\n'))
    assert len({run.identity for run in make_run_matrix(field).runs}) == 5
