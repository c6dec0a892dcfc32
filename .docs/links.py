"""Checks the links of a built site: the target of each link is a page, file or anchor that exists."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Elements whose address a browser fetches at once, and the attribute that contains it.
FETCHING = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href")}


class Page(HTMLParser):
    """The anchors of a page, the addresses of its links, and the addresses that a browser fetches to show it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the anchors and the link of an element."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value and tag != "base":
                self.targets.append(value)
            if (tag, name) in FETCHING and value and urlsplit(value).netloc:
                self.fetched.append(value)


def broken_links(site: Path) -> Iterator[str]:
    """Yield a sentence for every broken link within the site, and for every file fetched from another host.

    Links to elsewhere are not followed.
    """
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    for path, page in pages.items():
        for target in page.fetched:
            yield f"{path.relative_to(site).as_posix()}: {target} is fetched from elsewhere"
        for target in dict.fromkeys(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            goal = goal / "index.html" if goal.is_dir() else goal
            where = path.relative_to(site).as_posix()
            if not goal.is_file():
                yield f"{where}: {target} leads to no page"
            elif parts.fragment and goal in pages and unquote(parts.fragment) not in pages[goal].anchors:
                yield f"{where}: {target} leads to no such place on its page"
