"""A form without its kernel: the settings as a static table for any front end, e-mail or web page.

It contains no scripts, style sheets or secrets, and only the size of pasted contents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from foldnote.forms.files.file_reference import describe_file
from foldnote.forms.schema.secrecy import omit_secrets
from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.forms.wording import in_one_line

Row = tuple[FieldSpec, Any]
_LONG_WORD = 40
_STRETCH = re.compile(".{1,20}", re.DOTALL)
_HIDDEN = "(not shown)"


def write_static_html(title: str, rows: Iterable[Row], closing: str = "") -> str:
    """Return the HTML table of titles and values, with the sentence ``closing`` below it."""
    cells = "".join(
        '<tr><th scope="row" style="text-align:left;vertical-align:top;font-weight:600">'
        f'{escape(spec.title)}</th><td style="text-align:left;word-break:break-word">'
        f"{_write_text(text)}</td></tr>"
        for spec, text in _format_rows(rows)
    )
    end = f"<p>{escape(closing)}</p>" if closing else ""
    body = f"<table><tbody>{cells}</tbody></table>" if cells else "<p>No settings yet.</p>"
    return f'<div class="foldnote-static"><p><strong>{escape(title)}</strong></p>{body}{end}</div>'


def write_static_text(title: str, rows: Iterable[Row], closing: str = "") -> str:
    """Return the content of `write_static_html` as plain text."""
    lines = [f"  {spec.title}: {text}" for spec, text in _format_rows(rows)]
    return "\n".join([title, *lines, *([closing] if closing else [])])


def _write_text(text: str) -> str:
    """Return the text as HTML; long words, such as sequences, may break after every 20 letters.

    Styles are not used for this: front ends remove them from outputs of untrusted notebooks.
    """
    words = (word if len(word) <= _LONG_WORD else _STRETCH.findall(word) for word in text.split(" "))
    return " ".join(
        escape(word) if isinstance(word, str) else "<wbr>".join(map(escape, word)) for word in words
    )


def _format_rows(rows: Iterable[Row]) -> list[tuple[FieldSpec, str]]:
    return [(spec, _format(spec, value)) for spec, value in rows if value is not MISSING]


def _format(spec: FieldSpec, value: Any) -> str:
    value = describe_file(omit_secrets(spec.schema, value, spec.root))
    if value is MISSING:
        return _HIDDEN
    labels = {str(choice.value): choice.label for choice in spec.choices}
    if isinstance(value, list):
        text = ", ".join(in_one_line(item) for item in value)
    elif isinstance(value, dict):
        text = "; ".join(f"{key}: {in_one_line(item)}" for key, item in value.items())
    else:
        text = labels.get(str(value)) or in_one_line(value, 2000 if "sequence" in spec.role else 120)
    return f"{text} {spec.unit}" if spec.unit and text else text
