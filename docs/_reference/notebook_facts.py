"""What the notebooks of the gallery say of themselves: their question, the family of tools, engines and running time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from foldnote.service.engines import load_engines

__all__ = ["NotebookFacts", "list_missing_engines", "read_notebooks"]


@dataclass(frozen=True)
class NotebookFacts:
    """One notebook; all but the question stands in its metadata, under ``foldnote``."""

    path: Path
    question: str
    """Its title."""
    family: str
    engines: tuple[str, ...]
    """Names of the engines that it needs."""
    seconds: int
    """How long it runs on two cores that nothing else uses, rounded."""


def read_notebooks(folder: Path) -> list[NotebookFacts]:
    """The notebooks of ``folder``, by name."""
    found = []
    for path in sorted(folder.glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        title = "".join(notebook["cells"][0]["source"]).split("\n", 1)[0].removeprefix("# ")
        facts = notebook["metadata"]["foldnote"]
        found.append(NotebookFacts(path, title, facts["family"], tuple(facts["engines"]), facts["seconds"]))
    return found


def list_missing_engines(notebook: NotebookFacts) -> list[str]:
    """Which of the notebook's engines are not installed here, or were for another version of the engine."""
    engines = load_engines()
    return [name for name in notebook.engines if not engines[name].state().installed]
