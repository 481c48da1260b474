"""Find links of the built site whose target file or anchor does not exist."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["find_broken_links"]


class _Page(HTMLParser):
    """The links of a page, and the anchors that links can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.places: set[str | None] = set()
        self.links: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  HTMLParser's signature
        """Record the element's links and anchors."""
        given = dict(attrs)
        self.places |= {given.get("id"), given.get("name")}
        self.links += [link for name in ("href", "src") if (link := given.get(name))]


def find_broken_links(site: Path) -> list[str]:
    """Return one line for each broken link inside the site; external links are not followed."""
    pages = {path: _Page(path) for path in sorted(site.resolve().rglob("*.html"))}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists() or (place and target in pages and place not in pages[target].places):
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken
