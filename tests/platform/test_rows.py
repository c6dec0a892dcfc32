"""Tables that others wrote: their numbers, their bytes."""

import gzip
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import HarnessError
from harness.platform.rows import number, read_rows

STYLES = ("{:.17g}", "{:,.12f}", "{!r}", "{:+.16e}", "{:.16E}")


@given(st.floats(1e-3, 1e15), st.sampled_from(STYLES))
def test_a_number_is_read_however_it_is_written(value, style):
    assert number(style.format(value)) == pytest.approx(value, rel=1e-9)


@given(st.integers(0, 10**15))
def test_whole_numbers_are_exact_with_and_without_commas(value):
    assert number(f"{value:,}") == number(str(value)) == value


@given(st.text(max_size=6))
def test_what_is_no_number_is_said_or_is_one(text):
    try:
        assert math.isfinite(number(text))
        assert set(text) <= set("0123456789.,+-eE")
    except ValueError as error:
        assert "is not a number" in str(error)  # noqa: PT017 (either may happen)


@pytest.mark.parametrize(
    "text", ["n/a", "", "--", "nan", "inf", "1e999", "1,02", "1,0245", "1 024", "10,24.5", "0x10", "٣"]
)
def test_no_numbers(text):
    with pytest.raises(ValueError, match="is not a number"):
        number(text)


TEXT = "name ,watts\r\nSch\u00e4fer, 5 \r\n\r\nshort\r\n"
ROWS = [(2, {"name": "Sch\u00e4fer", "watts": "5"}), (4, {"name": "short"})]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_bytes_of_any_origin(written, encoding, pack):
    """With a byte order mark, in Latin-1, gzipped whatever the name says, blank lines and blanks around."""
    table = read_rows(written(pack(TEXT.encode(encoding))))
    assert table.header == ("name", "watts")
    assert list(table.rows()) == ROWS


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no rows"),
        (b"name,watts\n", "no rows"),
        (b"\n\n , \n", "no rows"),
        (gzip.compress(b"name\n1\n" * 99, mtime=0)[:-9], "cannot be read"),
        (b"\x1f\x8bnot gzip", "cannot be read"),
        ("name\n1\n".encode("utf-16"), "not a text file"),
        (b'name\n"never closed\n2\n', "comma-separated"),
    ],
)
def test_what_is_no_table_is_one_sentence(written, content, words):
    path = written(content)
    with pytest.raises(HarnessError, match=words) as error:
        read_rows(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_and_nothing(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere.csv"):
        with pytest.raises(HarnessError, match="cannot be read"):
            read_rows(path)
