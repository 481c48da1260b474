"""The explorer as a standalone page, whose views are linked without a kernel or a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldnote.errors import ArgumentError
from foldnote.io import save_file
from foldnote.viewers.display.page import make_document
from foldnote.viewers.render.html import read_asset, write_json


def write_explorer_page(path: str | Path, title: str, state: Mapping[str, Any], style: str) -> Path:
    """Write the explorer with this state (see ``explorer.js``) into an HTML file, and return its path.

    Raises:
        ArgumentError: the name does not end with ``.html``.
        ConfigurationError: the package was built without 3Dmol.js.
    """
    target = Path(path).expanduser()
    if target.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError(f"{target.name} is not the name of a page. An explorer is saved as .html.")
    program = "\n".join(read_asset(name) for name in ("explorer.js", "explorer_page.js"))
    body = (
        f'<style>{style}</style><div id="fne-page"></div>'
        f'<script type="application/json" id="fne-state">{write_json(dict(state))}</script>'
        f'<script type="module">{program}</script>'
    )
    return save_file(target, make_document(title, body))
