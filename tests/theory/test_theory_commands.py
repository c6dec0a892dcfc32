"""`harness theory …`: answers as tables and JSON, logs read, and one clear sentence for bad input."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from harness import read_workload
from harness.cli.theory_command import app
from harness.errors import HarnessError
from harness.theory import read_job_stream

TINY = pd.DataFrame({"interarrival": [1] * 5, "service": [3, 2, 5, 1, 1], "cores": [1, 2, 1, 2, 1], "delays": [0] * 5})
#: The same jobs as SWF, the third killed at its limit, the last cancelled; the machine has two processors.
TINY_SWF = "; MaxProcs: 2\n" + "".join(
    f"{job} {job} -1 {run} -1 -1 -1 {procs} {limit} -1 {status} -1 -1 -1 -1 -1 -1 -1\n"
    for job, run, procs, limit, status in [
        (1, 3, 1, 9, 1), (2, 2, 2, 9, 1), (3, 5, 1, 5, 0), (4, 1, 2, 9, 1), (5, 1, 1, 9, 5),
    ]
)  # fmt: skip


@pytest.fixture
def tiny(tmp_path):
    TINY.to_csv(tmp_path / "tiny.csv", index=False)
    return str(tmp_path / "tiny.csv")


@pytest.fixture
def swf(tmp_path):
    (tmp_path / "tiny.swf").write_text(TINY_SWF, encoding="utf-8")
    return str(tmp_path / "tiny.swf")


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def answer(*arguments):
    return json.loads(run(*arguments, "--format", "json"))


def test_constant_of_given_widths():
    found = answer("stability", "--widths", "0.5,0.5")
    assert found["jobs_in_service"] == pytest.approx(8 / 7)
    assert found == answer("stability", "--widths", "2:0.5,1:0.5")


def test_the_papers_own_sums_beside_the_constant(tiny):
    forms = ("--by", "enumeration", "--by", "partitions", "--by", "sampling", "--by", "partitions")
    found = answer("stability", "--widths", "0.5,0.3,0.2", *forms)
    assert found["constant_by_enumeration"] == pytest.approx(found["constant"])
    assert found["constant_by_partitions"] == pytest.approx(found["constant"])
    error = found["constant_by_sampling_error"]
    assert 0 < error < 0.01
    assert abs(found["constant_by_sampling"] - found["constant"]) < 5 * error
    log = answer("stability", tiny, "--column", "cores", "--procs", 4, *forms)
    assert log["constant_by_partitions"] == pytest.approx(log["constant"])
    with pytest.raises(HarnessError, match="--by enumerate: did you mean 'enumeration'"):
        run("stability", "--widths", "1", "--by", "enumerate")


def test_stability_of_a_stream_in_words_and_numbers():
    options = ("--widths", "1", "--arrival-rate", 0.71, "--mean-service", 1)
    assert "stable: 71 % of capacity" in run("stability", *options)
    assert answer("stability", *options, "--servers", 2)["load"] == pytest.approx(0.355)


def test_stability_and_delays_of_a_csv(tiny, tmp_path):
    found = answer("stability", tiny, "--column", "cores", "--servers", 2)
    assert found["mean_width"] == pytest.approx(7 / 5)
    out = tmp_path / "delays.csv"
    found = answer("delays", tiny, "--column", "cores", "--servers", 2, "--out", out)
    assert found["mean_delay"] == pytest.approx(19 / 5)
    assert found["max_delay"] == 7
    assert pd.read_csv(out)["delay"].tolist() == [0, 2, 3, 7, 7]


def test_jobs_wider_than_the_machine_are_counted(tiny):
    found = answer("delays", tiny, "--column", "cores", "--servers", 1)
    assert (found["jobs"], found["unaccepted"]) == (3, 2)
    assert "unaccepted" in run("delays", tiny, "--column", "cores", "--servers", 1)


def test_swf_log_knows_its_machine_and_its_limits(swf):
    assert answer("delays", swf)["mean_delay"] == pytest.approx(19 / 5)
    jobs = read_job_stream(swf)
    assert jobs.killed.tolist() == [False, False, True, False, False]
    assert jobs.completed.tolist() == [True, True, False, True, False]
    assert jobs.procs == 2
    found = answer("infinite-server", swf)
    assert (found["completed"], found["killed"], found["censored"]) == (3, 1, 1)


def test_every_reader_serves_the_theory():
    found = answer("stability", "lublin(jobs=100, procs=64)")
    assert found["servers"] == 64
    assert found["load"] == answer("stability", "lublin(jobs=100, procs=64)", "--servers", 64)["load"]
    assert found["load"] > answer("stability", "lublin(jobs=100, procs=64)", "--procs", 65)["load"]


def test_a_csv_of_gaps_is_found_below_the_data_folder_and_knows_its_usual_columns(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    TINY.rename(columns={"cores": "cores_used"}).to_csv(tmp_path / "deep" / "mine.csv", index=False)
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    asked = answer("delays", "mine.csv", "--column", "cores_used", "--procs", 2)
    assert asked["mean_delay"] == pytest.approx(19 / 5)
    assert answer("delays", "mine.csv", "--procs-from", "used", "--procs", 2) == asked
    assert len(read_workload("mine.csv").jobs) == 5


def test_a_table_with_our_own_columns_has_no_column_to_choose(tmp_path):
    table = tmp_path / "own.csv"
    table.write_text("submit,run,procs\n0,3,1\n1,2,2\n", encoding="utf-8")
    assert answer("delays", table, "--procs", 2)["max_delay"] == 2
    with pytest.raises(HarnessError, match="no column 'procs' of widths"):
        run("delays", table, "--procs", 2, "--column", "procs")


def test_textbook_delays():
    stream = ("--arrival-rate", 0.8, "--mean-service", 1)
    assert answer("delays", *stream, "--servers", 1)["mean_delay"] == pytest.approx(4)
    found = answer("delays", *stream, "--servers", 1, "--service-variance", 0)
    assert found["mean_delay"] == pytest.approx(2)


def test_infinite_server_of_given_rates(tmp_path):
    out = tmp_path / "busy.csv"
    options = ["--widths", "1", "--arrival-rate", 3, "--mean-service", 2, "--mean-limit", 2, "--out", out]
    found = answer("infinite-server", *options, "--completion", 0.9)
    assert found["mean_busy"] == pytest.approx(3)
    assert found["completion_probability"] == pytest.approx(0.5)
    assert found["critical_limit"] == pytest.approx(18)
    assert pd.read_csv(out)["probability"].sum() == pytest.approx(1)


def test_picture_of_the_completion_curves(tmp_path):
    pytest.importorskip("plotly")
    picture = tmp_path / "curves.html"
    run("infinite-server", "--widths", "1", "--arrival-rate", 3, "--mean-service", 2, "--picture", picture)
    assert picture.stat().st_size > 0


def test_infinite_server_of_a_csv(tiny):
    found = answer("infinite-server", tiny, "--column", "cores", "--limit", 5, "--release", "together")
    assert (found["completed"], found["killed"]) == (4, 1)
    assert found["service_rate"] == pytest.approx(4 / 12)
    assert [row["width"] for row in found["widths"]] == [1, 2]
    assert "values (--format" in run("infinite-server", tiny, "--column", "cores")


def test_busy_processors_of_the_log_beside_the_model(swf, tmp_path):
    """Second by second; the log does not know how long its jobs waited."""
    out = tmp_path / "busy.csv"
    found = answer("infinite-server", swf, "--out", out)
    assert "log_mean_busy" not in found
    table = pd.read_csv(out)
    assert list(table) == ["busy", "probability", "log_unqueued"]
    assert table["log_unqueued"].sum() == pytest.approx(1)
    busy = [0] * 8
    for begin, run_, procs in [(0, 3, 1), (1, 2, 2), (2, 5, 1), (3, 1, 2), (4, 1, 1)]:
        for second in range(begin, begin + run_):
            busy[second] += procs
    assert found["log_unqueued_mean_busy"] == pytest.approx(sum(busy[:7]) / 7)
    assert table["log_unqueued"][2] == pytest.approx(busy[:7].count(2) / 7)


def test_busy_processors_where_the_log_says_who_waited(tmp_path):
    log = tmp_path / "own.csv"
    log.write_text("submit,wait,run,procs\n0,0,4,1\n1,3,2,2\n", encoding="utf-8")
    found = answer("infinite-server", log)
    assert found["log_mean_busy"] == pytest.approx((4 * 1 + 2 * 2) / 6)
    assert found["log_unqueued_mean_busy"] == pytest.approx((4 * 1 + 2 * 2) / 4)
    assert found["log_servers_p50"] == 1
    pytest.importorskip("plotly")
    picture = tmp_path / "busy.html"
    run("infinite-server", log, "--picture", picture)
    assert "had nobody waited" in picture.read_text(encoding="utf-8")


def test_limits_of_another_law(swf, tiny):
    usual, fixed = answer("infinite-server", swf), answer("infinite-server", swf, "--limit-law", "deterministic")
    assert fixed["completion_probability"] == pytest.approx(usual["completion_probability"])  # as many are stopped
    assert fixed["mean_busy"] != pytest.approx(usual["mean_busy"])
    logged = answer("infinite-server", swf, "--limit-law", "logged")  # 9, 9, 5, 9 and 9 s
    rate = usual["service_rate"]
    exp = 2.718281828459045
    assert logged["completion_probability"] == pytest.approx(1 - (4 * exp ** (-9 * rate) + exp ** (-5 * rate)) / 5)
    given = ("--widths", "1", "--arrival-rate", 3, "--mean-service", 2, "--mean-limit", 2)
    assert answer("infinite-server", *given, "--limit-law", "deterministic")["mean_busy"] == pytest.approx(
        6 * (1 - 1 / exp)
    )
    with pytest.raises(HarnessError, match="has no requested times"):
        run("infinite-server", tiny, "--column", "cores", "--limit-law", "logged")
    with pytest.raises(HarnessError, match="no law of time limits 'logged'"):
        run("infinite-server", *given, "--limit-law", "logged")


@pytest.mark.data
def test_mean_delay_of_a_real_log(data):
    log = data / "hpcwld" / "HPC_KRC.csv"
    found = answer("delays", log, "--column", "cores_requested", "--servers", 80, "--zeros", "keep")
    assert found["mean_delay"] == pytest.approx(176.033, abs=5e-4)


@pytest.mark.data
def test_mean_delay_of_a_trace_on_which_five_simulators_agree(data):
    trace = data / "traces" / "HPC2N-2002-2.2-cln.swf.gz"
    found = answer("delays", trace, "--procs-from", "used")
    assert (found["jobs"], found["servers"]) == (202_871, 240)
    assert found["mean_delay"] == pytest.approx(16_702.461, abs=5e-4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stability"], "give either a WORKLOAD or --widths"),
        (["stability", "--widths", "0.5,0.6"], "sums to 1.1"),
        (["stability", "--widths", "0.5,x"], "is not p1,p2"),
        (["stability", "--widths", ""], "--widths is empty"),
        (["stability", "--widths", "0:1"], "procs is 0"),
        (["stability", "--widths", f"{2**63}:1"], "whole number from 1 to 10,000,000"),
        (["stability", "--widths", f"{'9' * 400}:1"], "whole number from 1 to 10,000,000"),
        (["stability", "--widths", "1", "--servers", f"{2**63 - 1}"], "whole number from 1 to 10,000,000"),
        (
            ["infinite-server", "--widths", f"{2**62}:1", "--arrival-rate", "1", "--mean-service", "1"],
            "whole number from 1 to 10,000,000",
        ),
        (
            ["infinite-server", "--widths", "1", "--arrival-rate", "1e308", "--mean-service", "1e308"],
            "the requests keep more than 10,000,000 processors busy",
        ),
        (["stability", "--widths", "1", "--servers", "0"], "procs is 0"),
        (["stability", "--widths", "1", "--arrival-rate", "1"], "--mean-service is missing"),
        (["stability", "--widths", "1", "--arrival-rate", "-1", "--mean-service", "1"], "arrival rate is -1"),
        (["stability", "{tiny}"], "harness theory --column"),
        (["stability", "{tiny}", "--column", "core"], "did you mean 'cores'"),
        (["stability", "{tiny}", "--column", "cores"], "give --procs"),
        (["stability", "{tiny}", "--arrival-rate", "1"], "--arrival-rate is taken from"),
        (["delays", "missing.csv"], "missing.csv: there is no such file"),
        (["delays", "{tiny}", "--column", "cores", "--servers", "2", "--out", "/no/way.csv"], "cannot write"),
        (["delays", "--arrival-rate", "3", "--mean-service", "1"], "--procs is missing"),
        (["delays", "--arrival-rate", "3", "--mean-service", "1", "--servers", "3"], "no mean delay"),
        (
            [
                "delays",
                "--arrival-rate",
                "1",
                "--mean-service",
                "1",
                "--servers",
                "3",
                "--service-variance",
                "1",
            ],
            "for one processor, not 3",
        ),
        (["infinite-server", "--widths", "1", "--arrival-rate", "1"], "--mean-service is missing"),
        (
            ["infinite-server", "--widths", "1", "--arrival-rate", "1", "--mean-service", "-1"],
            "--mean-service is -1",
        ),
    ],
)
def test_bad_input_is_one_clear_sentence(tiny, arguments, words):
    filled = [argument.format(tiny=tiny) for argument in arguments]
    with pytest.raises(HarnessError, match=words) as raised:
        run(*filled)
    assert "\n" not in str(raised.value)
