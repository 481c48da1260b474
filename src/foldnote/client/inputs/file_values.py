"""Values of file fields: a local file, an upload, inline text, or the output of a job.

A file field takes the name of an upload, a file of an earlier job, or the contents themselves, all of them
strings. A field for files of SMILES (`smi`) also takes a SMILES, which the service reads as one unless a file
has that name. A plain string that is also the path of a local file is ambiguous, and therefore an error.
This module reads and sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from foldnote.errors import ArgumentError
from foldnote.models.problem import Problem
from foldnote.settings import EMBEDDED

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool

_MAX_PATH_LENGTH = 4096


class FileValue(str):
    """A string that is sent unchanged in a file field: it names a file at the service or contains one."""

    __slots__ = ()


class ServiceUpload(FileValue):
    """The name of a file that this program uploaded, and where."""

    service: str
    """The service that has it (see ``Client.service``); empty if unknown."""

    def __new__(cls, name: str, service: str = "") -> ServiceUpload:
        """Store the name and the service; copies are made from the name alone."""
        made = super().__new__(cls, name)
        made.service = service
        return made


class JobFile(FileValue):
    """The path of a file in the result of a job: ``job name/path``."""

    __slots__ = ()


class StageFile(FileValue):
    """An output file of an earlier stage of a pipeline: ``stage name/path``."""

    __slots__ = ()


class Contents(FileValue):
    """The contents of a file."""

    __slots__ = ()


class LocalFile(str):
    """Path of a file on this computer, which must be uploaded before a job can use it."""

    __slots__ = ()


def uploaded(name: str) -> FileValue:
    """Refer to the file that was uploaded as ``name`` or ``folder/name``.

    Raises:
        ArgumentError: it is not the name of a file.
    """
    if not isinstance(name, str) or not name or "\n" in name:
        raise ArgumentError("uploaded() takes the name of an upload; inline() takes the contents of a file.")
    return FileValue(name)


def inline(text: str) -> FileValue:
    """Pass the contents of a file; a missing final newline is added.

    Raises:
        ArgumentError: ``text`` is empty or not a string.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise ArgumentError(
            f"inline() takes the contents of a file as text, not {kind}. Use upload() for objects."
        )
    if not text.strip():
        raise ArgumentError("inline() takes the contents of a file; this text is empty.")
    return Contents(text if "\n" in text else f"{text}\n")


def job_file(job_name: str, path: str) -> FileValue:
    """Refer to the file at ``path`` in the result of the job ``job_name``.

    Raises:
        ArgumentError: ``path`` is not a path inside a result.
    """
    parts = PurePosixPath(path).parts if isinstance(path, str) else ()
    if not parts or path.startswith("/") or ".." in parts or "\n" in path:
        raise ArgumentError(
            f"{path!r} is not a path inside the result of {job_name!r}; write it as in its archive."
        )
    return JobFile(f"{job_name}/{path}")


def is_file_field(schema: Mapping[str, Any]) -> bool:
    """Return whether a field of a tool's schema takes a file, or a list of files."""
    items = schema.get("items")
    formats = (schema.get("format"), items.get("format") if isinstance(items, Mapping) else None)
    notes = schema.get("x-foldnote")
    role = notes.get("role") if isinstance(notes, Mapping) else None
    return role in ("file", "files") or "binary" in formats


def name_uploads(tool: DescribedTool, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the strings of file fields marked as file names at the service or contents.

    A SMILES stays a plain string where the field takes one.
    """
    fields = _file_fields(tool)
    return {name: _mark(value, fields[name]) if name in fields else value for name, value in settings.items()}


def find_doubts(tool: DescribedTool, settings: Mapping[str, Any]) -> list[Problem]:
    """Find the file fields whose string is ambiguous; each problem says what to write instead."""
    fields = _file_fields(tool)
    return [doubt for name in settings if name in fields for doubt in doubt_texts(name, settings[name])]


def doubt_texts(field: str, value: Any) -> list[Problem]:
    """Find the ambiguous strings of one field or of a list of files."""
    return [
        Problem(field=field, message=_ask(text), code="doubtful_file")
        for text in _plain_texts(value)
        if isinstance(text, LocalFile) or _is_here(text)
    ]


def find_elsewhere(settings: Mapping[str, Any], service: str) -> list[Problem]:
    """Find the files that this program uploaded to a service other than ``service``.

    Args:
        settings: values by field; those of a stage may be a mapping.
        service: the one that is to run the job (see ``Client.service``).
    """
    return [
        Problem(field=place, message=_name_place(text, service), code="other_service")
        for field, value in settings.items()
        for place, text in _texts_of(field, value)
        if isinstance(text, ServiceUpload) and _is_other(text.service, service)
    ]


def _texts_of(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values of a field, of a list of files or of the fields of a stage, each with its path."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _texts_of(f"{field}.{name}", part)
    else:
        for text in value if isinstance(value, list | tuple) else [value]:
            yield field, text


def _is_other(holder: str, asked: str) -> bool:
    """Return whether two names mean different services; the embedded one may also be given by its address."""
    if holder in ("", asked):
        return False
    if EMBEDDED not in (holder, asked):
        return True
    from foldnote.client.local.embedded import has_address  # deferred: needed only if the names differ

    return not has_address(asked if holder == EMBEDDED else holder)


def _name_place(text: ServiceUpload, service: str) -> str:
    return (
        f"{str(text)!r} was uploaded to another service ({text.service}). Upload it to the one that runs"
        f" the job ({service}), with the same profile: fn.upload(…, profile=…)."
    )


def _file_fields(tool: DescribedTool) -> dict[str, tuple[str, ...]]:
    """Return the extensions of each field that takes files; empty for a field that takes all."""
    fields = (tool.settings_schema or {}).get("properties", {})
    return {name: _read_extensions(schema) for name, schema in fields.items() if is_file_field(schema)}


def _read_extensions(schema: Mapping[str, Any]) -> tuple[str, ...]:
    notes = schema.get("x-foldnote")
    return tuple(notes.get("extensions") or ()) if isinstance(notes, Mapping) else ()


def _mark(value: Any, extensions: tuple[str, ...]) -> Any:
    if isinstance(value, list | tuple):
        return [_mark(item, extensions) for item in value]
    if not isinstance(value, str) or isinstance(value, FileValue):
        return value
    from foldnote.catalog.checks.molecule import is_file_smiles  # deferred: needed only when sending
    from foldnote.catalog.contents import SMILES

    if SMILES in extensions and is_file_smiles(value, extensions):
        return value
    return Contents(value) if "\n" in value else FileValue(value)


def _plain_texts(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, str) and not isinstance(item, FileValue):
            yield item


def _is_here(text: str) -> bool:
    if not text or "\n" in text or len(text) > _MAX_PATH_LENGTH:
        return False
    try:
        return Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _ask(text: str) -> str:
    return (
        f"{text!r} is a file on this computer, but could also be the name of an upload. Write "
        f"fn.upload({text!r}) to send this file, or fn.uploaded({text!r}) "
        "for the file of that name at the service."
    )
