"""Extensions beside a tool's settings: those the service accepts are sent, others are reported."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foldnote.client.inputs.file_values import doubt_texts
from foldnote.errors import NotSentWarning, SettingsError
from foldnote.models import Problem, Tool
from foldnote.models.extensions import (
    ALIGNMENT,
    ALIGNMENT_PATH,
    EXTERNAL,
    KEYS,
    LABEL,
    LABEL_PATH,
    MAX_LABEL_LENGTH,
    WIRE_NAME,
    keep_taken,
    name_parts,
)

Extensions = Mapping[str, Any]


def choose_sent(tool: Tool, extensions: Extensions | None) -> dict[str, Any] | None:
    """The parts that the service takes with the tool, None for none; a warning names the others.

    Raises:
        SettingsError: a part is unknown or of the wrong type, or the alignment is ambiguous; nothing was
            sent.
    """
    given = {} if extensions is None else extensions
    problems = list(_find_problems(given))
    if problems:
        raise SettingsError(problems, tool.type)
    sent = keep_taken(given, tool.extensions)
    unsent = [part for part in name_parts(given) if part not in name_parts(sent)]
    if unsent:
        warnings.warn(
            f"Not sent with {tool.type}: {', '.join(unsent)}. This service does not take it with this tool.",
            NotSentWarning,
            stacklevel=2,
        )
    return sent or None


def with_extensions(content: Mapping[str, Any], extensions: Extensions | None) -> dict[str, Any]:
    """A body with what is sent beside the settings, if there is any."""
    return {**content, WIRE_NAME: dict(extensions)} if extensions else dict(content)


def identify_content(content: Mapping[str, Any], extensions: Extensions | None) -> dict[str, Any]:
    """What identifies a submission: its content, and what beside the settings may change its result."""
    return with_extensions(content, _without_label(extensions))


def read_label(label: str | None, extensions: Extensions | None) -> str | None:
    """The label of a job on one line, from the argument or the extension of this name; None without one.

    Raises:
        SettingsError: it is not text, is too long, or two different ones are given.
    """
    beside = extensions.get(LABEL) if isinstance(extensions, Mapping) else None
    given = beside if label is None else label
    if given is None:
        return None
    fault = "Give text." if not isinstance(given, str) else ""
    text = "" if fault else " ".join(given.split())
    if len(text) > MAX_LABEL_LENGTH:
        fault = f"This has {len(text)} characters; the longest allowed is {MAX_LABEL_LENGTH}."
    elif None not in (label, beside) and label != beside:
        fault = "Two different labels are given. Give one of them."
    if fault:
        raise SettingsError([Problem(field=LABEL_PATH, message=fault, code="label")])
    return text or None


def put_label(tool: Tool, extensions: Extensions | None, label: str | None) -> Extensions | None:
    """The extensions with the label, where the service takes one with the tool."""
    if label is None or LABEL not in tool.extensions or not isinstance(extensions, Mapping | None):
        return extensions
    return {**(extensions or {}), LABEL: label}


def _without_label(extensions: Extensions | None) -> dict[str, Any]:
    return {key: value for key, value in (extensions or {}).items() if key != LABEL}


def describe_differences(theirs: Extensions | None, ours: Extensions | None) -> list[str]:
    """Describe how what was sent beside an existing job's settings differs; a label makes no difference."""
    theirs, ours = _without_label(theirs), _without_label(ours)
    if theirs == ours:
        return []
    words = [", ".join(name_parts(each)) or "nothing" for each in (theirs, ours)]
    if words[0] == words[1]:
        return [f"{words[0]} beside the settings had another value"]
    return [f"beside the settings that job has {words[0]} and this one {words[1]}"]


def _find_problems(given: Extensions) -> Iterator[Problem]:
    if not isinstance(given, Mapping):
        yield Problem(field=WIRE_NAME, message="Give an object, such as {'label': 'first try'}.")
        return
    for key, value in given.items():
        path = f"{WIRE_NAME}.{key}"
        if key not in KEYS:
            yield Problem(field=path, message=f"This key is not known; {', '.join(KEYS)} are.")
        elif key == EXTERNAL and not _is_list_of_texts(value):
            yield Problem(field=path, message="Give a list of purposes, such as ['msa-server'].")
        elif key != EXTERNAL and value is not None and not isinstance(value, str):
            yield Problem(field=path, message="Give text.")
    yield from doubt_texts(ALIGNMENT_PATH, given.get(ALIGNMENT))


def _is_list_of_texts(value: object) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value is None
    return all(isinstance(each, str) for each in value)
