"""Writes glossary.md from glossary.toml: `python .docs/glossary.py`."""

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent

TOP = """# Glossary

Each term has one meaning, in code, tables, messages and pages. Terms marked *here* are defined by this
project. All others belong to the field of batch scheduling. Measures, events and the fields of records have lists of
their own:

```console
$ harness list measures
$ harness list events
$ harness list records
```

| term | meaning | origin |
|------|---------|--------|
"""


def terms() -> dict[str, Any]:
    """Return each term with its meaning, its origin and its words in identifiers."""
    return tomllib.loads((FOLDER / "glossary.toml").read_text(encoding="utf-8"))


def page() -> str:
    """Return the page in Markdown, with the terms in alphabetical order."""
    rows = [f"| **{name}** | {term['meaning']} | {term['of']} |" for name, term in sorted(terms().items())]
    return TOP + "\n".join(rows) + "\n"


if __name__ == "__main__":
    (FOLDER / "glossary.md").write_text(page(), encoding="utf-8")
