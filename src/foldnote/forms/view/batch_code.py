"""The Python call that is equivalent to the batch of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foldnote.forms.batch.draft_batch import DraftBatch
from foldnote.forms.view.code import Marks, write_arguments, write_setting

_MAX_ROWS = 200
_JOB_NAME = "jobName"
_RESERVED = frozenset({
    "tool", "table", "columns", "sweep", "names", "sheet", "batch_name", "label", "project_tag", "profile",
    "max_runtime_s", "weighted_hours_budget", "on_failure", "retries", "extensions", "webhook",
    "preview", "ask", "again",
})  # fmt: skip


@dataclass(frozen=True)
class BatchParts:
    """Parts of a batch other than its rows."""

    tool_type: str
    shared: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the form that differ from their defaults."""
    marks: Marks = field(default_factory=Marks)
    extensions: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    """Policy arguments on failures."""


def write_batch_call(
    batch: DraftBatch,
    rows: Sequence[Mapping[str, Any]],
    completed: Sequence[Mapping[str, Any]],
    parts: BatchParts,
) -> str:
    """Write ``fn.submit_batch(...)`` with the file that was read, or with the rows if they have changed.

    Args:
        batch: the batch.
        rows: the settings that each row gives.
        completed: the same, completed with the form's settings.
        parts: the other parts of the call.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    is_file = bool(batch.file_name) and all(name in row for row in rows for name in names)
    if not is_file and len(rows) > _MAX_ROWS:
        return (
            f"# These {len(rows):,} rows differ from the file that they came from, and are too many to be"
            " written here.\n# Correct the file itself, or submit from the form."
        )
    before = ["import foldnote as fn", ""]
    write = _write_file if is_file else _write_rows
    lines = [f"    {parts.tool_type!r},", *write(batch, completed, [*names], parts.marks, before)]
    shared = {name: value for name, value in parts.shared.items() if name not in names}
    lines += write_arguments(shared, parts.marks, before, _RESERVED, parts.extensions)
    lines += [f"    {name}={value!r}," for name, value in parts.policy.items()]
    return "\n".join([*before, "", "fn.submit_batch(", *lines, ")"])


def _write_file(
    batch: DraftBatch, _rows: object, _names: object, _marks: Marks, before: list[str]
) -> list[str]:
    before.append(f"# save {batch.file_name} beside the notebook")
    columns = {column: setting for setting, column in batch.mapping.columns.items()}
    lines = [f"    {batch.file_name!r},", f"    columns={columns!r},"]
    lines += [f"    names={batch.mapping.job_names!r},"] if batch.mapping.job_names else []
    lines += [f"    sheet={batch.sheet!r},"] if batch.sheet else []
    return lines + ([f"    sweep={batch.swept!r},"] if batch.swept else [])


def _write_rows(
    batch: DraftBatch, rows: Sequence[Mapping[str, Any]], names: list[str], marks: Marks, before: list[str]
) -> list[str]:
    """Write a dict for each row: the job's name, the settings ``names``, and its kept columns."""
    sent = batch.to_rows(rows, ())
    kept_columns = [name for name in sent.kept if name not in names and name != _JOB_NAME]
    lines_of_rows = []
    for number, row in enumerate(rows):
        cells = {_JOB_NAME: repr(sent.names[number])} if sent.names else {}
        cells |= {name: write_setting(name, row[name], marks, before) for name in names if name in row}
        inputs = sent.inputs[number]
        cells |= {name: repr(inputs[name]) for name in kept_columns if inputs[name] is not None}
        lines_of_rows.append("    {" + ", ".join(f"{name!r}: {text}" for name, text in cells.items()) + "},")
    before += ["rows = [", *lines_of_rows, "]"]
    lines = ["    rows,"]
    lines += [f"    columns={ {name: name for name in names}!r},"] if kept_columns else []
    return lines + ([f"    names={_JOB_NAME!r},"] if sent.names else [])
