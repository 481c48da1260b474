"""Write an HTML document as PDF with WeasyPrint, an optional dependency imported on first use.

WeasyPrint is used rather than a browser because it installs with pip, needs no other program, and supports
page numbers, running titles, bookmarks, attachments and tags for screen readers. It runs no scripts, and
reads neither files nor addresses outside the document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import redirect_stdout
from html import escape
from importlib import import_module
from io import StringIO
from typing import Any

from foldnote.errors import ConfigurationError
from foldnote.late import find_version
from foldnote.viewers.render.html import read_asset

_INSTEAD = "Without it, write a page that ends in .html, and print it from a browser as PDF."
_NOT_INSTALLED = (
    "A PDF is made by WeasyPrint, which is not installed here: pip install 'foldnote[pdf]'. " + _INSTEAD
)
_NO_PANGO = (
    "A PDF is made by WeasyPrint, which does not find the library Pango on this system. It is installed by"
    " `apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0` on Debian and Ubuntu, `dnf install"
    " pango` on Fedora, `brew install pango` on macOS, and on Windows by `pacman -S"
    " mingw-w64-ucrt-x86_64-pango` in MSYS2. " + _INSTEAD
)
_PAIR = re.compile(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", re.S)
_LEAD = re.compile(
    r"((?:<(?:h[1-3]|p)\b[^>]*>(?:(?!</?(?:h[1-3]|p|div|table|svg)\b).)*</(?:h[1-3]|p)>\s*)+)"
    r'(?=<div class="fnv-table fnv-wide">)',
    re.S,
)
"""Headings and paragraphs immediately before a table in landscape."""
_ONLY_ON_SCREENS = re.compile(r"<(script|style)\b[^>]*>.*?</\1\s*>", re.I | re.S)


def load_weasyprint() -> Any:
    """Import WeasyPrint and return the package.

    Raises:
        ConfigurationError: it is not installed, or the system lacks the library Pango.
    """
    try:
        with redirect_stdout(StringIO()):  # it prints a paragraph about a missing library
            return import_module("weasyprint")
    except ImportError as exc:
        raise ConfigurationError(_NOT_INSTALLED) from exc
    except OSError as exc:
        raise ConfigurationError(_NO_PANGO) from exc


def make_pdf(
    title: str, body: str, *, author: str = "", attachments: Mapping[str, str] | None = None
) -> bytes:
    """Return a PDF of A4 pages with a heading, page numbers, bookmarks, tags and the author in its metadata.

    Args:
        title: text of the heading, repeated above each page but the first.
        body: HTML below it; its scripts and styles are replaced by the styles for paper.
        author: the author; "" for none.
        attachments: texts of files inside the PDF by name.

    Raises:
        ConfigurationError: WeasyPrint is not installed, or the system lacks the library Pango.
    """
    weasyprint = load_weasyprint()
    maker = f"foldnote {find_version()}"
    author_tag = f'<meta name="author" content="{escape(author)}">' if author else ""
    made_by = f'<p class="fnv-maker">{escape(maker)}</p>'
    document = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'{author_tag}<meta name="generator" content="{escape(maker)}">'
        f"<style>{read_asset('print.css')}</style></head>"
        f"<body>{_prepare(f'<h1>{escape(title)}</h1>{made_by}{body}')}</body></html>"
    )
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols={"data"})
    attached = [
        weasyprint.Attachment(string=text, name=name, description=name)
        for name, text in (attachments or {}).items()
    ]
    pdf: bytes = weasyprint.HTML(string=document, base_url="about:blank", url_fetcher=fetcher).write_pdf(
        attachments=attached, pdf_tags=True, pdf_version="1.7", optimize_images=True
    )
    return pdf


def _prepare(body: str) -> str:
    """Return the HTML without scripts and screen styles; a term and its description are one block.

    Headings and paragraphs before a table in landscape are moved to its page, so that they are not alone on
    one.
    """
    paired = _PAIR.sub(r"<div><dt>\1</dt><dd>\2</dd></div>", _ONLY_ON_SCREENS.sub("", body))
    return _LEAD.sub(r'<div class="fnv-lead">\1</div>', paired)
