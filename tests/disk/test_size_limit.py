"""The limit of what an input may hold: from the command line or the environment, for packed and plain files."""

import gzip
from pathlib import Path

import pytest

from harness.cli import main
from harness.disk.size_limit import VARIABLE, max_size, size_of
from harness.disk.stored import LONGEST_LINE, read_text, stored_bytes, text_lines
from harness.errors import HarnessError

LINE = "1 10 5 100 4 -1 -1 4 200 -1 1 7 8 9 2 3 -1 -1\n"


@pytest.mark.parametrize(
    ("text", "size"), [("7", 7), ("1K", 1024), ("2kb", 2048), ("3 MB", 3 << 20), ("1GiB", 1 << 30), ("1T", 1 << 40)]
)
def test_sizes_have_units(text: str, size: int) -> None:
    assert size_of(text, "--max-size") == size


@pytest.mark.parametrize("text", ["0", "-1", "1.5GB", "1e9", "much", "9" * 30, "1XB", ""])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(HarnessError, match=r"--max-size='.*': expected a size such as 500MB or 2GB"):
        size_of(text, "--max-size")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_files_up_to_the_limit_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv(VARIABLE, "160KB")  # a text may have a sixteenth of it
    path = tmp_path / "a.txt"
    path.write_bytes(pack(b"x\n" * 5120))
    assert len(read_text(path, "a text")) == 10240
    path.write_bytes(pack(b"x\n" * 5120 + b"x"))
    with pytest.raises(HarnessError, match=r"a.txt: holds more than 10 KB: .* --max-size 320KB reads more"):
        read_text(path, "a text")


def test_a_file_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1MB")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(HarnessError, match="holds more than 1 MB"):
        stored_bytes(tmp_path / "sparse", "a file")


def test_a_long_line_is_refused_by_its_number(tmp_path: Path) -> None:
    short = b"x" * LONGEST_LINE + b"\n"
    assert text_lines(short * 2, tmp_path) == short * 2
    with pytest.raises(HarnessError, match="line 3: expected at most 1 MB in a line"):
        text_lines(b"1\n" + short + b"x" + short, tmp_path)


def test_the_option_sets_the_limit_of_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    log = tmp_path / "log.swf"
    log.write_text("; MaxProcs: 8\n" + LINE * 40)

    def status(*arguments: str) -> object:
        monkeypatch.setattr("sys.argv", ["harness", *arguments])
        try:
            main()
        except SystemExit as end:
            return end.code
        return 0

    assert status("data", "show", str(log)) == 0
    assert max_size() == 512 << 20
    assert status("data", "show", str(log), "--max-size", "1KB") == 2
    assert "holds more than 1 KB" in capsys.readouterr().err
    assert status("run", str(log), "--max-size=2KB") == 0
    assert status("verify", str(log), "--promise=fcfs", "--max-size=many") == 2
