"""foldnote: protein-analysis jobs in JupyterLab.

``import foldnote as fn``; ``fn.form("abodybuilder")`` shows a form, ``fn.submit(...)`` does the same in code.
Nothing heavy is imported until one of these names is used.
"""

# ruff: noqa: F403, F405  (type checkers find the functions in `__all__` of foldnote.notebook)
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldnote.client import AsyncClient, Client
    from foldnote.notebook import *

__all__ = [
    "AsyncClient",
    "Client",
    "__version__",
    "account",
    "batch",
    "batches",
    "compare",
    "connect",
    "explore",
    "export",
    "form",
    "grid",
    "inline",
    "job",
    "jobs",
    "open_export",
    "open_result",
    "open_shared",
    "pipeline",
    "provision",
    "purge",
    "quote",
    "recommend",
    "report",
    "screen",
    "share",
    "stage",
    "submit",
    "submit_batch",
    "tool",
    "tools",
    "upload",
    "uploaded",
    "validate",
    "variable",
    "view",
]

_HOMES = {
    "AsyncClient": "foldnote.client",
    "Client": "foldnote.client",
    "_jupyter_labextension_paths": "foldnote.lab",
    "_jupyter_server_extension_points": "foldnote.lab",
}
"""Public names that are not functions for notebooks."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from foldnote.late import find_version

        return find_version()
    home = _HOMES.get(name, "foldnote.notebook")
    if name in __all__ or name in _HOMES:
        return getattr(import_module(home), name)
    raise AttributeError(f"module 'foldnote' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
