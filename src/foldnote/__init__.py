"""foldnote: protein-analysis jobs in JupyterLab.

``import foldnote as fn``; ``fn.form("abodybuilder")`` shows a form, ``fn.submit(...)`` does the same in code.
Nothing heavy is imported until one of these names is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldnote.client import AsyncClient, Client
    from foldnote.notebook import (
        account,
        batch,
        batches,
        connect,
        form,
        inline,
        job,
        jobs,
        pipeline,
        provision,
        recommend,
        screen,
        stage,
        submit,
        submit_batch,
        tool,
        tools,
        upload,
        uploaded,
        validate,
        variable,
        view,
    )
    from foldnote.results import open_result

_HOMES = {
    "AsyncClient": "foldnote.client",
    "Client": "foldnote.client",
    "_jupyter_labextension_paths": "foldnote.lab",
    "_jupyter_server_extension_points": "foldnote.lab",
    "account": "foldnote.notebook",
    "batch": "foldnote.notebook",
    "batches": "foldnote.notebook",
    "connect": "foldnote.notebook",
    "explore": "foldnote.notebook",
    "form": "foldnote.notebook",
    "grid": "foldnote.notebook",
    "inline": "foldnote.notebook",
    "job": "foldnote.notebook",
    "jobs": "foldnote.notebook",
    "open_result": "foldnote.notebook",
    "pipeline": "foldnote.notebook",
    "provision": "foldnote.notebook",
    "recommend": "foldnote.notebook",
    "screen": "foldnote.notebook",
    "stage": "foldnote.notebook",
    "submit": "foldnote.notebook",
    "submit_batch": "foldnote.notebook",
    "tool": "foldnote.notebook",
    "tools": "foldnote.notebook",
    "upload": "foldnote.notebook",
    "uploaded": "foldnote.notebook",
    "validate": "foldnote.notebook",
    "variable": "foldnote.notebook",
    "view": "foldnote.notebook",
}

__all__ = [
    "AsyncClient",
    "Client",
    "__version__",
    "account",
    "batch",
    "batches",
    "connect",
    "explore",
    "form",
    "grid",
    "inline",
    "job",
    "jobs",
    "open_result",
    "pipeline",
    "provision",
    "recommend",
    "screen",
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


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("foldnote")
        except PackageNotFoundError:  # run from a source tree that was never installed
            return "0+source"
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'foldnote' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
