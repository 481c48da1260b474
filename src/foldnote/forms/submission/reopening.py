"""Show an earlier job in a form, if the cell's values are still those of the job.

A job's files are those at the service, even if local files have the same names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from foldnote import catalog
from foldnote.client.inputs.file_values import LocalFile
from foldnote.forms.fields.kinds.file import ChoosingField
from foldnote.forms.jobs.job_name import as_sent
from foldnote.forms.submission.filled_form import FilledForm


def take_kept(form: FilledForm, but: Collection[str] = ()) -> None:
    """Mark the files of all settings, except those in ``but``, as files at the service."""
    for field in form.section.fields:
        for inside in field.walk() if field.spec.name not in but else ():
            if isinstance(inside, ChoosingField):
                inside.take_kept(lambda head: _is_job(form, head))
    form.refresh()


def show_job_settings(form: FilledForm, job: Any, values: Mapping[str, Any]) -> bool:
    """Show the settings of ``job`` if ``values`` agree with them; returns whether they do.

    A local file agrees if its contents are those that were uploaded; it stays shown as a local file.
    """
    settings = {key: value for key, value in job.settings.items() if key in form.section.names}
    current = {name: value for name, value in form.value.items() if name in values}
    job_settings = catalog.check(form.described, settings).normalized
    sent = as_sent(current)
    merged = catalog.check(form.described, {**settings, **sent}).normalized
    is_other_name = form.typed_job_name not in ("", job.job_name)
    if job.type != form.described.type or job_settings != merged or is_other_name or _has_local(sent):
        return False
    form.set({**settings, **current})
    take_kept(form, current)
    return True


def _has_local(value: Any) -> bool:
    """Return whether ``value`` contains a local file that could not be read."""
    if isinstance(value, dict | list):
        return any(map(_has_local, value.values() if isinstance(value, dict) else value))
    return isinstance(value, LocalFile)


def _is_job(form: FilledForm, head: str) -> bool:
    """Return whether the ledger knows a job of this name and no upload folder has the name."""
    if form.client is None:
        return False
    ledger = form.client.ledger
    uploads = (*form.known_uploads(), *ledger.uploads())
    return bool(ledger.identities(head)) and not any(name.startswith(f"{head}/") for name in uploads)
