"""Extensions beside a tool's settings: those the service accepts are sent, others are reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foldnote.client.inputs.file_values import doubt_texts, find_elsewhere
from foldnote.client.inputs.plain_values import make_plain
from foldnote.client.local.identity import select_content
from foldnote.errors import NotSentWarning, SettingsError, warn_caller
from foldnote.models import Job, Problem, Tool
from foldnote.models.extensions import (
    ALIGNMENT,
    ALIGNMENT_PATH,
    EXTERNAL,
    KEYS,
    LABEL,
    LABEL_PATH,
    MAX_LABEL_LENGTH,
    MAX_RETRIES,
    ON_FAILURE,
    ON_FAILURE_WORDS,
    POLICY_DEFAULTS,
    RETRIES,
    REUSE,
    WEBHOOK,
    WEBHOOK_PATH,
    WIRE_NAME,
    keep_taken,
    name_parts,
)
from foldnote.text import count

Extensions = Mapping[str, Any]

_WATCH = (
    "`foldnote watch JOB --mail ADDRESS` sends a mail, and `--then COMMAND` runs a command of your own, from"
    " this computer."
)
_NO_WEBHOOKS = f"This service calls no webhooks. Leave webhook out. At the end of a job, {_WATCH}"
_ARGUMENTS = {ON_FAILURE: "on_failure", RETRIES: "retries"}
_NOT_OFFERED = {
    ON_FAILURE: (
        "This service does not stop a batch at its first failure. Leave on_failure out; batch.stop() stops "
        "the batch at any time."
    ),
    RETRIES: (
        "This service does not repeat failed runs. Leave retries out; batch.retry() submits the failed rows "
        "again when the batch has ended."
    ),
}


def choose_sent(tool: Tool, extensions: Extensions | None, service: str) -> dict[str, Any] | None:
    """Return the extensions that the service accepts for the tool, None for none; a warning names the others.

    A policy that the service does not offer is refused, since it limits the cost of a batch, and the client
    could apply it only while the notebook stays open. A webhook is refused, too, since a program would wait
    for its call.

    Args:
        tool: the tool.
        extensions: what is to be sent in addition to its settings.
        service: the one that is to run the job (see ``Client.service``).

    Raises:
        SettingsError: a part is unknown or of the wrong type, the alignment is ambiguous or was uploaded to
            another service, or the service does not offer a policy or webhooks; nothing was sent.
    """
    given = {} if extensions is None else make_plain(extensions)
    problems = list(_find_problems(given, service)) or list(_find_unoffered(tool, given))
    if problems:
        raise SettingsError(problems, tool.type)
    given = {key: value for key, value in given.items() if value != POLICY_DEFAULTS.get(key)}
    if given.get(WEBHOOK) == "" and WEBHOOK not in tool.extensions:  # the service calls none anyway
        del given[WEBHOOK]
    sent = keep_taken(given, tool.extensions)
    unsent = [part for part in name_parts(given) if part not in name_parts(sent)]
    if unsent:
        warn_caller(
            f"Not sent with {tool.type}: {', '.join(unsent)}. This service does not take it with this tool.",
            NotSentWarning,
        )
    return sent or None


def read_label(label: str | None, extensions: Extensions | None) -> str | None:
    """Return the label of a job on one line, from the argument or the extension; None without one.

    Raises:
        SettingsError: it is not text, is too long, or the argument and the extension differ.
    """
    beside = extensions.get(LABEL) if isinstance(extensions, Mapping) else None
    given = beside if label is None else label
    if given is None:
        return None
    fault = "Give text." if not isinstance(given, str) else ""
    text = "" if fault else " ".join(given.split())
    if len(text) > MAX_LABEL_LENGTH:
        fault = f"This has {count(len(text), 'character')}; the longest allowed is {MAX_LABEL_LENGTH}."
    elif None not in (label, beside) and label != beside:
        fault = "Two different labels are given. Give one of them."
    if fault:
        raise SettingsError([Problem(field=LABEL_PATH, message=fault, code="label")])
    return text or None


def put_label(tool: Tool, extensions: Extensions | None, label: str | None) -> Extensions | None:
    """Add the label to the extensions if the service accepts one for the tool."""
    if label is None or LABEL not in tool.extensions or not isinstance(extensions, Mapping | None):
        return extensions
    return {**(extensions or {}), LABEL: label}


def put_webhook(extensions: Extensions | None, webhook: str | None) -> Extensions | None:
    """Add the webhook's address to the extensions if one is given."""
    return extensions if webhook is None else {**(extensions or {}), WEBHOOK: webhook}


def require_webhooks(webhook: str | None, tools: Iterable[Tool]) -> str | None:
    """Return the webhook's address for a pipeline run; None if none is to be sent.

    Raises:
        SettingsError: the service calls no webhooks; nothing was sent.
    """
    is_called = any(WEBHOOK in tool.extensions for tool in tools)
    if webhook and not is_called:
        raise SettingsError([Problem(field=WEBHOOK_PATH, message=_NO_WEBHOOKS, code="not_taken")])
    return webhook if is_called else None  # without webhooks, the service calls none anyway


