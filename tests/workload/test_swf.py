"""Reading and writing the Standard Workload Format, with everything that occurs in real logs."""

import gzip
import math
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.disk import stored
from harness.errors import HarnessError
from harness.workload.log import SWF_COLUMNS, Log
from harness.workload.swf import read_swf, write_swf
from harness.workload.swf_header import header_number

LINE = "1 10 5 100 4 -1 -1 4 200 -1 1 7 8 9 2 3 -1 -1"


def line(**changes: object) -> str:
    """`LINE` with some columns changed."""
    values: dict[str, object] = dict(zip(SWF_COLUMNS, LINE.split(), strict=True)) | changes
    return " ".join(str(value) for value in values.values())


def log_of(tmp_path: Path, content: str | bytes, name: str = "log.swf", **options: bool) -> Log:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_swf(path, **options)


# What real logs hold


def test_a_plain_log(tmp_path: Path) -> None:
    log = log_of(tmp_path, f"; Version: 2.2\n;MaxProcs: 8\n{LINE}\n{line(job=2, cpu=1.5)}\n")
    assert log.name == "log"
    assert log.source == str(tmp_path / "log.swf")
    assert log.header == ("; Version: 2.2", ";MaxProcs: 8")
    assert log.reading == ()
    assert tuple(log.jobs.columns) == SWF_COLUMNS
    assert log.jobs["submit"].tolist() == [10, 10]
    assert log.jobs.dtypes["submit"] == "int64"
    assert log.jobs["cpu"].tolist() == [-1, 1.5]
    assert log.jobs.dtypes["cpu"] == "float64"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(f"; H\r\n{LINE}\r\n", id="CRLF"),
        pytest.param(f"; H\r{LINE}\r", id="CR"),
        pytest.param(f"; H\n{LINE}", id="no last line end"),
        pytest.param(f"\n  \n; H\n\n {LINE} \n \n\t\n", id="blank lines, leading and trailing blanks"),
        pytest.param(f"; H\n{LINE}".replace(" ", " \t"), id="tabs"),
        pytest.param(f"{LINE}\n; H\n", id="comment after the jobs"),
        pytest.param(f"\ufeff; H\n{LINE}\n", id="byte order mark"),
        pytest.param(f"; H\n{line(wait='5.0', run='1e2', job='+01')}\n", id="whole numbers in other spellings"),
    ],
)
def test_spellings_of_the_same_log(tmp_path: Path, content: str) -> None:
    log = log_of(tmp_path, content)
    assert log.jobs.equals(log_of(tmp_path, LINE + "\n").jobs)
    assert [text.strip().replace("\t", "") for text in log.header] == ["; H"]


def test_gzip_is_known_by_content_not_by_name(tmp_path: Path) -> None:
    plain = log_of(tmp_path, LINE, "plain.swf.gz")
    packed = log_of(tmp_path, gzip.compress(LINE.encode()), "packed.swf")
    assert plain.digest == packed.digest
    assert (plain.name, packed.name) == ("plain", "packed")


def test_submits_may_be_unsorted_and_statuses_strange(tmp_path: Path) -> None:
    log = log_of(tmp_path, f"{line(submit=50, status=265)}\n{line(submit=-1, status=-4)}\n{line(submit=7)}\n")
    assert log.jobs["submit"].tolist() == [50, -1, 7]
    assert log.jobs["status"].tolist() == [265, -4, 1]


def test_headers_may_be_latin_1(tmp_path: Path) -> None:
    log = log_of(tmp_path, "; Umeå\n".encode("latin-1") + f"; Umeå\n{LINE}".encode())
    assert log.header == ("; Umeå", "; Umeå")


def test_more_columns_in_every_line_are_left_out_and_said(tmp_path: Path) -> None:
    log = log_of(tmp_path, f"{LINE} {{1,2}} q_1d x\n{LINE} {{3}} q_2w\n")
    assert log.jobs.shape == (2, 18)
    assert [(step.name, step.jobs) for step in log.reading] == [("ignored columns", 2)]


