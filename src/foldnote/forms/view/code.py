"""The Python call that is equivalent to a form."""

from __future__ import annotations

import keyword
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from foldnote.client.inputs.file_values import Contents, FileValue, JobFile, LocalFile, StageFile
from foldnote.forms.files.file_reference import resolve_file
from foldnote.models.extensions import ALIGNMENT

_MAX_TEXT_LENGTH = 4000


@dataclass(frozen=True, slots=True)
class Marks:
    """Settings that are not written as plain values."""

    secrets: Collection[str] = ()
    """Names of settings that are secrets."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variable that each bound setting follows."""
    files: Collection[str] = ()
    """Names of settings that are files."""
    uploads: Collection[str] = ()
    """Names of the account's known uploads."""
    has_gaps: bool = False
    """Whether secrets inside other settings were left out."""
    stages: Mapping[str, str] = field(default_factory=dict)
    """Variable of each stage of a pipeline, by the stage's name."""


def write_call(
    tool_type: str,
    settings: Mapping[str, Any],
    job_name: str | None,
    marks: Marks = Marks(),
    extensions: Mapping[str, Any] | None = None,
    label: str = "",
) -> str:
    """Write ``fn.submit(...)`` with one argument per line.

    Secrets and pasted contents of more than 4000 characters become variables that the user defines. Local
    files are written as ``fn.upload(…)``, bound variables as their names.
    """
    before = ["# secrets inside the settings are left out"] if marks.has_gaps else []
    lines = [f"    {tool_type!r},", *write_arguments(settings, marks, before, _RESERVED, extensions)]
    if job_name:
        lines.append(f"    job_name={job_name!r},")
    if label:
        lines.append(f"    label={label!r},")
    return "\n".join(["import foldnote as fn", "", *before, "fn.submit(", *lines, ")"])


def write_arguments(
    settings: Mapping[str, Any],
    marks: Marks,
    before: list[str],
    reserved: Collection[str],
    extensions: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return the settings and extensions as arguments of a call, one per line.

    Args:
        settings: the values by setting.
        marks: settings that are not written as plain values.
        before: lines before the call, to which definitions of variables are added.
        reserved: names of the call's own parameters.
        extensions: extensions beside the settings.
    """
    lines: list[str] = []
    unnamed: dict[str, str] = {}
    for name, value in settings.items():
        text = write_setting(name, value, marks, before)
        if name.isidentifier() and not keyword.iskeyword(name) and name not in reserved:
            lines.append(f"    {name}={text},")
        else:
            unnamed[name] = text
    if unnamed:
        lines.append("    **{" + ", ".join(f"{name!r}: {text}" for name, text in unnamed.items()) + "},")
    if extensions:
        parts = [
            f"{name!r}: {_write_files(name, value, marks, before) if name == ALIGNMENT else repr(value)}"
            for name, value in extensions.items()
        ]
        lines.append("    extensions={" + ", ".join(parts) + "},")
    return lines


def write_value(value: Any) -> str:
    """Return a plain value as Python; a dict has one key per line."""
    if not isinstance(value, dict) or not value:
        return repr(value)
    lines = "".join(f"    {name!r}: {item!r},\n" for name, item in value.items())
    return f"{{\n{lines}}}"


_RESERVED = {
    "tool", "settings", "job_name", "project_tag", "profile", "client", "label", "extensions", "again",
    "max_runtime_s", "weighted_hours_budget",
}  # fmt: skip


def write_setting(name: str, value: Any, marks: Marks, before: list[str]) -> str:
    """Return a setting's value as Python; lines that define variables are added to ``before``."""
    if name in marks.variables:
        return marks.variables[name]
    if name in marks.files:
        return _write_files(name, value, marks, before)
    return _write_plain(name, value, name in marks.secrets, before)


def _write_files(name: str, value: Any, marks: Marks, before: list[str]) -> str:
    """Return a file as the call that creates its value."""
    if isinstance(value, list):
        return f"[{', '.join(_write_files(name, item, marks, before) for item in value)}]"
    if isinstance(value, StageFile):
        stage, _, path = value.partition("/")
        return f"{marks.stages[stage]}.file({path!r})"
    file = resolve_file(value, marks.uploads)
    if isinstance(file, LocalFile):
        return f"fn.upload({str(file)!r})"
    if isinstance(file, JobFile):
        job, _, member = file.partition("/")
        return f"fn.job({job!r}).file({member!r})"
    if isinstance(file, FileValue) and not isinstance(file, Contents):
        return f"fn.uploaded({str(file)!r})"
    text = _write_plain(name, value, False, before)
    return f"fn.inline({text})" if isinstance(file, Contents) else text


def _write_plain(name: str, value: Any, is_secret: bool, before: list[str]) -> str:
    variable = "".join(letter if letter.isalnum() else "_" for letter in name)
    if is_secret:
        before.append(f'{variable} = input("{name}: ")  # secrets are left out')
        return variable
    if isinstance(value, str) and "\n" in value and len(value) > _MAX_TEXT_LENGTH:
        before.append(f'{variable} = open("{variable}.txt").read()  # save the pasted text there first')
        return variable
    return repr(value)
