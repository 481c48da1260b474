"""Standalone HTML pages of results, which open offline in any browser.

3Dmol.js, styles and data are inside the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from foldnote.viewers.display.bundles import Item, bundle
from foldnote.viewers.render.caption import write_text
from foldnote.viewers.render.html import read_asset
from foldnote.viewers.render.library import read_library


def write_page(path: str | Path, title: str, items: Sequence[Item | str]) -> Path:
    """Write ``items`` one below the other into an HTML file.

    Args:
        path: where the page goes; an existing file is replaced.
        title: heading of the page.
        items: results, structures, scenes, frames, and paragraphs of text.

    Returns:
        The path of the page.

    Raises:
        ConfigurationError: the package was built without 3Dmol.js.
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(make_page(title, items), "utf-8")
    return place


def make_page(title: str, items: Sequence[Item | str]) -> str:
    """The page as text; see :func:`write_page`.

    Raises:
        ConfigurationError: the package was built without 3Dmol.js.
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    parts = [
        f"<p>{write_text(item)}</p>" if isinstance(item, str) else bundle(item)["text/html"] for item in items
    ]
    return make_document(title, "".join(parts))


def make_document(title: str, body: str) -> str:
    """An HTML document with a heading, 3Dmol.js and the styles of pages, which loads nothing.

    Args:
        title: text of the heading.
        body: HTML below it.

    Raises:
        ConfigurationError: the package was built without 3Dmol.js.
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; "
        "style-src 'unsafe-inline'; img-src data: blob:\">"
        f"<title>{escape(title)}</title><style>{read_asset('page.css')}</style>"
        f"<script>{read_library()}</script></head>"
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
