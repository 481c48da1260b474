"""Standalone pages of results: HTML, which opens offline in any browser, or PDF.

An HTML page has 3Dmol.js, styles and data inside the file; a PDF has still pictures and no script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.io import save_file
from foldnote.text import mark_code
from foldnote.viewers.display.bundles import Item, bundle
from foldnote.viewers.render.html import read_asset
from foldnote.viewers.render.library import read_library
from foldnote.viewers.render.paper import on_paper
from foldnote.viewers.render.pdf import load_weasyprint, make_pdf

_HTML, _PDF = (".html", ".htm"), ".pdf"


def write_page(path: str | Path, title: str, items: Sequence[Item | str], *, author: str = "") -> Path:
    """Write ``items`` one below the other into an HTML or PDF file.

    Args:
        path: path of the page; a PDF if it ends in ``.pdf``. An existing file is replaced.
        title: heading of the page.
        items: results, structures, scenes, frames, and paragraphs of text.
        author: the author, for the metadata of a PDF.

    Returns:
        The path of the page.

    Raises:
        ConfigurationError: the package was built without 3Dmol.js; or, for a PDF, WeasyPrint is not installed
            (``pip install 'foldnote[pdf]'``) or the system lacks the library Pango.
        UnreadableFileError: a structure's file is damaged or holds no atoms.
        ResultError: the file cannot be written; no partial file remains.
    """
    target = Path(path)
    is_pdf = target.suffix.lower() == _PDF
    content = make_pdf_page(title, items, author=author) if is_pdf else make_page(title, items)
    return save_file(target, content)


def check_page_path(path: str | Path) -> Path:
    """Return the path of a page after checking that a page can be written there; expands ``~``.

    Raises:
        ConfigurationError: it does not end in ``.html`` or ``.pdf``, is a folder, or ends in ``.pdf`` while
            WeasyPrint or the library Pango is missing.
    """
    target = Path(path).expanduser()
    suffix = target.suffix.lower()
    if suffix not in (*_HTML, _PDF):
        raise ConfigurationError(
            f"{target.name or target}: a report is written to a file that ends in .html or .pdf, such as"
            f" {target.with_suffix('.pdf').name if target.name else 'report.pdf'}."
        )
    if target.is_dir():
        raise ConfigurationError(
            f"{target} is a folder: name a file inside it, such as {target / 'report.pdf'}."
        )
    if suffix == _PDF:
        load_weasyprint()
    return target


def make_pdf_page(
    title: str,
    items: Sequence[Item | str],
    *,
    author: str = "",
    attachments: Mapping[str, str] | None = None,
) -> bytes:
    """Return the page as PDF; see :func:`write_page`.

    Args:
        title: heading of the page.
        items: results, structures, scenes, frames, and paragraphs of text.
        author: the author, for the metadata; "" for none.
        attachments: texts of files inside the PDF by name.

    Raises:
        ConfigurationError: WeasyPrint is not installed, or the system lacks the library Pango.
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    load_weasyprint()
    with on_paper():
        return make_pdf(title, _join_items(items), author=author, attachments=attachments)


def make_page(title: str, items: Sequence[Item | str]) -> str:
    """Return the page as text; see :func:`write_page`.

    Raises:
        ConfigurationError: the package was built without 3Dmol.js.
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    return make_document(title, _join_items(items))


def _join_items(items: Sequence[Item | str]) -> str:
    return "".join(
        f"<p>{mark_code(item)}</p>" if isinstance(item, str) else bundle(item)["text/html"] for item in items
    )


def make_document(title: str, body: str) -> str:
    """Return an HTML document with a heading, 3Dmol.js and the styles of pages, which loads nothing.

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
        f"<script>{read_library()}</script><script>{read_asset('page.js')}</script></head>"
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
