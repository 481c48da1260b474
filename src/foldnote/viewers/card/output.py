"""Progress of a job being waited for: an output of the cell, or lines on standard error."""

from __future__ import annotations

import sys

from foldnote.cell_outputs import CellOutput, is_notebook
from foldnote.models import Job
from foldnote.viewers.card.card_html import write_card, write_plain_card


class ProgressOutput:
    """Progress of a job being waited for, in an output of the running cell or on standard error."""

    def __init__(self, job: Job) -> None:
        self._output = CellOutput() if is_notebook() else None
        self._cell = _count_executions()
        if self._output is not None:
            self._output.show(_make_bundle(job))

    def show(self, job: Job) -> None:
        """Show a record of the job, replacing the previous one."""
        if self._output is None:
            _print_progress(job)
        else:
            self._output.update(_make_bundle(job))

    def withdraw(self) -> None:
        """Empty the output if its cell is still running: the same cell shows the job's card next."""
        if self._output is not None and self._cell == _count_executions():
            self._output.update({"text/html": "", "text/plain": ""})


def _count_executions() -> int:
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "execution_count", 0)


def _make_bundle(job: Job) -> dict[str, str]:
    return {"text/html": write_card(job), "text/plain": write_plain_card(job)}


def _print_progress(job: Job) -> None:
    percent = f" {job.progress:.0%}" if job.progress is not None and not job.is_final else ""
    sys.stderr.write(f"{job.job_name}: {job.word}{percent}  {job.message or ''}".rstrip() + "\n")