# What is refused


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("1 2 3\n", r"line 1: expected 18 numbers separated by blanks, as in the Standard Workload Format, found 3$"),
        (
            f"{LINE}\n1 2 3\n",
            r"line 2: expected 18 numbers separated by blanks, as in the Standard Workload Format, found 3: 1 2 3$",
        ),
        (f"; H\n\n{LINE}\n{LINE[:-3]}\n", r"line 4: .*found 17"),
        (f"{LINE}\n{LINE} 7\n", r"line 2: .*found 19, unlike earlier lines"),
        (f"{LINE} 7\n{LINE}\n", r"line 2: .*found 18, unlike earlier lines"),
        (f"{LINE}\n{line(run='abc')}\n", r"line 2: .*column 4 \(run\) is not a number"),
        (f"{line(run='nan')}\n", r"column 4 \(run\) is not a number"),
        (f"{line(run='inf')}\n", r"column 4 \(run\) is not a number"),
        (f"{line(run='NA')}\n", r"column 4 \(run\) is not a number"),
        (f"{line(run='1,5')}\n", r"column 4 \(run\) is not a number"),
        (f"{line(run='1e999')}\n", r"column 4 \(run\) is too large"),
        (f"{line(run=2**63)}\n", r"column 4 \(run\) is too large"),
        (f"{line(run=10**30)}\n", r"column 4 \(run\) is too large"),
        (f"{line(job='True')}\n", r"column 1 \(job\) is not a number"),
        (f"{line(job='1' + chr(0))}\n", r"column 1 \(job\) is not a number"),
        (f"{line(job='1' + chr(12))}\n", r"column 1 \(job\) is not a number"),
        (f"{LINE} ; a remark\n{LINE}\n", r"line 2: "),
        (f"{LINE}\n".encode() + b"\xff\xfe\x80\n", r"line 2: .*found 1: \\xff\\xfe\\x80$"),
        (
            b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9,
            r"line 1: expected 18 numbers separated by blanks, as in the Standard Workload Format, found \d+$",
        ),
        ("job,submit,run\n1,2,3\n", r"line 1: .*found 1$"),
        (f"{LINE}\n" + "x" * 500, r"line 2: .*: x{77}\.\.\.$"),
        ("", "has no jobs"),
        (" \n\n", "has no jobs"),
        ("; only\n; a header\n", "has no jobs"),
        (gzip.compress(LINE.encode() * 99, mtime=0)[:-20], "gzip data ends too early"),
        (b"\x1f\x8bnonsense", "gzip data is damaged"),
        (gzip.compress(LINE.encode(), mtime=0) + b"trailing", "gzip data is damaged"),
    ],
)
def test_bad_files_say_what_and_where(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    with pytest.raises(HarnessError, match=complaint) as caught:
        log_of(tmp_path, content)
    assert str(tmp_path / "log.swf") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="there is no such file"):
        read_swf(tmp_path / "none.swf")
    with pytest.raises(HarnessError, match="is a folder"):
        read_swf(tmp_path)


def test_lenient_skips_and_counts(tmp_path: Path) -> None:
    content = f"; H\n1 2 3\n{LINE}\nnonsense here\n{line(job=2, run='?')}\n{line(job=3)}\n"
    log = log_of(tmp_path, content, lenient=True)
    assert log.jobs["job"].tolist() == [1, 3]
    (step,) = log.reading
    assert (step.name, step.jobs) == ("skipped malformed lines", 3)
    assert step.detail.startswith("first: line 2: ")
    with pytest.raises(HarnessError, match="line 2"):
        log_of(tmp_path, content)
    with pytest.raises(HarnessError, match="has no jobs"):
        log_of(tmp_path, "nothing\nof use\n", lenient=True)


