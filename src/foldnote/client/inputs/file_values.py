"""Values of file fields: a local file, an upload, inline text, the output of a job.

A file field takes the name of an upload, a file of an earlier job, or the contents themselves: all of them
text. A plain text that is also the path of a file on this computer could be meant in two ways, so it is an
error and not guessed. Nothing is read or sent here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from foldnote.errors import ArgumentError
from foldnote.models import Problem, Tool

_LONGEST_PATH = 4096


class FileValue(str):
    """Text that a file field takes as it is: the name of an upload, or what the service has under it."""

    __slots__ = ()


class JobFile(FileValue):
    """The path of a file in the result of a job: ``job name/path``."""

    __slots__ = ()


class StageFile(FileValue):
    """A file that an earlier stage of a pipeline leaves: ``stage name/path``."""

    __slots__ = ()


class Contents(FileValue):
    """The contents of a file."""

    __slots__ = ()


class LocalFile(str):
    """The path of a file on this computer, which has to be uploaded before a job can use it."""

    __slots__ = ()


def uploaded(name: str) -> FileValue:
    """The file that was uploaded as ``name`` or ``folder/name``.

    Raises:
        ArgumentError: this is no name.
    """
    if not isinstance(name, str) or not name or "\n" in name:
        raise ArgumentError("uploaded() takes the name of an upload; inline() takes the contents of a file.")
    return FileValue(name)


def inline(text: str) -> FileValue:
    """The contents of a file; a last line without an end gets one.

    Raises:
        ArgumentError: there are no contents.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise ArgumentError(
            f"inline() takes the contents of a file as text, not {kind}. upload() takes objects."
        )
    if not text.strip():
        raise ArgumentError("inline() takes the contents of a file; this text is empty.")
    return Contents(text if "\n" in text else f"{text}\n")


def job_file(job_name: str, path: str) -> FileValue:
    """The file at ``path`` in the result of the job ``job_name``.

    Raises:
        ArgumentError: this is no path inside a result.
    """
    parts = PurePosixPath(path).parts if isinstance(path, str) else ()
    if not parts or path.startswith("/") or ".." in parts or "\n" in path:
        raise ArgumentError(
            f"{path!r} is no path inside the result of {job_name!r}; write it as its archive does."
        )
    return JobFile(f"{job_name}/{path}")


def is_file_field(schema: Mapping[str, Any]) -> bool:
    """Whether a field of a tool's schema takes a file, or a list of files."""
    items = schema.get("items")
    formats = (schema.get("format"), items.get("format") if isinstance(items, Mapping) else None)
    notes = schema.get("x-foldnote")
    role = notes.get("role") if isinstance(notes, Mapping) else None
    return role in ("file", "files") or "binary" in formats


def name_uploads(tool: Tool, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every text of a file field taken for what is at the service, or for contents."""
    fields = _file_fields(tool)
    return {name: _mark(value) if name in fields else value for name, value in settings.items()}


def find_doubts(tool: Tool, settings: Mapping[str, Any]) -> list[Problem]:
    """The file fields whose text could be meant in two ways, each with what to write instead."""
    fields = _file_fields(tool)
    return [doubt for name in settings if name in fields for doubt in doubt_texts(name, settings[name])]


def doubt_texts(field: str, value: Any) -> list[Problem]:
    """The texts of one field, or list of files, that could be meant in two ways."""
    return [
        Problem(field=field, message=_ask(text), code="doubtful_file")
        for text in _plain_texts(value)
        if isinstance(text, LocalFile) or _is_here(text)
    ]


def _file_fields(tool: Tool) -> frozenset[str]:
    fields = (tool.settings_schema or {}).get("properties", {})
    return frozenset(name for name, schema in fields.items() if is_file_field(schema))


def _mark(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_mark(item) for item in value]
    if not isinstance(value, str) or isinstance(value, FileValue):
        return value
    return Contents(value) if "\n" in value else FileValue(value)


def _plain_texts(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, str) and not isinstance(item, FileValue):
            yield item


def _is_here(text: str) -> bool:
    if not text or "\n" in text or len(text) > _LONGEST_PATH:
        return False
    try:
        return Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _ask(text: str) -> str:
    return (
        f"{text!r} is a file on this computer and could also be the name of an upload. Write "
        f"fn.upload({text!r}) to send this file, or fn.uploaded({text!r}) "
        "for what the service has under that name."
    )
