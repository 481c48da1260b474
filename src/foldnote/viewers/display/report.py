"""Write a report on jobs: their results, a paragraph on methods, references, versions and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd

from foldnote.io import save_file
from foldnote.late import find_version, load
from foldnote.results import (
    Publication,
    Result,
    find_references,
    list_runs,
    to_bibtex,
    write_methods,
)
from foldnote.results.provenance.references import to_ris
from foldnote.text import format_size, visible
from foldnote.viewers.display.batch_rows import BatchRow
from foldnote.viewers.display.bundles import (
    Bundle,
    Item,
    heading_bundle,
    rows_bundle,
    rows_bundles,
    table_bundle,
)
from foldnote.viewers.display.page import check_page_path, make_page, make_pdf_page
from foldnote.viewers.display.summary import write_time
from foldnote.viewers.render.paper import is_paper, on_paper

if TYPE_CHECKING:
    _Path = Path
else:
    _Path = type(Path())  # Path itself cannot be subclassed before Python 3.12


@dataclass(frozen=True, slots=True)
class ReportPart:
    """One section of a report.

    Attributes:
        title: its heading, the name of a job or a batch.
        result: the result to show; None if there is none.
        table: a table of the jobs, shown before the result.
        rows: the rows of a batch or pipeline, shown instead of the rows in its result.
        profile: the profile of the service that has the jobs of the rows; "" if unknown.
        reason: why there is no result; "" if there is one.
        note: the user's note on the job; "" without one.
        tags: the user's tags.
    """

    title: str
    result: Result | None = None
    table: pd.DataFrame | None = None
    rows: tuple[BatchRow, ...] = ()
    profile: str = ""
    reason: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()


class ReportPath(_Path):
    """The path of a report, which a notebook shows as a link that opens it."""

    def _repr_html_(self) -> str | None:
        if not self.is_file():  # such as the folder of a report, or a report that was moved
            return None
        size = format_size(self.stat().st_size)
        absolute, working_folder = self.resolve(), Path.cwd().resolve()
        if not absolute.is_relative_to(working_folder):
            return f"<p>The report is in <code>{escape(str(self))}</code> ({size}).</p>"
        address = quote(absolute.relative_to(working_folder).as_posix())
        return f'<p>Report: <a href="{address}" target="_blank">{escape(self.name)}</a> ({size})</p>'


def write_report(
    path: str | Path, title: str, parts: Sequence[ReportPart], *, notes: str = "", author: str = ""
) -> ReportPath:
    """Write a report as an HTML page that opens in any browser, offline, or as a PDF.

    The page shows each part, then the methods that ran with their settings, seeds and versions of packages,
    the references, also as BibTeX and RIS, and a table of the runs, as far as the results record them. A PDF
    has the files ``references.bib`` and ``references.ris`` attached.

    Args:
        path: path of the page, ending in ``.html`` or ``.pdf``; an existing file is replaced.
        title: heading of the page.
        parts: the sections, in order.
        notes: text below the heading; an empty line begins a new paragraph.
        author: author, shown below the heading and in the metadata of a PDF; "" for none.

    Returns:
        The path of the page, which a notebook shows as a link.

    Raises:
        ConfigurationError: the path does not end in ``.html`` or ``.pdf`` or is a folder; the package was
            built without 3Dmol.js; or, for a PDF, WeasyPrint is not installed (``pip install
            'foldnote[pdf]'``) or the system lacks Pango.
        ResultError: the file cannot be written; no partial file remains.
    """
    target = check_page_path(path)
    is_pdf = target.suffix.lower() == ".pdf"
    with on_paper() if is_pdf else nullcontext():
        items = list(_list_items(title, parts, notes, author))
    if is_pdf:
        references = find_references(_list_results(parts))
        exports = {"references.bib": to_bibtex(references), "references.ris": to_ris(references)}
        attachments = exports if references else {}
        content: str | bytes = make_pdf_page(title, items, author=author, attachments=attachments)
    else:
        content = make_page(title, items)
    return ReportPath(save_file(target, content))


def _list_items(title: str, parts: Sequence[ReportPart], notes: str, author: str) -> Iterator[Item | str]:
    byline = f"{' '.join(author.split())} · " if author else ""
    yield f"{byline}Written with foldnote {find_version()} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    yield from (" ".join(paragraph.split()) for paragraph in notes.split("\n\n") if paragraph.strip())
    for part in parts:
        if not (is_paper() and [part.title] == [paragraph.title for paragraph in parts] == [title]):
            yield heading_bundle(part.title)
        if part.tags:
            yield f"Tags: {', '.join(part.tags)}"
        yield from (line for line in part.note.splitlines() if line.strip())
        if part.reason:
            yield part.reason
        if part.table is not None:
            yield table_bundle(part.table, "Rows with their inputs and figures", is_subject=True)
        if part.rows and part.result is not None:
            yield from rows_bundles(part.result, part.rows, part.result.name, part.profile)
        elif part.rows:
            yield rows_bundle(part.rows, part.title, part.profile)
        elif part.result is not None:
            yield part.result
    results = _list_results(parts)
    if results:
        yield heading_bundle("Methods")
        yield from write_methods(results)
        last = [_show_references(find_references(results)), _show_runs(results)]
        for section in reversed(last) if is_paper() else last:  # BibTeX and RIS are unfolded on paper
            yield from section


def _list_results(parts: Sequence[ReportPart]) -> list[Result]:
    return [part.result for part in parts if part.result is not None]


def _show_references(references: Sequence[Publication]) -> Iterator[Item | str]:
    if not references:
        return
    yield heading_bundle("References")
    rows = "".join(f"<li>{_link(reference)}</li>" for reference in references)
    bibtex = to_bibtex(references)
    folded = "".join(
        f'<details class="fnv-words fnv-export"><summary>{name}</summary>{_write_entries(text)}</details>'
        for name, text in (("BibTeX", bibtex), ("RIS", to_ris(references)))
    )
    yield {"text/html": f'<ol class="fnv-references">{rows}</ol>{folded}', "text/plain": bibtex}


def _write_entries(text: str) -> str:
    """Return the references as preformatted text, on paper in separate blocks, so that none is split."""
    entries = text.strip().split("\n\n") if is_paper() else [text]
    return f"<div>{''.join(f'<pre>{escape(entry)}</pre>' for entry in entries)}</div>"


def _link(reference: Publication) -> str:
    text, _, _ = reference.text.partition(" doi:")
    if not reference.doi:
        return escape(text)
    address = escape(f"https://doi.org/{reference.doi}", quote=True)
    return f'{escape(text)} <a href="{address}" rel="noreferrer">doi:{escape(reference.doi)}</a>'


def _show_runs(results: Sequence[Result]) -> Iterator[Item | str]:
    """Yield a table with one row per job: tool, method, seed and times."""
    rows = [
        {
            "job": run.job_name,
            "tool": load("name_tool")(run.tool),
            "method": run.method_title,
            "seed": "" if run.seed is None else str(run.seed),
            "started": write_time(run.started),
            "duration_s": run.duration_s,
        }
        for run in list_runs(results)
        if run is not None
    ]
    if rows:
        yield heading_bundle("Runs")
        yield pd.DataFrame(rows)
    yield from _show_packages(results)


def _show_packages(results: Sequence[Result]) -> Iterator[Bundle]:
    """Yield the versions of the packages of each method, folded."""
    lines: dict[str, None] = {}
    for run in list_runs(results):
        engine = run.data.get("engine") if run is not None else None
        packages = engine.get("packages") if isinstance(engine, Mapping) else None
        if run is not None and isinstance(packages, Mapping):
            versions = ", ".join(f"{name} {version}" for name, version in packages.items())
            lines[f"{run.method_title}: {versions}"] = None
    if lines:
        rows = "".join(f"<li>{escape(visible(text))}</li>" for text in lines)
        folded = f"<summary>Versions of packages</summary><ul>{rows}</ul>"
        yield {"text/html": f'<details class="fnv-words">{folded}</details>', "text/plain": "\n".join(lines)}
