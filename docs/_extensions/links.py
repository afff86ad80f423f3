"""Check the links of the finished pages: each leads to a file, and to a place in it."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


class Page(HTMLParser):
    """The links of a page, and the places that links can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what a tag links to and what it is called."""
        for key, value in attrs:
            if value and key in ("href", "src"):
                self.links.append(value)
            elif value and (key == "id" or (tag == "a" and key == "name")):
                self.places.add(value)


def check_links(app: Sphinx, exception: Exception | None) -> None:
    """Warn of every link that leads nowhere within the site."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    pages = {
        path: Page(path)
        for path in sorted(Path(app.outdir).rglob("*.html"))
        if not path.is_relative_to(static)
    }
    for path, page in pages.items():
        for link in sorted(set(page.links)):
            if not _leads_somewhere(path, link, pages):
                logger.warning("%s links to %s, which is not there", path, link)


def _leads_somewhere(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:  # beyond this site
        return True
    goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    place = unquote(parts.fragment)
    return goal.exists() and (not place or goal not in pages or place in pages[goal].places)


def setup(app: Sphinx) -> dict[str, bool]:
    """Check after all files are there."""
    app.connect("build-finished", check_links, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
