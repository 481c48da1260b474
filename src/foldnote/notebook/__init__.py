"""The functions for notebooks: ``fn.form``, ``fn.submit``, ``fn.job``, ``fn.view`` and others.

They combine the other packages, and add where things are shown: a form or job is a live widget with a saved
output below it, so that the result is still visible when the notebook is opened without its kernel.
"""

from __future__ import annotations

from foldnote.client import inline as _inline
from foldnote.client import uploaded as _uploaded
from foldnote.forms import variable as _variable
from foldnote.notebook.batch_verbs import NotebookPreview as NotebookPreview
from foldnote.notebook.batch_verbs import batch, batches, submit_batch
from foldnote.notebook.connection import connect
from foldnote.notebook.form_verbs import NotebookForm as NotebookForm
from foldnote.notebook.form_verbs import form
from foldnote.notebook.live_outputs import NotebookBatch as NotebookBatch
from foldnote.notebook.live_outputs import NotebookJob as NotebookJob
from foldnote.notebook.live_outputs import NotebookRun as NotebookRun
from foldnote.notebook.pipeline_verbs import account, pipeline, provision, recommend, screen, stage
from foldnote.notebook.submission_verbs import submit, upload, validate
from foldnote.notebook.verbs import verb
from foldnote.notebook.view_verbs import explore, grid, job, jobs, tool, tools, view
from foldnote.results import open_result as _open_result

inline = verb(_inline)
open_result = verb(_open_result)
uploaded = verb(_uploaded)
variable = verb(_variable)

__all__ = [
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
