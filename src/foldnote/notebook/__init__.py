"""The functions for notebooks: ``fn.form``, ``fn.submit``, ``fn.job``, ``fn.view`` and others.

They combine the other packages and display their objects: a form or job is a live widget with a saved output
below it, so that the result is still visible when the notebook is opened without its kernel. Each module is
imported on first use: completing the name of a tool reads no structures and draws nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldnote.client import inline, uploaded
    from foldnote.forms import variable
    from foldnote.notebook.batch_submission import NotebookPreview as NotebookPreview
    from foldnote.notebook.batch_submission import batch, batches, submit_batch
    from foldnote.notebook.connection import connect
    from foldnote.notebook.exports import export, open_export
    from foldnote.notebook.forms import NotebookForm as NotebookForm
    from foldnote.notebook.forms import form
    from foldnote.notebook.live_outputs import NotebookBatch as NotebookBatch
    from foldnote.notebook.live_outputs import NotebookJob as NotebookJob
    from foldnote.notebook.live_outputs import NotebookRun as NotebookRun
    from foldnote.notebook.pipelines import account, pipeline, provision, recommend, screen, stage
    from foldnote.notebook.purging import purge
    from foldnote.notebook.reports import report
    from foldnote.notebook.sharing import open_shared, share
    from foldnote.notebook.submission import quote, submit, upload, validate
    from foldnote.notebook.tool_functions import tool, tools
    from foldnote.notebook.views import compare, explore, grid, job, jobs, view
    from foldnote.results import open_result

__all__ = [
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
    "batch_submission": ("NotebookPreview", "batch", "batches", "submit_batch"),
    "connection": ("connect",),
    "exports": ("export", "open_export"),
    "forms": ("NotebookForm", "form"),
    "live_outputs": ("NotebookBatch", "NotebookJob", "NotebookRun"),
    "pipelines": ("account", "pipeline", "provision", "recommend", "screen", "stage"),
    "purging": ("purge",),
    "reports": ("report",),
    "sharing": ("open_shared", "share"),
    "submission": ("quote", "submit", "upload", "validate"),
    "tool_functions": ("tool", "tools"),
    "views": ("compare", "explore", "grid", "job", "jobs", "view"),
}
"""The public names of each module."""
_CHECKED = {
    "inline": "foldnote.client",
    "open_result": "foldnote.results",
    "uploaded": "foldnote.client",
    "variable": "foldnote.forms",
}
"""Functions of other packages that are offered with checked arguments."""


def __getattr__(name: str) -> Any:
    if name in _CHECKED:
        from foldnote.notebook.argument_checks import check_arguments

        value = globals()[name] = check_arguments(getattr(import_module(_CHECKED[name]), name))
        return value
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
