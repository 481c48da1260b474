"""Why foldnote has no engine for some tools, and the two alternatives."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

WAYS_ON = "Connect to a service that runs it, or add a command of your own as an engine."


@functools.cache
def unserved_tools() -> dict[str, str]:
    """Return one sentence per tool without a bundled engine that says why."""
    return tomllib.loads(Path(__file__).with_name("unserved.toml").read_text("utf-8"))


def explain_unserved(tool_type: str) -> str:
    """Explain why the tool cannot run here, and what to do."""
    sentences = (f"foldnote has no engine for {tool_type}.", unserved_tools().get(tool_type), WAYS_ON)
    return " ".join(filter(None, sentences))
