"""Generate pages of the site from the code: tools, Python names, the service's routes, and llms.txt."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

__all__ = ["write_reference"]


def write_reference(folder: Path) -> None:
    """Write all generated pages into ``folder``, replacing it, and files for programs into its ``extra``."""
    from _reference.interface_page import write_interface  # imported here, because tests need no Sphinx
    from _reference.python_pages import write_python_pages
    from _reference.tool_pages import write_tool_pages

    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tools").mkdir(parents=True)
    extra = folder / "extra"
    (extra / "schemas").mkdir(parents=True)
    schemas = write_tool_pages(folder / "tools")
    for tool, schema in schemas.items():
        (extra / "schemas" / f"{tool}.json").write_text(json.dumps(schema, indent=2) + "\n", "utf-8")
    write_python_pages(folder)
    document = write_interface(folder / "interface.md")
    (extra / "openapi.json").write_text(json.dumps(document, indent=2) + "\n", "utf-8")
