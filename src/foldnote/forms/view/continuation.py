"""Continue from a job: the code of the next cell, and the list of tools below a job's card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from foldnote.catalog.continuations import Continuation
from foldnote.client.inputs.file_values import job_file
from foldnote.errors import FoldnoteError
from foldnote.text import join_words

_NOTHING = ""
"""Value of the entry that asks for a choice; None would show an empty list."""


def write_cell(job_name: str, continuation: Continuation, profile: str = "") -> str:
    """Return the call of ``fn.form`` with the files and sequences of a job, by reference.

    Args:
        job_name: the job.
        continuation: the tool and its inputs from the job.
        profile: the profile to name in the code; "" for the active one.
    """
    profile_argument = f", profile={profile!r}" if profile else ""
    job = f"fn.job({job_name!r}{profile_argument})"
    rows = [f"    {continuation.tool.type!r},"]
    for name, paths in continuation.files.items():
        files = [f"{job}.file({path!r})" for path in paths]
        value = f"[{', '.join(files)}]" if _is_list(continuation, name) else files[0]
        rows.append(f"    {name}={value},")
    rows += [f"    {name}={job}.settings[{own!r}]," for name, own in continuation.sequences.items()]
    if profile:
        rows.append(f"    profile={profile!r},")
    return "\n".join(["fn.form(", *rows, ")"])


def fill_values(job_name: str, settings: Mapping[str, Any], continuation: Continuation) -> dict[str, Any]:
    """Return the same inputs as values of the form's fields.

    Args:
        job_name: the job.
        settings: its settings.
        continuation: the tool and its inputs from the job.
    """
    values: dict[str, Any] = {name: settings[own] for name, own in continuation.sequences.items()}
    for name, paths in continuation.files.items():
        files = [job_file(job_name, path) for path in paths]
        values[name] = files if _is_list(continuation, name) else files[0]
    return values


def _is_list(continuation: Continuation, name: str) -> bool:
    return bool(continuation.tool.settings_schema["properties"][name].get("type") == "array")


def describe(continuation: Continuation) -> str:
    """Describe a tool and its missing inputs, such as ``AutoDock Vina (then: Ligand file)``."""
    title = continuation.tool.display_name or continuation.tool.type
    needs = f" (you add: {join_words(continuation.missing, 'and')})" if continuation.missing else ""
    return f"{title}{needs}{'' if continuation.tool.available else ', not available here'}"


class ContinuationChooser(widgets.VBox):  # type: ignore[misc]
    """A list of tools; choosing one shows its form, with the job's files and sequences filled in."""

    def __init__(
        self, continuations: Sequence[Continuation], open_form: Callable[[Continuation], widgets.Widget]
    ) -> None:
        """Show the list.

        Args:
            continuations: the tools to choose from.
            open_form: returns the form of one of them.
        """
        self._open_form = open_form
        options = [
            ("Choose a tool…", _NOTHING),
            *((describe(continuation), continuation) for continuation in continuations),
        ]
        self.choice = widgets.Dropdown(
            options=options, description="Continue with", layout={"width": "min(100%, 44rem)"}
        )
        self.choice.style.description_width = "initial"
        self._form_box = widgets.VBox()
        nothing = widgets.HTML("<p>No tool of the service takes a file or sequence of this job.</p>")
        super().__init__([self.choice, self._form_box] if continuations else [nothing])
        self.choice.observe(lambda change: self._choose(change["new"]), names="value")

    def _choose(self, continuation: Continuation | str) -> None:
        if isinstance(continuation, str):
            self._form_box.children = ()
            return
        try:
            self._form_box.children = (self._open_form(continuation),)
        except FoldnoteError as exc:
            self._form_box.children = (widgets.Label(f"The form cannot be shown: {exc.message}"),)
