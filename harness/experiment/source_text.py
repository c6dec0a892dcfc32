"""The text of a file that people write, so that what is wrong with it is said by file and line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import CannotRunError, HarnessError

#: Longer refusals quote a file's own text back, of which the ends are enough.
_LONGEST = 600


@dataclass(frozen=True)
class SourceText:
    """A file and its text."""

    path: Path
    text: str

    def refusal(self, problem: object, word: str = "", table: str = "", number: int = 0) -> HarnessError:
        """Make an error of a problem and the line of `word`, looked for from the `number`-th [[table]] on, if named."""
        said = f"{problem}"
        if len(said) > _LONGEST:
            said = f"{said[: _LONGEST // 2]} … {said[-_LONGEST // 2 :]}"
        return HarnessError(f"{self.path}, line {self._line(word, table, number)}: {said}")

    @contextmanager
    def locating(self, word: str, table: str = "", number: int = 0) -> Iterator[None]:
        """Say of an error within the block where in the file its reason is."""
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
