"""Write a page on jobs: their results, a paragraph on methods, references, versions and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd

from foldnote.errors import ConfigurationError
from foldnote.io import write_atomically
from foldnote.late import find_version
from foldnote.results import Publication, Result, find_references, list_runs, to_bibtex, write_methods
from foldnote.text import format_size, visible
from foldnote.viewers.display.bundles import Bundle, Item, bundle
from foldnote.viewers.display.page import make_page

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
        reason: why there is no result; "" if there is one.
        note: what the user wrote down about the job; "" if nothing.
        tags: the user's tags.
    """

    title: str
    result: Result | None = None
    table: pd.DataFrame | None = None
    reason: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()


class ReportPath(_Path):
    """The path of a report, which a notebook shows as a link that opens it."""

    def _repr_html_(self) -> str | None:
        if not self.is_file():  # such as the folder of a report, or one that was moved
            return None
        size = format_size(self.stat().st_size)
        absolute, here = self.resolve(), Path.cwd().resolve()
        if not absolute.is_relative_to(here):
            return f"<p>The report is in <code>{escape(str(self))}</code> ({size}).</p>"
        address = quote(absolute.relative_to(here).as_posix())
        return f'<p>Report: <a href="{address}" target="_blank">{escape(self.name)}</a> ({size})</p>'


def write_report(path: str | Path, title: str, parts: Sequence[ReportPart], *, notes: str = "") -> ReportPath:
    """Write a report as an HTML page that opens in any browser, offline.

    The page shows each part, then the methods that ran with their settings, seeds and versions of packages,
    the references, also as BibTeX, and a table of the runs, as far as the results record them.

    Args:
        path: where the page goes, ending in ``.html``; an existing file is replaced.
        title: heading of the page.
        parts: the sections, in order.
        notes: text below the heading; an empty line begins a new paragraph.

    Returns:
        The path of the page, which a notebook shows as a link.

    Raises:
        ConfigurationError: the path does not end in ``.html``, or the package was built without 3Dmol.js.
        OSError: the file cannot be written.
    """
    place = Path(path)
    if place.suffix.lower() not in (".html", ".htm"):
        raise ConfigurationError(
            f"{place.name}: a report is written to a file that ends in .html. For a PDF, open the page in a"
            " browser and print it."
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    return ReportPath(write_atomically(place, make_page(title, list(_list_items(parts, notes)))))


def _list_items(parts: Sequence[ReportPart], notes: str) -> Iterator[Item | str]:
    yield f"Written with foldnote {find_version()} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    yield from (" ".join(each.split()) for each in notes.split("\n\n") if each.strip())
    for part in parts:
        yield _make_heading(part.title)
        if part.tags:
            yield f"Tags: {', '.join(part.tags)}"
        yield from (line for line in part.note.splitlines() if line.strip())
        if part.reason:
            yield part.reason
        if part.table is not None:
            yield bundle(part.table, title="Rows with their inputs and figures")
        if part.result is not None:
            yield part.result
    results = [part.result for part in parts if part.result is not None]
    if results:
        yield _make_heading("Methods")
        yield from write_methods(results)
        yield from _show_references(find_references(results))
        yield from _show_runs(results)


def _make_heading(text: str) -> Bundle:
    return {"text/html": f"<h2>{escape(visible(text))}</h2>", "text/plain": text}


def _show_references(references: Sequence[Publication]) -> Iterator[Item | str]:
    if not references:
        return
    yield _make_heading("References")
    rows = "".join(f"<li>{_link(each)}</li>" for each in references)
    bibtex = to_bibtex(references)
    folded = f'<details class="fnv-words"><summary>BibTeX</summary><pre>{escape(bibtex)}</pre></details>'
    yield {"text/html": f"<ol>{rows}</ol>{folded}", "text/plain": bibtex}


def _link(reference: Publication) -> str:
    text, _, _ = reference.text.partition(" doi:")
    if not reference.doi:
        return escape(text)
    address = escape(f"https://doi.org/{reference.doi}", quote=True)
    return f'{escape(text)} <a href="{address}" rel="noreferrer">doi:{escape(reference.doi)}</a>'


def _show_runs(results: Sequence[Result]) -> Iterator[Item | str]:
    """A table with one row per job: tool, method, seed and times."""
    rows = [
        {
            "job": run.job_name,
            "tool": run.tool,
            "method": run.method_title,
            "seed": "" if run.seed is None else str(run.seed),
            "started": run.started,
            "duration_s": run.duration_s,
        }
        for run in list_runs(results)
        if run is not None
    ]
    if rows:
        yield _make_heading("Runs")
        yield pd.DataFrame(rows)
    yield from _show_packages(results)


def _show_packages(results: Sequence[Result]) -> Iterator[Bundle]:
    """The versions of the packages of each method, folded."""
    found: dict[str, None] = {}
    for run in list_runs(results):
        engine = run.data.get("engine") if run is not None else None
        packages = engine.get("packages") if isinstance(engine, Mapping) else None
        if run is not None and isinstance(packages, Mapping):
            named = ", ".join(f"{name} {version}" for name, version in packages.items())
            found[f"{run.method_title}: {named}"] = None
    if found:
        rows = "".join(f"<li>{escape(visible(text))}</li>" for text in found)
        folded = f"<summary>Versions of packages</summary><ul>{rows}</ul>"
        yield {"text/html": f'<details class="fnv-words">{folded}</details>', "text/plain": "\n".join(found)}
