"""Hints that lead somewhere: a suggestion that answers, a refusal in place of another format, a reason beside a gap."""

import json
import re
from pathlib import Path

import pytest
from calling import HEADER, Call, swf_line

import harness
from harness.errors import did_you_mean
from harness.policy import hooks
from harness.policy.spec import choose
from harness.present.words import share
from harness.ranking.leaderboard import leaderboard
from harness.ranking.ranking import rank
from harness.results.measures import MEASURES
from harness.tuning.ranges import Range

SCHEDULERS = '[[scheduler]]\norder = ["fcfs", "spf", "multifactor(age=2)"]\nstart = ["easy"]\n'


def few(tmp_path: Path, logs: int, resamples: int = 0) -> Path:
    """A field of this number of logs, with users."""
    for seed in range(logs):
        lines = [swf_line(job, 1 + (3 * job + seed) % 4, 10 + (7 * job + 5 * seed) % 50) for job in range(1, 40)]
        (tmp_path / f"log{seed}.swf").write_text(HEADER + "".join(lines))
    workloads = ", ".join(f'"{tmp_path}/log{seed}.swf"' for seed in range(logs))
    path = tmp_path / "few.toml"
    path.write_text(f"workloads = [{workloads}]\nresamples = {resamples}\n{SCHEDULERS}")
    return path


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variations are the workloads themselves: they are made at once."""
    monkeypatch.setattr(harness, "resample", lambda workload, number: workload)


# ---------------------------------------------------------------- more evidence


def test_few_workloads_are_suggested_variations_as_observations(
    harness_says: Call, tmp_path: Path, alike: None
) -> None:
    field, out = few(tmp_path, 2), tmp_path / "out"
    first = harness_says("tournament", field, "--out", out).out
    (tip,) = [line.strip() for line in first.splitlines() if "--resample 20" in line]
    assert tip == f"harness tournament {field} --out {out} --resample 20 --unit variation"
    # As suggested, with fewer variations: nothing is suggested again that has been done.
    done = harness_says("tournament", field, "--out", out, "--resample", 5, "--unit", "variation")
    assert "--resample 20" not in done.out
    assert "one observation" not in done.out
    (page,) = [line.strip() for line in done.out.splitlines() if line.strip().startswith("harness report")]
    assert page == f"harness report {out} --session 2 --unit variation"
    # With variations that are not counted, the suggestion is to count them.
    plain = harness_says("tournament", field, "--out", out, "--resample", 5).out
    assert "--resample 20" not in plain
    assert "--resample 5 --unit variation" in plain
    assert "--unit variation tests these alone" in plain


@pytest.mark.parametrize("logs", [1, 6])
def test_one_or_many_workloads_are_suggested_variations_alone(
    harness_says: Call, tmp_path: Path, logs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = harness_says("tournament", few(tmp_path, logs), "--out", tmp_path / "out").out
    (tip,) = [line for line in said.splitlines() if "--resample 20" in line]
    assert tip.endswith("--resample 20")


def test_the_report_counts_what_it_is_told_to(harness_says: Call, tmp_path: Path, alike: None) -> None:
    pytest.importorskip("plotly")
    out = tmp_path / "out"
    harness.tournament(few(tmp_path, 2, resamples=5), out=out)
    pages = {}
    for unit in ("workload", "variation"):
        answer = harness_says("report", out, "--unit", unit, "--out", tmp_path / f"{unit}.html")
        assert answer.status == 0, answer.err
        pages[unit] = (tmp_path / f"{unit}.html").read_text()
    assert "Intervals and tests hold for variations" in pages["variation"]
    assert "Intervals and tests hold for workloads" in pages["workload"]
    refused = harness_says("report", out, "--unit", "log")
    assert (refused.status, "expected one of workload, variation" in refused.err) == (2, True)


# ---------------------------------------------------------------- formats


@pytest.mark.parametrize("name", ["page.pdf", "page.PDF", "page.md", "page.html.gz", "page.svg"])
def test_a_page_has_no_other_format_than_html(harness_says: Call, tmp_path: Path, name: str, log: Path) -> None:
    harness.tournament(few(tmp_path, 1), out=tmp_path / "out")
    for command in (("report", tmp_path / "out", "--out"), ("run", log, "--report")):
        answer = harness_says(*command, tmp_path / name)
        assert answer.status == 2
        assert f"{tmp_path / name}: " in answer.err
        assert "page: expected a name that ends in .html" in answer.err
        assert not (tmp_path / name).exists()


# ---------------------------------------------------------------- what tables say


def test_identical_schedules_are_noted(tmp_path: Path) -> None:
    field = tmp_path / "same.toml"
    field.write_text(
        'workloads = ["lublin(jobs=60, procs=16, seed=1)", "lublin(jobs=60, procs=16, seed=2)"]\n'
        '[[scheduler]]\norder = ["multifactor(age=1, size=0)", "multifactor(age=5, size=0)", "lcfs"]\nstart = "easy"\n'
    )
    frame = harness.tournament(field, out=tmp_path / "out").frame()
    found = rank(frame, "mean_wait")
    assert [set(group) for group in found.identical] == [{name for name in frame["scheduler"] if "multi" in name}]
    assert "are identical in all blocks." in leaderboard(frame, "mean_wait")
    # The same starts with other ends, as on nodes that wake first, are no identical schedules.
    ends = frame["mean_response"].copy()
    frame.loc[0, "mean_response"] += 1
    assert rank(frame, "mean_wait").identical == ()
    frame["mean_response"] = ends
    # One block in which they differ is enough: then they are not.
    frame.loc[0, "schedule_digest"] = "another"
    assert rank(frame, "mean_wait").identical == ()
    assert "identical" not in leaderboard(frame, "mean_wait")


def test_parameters_at_their_defaults_are_shown_once(harness_says: Call, tmp_path: Path, log: Path) -> None:
    orders = harness.policy.registry.plugins().policies["order_queue"]
    whole = choose("multifactor(age=2)", "order_queue", orders).in_full
    assert set(orders["multifactor"].parameters) <= {part.split("=")[0].strip(" ") for part in whole[12:-1].split(",")}
    field, out = few(tmp_path, 1), tmp_path / "out"
    for form in ("table", "markdown", "latex", "html", "json"):
        said = harness_says("tournament", field, "--out", out, "--format", form).out
        plain = json.loads(said)["parameters"].values() if form == "json" else said.replace("\\_", "_")
        assert any(whole in one for one in ([plain] if isinstance(plain, str) else plain)), form
    ran = harness_says("run", log, "--order", "multifactor(age=2)")
    assert whole in ran.out
    assert whole in harness_says("compare", log, "fcfs + easy", "multifactor(age=2) + easy").out
    ran = harness_says("run", log, "--order", "multifactor(age=2)", "--format", "json")
    assert json.loads(ran.out)["parameters"]["multifactor(age=2)"] == whole
    assert choose(whole, "order_queue", orders).values == choose("multifactor(age=2)", "order_queue", orders).values


def test_a_dash_beside_a_p_value_has_a_reason(harness_says: Call, tmp_path: Path, alike: None) -> None:
    """On an idle machine no job waits: there is no ratio of waits."""
    few(tmp_path, 1)
    log = tmp_path / "log0.swf"
    answer = harness_says("compare", log, "fcfs + easy", "spf + easy", "--procs", 4096, "--resample", 6)
    assert answer.status == 0, answer.err
    rows = [line for line in answer.out.splitlines() if line.startswith(("mean wait", "max wait"))]
    assert rows, answer.out
    assert all("–" in row for row in rows)
    said = " ".join(answer.out.split())
    assert "no ratio (–), because the value is 0 in a stream." in said
    assert "mean wait" in said.partition("no ratio (–)")[0].rpartition(".")[2]


@pytest.mark.parametrize(
    ("part", "words"),
    [(0.5, "50 %"), (1.2, "120 %"), (9.99, "999 %"), (10, "10 times as much"), (2700, "2,700 times as much")],
)
def test_large_shares_are_multiples(part: float, words: str) -> None:
    assert share(part) == words


def test_nobody_reads_of_nought_of_nought_runs(harness_says: Call, tmp_path: Path) -> None:
    field, out = few(tmp_path, 1), tmp_path / "out"
    harness_says("tournament", field, "--out", out)
    again = harness_says("tournament", field, "--out", out)
    assert "nothing to run: all 3 runs were done before" in again.err
    assert " 0 of 0" not in again.err


@pytest.mark.parametrize(
    ("low", "high", "whole", "values", "ends"),
    [
        (1, 8, True, (1, 2, 7, 8), (1, None, None, 8)),
        (0.0, 1.0, False, (0.0, 0.005, 0.5, 0.995), (0.0, 0.0, None, 1.0)),
        (0.001, 1000.0, False, (0.001, 0.0011, 1.0, 900.0), (0.001, 0.001, None, 1000.0)),
        (-5.0, 5.0, False, (-5.0, 0.0, 4.99), (-5.0, None, 5.0)),
    ],
)
def test_the_ends_of_a_range(low: float, high: float, whole: bool, values: list[float], ends: list[float]) -> None:
    one = Range("start", "reservations", low, high, whole, low)
    assert tuple(map(one.edge, values)) == tuple(ends)


def test_tune_notes_a_best_value_at_the_end_of_its_range(harness_says: Call, tmp_path: Path) -> None:
    field = tmp_path / "tuned.toml"
    field.write_text(
        'workloads = ["poisson(jobs=150, procs=16, load=1.2, seed=1)"]\nobjectives = "mean_wait"\n'
        '[[scheduler]]\norder = "wfp3(power=0.1..0.2)"\nstart = "easy(reservations=1..2)"\n'
    )
    answer = harness_says("tune", field, "--trials", 6, "--out", tmp_path / "out")
    assert answer.status == 0, answer.err
    # Both whole numbers of a range of two are ends of it.
    assert re.search(
        r"start.reservations = [12] lies at the edge of its range 1..2: better values may lie beyond it.", answer.out
    )


# ---------------------------------------------------------------- names


def test_a_plugin_without_a_hook_is_refused(harness_says: Call, tmp_path: Path, log: Path) -> None:
    (nohook := tmp_path / "nohook.py").write_text("def mine(job, clock):\n    return job.submit\n")
    (empty := tmp_path / "empty").mkdir()
    for given, why in ((nohook, "has no hook: expected a function such as order_queue"), (empty, "contains no plugin")):
        answer = harness_says("run", log, "--plugins", given, "--order", "mine")
        assert (answer.status, str(given) in answer.err, why in answer.err) == (2, True, True), answer.err
    (folder := tmp_path / "folder").mkdir()
    (folder / "helper.py").write_text("number = 1\n")  # one file of a folder need not be a plugin itself
    (folder / "real.py").write_text(
        "import harness\n@harness.hookimpl\ndef order_queue():\n    return [harness.Order('mine', mine)]\n"
        + nohook.read_text()
    )
    assert harness_says("run", log, "--plugins", folder, "--order", "mine").status == 0


HOOKS = [name for name in dir(hooks) if hasattr(getattr(hooks, name), "harness_spec")]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("order_jobs", HOOKS, "order_queue"),
        ("start_queue", HOOKS, "start_jobs"),
        ("select_nodes", HOOKS, "select_resources"),
        ("predict_runtimes", HOOKS, "predict_runtime"),
        ("mean_waiting_time", MEASURES, "mean_wait"),
        ("MEAN_WAIT", MEASURES, "mean_wait"),
        ("mena_wait", MEASURES, "mean_wait"),
        ("fair", ["fcfs", "fairshare", "laf"], "fairshare"),
        ("multi-factor", ["multifactor", "f1"], "multifactor"),
        ("bbo", ["alice", "bob"], "bob"),
    ],
)
def test_the_nearest_name_shares_words_before_letters(name: str, known: list[str], meant: str) -> None:
    assert did_you_mean(name, known) == f"did you mean {meant!r}?"


@pytest.mark.parametrize(
    ("name", "known"), [("g01", ["n016", "n001"]), ("zzz", MEASURES), ("", HOOKS), ("x" * 300, HOOKS), ("fifo", ["f1"])]
)
def test_nothing_near_is_no_suggestion(name: str, known: list[str]) -> None:
    assert did_you_mean(name, known, "elsewhere") == "elsewhere"


def test_long_lists_of_names_are_cut() -> None:
    words = did_you_mean("zzz", [f"n{number:04}" for number in range(5000)])
    assert words.startswith("known: n0000, n0001")
    assert words.endswith("… (4,960 more)")


@pytest.mark.parametrize("command", [("bench",), ("theory", "peas")])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_commands_that_are_scripts_have_help(harness_says: Call, command: tuple[str, ...], flag: str) -> None:
    answer = harness_says(*command, flag)
    assert answer.status == 0, answer.err
    assert "Usage:" in answer.out