# The header


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("; MaxProcs: 1664 (72, 1368, 224)", 1664),
        (";MaxProcs: 12", 12),
        (";        maxprocs:140", 140),
        ("; MaxProcs: 93,312", 93312),
        ("; MaxProcs: unknown", None),
        ("; MaxProcs: -1", None),
        ("; Note: MaxProcs: 7", None),
        ("; MaxProcsPerJob: 7", None),
    ],
)
def test_numbers_of_the_header(text: str, number: int | None) -> None:
    assert header_number((text,), "MaxProcs") == number


def test_every_number_of_the_header_is_checked(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"log.swf: the header's MaxProcs: '12abc': expected"):
        log_of(tmp_path, f"; MaxProcs: 4\n; MaxProcs: 12abc\n{LINE}")
    assert header_number(("; MaxProcs: -1", "; MaxProcs: 4", "; MaxProcs: 8"), "MaxProcs") == 4


@pytest.mark.parametrize("text", ["9e18", "1e3", "12abc", "12.5", "1 000", "1,00", "0x10", "8.", "8 nodes", "9" * 19])
@pytest.mark.parametrize("field", ["MaxProcs", "MaxNodes", "UnixStartTime", "TimeZone"])
def test_a_number_of_the_header_is_a_number_as_a_whole(tmp_path: Path, field: str, text: str) -> None:
    with pytest.raises(HarnessError, match=rf"log.swf: the header's {field}: '.*': expected"):
        log_of(tmp_path, f"; {field}: {text}\n{LINE}")
    with pytest.raises(HarnessError, match=rf"log.swf: the header's {field}"):  # from the cache, too
        log_of(tmp_path, f"; {field}: {text}\n{LINE}")


def test_processors_of_the_machine(tmp_path: Path) -> None:
    assert log_of(tmp_path, f"; MaxNodes: 4\n; MaxProcs: 8\n{LINE}").procs == 8
    assert log_of(tmp_path, f"; MaxNodes: 4\n{LINE}").procs == 4
    assert log_of(tmp_path, LINE).procs is None


# Writing

whole = st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-1, 100)
decimal = st.floats(allow_nan=False, allow_infinity=False)
columns = st.one_of(
    st.lists(whole, min_size=3, max_size=3), st.lists(decimal | st.integers(-9, 9), min_size=3, max_size=3)
)
printable = st.characters(exclude_categories=["C", "Zl", "Zp"]) | st.just("\t")
comments = st.text(printable).map(lambda text: ";" + text)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(columns, min_size=18, max_size=18), st.lists(comments), st.sampled_from(["a.swf", "a.swf.gz"]))
@example([[0.1, 1e22, 2**53 + 1.0]] * 17 + [[-0.0, 5e-324, 1.7e308]], ["; x ", ";;\t"], "a.swf")
def test_read_write_read_is_the_identity(
    tmp_path: Path, values: list[list[float]], header: list[str], name: str
) -> None:
    frame = pd.DataFrame(dict(zip(SWF_COLUMNS, values, strict=True)))
    first, second = tmp_path / name, tmp_path / ("again-" + name)
    write_swf(Log("made", frame, tuple(header)), first)
    once = read_swf(first, cache=False)
    write_swf(once, second)
    twice = read_swf(second, cache=False)
    pd.testing.assert_frame_equal(once.jobs, twice.jobs, check_exact=True)
    assert once.header == twice.header == tuple(header)
    assert once.digest == twice.digest
    assert first.read_bytes() == second.read_bytes()
    for name, made in frame.items():
        assert [float(value) for value in once.jobs[name]] == [float(value) for value in made]


@pytest.mark.parametrize("letter", ["\x1b", "\x00", "\x07", "\x7f", "\x9b", "\u202e", "\u2028", "\ufeff", "\v"])
@pytest.mark.parametrize("name", ["out.swf", "out.swf.gz"])
def test_nothing_in_a_written_header_drives_a_terminal(tmp_path: Path, letter: str, name: str) -> None:
    log = log_of(tmp_path, f"; Computer: a{letter}[2Jb\n{LINE}\n")
    write_swf(log, tmp_path / name)
    written = (tmp_path / name).read_bytes()
    text = (gzip.decompress(written) if name.endswith(".gz") else written).decode()
    assert text == f"; Computer: a�[2Jb\n{LINE}\n"


