"""Forms in notebooks; values, job and result are saved with the cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from foldnote.catalog.bundle import describe
from foldnote.catalog.described_tool import DescribedTool, PlainTool
from foldnote.cell_outputs import ResultSlot
from foldnote.client import Client
from foldnote.errors import ArgumentError, FoldnoteError
from foldnote.forms.jobs.background_calls import call, has_running_loop, start
from foldnote.kernel import runs_in_marimo
from foldnote.notebook import connection
from foldnote.notebook.argument_checks import check_arguments
from foldnote.notebook.saved_form import SavedForm
from foldnote.notebook.submission import choose_label, choose_name
from foldnote.text import escape_html

if TYPE_CHECKING:
    from pandas import DataFrame

    from foldnote.client import BatchHandle, JobHandle
    from foldnote.client.core.progress import ProgressCallback
    from foldnote.forms import SchemaForm
    from foldnote.models import Tool
    from foldnote.notebook.live_outputs import NotebookJob
    from foldnote.results import Result

_UNLIKE: set[str] = set()
"""Types of the tools whose settings the embedded service, of a newer version, describes differently."""


class NotebookForm(SavedForm):
    """A form with its job card at the end and its result below."""

    def __init__(
        self,
        tool: DescribedTool,
        client: Client,
        values: Mapping[str, Any],
        job_name: str | None,
        label: str | None = None,
    ) -> None:
        """Build the form; nothing is sent."""
        self._slot = ResultSlot()
        self.job: NotebookJob | None = None
        super().__init__(
            tool,
            client,
            values=values,
            job_name=job_name,
            label=label,
            on_submit=self._take_job,
            on_attach=self._take_job,
            on_batch=self._take_batch,
            germlines=_find_germline,
        )
        if isinstance(tool, PlainTool) and has_running_loop():
            start(self._ask())

    @property
    def tool(self) -> Tool:
        """The tool as its service describes it; the service is asked if it has not answered before.

        Raises:
            FoldnoteError: the service does not answer.
        """
        if isinstance(self.described, PlainTool):
            self._take_answer(self.client.tools.get(self.described.type))
        return cast("Tool", self.described)

    async def _ask(self) -> None:
        """Ask the service whether it can run the tool, once the form is shown."""
        try:
            tool = await call(self.client.tools, "get", self.described.type)
        except FoldnoteError as error:
            self.verdicts.show_error(
                error, "It could not be determined whether the service can run this tool."
            )
            return
        self.verdicts.guard(lambda: self._take_answer(tool))

    def _take_answer(self, tool: Tool) -> None:
        if not isinstance(self.described, PlainTool):
            return
        if _list_settings(tool) != _list_settings(self.described):
            _UNLIKE.add(tool.type)
            self.frame.show_status(
                "The service runs another version of foldnote, which describes these settings differently."
                " Run the cell again for its form.",
                kind="bad",
            )
        self.take_tool(tool)

    def result(
        self,
        patterns: str | Sequence[str] = (),
        *,
        timeout_s: float | None = 0,
        pdbs_only: bool = False,
        progress: bool | ProgressCallback = False,
    ) -> Result:
        """Return the result of this form's job, like ``job.result()``.

        Args:
            patterns: a pattern (``*.pdb``) or several: only the files whose names match one; by default all.
            timeout_s: maximum time to wait for the job's end first, in seconds; None waits until it ends. By
                default a job must have ended.
            pdbs_only: download the structure files only.
            progress: True to show a bar, or a callback (bytes received, total bytes or None).

        Raises:
            ArgumentError: nothing was submitted, or a batch was.
            FoldnoteError: what ``job.result()`` raises.
        """
        if self.job is None and self.batch is not None:
            raise ArgumentError("This form submitted a batch: its results are in form.batch.results().")
        if self.job is None:
            raise ArgumentError("This form has no job yet: press Submit, or call submit().")
        return self.job.result(patterns, timeout_s=timeout_s, pdbs_only=pdbs_only, progress=progress)

    def add_table(
        self,
        table: DataFrame | Sequence[Mapping[str, Any]] | str | Path,
        columns: Mapping[str, str] | None = None,
        names: str | None = None,
        *,
        sheet: str | None = None,
        sweep: Mapping[str, Sequence[Any]] | None = None,
        on_failure: Literal["continue", "stop"] | None = None,
        retries: int | None = None,
    ) -> None:
        """Add the rows of a table to the form's batch, as *Add to batch* does; nothing is sent.

        Args:
            table: a DataFrame, a list of mappings, or the path of a CSV, TSV, FASTA or Excel file. Settings
                that a row lacks are taken from the form.
            columns: which column feeds which setting, ``{"VH": "heavy"}`` or ``{"heavy": "VH"}``; by default
                columns are matched by their names and contents.
            names: the column of the jobs' names.
            sheet: the sheet of an Excel workbook, see ``fn.submit_batch``.
            sweep: values of a setting, for each of which all rows of the form are repeated,
                ``{"temperature": [0.1, 0.2]}``; a setting that is a file or a list cannot be swept.
            on_failure: what the batch does when a job has failed, see ``fn.submit_batch``; None keeps the
                choice in the form, which shows it if the service offers it.
            retries: number of times a job is run again after its tool failed; None as above.

        Raises:
            ArgumentError: the table cannot be read, a column or setting is unknown, or a sweep or policy is
                invalid. No row was added.
        """
        self.batch_table.add_table(
            table, columns, names, sheet=sheet, sweep=sweep, on_failure=on_failure, retries=retries
        )

    def _take_job(self, handle: JobHandle) -> None:
        from foldnote.notebook.live_outputs import make_card, make_live
        from foldnote.viewers.card.card_html import FORM_AGAIN

        self.job = make_live(handle)
        card = make_card(self.job, self._slot, FORM_AGAIN)
        self.footer.children = (card,)
        self._save()
        card.on_final(lambda _: self._end())

    def _end(self) -> None:
        """Save the final state of the job, and update the estimated duration of the next one."""
        self._save()
        self.checking.learn_again()

    def _take_batch(self, handle: BatchHandle) -> None:
        from foldnote.notebook.live_outputs import make_batch_card, make_live_batch

        self.batch = make_live_batch(handle)
        card = make_batch_card(self.batch, self._slot)
        self.footer.children = (card,)
        self._save()
        card.on_final(lambda _: self._save())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs)
        shown = self.batch or self.job
        if shown is not None:
            from foldnote.viewers.card.card_html import FORM_AGAIN, write_plain_card

            state = write_plain_card(shown.record, FORM_AGAIN)
            bundle["text/plain"] += f"\n{state}"
            bundle["text/html"] += f"<p>{escape_html(state)}</p>"
        return bundle

    def _ipython_display_(self) -> None:
        super()._ipython_display_()
        self._slot.show()


def _list_settings(tool: DescribedTool) -> dict[str, Any]:
    """Return the schema of the settings, without the notes that services add to the schema as a whole."""
    return {key: part for key, part in tool.settings_schema.items() if key != "x-foldnote"}


def _find_germline(chain: str) -> object:
    from foldnote.service.engines.germlines import find_germline  # deferred: rarely needed

    return find_germline(chain)


@overload
def form(
    tool: str | Tool | JobHandle,
    /,
    *,
    job_name: str | None = None,
    label: str | None = None,
    profile: str | None = None,
    **values: Any,
) -> NotebookForm: ...
@overload
def form(schema: Mapping[str, Any] | Path, /, **values: Any) -> SchemaForm: ...


@check_arguments
def form(
    subject: str | Tool | JobHandle | Mapping[str, Any] | Path,
    /,
    *,
    job_name: str | None = None,
    label: str | None = None,
    profile: str | None = None,
    **values: Any,
) -> NotebookForm | SchemaForm:
    """Return a form for a tool, made from its schema; nothing is sent until Submit is pressed.

    Args:
        subject: the tool's type, or a tool of any catalog; or a job, whose settings the form begins with; or
            a JSON Schema, as a mapping or the path of a ``.json`` file, for a form that gives values and
            submits nothing.
        job_name: name of the job; by default one is proposed. ``name`` means the same for tools without a
            setting of this name.
        label: free text, which card, panel and lists show in place of the name; see ``fn.submit``.
        profile: which service; by default the active profile's.
        **values: settings to start with; ``fn.variable("name")`` lets a field follow a variable, or a path
            such as ``"df.VH"``.

    Raises:
        UnknownToolError: the service has no such tool.
        SettingsError: ``values`` names a setting that the tool does not have.
        ArgumentError: the job is a batch, two different names are given, or the file cannot be read or does
            not hold a schema.
        FoldnoteError: the notebook is one of marimo, where forms do not work.
    """
    if runs_in_marimo():
        raise FoldnoteError(
            "Forms need a Jupyter kernel, which marimo does not have. Open a notebook in JupyterLab, or"
            " submit in code: fn.tools() names the tools, fn.tool(name) describes one, and"
            " fn.submit(name, …) runs it."
        )
    if isinstance(subject, Mapping | Path) or (isinstance(subject, str) and subject.endswith(".json")):
        from foldnote.notebook.saved_schema_form import SavedSchemaForm

        return SavedSchemaForm(subject, values if label is None else {**values, "label": label})
    client = connection.find_client(profile)
    if isinstance(subject, str):
        known = _describe(subject, client)
    else:
        from foldnote.client import JobHandle

        if isinstance(subject, JobHandle):
            return _reopen(subject, client, values, job_name, label)
        known = subject
    label = choose_label(known, label, values)
    return NotebookForm(known, client, values, choose_name(known, job_name, values), label)


def _describe(tool_type: str, client: Client) -> DescribedTool:
    """Describe a tool without waiting: the bundled catalog applies to the embedded service.

    Raises:
        UnknownToolError: the service has no such tool.
    """
    is_bundled = client.profile.is_embedded and tool_type not in _UNLIKE
    return (describe(tool_type) if is_bundled else None) or client.tools.get(tool_type)


def _reopen(
    job: JobHandle, client: Client, values: dict[str, Any], job_name: str | None, label: str | None
) -> NotebookForm:
    """Return the form of an old job; settings that the tool no longer has are listed."""
    from foldnote.forms.fields.section import list_names
    from foldnote.forms.submission.reopening import take_kept
    from foldnote.models.job import PIPELINE

    if job.tool == PIPELINE:
        raise ArgumentError(
            f"{job.job_name!r} is the run of a pipeline. To write a cell with its stages:"
            f" fn.job({job.job_name!r}).edit_settings()"
        )
    if job.record.is_batch:
        raise ArgumentError(
            f"{job.job_name!r} is a batch: open one of its jobs, or use its table of settings."
        )
    tool = client.tools.get(job.record.tool_type)
    names = set(list_names(tool))
    settings = job.own_settings()
    kept = {name: value for name, value in settings.items() if name in names}
    label = choose_label(tool, label, values)
    made = NotebookForm(tool, client, {**kept, **values}, job_name, label)
    take_kept(made, values)
    gone = [name for name in settings if name not in names]
    lost = f" {', '.join(gone)} was omitted: {tool.type} no longer has this setting." if gone else ""
    made.frame.show_status(f"These are the settings of {job.job_name}.{lost}")
    return made
