"""Sphinx's configuration of the documentation site; `make docs` builds it into ``build/site`` without a network.

``_reference`` writes the reference pages before Sphinx reads the sources: from docstrings, the catalog with the
engines, and the service's OpenAPI document. A public name without a docstring, a tool without a page and a broken
internal link fail the build.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from _reference import write_reference  # noqa: E402
from _reference.llms_text import write_llms_text  # noqa: E402

project = "foldnote"
author = "The foldnote developers"
project_copyright = author
extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = ["_reference", "glossary.toml", "**.ipynb_checkpoints"]
nitpicky = True
# Type names in signatures are plain text: most belong to other packages, whose inventories are not fetched.
nitpick_ignore_regex = [("py:class", ".*"), ("py:obj", ".*")]
default_role = "code"
suppress_warnings = ["mystnb.unknown_mime_type"]  # widgets, which are saved with their last output as text
nb_ipywidgets_js: dict[str, Any] = {}  # so that no page requests the widgets' scripts from another host

myst_enable_extensions = ["deflist", "fieldlist", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # scripts/build_docs.py executes them first, if their engines are installed

html_theme = "furo"
html_title = "foldnote"
html_static_path = ["_static", "../src/foldnote/static"]  # 3Dmol.js with its licence
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = True
html_show_sphinx = False
html_extra_path = ["reference/extra"]
copybutton_exclude = ".linenos, .gp, .go"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

_OUTSIDE = {
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../README.md": "index.md",
}
"""Files of the repository that pages link to, and their pages here."""


def _link_pages(app: Any, docname: str, source: list[str]) -> None:  # noqa: ARG001  Sphinx's signature
    source[0] = source[0].replace("](../notebooks/", "](tutorials/")
    for target, page in _OUTSIDE.items():
        source[0] = re.sub(rf"\]\({re.escape(target)}", f"]({page}", source[0])


def _link_included(app: Any, relative: Any, parent: str, content: list[str]) -> None:  # noqa: ARG001
    """Resolve links in an included file relative to the repository's root."""
    content[0] = re.sub(r"\]\(docs/", "](", content[0])


def _draw_views(app: Any, pagename: str, *_: object) -> None:
    """Make the views in notebooks interactive with the bundled 3Dmol.js."""
    if pagename.startswith("tutorials/"):
        app.add_js_file("3Dmol-min.js")


def setup(app: Any) -> None:
    """Write the reference, and connect the handlers that change sources and outputs."""
    write_reference(DOCS / "reference")
    app.connect("source-read", _link_pages)
    app.connect("include-read", _link_included)
    app.connect("html-page-context", _draw_views)
    app.connect("build-finished", lambda app, exc: None if exc else write_llms_text(DOCS, Path(app.outdir)))
