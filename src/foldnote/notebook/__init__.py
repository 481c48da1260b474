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
    from foldnote.notebook.batch_verbs import NotebookPreview as NotebookPreview
    from foldnote.notebook.batch_verbs import batch, batches, submit_batch
    from foldnote.notebook.connection import connect
    from foldnote.notebook.export_verbs import export, open_export
    from foldnote.notebook.form_verbs import NotebookForm as NotebookForm
    from foldnote.notebook.form_verbs import form
    from foldnote.notebook.live_outputs import NotebookBatch as NotebookBatch
    from foldnote.notebook.live_outputs import NotebookJob as NotebookJob
    from foldnote.notebook.live_outputs import NotebookRun as NotebookRun
    from foldnote.notebook.pipeline_verbs import account, pipeline, provision, recommend, screen, stage
    from foldnote.notebook.purge_verb import purge
    from foldnote.notebook.report_verb import report
    from foldnote.notebook.sharing_verbs import open_shared, share
    from foldnote.notebook.submission_verbs import quote, submit, upload, validate
    from foldnote.notebook.tool_functions import tool, tools
    from foldnote.notebook.view_verbs import compare, explore, grid, job, jobs, view
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
    "batch_verbs": ("NotebookPreview", "batch", "batches", "submit_batch"),
    "connection": ("connect",),
    "export_verbs": ("export", "open_export"),
    "form_verbs": ("NotebookForm", "form"),
    "live_outputs": ("NotebookBatch", "NotebookJob", "NotebookRun"),
    "pipeline_verbs": ("account", "pipeline", "provision", "recommend", "screen", "stage"),
    "purge_verb": ("purge",),
    "report_verb": ("report",),
    "sharing_verbs": ("open_shared", "share"),
    "submission_verbs": ("quote", "submit", "upload", "validate"),
    "tool_functions": ("tool", "tools"),
    "view_verbs": ("compare", "explore", "grid", "job", "jobs", "view"),
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
        from foldnote.notebook.verbs import verb

        value = globals()[name] = verb(getattr(import_module(_CHECKED[name]), name))
        return value
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
