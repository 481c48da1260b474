"""Equivalents of a form: the Python call, the call for its batch, and the JSON of a request."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Protocol

from foldnote.client.local.identity import with_extensions
from foldnote.forms.batch.batch_table import BatchTable
from foldnote.forms.fields.field import is_same
from foldnote.forms.fields.variable import Bindings
from foldnote.forms.jobs.job_name import as_sent
from foldnote.forms.schema.secrecy import omit_secrets
from foldnote.forms.schema.shapes import is_file
from foldnote.forms.submission.filled_form import FilledForm
from foldnote.forms.view.batch_code import BatchParts, write_batch_call
from foldnote.forms.view.code import Marks, write_call


class WrittenForm(FilledForm, Protocol):
    """A form that can be written as code."""

    @property
    def bindings(self) -> Bindings:
        """The fields that follow variables."""


def write_form_call(form: WrittenForm) -> str:
    """Return the Python call, without optional settings that have their default."""
    fields, defaults = form.section.by_name, form.section.defaults
    settings = {
        name: value
        for name, value in form.value.items()
        if fields[name].spec.required or value != defaults[name]
    }
    public = omit_secrets(form.described.settings_schema, settings)
    has_gaps = any(not is_same(public[name], settings[name]) for name in public)
    marks = _mark(form, settings.keys() - public.keys(), has_gaps=has_gaps)
    name = form.typed_job_name or None
    return write_call(form.described.type, settings | public, name, marks, form.extensions, form.label)


def write_form_batch(form: WrittenForm, table: BatchTable) -> str:
    """Return the call that submits the rows of the form's batch."""
    defaults, schema = form.section.defaults, form.described.settings_schema
    shared = {name: value for name, value in form.value.items() if value != defaults.get(name)}
    rows, completed = (
        [omit_secrets(schema, row) for row in settings_rows]
        for settings_rows in (table.rows, table.settings())
    )
    public = omit_secrets(schema, shared)
    parts = BatchParts(form.described.type, public, _mark(form), form.extensions, table.policy)
    return write_batch_call(table.batch, rows, completed, parts)


def _mark(form: WrittenForm, secrets: Collection[str] = (), *, has_gaps: bool = False) -> Marks:
    files = {name for name, field in form.section.by_name.items() if is_file(field.spec)}
    return Marks(secrets, form.bindings.names, files, form.known_uploads(), has_gaps)


def write_form_json(form: WrittenForm, *, is_job: bool) -> str:
    """Return the settings as JSON without secrets; for a job (``is_job``) as body of ``POST /submit-job``."""
    public = omit_secrets(form.described.settings_schema, form.value)
    if is_job:
        public = {"jobName": form.job_name, "type": form.described.type, "settings": as_sent(public)}
        public = with_extensions(public, as_sent(form.extensions))
    return json.dumps(public, indent=2, ensure_ascii=False, default=str)
