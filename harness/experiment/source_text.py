"""The text of a file that users write, and errors that name its file and line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import CannotRunError, HarnessError

#: Longer messages quote the text of the file; their middle is left out.
_LONGEST = 600


@dataclass(frozen=True)
class SourceText:
    """A file and its text."""

    path: Path
    text: str

    def refusal(self, problem: object, word: str = "", table: str = "", number: int = 0) -> HarnessError:
        """Return an error with the line of `word`, searched from the `number`-th [[table]] on if `table` is given."""
        said = f"{problem}"
        if len(said) > _LONGEST:
            said = f"{said[: _LONGEST // 2]} … {said[-_LONGEST // 2 :]}"
        return HarnessError(f"{self.path}, line {self._line(word, table, number)}: {said}")

    @contextmanager
    def locating(self, word: str, table: str = "", number: int = 0) -> Iterator[None]:
        """Add the file and the line to an error that is raised within the block."""
        try:
            yield
        except CannotRunError:
            raise
        except (HarnessError, OSError) as error:
            raise self.refusal(error, word, table, number) from error

    def _line(self, word: str, table: str, number: int) -> int:
        lines = self.text.splitlines()
        heads = [k for k, line in enumerate(lines) if re.match(rf"\s*\[\[\s*{table}\s*\]\]", line)] if table else []
        first = heads[number] if number < len(heads) else 0
        whole_word = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        for k, line in enumerate(lines[first:], start=first):
            if whole_word.search(line) and not line.lstrip().startswith("#"):
                return k + 1
        return first + 1
