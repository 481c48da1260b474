"""The call that does what a form would do, as Python that can be pasted into a cell."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any

_LONGEST_TEXT = 4000


def write_call(tool_type: str, settings: Mapping[str, Any], job_name: str | None, secrets: set[str]) -> str:
    """``fn.submit(...)`` with one argument a line.

    Secrets and very long pasted contents are not repeated: they become names that the reader defines.
    """
    lines = [f"    {tool_type!r},"]
    before: list[str] = []
    others: dict[str, str] = {}
    for name, value in settings.items():
        written = _write(name, value, name in secrets, before)
        if name.isidentifier() and not keyword.iskeyword(name) and name not in _RESERVED:
            lines.append(f"    {name}={written},")
        else:
            others[name] = written
    if others:
        lines.append("    **{" + ", ".join(f"{name!r}: {written}" for name, written in others.items()) + "},")
    if job_name:
        lines.append(f"    job_name={job_name!r},")
    return "\n".join(["import foldnote as fn", "", *before, "fn.submit(", *lines, ")"])


def write_value(value: Any) -> str:
    """A plain value as Python, an object's names one a line."""
    if not isinstance(value, dict) or not value:
        return repr(value)
    lines = "".join(f"    {name!r}: {item!r},\n" for name, item in value.items())
    return f"{{\n{lines}}}"


_RESERVED = {"tool", "settings", "job_name", "project_tag", "profile", "client"}


def _write(name: str, value: Any, is_secret: bool, before: list[str]) -> str:
    variable = "".join(letter if letter.isalnum() else "_" for letter in name)
    if is_secret:
        before.append(f'{variable} = input("{name}: ")  # a secret is not written down here')
        return variable
    if isinstance(value, str) and "\n" in value and len(value) > _LONGEST_TEXT:
        before.append(f'{variable} = open("{variable}.txt").read()  # save the pasted text there first')
        return variable
    return repr(value)
