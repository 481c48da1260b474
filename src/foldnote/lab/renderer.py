"""A program that renders results and files as HTML for the panel: ``python -m foldnote.lab.renderer``.

It produces the same HTML that a cell shows. It runs as a separate process, with limits on memory and CPU
time, so that large or hostile files cannot slow down or crash the Jupyter server. Its imports take longer
than rendering most results, so one process renders several: each line of its input names one result or file.
It exits at the end of the input or after using much memory. With command-line arguments it renders only what
they name.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from foldnote.client.local.ledger import Ledger
from foldnote.client.tables.batch_results import Sheet
from foldnote.errors import FoldnoteError, UnreadableFileError
from foldnote.lab.responses import ResultFileRecord, ResultResponse, write_settings
from foldnote.results import Alignment, Result, open_export, open_result
from foldnote.results.archives.opening import open_archive
from foldnote.results.batch import find_batch_table
from foldnote.results.exported import is_export, list_folders
from foldnote.results.naming.file_kinds import FileKind, find_kind
from foldnote.results.prediction.pae import make_pae
from foldnote.results.prediction.score_files import read_score_file
from foldnote.text import count
from foldnote.viewers.display.bundles import (
    bundle,
    default_view,
    join_bundles,
    result_bundles,
    table_bundle,
    text_bundle,
)
from foldnote.viewers.display.exported_views import export_bundles
from foldnote.viewers.plots.prediction_plots import plot_coverage, plot_pae

MEMORY_LIMIT_BYTES = 4 * 1024**3
"""Limit of the address space; the libraries alone take 0.4 GiB, a JSON matrix of 5,000 tokens about 1 GiB."""
PROCESSOR_LIMIT_S = 150
"""Limit of the CPU time, longer than the server's timeout: it ends a process that the server did not kill."""
MAX_RENDERED = 100
"""Number of results after which the process exits, which bounds any leak."""
MAX_KEPT_BYTES = 512 * 1024**2
"""Memory use above which the process exits."""
MAX_KEPT_S = 15.0
"""CPU time after which the process exits, so that the rest of ``PROCESSOR_LIMIT_S`` exceeds the server's
timeout."""

RESULT, ROW, FILE = "result", "row", "file"
"""What can be rendered: the result of a job, that of one job of a batch, or a single file."""
ARCHIVE = ".zip"
_MAX_JOBS = 10
"""Largest number of jobs of one archive that are shown."""
_SETTING = "settings."
"""Prefix of the names of settings columns in a batch's table."""


def lay_out_result(path: Path, title: str, service: str = "", label: str = "") -> ResultResponse:
    """Render the result archive at ``path``.

    Args:
        path: the archive.
        title: name of the job or batch.
        service: address of its service, if the result is the user's own; a batch is then shown with the
            columns that were kept on this computer.
        label: the job's label at the service, shown as the heading; a label from this computer takes
            precedence.

    Raises:
        FoldnoteError: the result cannot be read.
    """
    heading = (Ledger(service=service).label(title) if service else None) or label
    result = open_result(path, title, {"label": heading} if heading else None)
    inputs = _read_kept(result, title, service) if service and result.jobs else {}
    return _lay_out(result, title, inputs)


def _read_kept(result: Result, title: str, service: str) -> dict[str, Mapping[str, Any]]:
    """Return the user's own columns of a batch that was submitted from this computer, by job."""
    sheet = Sheet.recover(Ledger(service=service).sheet(title), result.jobs)
    return {} if sheet is None else {row.name: row.inputs for row in sheet.list_rows({})}


def lay_out_row(path: Path, title: str) -> ResultResponse:
    """Render the result of the job ``title`` in the archive of its batch.

    Raises:
        UnreadableFileError: the archive has no such job.
        FoldnoteError: it cannot be read.
    """
    jobs = open_result(path).jobs
    if title not in jobs:
        raise UnreadableFileError(f"The batch has no result of {title}.")
    return _lay_out(jobs[title], title)


