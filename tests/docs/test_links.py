"""The follower of the site's links finds what leads nowhere, and nothing else."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / ".docs"

if not FOLDER.exists():
    pytest.skip("the site is not made here", allow_module_level=True)

sys.path.insert(0, str(FOLDER))
from links import broken_links  # noqa: E402


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    (tmp_path / "picture.svg").touch()
    (tmp_path / "room/index.html").write_text('<h2 id="map">the map</h2><a href="..">back</a>')
    return tmp_path


@pytest.mark.parametrize(
    "link",
    [
        '<a href="room/">', '<a href="room/index.html#map">', '<a href="#here">', '<img src="picture.svg">',
        '<a href="https://nowhere.example/">', '<a href="mailto:nobody@nowhere.example">',
    ],
)  # fmt: skip
def test_links_that_hold(site: Path, link: str) -> None:
    (site / "index.html").write_text(f'<p id="here">{link}')
    assert list(broken_links(site)) == []


@pytest.mark.parametrize(
    "link", ['<a href="attic/">', '<a href="room/index.html#attic">', '<a href="#attic">', '<img src="attic.svg">']
)
def test_links_that_lead_nowhere(site: Path, link: str) -> None:
    (site / "index.html").write_text(f'<p id="here">{link}')
    [complaint] = broken_links(site)
    assert complaint.startswith("index.html: ")
    assert "attic" in complaint


@pytest.mark.parametrize(
    "element",
    [
        '<script src="https://elsewhere.example/shim"></script>', '<img src="https://elsewhere.example/a.svg">',
        '<link rel="stylesheet" href="//elsewhere.example/a.css">',
    ],
)  # fmt: skip
def test_nothing_is_fetched_from_elsewhere(site: Path, element: str) -> None:
    (site / "index.html").write_text(element)
    [complaint] = broken_links(site)
    assert complaint.startswith("index.html: ")
    assert complaint.endswith("is fetched from elsewhere")