def test_whole_numbers_are_written_without_a_point(tmp_path: Path) -> None:
    log = log_of(tmp_path, f"{line(cpu='7.0')}\n{line(cpu='0.25')}\n")
    write_swf(log, tmp_path / "out.swf")
    assert (tmp_path / "out.swf").read_text() == f"{line(cpu=7)}\n{line(cpu=0.25)}\n"


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of(tmp_path, LINE)

    def full(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(HarnessError, match="No space left on device"):
        write_swf(log, tmp_path / "out.swf")
    assert [path.name for path in tmp_path.iterdir()] == ["log.swf"]


# The real logs

#: Lines of data by independent count, and the header's processors.
REAL = {
    "CEA-Curie-2011-2.1-cln": (312826, 93312),
    "KTH-SP2-1996-2.1-cln": (28476, 100),
    "LLNL-Thunder-2007-1.1-cln": (121039, 4008),
    "LPC-EGEE-2004-1.2-cln": (234889, 140),
    "METACENTRUM-2009-2": (103656, None),
    "RICC-2010-2": (447794, 8192),
    "SDSC-DS-2004-2.1-cln": (96069, 1664),
    "lublin_256": (10000, 256),
    "wagap-2013": (17900, None),
}


@pytest.mark.data
def test_every_real_log_reads(data: Path) -> None:
    paths = sorted(data.rglob("traces/*.swf.gz")) or sorted(data.glob("*.swf.gz"))
    assert paths
    for path in paths:
        log = read_swf(path)
        if log.name in REAL:
            assert (len(log.jobs), log.procs) == REAL[log.name]
        assert all(math.isfinite(total) for total in log.jobs.sum())
        assert len(log.reading) == (log.name == "wagap-2013")


@pytest.mark.data
@pytest.mark.parametrize("name", ["SDSC-SP2-1998-4.2-cln", "ALCF-theta_2023", "alea-hpc2n-excerpt"])
def test_real_logs_survive_writing(data: Path, tmp_path: Path, name: str) -> None:
    log = read_swf(next(data.rglob(f"{name}.swf.gz")))
    write_swf(log, tmp_path / "copy.swf.gz")
    copy = read_swf(tmp_path / "copy.swf.gz")
    pd.testing.assert_frame_equal(copy.jobs, log.jobs, check_exact=True)
    assert (copy.header, copy.digest) == (log.header, log.digest)


# Large logs are read in pieces

ODD_LINES = st.sampled_from(
    [
        LINE,
        line(cpu=1.5),
        line(cpu="-0"),
        line(cpu="-0.0"),
        line(cpu=2**63),
        line(cpu=2**53 + 1),
        line(cpu="1e400"),
        line(cpu="x"),
        f"{LINE} 19",
        f"{LINE} 19 x",
        LINE[:-3],
        "; a comment",
        "  ; another",
        f"{LINE} ; none",
        "",
        " \t",
        f"{LINE}\v",
    ]
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(ODD_LINES, min_size=1, max_size=6), lenient=st.booleans())
@example(lines=[line(cpu=1.5), line(cpu=2**63)], lenient=False)
@example(lines=[line(cpu=1.5), line(cpu="-0")], lenient=False)
def test_pieces_make_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], lenient: bool
) -> None:
    def read(piece: int) -> object:
        monkeypatch.setattr(stored, "_PIECE", piece)
        try:
            log = log_of(tmp_path, "\n".join(lines), lenient=lenient, cache=False)
        except HarnessError as error:
            return str(error)
        return log.digest, log.header, log.reading, log.jobs.dtypes.to_dict()

    assert read(1) == read(2**20)
