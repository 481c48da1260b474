"""A job exported by a colleague: its description, the table of a batch, and its result."""

from __future__ import annotations

from html import escape

from foldnote.results import ExportedJob
from foldnote.text import visible
from foldnote.viewers.display.bundles import Bundle, result_bundles, table_bundle
from foldnote.viewers.display.summary import write_time
from foldnote.viewers.render.html import write_style


def export_bundles(export: ExportedJob) -> list[Bundle]:
    """Return the description of an exported job, the table of a batch or pipeline, and the view."""
    table = [] if export.table is None else [table_bundle(export.table, "Rows with their inputs and figures")]
    return [_describe(export), *table, *result_bundles(export.result)]


def show_export(export: ExportedJob) -> None:
    """Show an exported job in the running cell."""
    from IPython.display import publish_display_data

    for part in export_bundles(export):
        publish_display_data(dict(part))  # type: ignore[no-untyped-call]


def _describe(export: ExportedJob) -> Bundle:
    rows = {
        "Label": export.label,
        "Job": export.job_name,
        "Tool": export.tool,
        "Tags": ", ".join(export.tags),
        "Note": export.note,
        "Exported": " with foldnote ".join(filter(None, [write_time(export.exported), export.version])),
    }
    descriptions = {term: visible(text) for term, text in rows.items() if text}
    lines = "".join(
        f'<dt>{term}</dt><dd style="white-space: pre-line">{escape(text)}</dd>'
        for term, text in descriptions.items()
    )
    html = (
        f'<div class="fnv-view">{write_style("scene.css")}<div class="fnv-words"><dl>{lines}</dl></div></div>'
    )
    return {
        "text/html": html,
        "text/plain": "\n".join(f"{term}: {text}" for term, text in descriptions.items()),
    }
