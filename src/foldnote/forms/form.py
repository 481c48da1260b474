"""The form of one tool: reads its fields, validates the settings, and shows problems at the fields.

`foldnote.forms.submission.submission` submits jobs. Building or showing a form never submits anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import ipywidgets as widgets

from foldnote.catalog.described_tool import PlainTool
from foldnote.client.local.identity import identify_content
from foldnote.errors import ArgumentError, FoldnoteError, SettingsError
from foldnote.forms.fields import kinds as _kinds  # noqa: F401  (registers the bundled kinds)
from foldnote.forms.fields.field import Field
from foldnote.forms.fields.section import Section, first_step, share
from foldnote.forms.fields.snapshot import Snapshot, take_snapshot
from foldnote.forms.fields.variable import Bindings
from foldnote.forms.jobs.background_calls import has_running_loop, start
from foldnote.forms.jobs.germline_lookup import GermlineLookup
from foldnote.forms.jobs.job_name import propose_name
from foldnote.forms.schema.plan import read_plan
from foldnote.forms.schema.shapes import is_file
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.submission.cell import cell_key
from foldnote.forms.submission.checking import Checking
from foldnote.forms.submission.example import ExampleButton
from foldnote.forms.submission.extension_fields import ExtensionFields
from foldnote.forms.submission.submission import FormSubmission
from foldnote.forms.submission.validation import FormValidation, Validator
from foldnote.forms.submission.verdicts import JOB_NAME, Verdicts
from foldnote.forms.ui.compact_widgets import delay_opening, locked
from foldnote.forms.ui.shared_styles import SharedStyles
from foldnote.forms.view.frame import CLOSED, Actions, Frame
from foldnote.kernel import WIDGET_VIEW
from foldnote.models.extensions import WIRE_NAME
from foldnote.models.names import check_job_name
from foldnote.models.problem import Problem

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool
    from foldnote.forms.batch.batch_table import BatchTable
    from foldnote.forms.view.page_events import Surface
    from foldnote.models.tool import Tool

JobHook = Callable[[Any], object]


class Form:
    """A tool's settings as a form in a notebook cell.

    ``on_submit(job)`` is called with the handle of a job that this form submitted, ``on_attach(job)`` with
    that of a job that the same cell submitted in an earlier run; both may set ``footer.children``.

    ``__init__`` builds what is visible at first; the rest follows in the next iteration of the event loop, or
    on first use.
    """

    _has_job = True
    """Whether the settings are those of a job."""
    _resets_by_none = True
    """Whether None resets a field that is not nullable."""

    @delay_opening()
    def __init__(
        self,
        tool: DescribedTool,
        client: Any = None,
        *,
        values: Mapping[str, Any] | None = None,
        job_name: str | None = None,
        label: str | None = None,
        on_submit: JobHook | None = None,
        on_attach: JobHook | None = None,
        on_batch: JobHook | None = None,
        germlines: Callable[[str], object] | None = None,
    ) -> None:
        """Build the widgets and check the values; nothing is sent.

        Args:
            tool: the tool; its schema need not come from the bundled catalog.
            client: `Client` or `AsyncClient`; without one the form only validates and writes code.
            values: initial settings; the others have their defaults.
            job_name: initial job name; by default one is proposed.
            label: initial label of the job.
            on_submit: see above.
            on_attach: see above.
            on_batch: called with the handle of a batch submitted from the form's table.
            germlines: returns species and germline of a chain of amino acids, or None; it may block, and is
                called in a thread once a person has changed the form.

        Raises:
            SettingsError: ``values`` names a setting that the tool does not have.
        """
        self.described = tool
        """The tool, as far as it is known."""
        self.client = client
        self._observers: list[Callable[[], object]] = []
        self.on_submit = on_submit
        self.on_attach = on_attach
        self.on_batch = on_batch
        self.styles = SharedStyles()
        self.germlines = GermlineLookup(germlines, self.refresh)
        self.changed_at = float("-inf")
        """Time of a person's last change (monotonic clock, seconds)."""
        self._uploads: tuple[str, ...] = ()
        self._shows_errors = False
        self.name_error: str | None = None
        """The service's error on the job's name; None without one."""
        self._service_errors: dict[str, str] = {}
        schema = tool.settings_schema
        self.section = Section(read_plan(schema, schema), self, closed=CLOSED)
        self._validator = Validator(tool, self.section)
        self.bindings = Bindings(self)
        self.frame = Frame(self.section, self.styles, self._actions(), has_job=self._has_job)
        self.frame.show_tool(tool, is_waiting=self._is_waiting)
        self.verdicts = Verdicts(self)
        self.submission = FormSubmission(self, self.verdicts, cell_key(tool.type))
        self.checking = Checking(self, self.submission, self.verdicts)
        self.example = ExampleButton(self, self.verdicts, self.frame.example)
        self._batch_table: BatchTable | None = None
        self._surface: Surface | None = None
        self._extension_fields = ExtensionFields(
            self, tool.extensions if self._has_job else (), tool.engine, is_waiting=self._is_waiting
        )
        self.frame.show_beside(self._extension_fields.widgets)
        self.batch: Any = None
        """Handle of the last batch submitted from this form; None before."""
        self._initial_values = self.bindings.take(values or {})
        self._fill(job_name, label)
        if has_running_loop():
            start(self._complete())

    def _fill(self, job_name: str | None, label: str | None) -> None:
        """Write the initial values, and ask the service for what it knows of files and cost."""
        if job_name:
            self.frame.job_name.value = job_name
        if label:
            self.frame.label.value = label
        self._write_values(self._initial_values)
        self.submission.attach(self._initial_values)
        if any(is_file(field.spec) for field in self.section.walk()):
            self.bindings.listen(True)
            self.submission.load_uploads()
        if self._has_job:
            self.checking.learn_cost()

    @property
    def tool(self) -> Tool:
        """The tool as a record of the interface."""
        from foldnote.models.tool import Tool

        described = self.described
        if isinstance(described, PlainTool):
            return Tool(
                type=described.type,
                display_name=described.display_name,
                description=described.description,
                settings_schema=described.settings_schema,
                example_job=described.example_job,
            )
        return cast("Tool", described)

    @property
    def wanted(self) -> Tool | str:
        """The service's record of the tool; its type while the service has not described it."""
        return self.described.type if isinstance(self.described, PlainTool) else self.tool

    @property
    def _is_waiting(self) -> bool:
        """Whether the service has not described the tool yet."""
        return self.client is not None and isinstance(self.described, PlainTool)

    @locked
    def take_tool(self, tool: Tool) -> None:
        """Show what the service reports of the tool: whether and how it can run it, and its extensions."""
        self.described = tool
        self.frame.show_tool(tool)
        self._extension_fields = ExtensionFields(self, tool.extensions, tool.engine)
        self.frame.show_beside(self._extension_fields.widgets)
        if self._batch_table is not None:
            self._batch_table.show_policy()
        self.checking.learn_cost()
        self.refresh()

    async def _complete(self) -> None:
        """Build the remaining parts once the form is shown."""
        self.verdicts.guard(self._build_surface)

    @property
    def batch_table(self) -> BatchTable:
        """The batch of the form."""
        if self._batch_table is None:
            from foldnote.forms.batch.batch_table import BatchTable

            self._batch_table = BatchTable(self, self.verdicts, self._hold_batch)
            self._batch_table.write_code = self._write_batch_code
        return self._batch_table

    @property
    def surface(self) -> Surface:
        """The handler of drops, keys and other events of the page."""
        return self._surface or self._build_surface()

    @locked
    def _build_surface(self) -> Surface:
        if self._surface is None:
            from foldnote.forms.view.page_events import Surface

            self._surface = Surface(self, self.verdicts)
            self.frame.show_surface(self._surface.widget)
        return self._surface

    @property
    @locked
    def fields(self) -> dict[str, Field]:
        """The fields by name, also those of a closed group; of several with one name the one that applies."""
        self.section.open()
        return self.section.by_name

    @property
    def shows_errors(self) -> bool:
        """Whether missing values are shown as errors, because Submit was pressed."""
        return self._shows_errors

    @property
    def widget(self) -> widgets.Widget:
        """The whole form."""
        return self.frame.widget

    @property
    def footer(self) -> widgets.Box:
        """An empty box at the end of the form, for a job card."""
        return self.frame.slot

    @property
    def value(self) -> dict[str, Any]:
        """The settings as they would be sent: with defaults, without fields that do not apply."""
        return self._validate().value

    @property
    def extensions(self) -> dict[str, Any]:
        """Extensions beside the settings: the user's consent, an alignment; empty for none."""
        return self._extension_fields.value

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All current problems in the order of the fields, that of the job name last."""
        return self._list_problems(self._validate())

    @property
    def job_name(self) -> str:
        """The typed name, else the proposed one."""
        return self.typed_job_name or self._propose_name(self._validate())

    @property
    def typed_job_name(self) -> str:
        """The typed name; empty while the proposed one is used."""
        return str(self.frame.job_name.value).strip()

    @property
    def label(self) -> str:
        """The job's label on one line; empty without one."""
        return " ".join(str(self.frame.label.value).split())

    @locked
    def set(self, values: Mapping[str, Any] | None = None, /, **settings: Any) -> None:
        """Set fields, including hidden ones; None resets a field that is not nullable.

        Raises:
            SettingsError: a name is not a setting of this tool; nothing was changed.
            ArgumentError: ``values`` is not a mapping, or a value is of a type that no setting has.
        """
        if not isinstance(values, Mapping | None):
            kind = type(values).__name__
            raise ArgumentError(f"set() takes settings as name=value, or a mapping of them, not a {kind}.")
        self._write_values(self.bindings.take({**(values or {}), **settings}))

    def _write_values(self, values: Mapping[str, Any]) -> None:
        names = self.section.names
        self._take_unknown({name: value for name, value in values.items() if name not in names})
        for field in self.section.fields:
            if field.spec.name not in values:
                continue
            value = values[field.spec.name]
            if value is None and self._resets_by_none and not field.spec.nullable:
                field.reset()
            else:
                field.write(value)
                field.is_touched = True
            self._forget_verdict(field.spec.name)
        self.section.show_given()
        self.refresh()
        self.note_change()

    @locked
    def reset(self, *names: str) -> None:
        """Restore the defaults of the named fields, or of all."""
        for field in self.section.fields:
            if not names or field.spec.name in names:
                field.reset()
                self._forget_verdict(field.spec.name)
        self.refresh()
        self.note_change()

    def code(self) -> str:
        """Return the equivalent Python call, without optional settings that have their default."""
        from foldnote.forms.view.equivalents import write_form_call

        return write_form_call(self)

    def _write_batch_code(self) -> str:
        from foldnote.forms.view.equivalents import write_form_batch

        return write_form_batch(self, self.batch_table)

    def submit(self) -> Any:
        """Submit the job if the settings are valid.

        Returns the job's handle, or in a notebook an asyncio task with that result; None if there are
        problems (shown at the fields) or a submission is already in progress.
        """
        return self.submission.submit()

    @locked
    def refresh(self) -> tuple[Problem, ...]:
        """Read and validate all fields, and show the problems at each; returns them like `problems`."""
        validation = self._validate()
        self.germlines.begin()
        self.section.express(validation.reading, validation.problems)
        if self.changed_at > float("-inf"):
            self.germlines.look_up()
        self._extension_fields.express()
        self._show_counts(validation)
        is_readable = not validation.reading.inner
        self.verdicts.drop_stale(self._snapshot_of(validation.value), is_readable=is_readable)
        self.example.drop_question(validation.value)
        if self._batch_table is not None:
            self._batch_table.refresh()
        return self._list_problems(validation)

    def snapshot(self) -> Snapshot:
        """Return the current job name, settings and local files."""
        return self._snapshot_of(self.value)

    def _snapshot_of(self, value: dict[str, Any]) -> Snapshot:
        return take_snapshot(self.section.by_name, value, self.typed_job_name, self.extensions)

    def _propose_name(self, validation: FormValidation) -> str:
        content = identify_content(validation.normalized, self.extensions)
        return propose_name(self.described.type, content, self.client)

    def extensions_changed(self) -> None:
        """Handle a person's change of the extensions."""
        self.changed_at = time.monotonic()
        self.refresh()
        self.note_change()

    @locked
    def forget_extensions(self) -> None:
        """Clear the extensions: consent applies to one job."""
        if self.extensions:
            self._extension_fields.clear()
            self.refresh()

    @locked
    def show_verdict(self, name: str | None, message: str) -> bool:
        """Show the service's error at the field ``name``; False if there is no such field."""
        path = name or ""
        if path == JOB_NAME:
            self.name_error = message
        elif path.startswith(f"{WIRE_NAME}."):
            if not self._extension_fields.show_verdict(path, message):
                return False
        elif first_step(path, self.section.names) in self.section.names:
            self._service_errors[path] = message
        else:
            return False
        self.refresh()
        self.go_to(path)
        return True

    @locked
    def show_errors(self) -> bool:
        """Show all problems, missing values included, and focus the first; True if there are none."""
        self._shows_errors = True
        problems = self.refresh()
        if problems:
            self.go_to(problems[0].field)
        return not problems

    def go_to(self, path: str) -> None:
        """Focus the field at a dotted path, unfolding its group if needed."""
        if path.startswith(f"{WIRE_NAME}."):
            self._extension_fields.go_to(path)
            return
        name = first_step(path, self.section.names)
        field = self.section.reveal(name)
        if field is None:
            self.frame.job_name.focus()
            return
        if field.spec.group == CLOSED:
            self.frame.unfold()
        field.focus_at(path[len(name) + 1 :])

    def field_changed(self, field: Field) -> None:
        """Handle a person's change of ``field``, which invalidates the service's verdict on it."""
        self.changed_at = time.monotonic()
        self._forget_verdict(field.spec.name)
        self.bindings.release(field.spec.name)
        self.refresh()
        self.note_change()

    @locked
    def follow(self, values: Mapping[str, Any]) -> None:
        """Apply the new values of bound variables; invalid ones are reported at the fields.

        Without new values, check whether files that the settings name have changed.
        """
        if not values:
            self.verdicts.look_at_files()
            return
        for field in self.section.fields:
            if field.spec.name not in values:
                continue
            self._forget_verdict(field.spec.name)
            try:
                field.write(values[field.spec.name])
                field.is_touched = True
            except FoldnoteError as error:
                self._service_errors[field.spec.name] = error.message
        self.section.show_given()
        self.refresh()
        self.note_change()

    def _hold_batch(self, batch: Any) -> None:
        self.batch = batch
        if self.on_batch is not None:
            self.on_batch(batch)

    def observe(self, function: Callable[[], object]) -> None:
        """Call ``function()`` after every change of a value, by a person or by code."""
        self._observers.append(function)

    def note_change(self) -> None:
        """Notify observers of a changed value."""
        for function in self._observers:
            function()

    def announce(self, field: Field) -> None:
        """Let screen readers read out the error of the field that a person has just changed."""
        self.frame.show_live(f"{field.spec.title}: {field.error_text}" if field.error_text else "")

    def note_of(self, field: Field) -> str:
        """Return the variable that one of the form's own fields follows; else empty."""
        return self.bindings.describe(field.spec.name) if field in self.section.fields else ""

    def raw_value(self, name: str) -> Any:
        """Return the field's value, hidden or not; `MISSING` if it is empty or there is none."""
        section = getattr(self, "section", None)  # fields read each other while they are being built
        field = section.find(name) if section is not None else None
        return field.read().value if field is not None else MISSING

    def germline_of(self, chain: str) -> str:
        """Return the species and V germline of a chain of amino acids; empty until they are known."""
        return self.germlines.tell(chain)

    def fill(self, values: Mapping[str, Any]) -> None:
        """Set fields because a person asked for it; None resets one."""
        self.changed_at = time.monotonic()
        for name in values:
            self.bindings.release(name)
        self.set(values)

    def known_uploads(self) -> tuple[str, ...]:
        """Return the names of the account's uploads that were loaded so far."""
        return self._uploads

    @locked
    def offer_uploads(self, names: tuple[str, ...]) -> None:
        """Suggest the uploads ``names`` in file fields."""
        from foldnote.forms.fields.kinds.file import FileField

        self._uploads = names
        for field in self.section.walk():
            if isinstance(field, FileField):
                field.refresh_suggestions()
        self.refresh()

    def _validate(self) -> FormValidation:
        return self._validator.validate(self._service_errors, self.bindings.explain)

    def _list_problems(self, validation: FormValidation) -> tuple[Problem, ...]:
        wrong_name = self._find_name_fault()
        own = (Problem(field=JOB_NAME, message=wrong_name),) if wrong_name else ()
        return (*validation.problems, *self._extension_fields.problems, *own)

    def _find_name_fault(self) -> str | None:
        typed = self.typed_job_name
        return self.name_error or (check_job_name(typed) if typed else None)

    def _take_unknown(self, values: Mapping[str, Any]) -> None:
        """Raise `SettingsError` for names that the tool does not have."""
        if values:
            from foldnote.catalog.wording import describe_unknown

            names = self.section.names
            raise SettingsError(
                [Problem(field=name, message=describe_unknown(name, names)) for name in values],
                self.described.type,
            )

    def _forget_verdict(self, name: str) -> None:
        """Discard the service's verdict on a changed field and the fields inside it."""
        for path in [path for path in self._service_errors if first_step(path, self.section.names) == name]:
            del self._service_errors[path]

    def _show_counts(self, validation: FormValidation) -> None:
        wrong_name = self._find_name_fault()
        wrong, pristine = (1 if wrong_name else 0) + len(self._extension_fields.problems), 0
        names = self.section.names
        for name, problems in share(validation.problems, names).items():
            field = self.section.find(name)
            counted = field.count(problems) if field is not None else (1, 0)
            wrong, pristine = wrong + counted[0], pristine + counted[1]
        self.frame.show_general([problem.message for problem in validation.problems if not problem.field])
        self.frame.show_attention(wrong, pristine)
        self.frame.show_fold()
        reading = validation.reading
        self.frame.changes.show(
            [
                field
                for position, field in enumerate(self.section.fields)
                if position in reading.state.applying and field.differs(reading.readings[position].value)
            ]
        )
        self.frame.show_job_name(None if validation.problems else self._propose_name(validation), wrong_name)
        if self.frame.shown_language:
            self._show_code(self.frame.shown_language)

    def json(self) -> str:
        """Return the settings as JSON without secrets; for a tool the body of ``POST /submit-job``.

        Local files are given by the names under which they are uploaded.
        """
        from foldnote.forms.view.equivalents import write_form_json

        return write_form_json(self, is_job=self._has_job)

    def _actions(self) -> Actions:
        return Actions(
            submit=lambda _=None: self.submission.press(),
            validate=lambda _=None: self.verdicts.guard(self.checking.press),
            add_row=lambda _=None: self.verdicts.guard(self.batch_table.add_current),
            copy=lambda _=None: self._toggle_code("Python"),
            copy_json=lambda _=None: self._toggle_code("JSON"),
            attend=lambda _=None: self.verdicts.guard(self.show_errors),
            rename=self._on_rename,
            relabel=self._on_relabel,
            reset=self.reset,
        )

    def _toggle_code(self, language: str) -> None:
        if self.frame.shown_language == language:
            self.frame.show_code("")
        else:
            self._show_code(language)

    def _show_code(self, language: str) -> None:
        self.frame.show_code(self.code() if language == "Python" else self.json(), language)

    def _on_rename(self, _change: object = None) -> None:
        self.changed_at = time.monotonic()
        self.name_error = None
        self.refresh()
        self.checking.look_up_name()

    def _on_relabel(self, _change: object = None) -> None:
        self.changed_at = time.monotonic()
        self.note_change()

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        """Return the widget, and static text and HTML for front ends without a kernel or widgets."""
        from foldnote.forms.view.static_table import write_static_html, write_static_text

        if not has_running_loop():
            self.verdicts.guard(lambda: self.surface)
        title = f"{self.described.display_name or self.described.type}: settings"
        fields = self.section.by_name
        rows = [(fields[name].spec, value) for name, value in self.value.items()]
        closing = self.submission.closing
        return {
            "text/plain": write_static_text(title, rows, closing),
            "text/html": write_static_html(title, rows, closing),
            WIDGET_VIEW: {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id},
        }
