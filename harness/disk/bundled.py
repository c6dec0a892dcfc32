"""The bundled folders: next to the package in a checkout, inside it in an installed wheel."""

from pathlib import Path

from harness.errors import HarnessError, did_you_mean

FOLDERS = ("plugins", "policies", "platforms", "workloads", "reports")

_PACKAGE = Path(__file__).resolve().parent.parent


def folder(name: str) -> Path:
    """Return the path of a bundled folder, one of `FOLDERS`."""
    if name not in FOLDERS:
        raise HarnessError(f"no bundled folder {name!r}: {did_you_mean(name, FOLDERS)}")
    # First inside: next to an installed package are other packages, which may have such a folder.
    candidates = (_PACKAGE / "bundled_data" / name, _PACKAGE.parent / name)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise HarnessError(
        f"the bundled folder {name!r} is missing, searched {' and '.join(map(str, candidates))}: "
        "the installation is incomplete, install sched-harness again"
    )