def _lay_out(
    result: Result, title: str, inputs: Mapping[str, Mapping[str, Any]] | None = None
) -> ResultResponse:
    rows = [
        ResultFileRecord(name=file.name, size_bytes=file.size_bytes, kind=file.kind.value)
        for file in result.files
    ]
    return ResultResponse(
        title=title,
        html=join_bundles(result_bundles(result, inputs))["text/html"],
        files=tuple(rows),
        manifest=_read_manifest(result),
        settings=_read_settings(result),
    )


def lay_out_file(path: Path, title: str) -> ResultResponse:
    """Render the file at ``path``: a structure, molecules, an alignment, a PAE matrix in JSON, or an archive.

    Raises:
        FoldnoteError: it cannot be read, or contains nothing that can be drawn.
    """
    if title.lower().endswith(ARCHIVE):
        return ResultResponse(title=title, html=_draw_archive(path, title))
    result = open_result(path, title)
    draw = _DRAWN.get(find_kind(title), _draw_default)
    return ResultResponse(title=title, html=draw(result))


def _draw_archive(path: Path, title: str) -> str:
    """Return the jobs of an exported archive, as ``fn.open_export`` shows them, or a plain result."""
    archive = open_archive(path)
    folders = list_folders(archive)
    if not folders and not is_export(archive):
        return join_bundles(result_bundles(open_result(path, title)))["text/html"]
    exported = [open_export(path, folder) for folder in folders[:_MAX_JOBS]]
    jobs = exported or [open_export(path)]
    parts = [bundle for job in jobs for bundle in export_bundles(job)]
    if omitted := len(folders[_MAX_JOBS:]):
        code = f"fn.open_export({title!r}, job={folders[_MAX_JOBS]!r})"
        parts.append(text_bundle(f"{count(omitted, 'more job')} in this file. In a cell: {code}"))
    return join_bundles(parts)["text/html"]


def _draw_default(result: Result) -> str:
    parts = default_view(result)
    if parts:
        return join_bundles(parts)["text/html"]
    nothing = f"{result.name} contains nothing that can be drawn. Open it in the editor to read it."
    raise UnreadableFileError(next((problem.message for problem in result.problems), nothing))


def _draw_errors(result: Result) -> str:
    name = result.files[0].name
    file = read_score_file(result.read(name), name)
    pae = None if file.pae is None else make_pae(file.pae, name, file.tokens, None)
    if pae is None:
        raise UnreadableFileError(
            f"{result.name} contains no predicted aligned error: it has no square matrix named “pae” or "
            "“predicted_aligned_error”. Open it in the editor to read it."
        )
    return bundle(plot_pae(pae, f"Predicted aligned error, {result.name}"))["text/html"]


def _draw_sequences(result: Result) -> str:
    """Return a table of the sequences, after a plot of the coverage if they are aligned."""
    alignment = result.alignments[result.files[0].name]
    parts = [table_bundle(_list_sequences(alignment), alignment.name)]
    if alignment.is_aligned and alignment.depth > 1:
        parts.insert(0, bundle(plot_coverage(alignment)))
    return join_bundles(parts)["text/html"]


def _list_sequences(alignment: Alignment) -> pd.DataFrame:
    """Return one row per sequence, the query first: ``name`` str, ``residues`` int64, ``description`` str.

    Aligned sequences also have ``identity`` float64: identity with the query in per cent of the columns.
    """
    columns = {
        "name": alignment.names,
        "residues": [sum(letter.isalpha() for letter in sequence) for sequence in alignment.sequences],
    }
    if alignment.is_aligned and alignment.depth > 1:
        columns["identity"] = (alignment.identity * 100).round(1).tolist()
    return pd.DataFrame(columns | {"description": alignment.descriptions})


_DRAWN: Mapping[FileKind, Callable[[Result], str]] = {
    FileKind.DATA: _draw_errors,
    FileKind.ALIGNMENT: _draw_sequences,
}


def _read_manifest(result: Result) -> str:
    """Return the manifest as indented JSON; empty if there is none or it cannot be read.

    For a batch, only the fields that are equal in the manifests of all jobs.
    """
    if result.jobs:
        shared = dict(result.manifest.data) if result.manifest else {}
        return json.dumps(shared, indent=2, ensure_ascii=False) if shared else ""
    names = (file.name for file in result.files if file.kind is FileKind.MANIFEST)
    try:
        contents = [json.loads(result.read(name)) for name in names]
    except (FoldnoteError, ValueError):
        return ""
    return json.dumps(contents[0], indent=2, ensure_ascii=False) if contents else ""


