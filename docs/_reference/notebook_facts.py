"""Facts that the gallery's notebooks state: question, tool family, engines and running time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from foldnote.service.engines import load_engines

__all__ = ["NotebookFacts", "list_missing_engines", "read_notebooks"]


@dataclass(frozen=True)
class NotebookFacts:
    """One notebook. The question is its title; the rest is in its metadata under ``foldnote``."""

    path: Path
    question: str
    """The notebook's title."""
    family: str
    engines: tuple[str, ...]
    """Names of the engines that it needs."""
    seconds: int
    """Running time on two otherwise idle cores, rounded."""


def read_notebooks(folder: Path) -> list[NotebookFacts]:
    """Read the notebooks of ``folder``, sorted by name."""
    found = []
    for path in sorted(folder.glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        title = "".join(notebook["cells"][0]["source"]).split("\n", 1)[0].removeprefix("# ")
        facts = notebook["metadata"]["foldnote"]
        found.append(NotebookFacts(path, title, facts["family"], tuple(facts["engines"]), facts["seconds"]))
    return found


def list_missing_engines(notebook: NotebookFacts) -> list[str]:
    """Return the notebook's engines that are not installed here, or only in an outdated version."""
    engines = load_engines()
    return [name for name in notebook.engines if not engines[name].state().installed]
