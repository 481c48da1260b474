"""Upload the local files that a form's settings name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from foldnote.client.inputs.file_values import FileValue, LocalFile, name_uploads
from foldnote.errors import FoldnoteError
from foldnote.forms.fields.container import ContainerField
from foldnote.forms.fields.field import Field
from foldnote.forms.fields.kinds.variant import VariantField
from foldnote.forms.files.file_reference import local_path, resolve_file
from foldnote.forms.jobs.background_calls import call
from foldnote.forms.jobs.job_name import name_folder
from foldnote.forms.schema.shapes import is_file
from foldnote.forms.submission.filled_form import FilledForm
from foldnote.io import hash_file
from foldnote.models.extensions import ALIGNMENT


async def upload_files(form: FilledForm, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Upload local files; returns the settings with the files' names at the service.

    A file is uploaded into a folder named after its contents, so that equal files have equal names, and
    different contents different names.

    Raises:
        FoldnoteError: a local file does not exist, or the service does not accept it.
    """
    fields, sent = form.section.by_name, dict(settings)
    for name, value in sent.items():
        if name in fields:
            sent[name] = await _send_field(form, fields[name], value)
    return dict(name_uploads(form.described, sent))  # marks texts that fields have identified as files


async def upload_alignment(form: FilledForm, extensions: Mapping[str, Any]) -> dict[str, Any]:
    """Upload the alignment extension if it is a local file; returns the extensions to send.

    Raises:
        FoldnoteError: the file does not exist, or the service does not accept it.
    """
    if ALIGNMENT not in extensions:
        return dict(extensions)
    value = await _send(form, extensions[ALIGNMENT])
    return {**extensions, ALIGNMENT: value if isinstance(value, FileValue) else FileValue(value)}


async def _send_field(form: FilledForm, field: Field, value: Any) -> Any:
    """Return the value with every file in it uploaded, at any depth."""
    if is_file(field.spec):
        return await _send(form, value)
    if not isinstance(field, ContainerField):
        return value
    if isinstance(field, VariantField):
        return await _send_field(form, field.inside()[0], value) if field.inside() else value
    parts = field.parts(value)
    if isinstance(value, dict):
        return {
            name: await _send_field(form, parts[name], item) if name in parts else item
            for name, item in value.items()
        }
    if isinstance(value, list) and len(parts) == len(value):
        return [await _send_field(form, parts[position], item) for position, item in enumerate(value)]
    return value


async def _send(form: FilledForm, value: Any) -> Any:
    if isinstance(value, list):
        return [await _send(form, item) for item in value]
    file = resolve_file(value, form.known_uploads())
    if not isinstance(file, LocalFile):
        return file
    path = local_path(file)
    if path is None:
        raise FoldnoteError(f"There is no file {str(file)!r} on this computer, so nothing was sent.")
    form.frame.show_sending(f"Uploading {path.name}…")
    folder = name_folder(await asyncio.to_thread(hash_file, path))
    return str(await call(form.client.files, "upload", path, folder=folder))