def _read_settings(result: Result) -> str:
    """Return the common and the differing settings of a batch's jobs, from its table; else empty."""
    name = find_batch_table(result.tables) if result.jobs else None
    if name is None:
        return ""
    try:
        table = result.tables[name]
    except UnreadableFileError:
        return ""
    columns = {str(name): values for name, values in table.items() if str(name).startswith(_SETTING)}
    same, different = {}, {}
    for column, values in columns.items():
        distinct, first = values.nunique(dropna=False), values.tolist()[0]
        if distinct > 1:
            description = f"{distinct:,} values in {len(values):,} rows, in the table of the result"
            different[column.removeprefix(_SETTING)] = description
        elif pd.notna(first):
            same[column.removeprefix(_SETTING)] = _read_cell(first)
    parts = {"sameInAllRows": same, "differentByRow": different}
    return write_settings({title: part for title, part in parts.items() if part}) if same or different else ""


def _read_cell(cell: Any) -> Any:
    """Parse a setting from the table, where lists are JSON."""
    if isinstance(cell, str) and cell.startswith(("[", "{")):
        with suppress(ValueError):
            return json.loads(cell)
    return cell


_LAYOUTS: Mapping[str, Callable[..., ResultResponse]] = {
    RESULT: lay_out_result,
    ROW: lay_out_row,
    FILE: lay_out_file,
}


def limit_resources() -> None:
    """Limit address space and CPU time where the system supports it; stricter existing limits are kept."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = ((resource.RLIMIT_AS, MEMORY_LIMIT_BYTES), (resource.RLIMIT_CPU, PROCESSOR_LIMIT_S))
    for limited, maximum in limits:
        present = [limit for limit in resource.getrlimit(limited) if limit != resource.RLIM_INFINITY]
        with suppress(ValueError, OSError):  # macOS refuses a limit on address space
            resource.setrlimit(limited, (min([maximum, *present]),) * 2)


def render(arguments: Sequence[str]) -> tuple[int, str]:
    """Render a result or file: 0 and a ``ResultResponse`` as JSON, or 1 and an error message.

    ``arguments``: ``result``, ``row`` or ``file``, a path, a title, and for a result the address of its
    service, empty unless it is the user's own, and its label there.
    """
    kind, path, title, *options = arguments
    try:
        return 0, json.dumps(_LAYOUTS[kind](Path(path), title, *options).to_wire())
    except FoldnoteError as exc:
        return 1, exc.message
    except MemoryError:
        return 1, f"{title} needs more memory than the panel may use. Open it in a cell."


def serve(requests: BinaryIO, responses: BinaryIO) -> None:
    """Render what each line of ``requests`` names (arguments of ``render`` as JSON), until it must exit.

    Each response is a line with the status, whether the process continues (1 or 0), and the number of bytes
    of the body that follows.
    """
    for number, line in enumerate(requests, 1):
        status, text = render(json.loads(line))
        is_fresh = time.process_time() < MAX_KEPT_S and _measure_memory() < MAX_KEPT_BYTES
        is_reusable = not status and number < MAX_RENDERED and is_fresh
        content = text.encode()
        responses.write(b"%d %d %d\n" % (status, is_reusable, len(content)) + content)
        responses.flush()
        if not is_reusable:
            return


def _measure_memory() -> int:
    """Return the memory that this process uses now, in bytes."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def main(arguments: Sequence[str]) -> int:
    """Write what ``render`` returns for ``arguments`` to stdout or stderr; without arguments, serve stdin."""
    if not arguments:
        responses = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # keeps output of libraries out of the responses
        serve(sys.stdin.buffer, responses)
        return 0
    status, text = render(arguments)
    (sys.stderr if status else sys.stdout).write(text + ("\n" if status else ""))
    return status


if __name__ == "__main__":
    limit_resources()
    sys.exit(main(sys.argv[1:]))
