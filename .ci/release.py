"""Builds what is released into dist/, after looking whether everything names one version: that of the tag.

The version stands in harness/__init__.py, where packaging reads it; the tag v…, CITATION.cff and a heading of
CHANGELOG.md must say the same. The wheel is built from the sdist, so that what strangers build is what was tried.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version(root: Path) -> str:
    """Return the version that the package says it has."""
    said = re.search(
        r'^__version__ = "(.+)"$', (root / "harness/__init__.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    return said[1] if said else ""


def disagreements(root: Path, tags: list[str]) -> Iterator[str]:
    """Yield a sentence for everything that does not name the version, of the `tags` of this commit too."""
    name = version(root)
    if f"v{name}" not in tags:
        yield f"the tag v{name} is not on this commit (it has {', '.join(tags) or 'none'})"
    if f"\nversion: {name}\n" not in (root / "CITATION.cff").read_text(encoding="utf-8"):
        yield f"CITATION.cff does not say version: {name}"
    if not re.search(rf"^## {re.escape(name)}\b", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE):
        yield f"CHANGELOG.md has no heading ## {name}"


def missing(archive: Path) -> list[str]:
    """Return which files of licences and about the package an sdist or a wheel lacks."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            names = [name.partition("/")[2] for name in wheel.namelist() if ".dist-info/" in name]
        return sorted({"METADATA", "RECORD", "entry_points.txt", "licenses/LICENSE"} - set(names))
    with tarfile.open(archive) as sdist:
        names = [name.partition("/")[2] for name in sdist.getnames()]
    return sorted({"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "PKG-INFO", "pyproject.toml"} - set(names))


def main() -> int:
    """Build and look at what was built; `--any-version` leaves out the tag and the heading, to try."""
    tags = subprocess.run(["git", "tag", "--points-at", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    wrong = [] if "--any-version" in sys.argv else list(disagreements(ROOT, tags.stdout.split()))
    if not wrong:
        subprocess.run([sys.executable, "-m", "build", "--outdir", ROOT / "dist", ROOT], check=True)
        built = sorted((ROOT / "dist").glob(f"sched_harness-{version(ROOT)}*"))
        wrong = [f"{path.name} lacks {name}" for path in built for name in missing(path)]
        print(*(path.relative_to(ROOT) for path in built), sep="\n")
    for sentence in wrong:
        print(f"release: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