def warn_of_webhook(existing: Job, extensions: Extensions | None) -> None:
    """Warn that a previously submitted job gets no webhook although one is requested now."""
    if (extensions or {}).get(WEBHOOK) and existing.webhook is None:
        warn_caller(
            f"{existing.job_name} was submitted before, without a webhook, and none is called at its end."
            " again=True submits it once more, with one.",
            NotSentWarning,
        )


def warn_of_lost_webhook(earlier: Job, job: Job) -> None:
    """Warn that no webhook is called at the end of ``job`` although one was at the end of the earlier job."""
    if earlier.webhook is not None and job.webhook is None:
        warn_caller(
            f"At the end of {earlier.job_name} a webhook was called, and none is at the end of"
            f" {job.job_name}: the service forgets an address that it has called, and this computer does not"
            f" know it. webhook=… gives one; {_WATCH}",
            NotSentWarning,
        )


def put_policy(
    extensions: Extensions | None, on_failure: str | None, retries: int | None
) -> Extensions | None:
    """Add the policy on failures of a batch to the extensions if one is given."""
    policy = {ON_FAILURE: on_failure, RETRIES: retries}
    given = {key: value for key, value in policy.items() if value is not None}
    return {**(extensions or {}), **given} if given else extensions


def warn_of_policy(existing: Job, extensions: Extensions | None) -> None:
    """Warn that a previously submitted batch keeps its policy although another one is requested now."""
    theirs, ours = (
        {key: (given or {}).get(key) or default for key, default in POLICY_DEFAULTS.items()}
        for given in (existing.extensions, extensions)
    )
    if theirs != ours:
        words = ", ".join(f"{_ARGUMENTS[key]}={value!r}" for key, value in theirs.items())
        warn_caller(
            f"The batch {existing.job_name} was submitted before and keeps {words}. again=True submits its "
            "rows once more, as you ask now.",
            NotSentWarning,
        )


def describe_differences(theirs: Extensions | None, ours: Extensions | None) -> list[str]:
    """Describe how the extensions of an existing job differ, ignoring labels and policies."""
    theirs, ours = select_content(theirs), select_content(ours)
    if theirs == ours:
        return []
    words = [", ".join(name_parts(each)) or "nothing" for each in (theirs, ours)]
    if words[0] == words[1]:
        return [f"{words[0]} beside the settings had another value"]
    return [f"beside the settings that job has {words[0]} and this one {words[1]}"]


def _find_problems(given: Extensions, service: str) -> Iterator[Problem]:
    if not isinstance(given, Mapping):
        yield Problem(field=WIRE_NAME, message="Give an object, such as {'label': 'first try'}.")
        return
    for key, value in given.items():
        path = f"{WIRE_NAME}.{key}"
        if key not in KEYS:
            yield Problem(field=path, message=f"This key is not known; {', '.join(KEYS)} are.")
        elif key == EXTERNAL and not _is_list_of_texts(value):
            yield Problem(field=path, message="Give a list of purposes, such as ['msa-server'].")
        elif key == REUSE:
            if not isinstance(value, bool | None):
                yield Problem(field=path, message="Give true or false.")
        elif key == RETRIES:
            yield from _doubt_retries(path, value)
        elif key != EXTERNAL and value is not None and not isinstance(value, str):
            yield Problem(field=path, message="Give text.")
        elif key == ON_FAILURE and value not in (None, *ON_FAILURE_WORDS):
            yield Problem(field=path, message=f"Give {' or '.join(map(repr, ON_FAILURE_WORDS))}.")
    yield from doubt_texts(ALIGNMENT_PATH, given.get(ALIGNMENT))
    yield from find_elsewhere({ALIGNMENT_PATH: given.get(ALIGNMENT)}, service)


def _find_unoffered(tool: Tool, given: Extensions) -> Iterator[Problem]:
    for key, default in POLICY_DEFAULTS.items():
        if given.get(key) not in (None, default) and key not in tool.extensions:
            yield Problem(field=f"{WIRE_NAME}.{key}", message=_NOT_OFFERED[key], code="not_taken")
    if given.get(WEBHOOK) and WEBHOOK not in tool.extensions:
        yield Problem(field=WEBHOOK_PATH, message=_NO_WEBHOOKS, code="not_taken")


def _doubt_retries(path: str, value: object) -> Iterator[Problem]:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 <= value <= MAX_RETRIES):  # type: ignore[operator]
        yield Problem(field=path, message=f"Give a whole number from 0 to {MAX_RETRIES}.")


def _is_list_of_texts(value: object) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value is None
    return all(isinstance(each, str) for each in value)
