"""Continue from a complete job with another tool, in the next cell or below its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldnote import settings as options
from foldnote.catalog.continuations import Continuation, find_continuations
from foldnote.errors import ArgumentError
from foldnote.late import load
from foldnote.notebook import connection
from foldnote.text import join_words

if TYPE_CHECKING:
    import pandas as pd
    from ipywidgets import Widget

    from foldnote.client import JobHandle


def list_continuations(job: JobHandle) -> tuple[Continuation, ...]:
    """Return the service's tools that take a file or a sequence of a complete job, best first.

    Raises:
        UnfinishedJobError: the job has no result yet.
        JobFailedError: the run failed.
    """
    from foldnote.client.downloads.origin import find_tool
    from foldnote.results.naming.file_kinds import is_working_file

    tools = list(connection.find_client(job.profile_name).tools.list())
    result = job.result()
    best = [result.structure.name] if result.structure is not None else []
    paths = [*best, *(file.name for file in result.files if file.name not in best)]
    source = find_tool(job._connection, job.tool)
    return find_continuations(tools, [p for p in paths if not is_working_file(p)], source, job.settings)


def tabulate_continuations(job: JobHandle) -> pd.DataFrame:
    """Tabulate the tools that can continue from a job; see ``NotebookJob.continue_with``."""
    import pandas as pd

    columns = ["tool", "name", "takes", "you add", "runs here"]
    return pd.DataFrame(
        [
            (
                each.tool.type,
                each.tool.display_name or each.tool.type,
                ", ".join(
                    [*(path for paths in each.files.values() for path in paths), *each.sequences.values()]
                ),
                ", ".join(each.missing),
                each.tool.available,
            )
            for each in list_continuations(job)
        ],
        columns=columns,
    )


def write_next_cell(job: JobHandle, tool: str) -> str:
    """Write a cell below the running one with the form of ``tool``; returns its code.

    Raises:
        ArgumentError: the tool takes nothing of this job.
    """
    from foldnote.forms.view.continuation import write_cell

    found = {each.tool.type: each for each in list_continuations(job)}
    if tool not in found:
        known = join_words([*found][:8], "or") or "no tool of the service"
        raise ArgumentError(
            f"{tool!r} takes no file or sequence of {job.job_name!r}; {known} can use its outputs."
        )
    return write_below(write_cell(job.job_name, found[tool], name_profile(job)))


def write_below(code: str) -> str:
    """Write a cell below the running one, if there is one; returns its code."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None and hasattr(shell, "set_next_input"):
        shell.set_next_input(code)
    return code


def make_chooser(job: JobHandle) -> Widget:
    """Make the list of tools below a job's card; choosing one shows its form."""
    from foldnote.forms.view.continuation import ContinuationChooser, fill_values

    def open_form(chosen: Continuation) -> Widget:
        values = fill_values(job.job_name, job.settings, chosen)
        return load("form")(chosen.tool, profile=job.profile_name, **values).widget

    return ContinuationChooser(list_continuations(job), open_form)


def name_profile(job: JobHandle) -> str:
    """Return the profile to name in code about a job; empty for the active one."""
    return "" if job.profile_name == options.active_profile().name else job.profile_name
