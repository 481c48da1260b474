"""Show a comparison: superposed structures, aligned sequences, RMSD by region, settings and scores.

Parts that do not apply are left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results import Alignment
from foldnote.results.comparison.traces import read_traces
from foldnote.results.sequences.alignment import GAP
from foldnote.results.side_by_side.comparison import Comparison
from foldnote.text import count, cut_name, join_words
from foldnote.viewers.display.bundles import Bundle, bundle, join_bundles, message_bundle, table_bundle
from foldnote.viewers.display.summary import label_scores
from foldnote.viewers.render.caption import write_notes
from foldnote.viewers.render.html import write_style
from foldnote.viewers.scene.superposed import compose_comparison

_COLUMNS_PER_BLOCK = 60
_MAX_NAME = 24
_MAX_NAMED = 4
_MAX_LETTERS = 200
_LONG = 30
"""Minimum length of a sequence that is compared letter by letter."""
_HEADINGS = {
    "structure": "structure",
    "region": "region",
    "chain": "chain",
    "residues": "residues",
    "pairs": "pairs",
    "rmsd": "RMSD (Å)",
    "rmsd_fitted": "RMSD, own fit (Å)",
    "tm_score": "TM-score",
    "own_tm_score": "TM-score, own length",
    "identity": "identity",
    "pairing": "paired by",
}


def show_comparison(comparison: Comparison) -> Bundle:
    """Return one mime bundle of all parts of a comparison.

    Raises:
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    parts = [_note_bundle(comparison), _scene_bundle(comparison)]
    if len(comparison.table):
        table, title = _drop_same(comparison.table), f"RMSD, superposed by {comparison.align}"
        parts.append(table_bundle(table, title, headings=_HEADINGS))
        parts.append(_text_bundle(_describe_table(comparison)))
    parts += [
        _alignment_bundle(chain, alignment, comparison) for chain, alignment in comparison.alignments.items()
    ]
    parts += [_settings_bundle(comparison), _score_bundle(comparison)]
    return join_bundles([part for part in parts if part])


def _note_bundle(comparison: Comparison) -> Bundle:
    """Return the title and a list of what was not compared."""
    names = comparison.names
    subject = join_words(names, "and") if len(names) <= _MAX_NAMED else f"{len(names)} jobs or structures"
    title = f"Comparison of {subject}"
    html = (
        f'<div class="fnv-view">{write_style("scene.css", "comparison.css")}'
        f'<p class="fnv-head">{escape(title)}</p>{write_notes(comparison.notes)}</div>'
    )
    return {"text/html": html, "text/plain": "\n".join([title, *comparison.notes])}


def _scene_bundle(comparison: Comparison) -> Bundle:
    try:
        scene = compose_comparison(comparison)
    except UnreadableFileError as exc:
        return message_bundle(exc.message)
    return bundle(scene) if scene else {}


def _drop_same(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table without columns whose values are equal in all rows."""
    return table.drop(columns=[name for name in ("structure", "pairing") if table[name].nunique() < 2])


def _describe_table(comparison: Comparison) -> str:
    methods = sorted(set(comparison.table["pairing"]))
    text = (
        "RMSD: Cα (C3' of nucleic acids) of the paired residues, under the superposition above; own fit: "
        f"with the region superposed by itself. Pairs by {join_words(methods, 'or')}. TM-score: maximum of "
        f"all superpositions, normalized by {comparison.reference} and by the structure's own length. "
        "Identity: fraction of the pairs."
    )
    source = f" {comparison.region_source}." if comparison.regions else ""
    return text + source


def _text_bundle(text: str) -> Bundle:
    html = f'<div class="fnv-view"><p class="fnv-facts">{escape(text)}</p></div>'
    return {"text/html": html, "text/plain": text}


def _alignment_bundle(chain: str, alignment: Alignment, comparison: Comparison) -> Bundle:
    """Return the aligned sequences of one chain in blocks, with the differences from the reference marked."""
    if alignment.depth < 2:
        return {}
    first, *other_rows = alignment.sequences
    numbers = _list_numbers(chain, first, comparison)
    region_line = _write_regions(chain, numbers, comparison)
    different = sum(
        len({row[column] for row in alignment.sequences}) > 1 for column in range(alignment.length)
    )
    head = f"Sequences of chain {chain}: {count(different, 'column')} of {alignment.length} with differences"
    width = min(_MAX_NAME, max(map(len, alignment.names)))
    blocks, plain = [], []
    for start in range(0, alignment.length, _COLUMNS_PER_BLOCK):
        part = slice(start, start + _COLUMNS_PER_BLOCK)
        own_numbers = [number for number in numbers[part] if number]
        span = f"{own_numbers[0]}–{own_numbers[-1]}" if own_numbers else ""
        rows = [f"<i>{' ' * width}  {escape(region_line[part])}</i>"] if region_line[part].strip() else []
        rows.append(f"{_fit_name(alignment.names[0], width)}  {escape(first[part])}  <i>{escape(span)}</i>")
        rows += [
            f"{_fit_name(name, width)}  {_mark(row[part], first[part])}"
            for name, row in zip(alignment.names[1:], other_rows, strict=True)
        ]
        blocks.append("<pre>" + "\n".join(rows) + "</pre>")
        plain += [
            f"{_cut_name(name, width)}  {row[part]}"
            for name, row in zip(alignment.names, alignment.sequences, strict=True)
        ]
        plain.append("")
    legend = "Marked: different from the reference. Residues without coordinates are not listed."
    html = (
        f'<div class="fnv-view"><p class="fnv-head">{escape(head)}</p>'
        f'<div class="fnv-align" dir="ltr" tabindex="0" role="group" aria-label="{escape(head)}">'
        f"{''.join(blocks)}</div>"
        f'<p class="fnv-facts">{legend}</p></div>'
    )
    return {"text/html": html, "text/plain": "\n".join([head, *plain]).rstrip()}


def _list_numbers(chain: str, row: str, comparison: Comparison) -> list[str]:
    """Return the residue number of the reference in each column; "" in an insertion."""
    traces = read_traces(comparison.structures[comparison.reference])
    numbers = iter(next((trace.numbers for trace in traces if trace.chain == chain), ()))
    return ["" if letter == GAP else next(numbers, "") for letter in row]


def _write_regions(chain: str, numbers: Sequence[str], comparison: Comparison) -> str:
    """Write a line that names the CDRs above their columns."""
    line = [" "] * len(numbers)
    for region in comparison.regions:
        if region.is_cdr and region.chain == chain:
            region_numbers = set(region.numbers)
            columns = [column for column, number in enumerate(numbers) if number in region_numbers]
            if columns:
                label = region.label.removeprefix("CDR-").ljust(columns[-1] - columns[0] + 1, "─")
                line[columns[0] : columns[0] + len(label)] = label
    return "".join(line)[: len(numbers)]


def _fit_name(name: str, width: int) -> str:
    return f'<span title="{escape(name)}">{escape(_cut_name(name, width))}</span>'


def _cut_name(name: str, width: int) -> str:
    """Cut or pad a name to this width."""
    return cut_name(name, width).ljust(width)


def _mark(row: str, first: str) -> str:
    parts = []
    for letter, reference in zip(row, first, strict=True):
        parts.append(escape(letter) if letter == reference else f"<mark>{escape(letter)}</mark>")
    return "".join(parts).replace("</mark><mark>", "")


def _settings_bundle(comparison: Comparison) -> Bundle:
    items = [item for item in comparison.items if item.settings]
    if len(items) < 2:
        return {}
    if comparison.settings.empty:
        return _text_bundle(f"Settings: the same in {join_words([item.name for item in items], 'and')}.")
    table = _write_substitutions(comparison.settings).map(_write_value)
    return table_bundle(table, f"Settings that differ ({len(table)})")


def _write_substitutions(settings: pd.DataFrame) -> pd.DataFrame:
    """Write the settings; of long sequences of equal length only changes from the first (``T28A``)."""
    rows = []
    for first, *further in settings.itertuples(index=False):
        is_long = isinstance(first, str) and len(first) >= _LONG and first.isalpha()
        rows.append([first, *(_find_substitutions(first, other) if is_long else other for other in further)])
    return pd.DataFrame(rows, index=settings.index, columns=settings.columns, dtype=object)


def _find_substitutions(first: str, other: object) -> object:
    """Return the differences of a text of equal length, if at most a tenth; else the text itself."""
    if not isinstance(other, str) or len(other) != len(first):
        return other
    pairs = enumerate(zip(first, other, strict=True), start=1)
    changes = [f"{old}{position}{new}" for position, (old, new) in pairs if old != new]
    return f"the first with {join_words(changes, 'and')}" if len(changes) <= len(first) // 10 else other


def _score_bundle(comparison: Comparison) -> Bundle:
    frame = comparison.scores
    if frame.empty:
        return _text_bundle("Scores: none available.")
    empty = [name for name in ("unit", "better") if not frame[name].astype(bool).any()]
    labels = label_scores(frame.index)
    return table_bundle(frame.drop(columns=empty).map(_write_value).rename(index=labels), "Scores")


def _write_value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    if isinstance(value, Mapping):
        text = str(dict(value))
    short = " ".join(text.split())
    return short if len(short) <= _MAX_LETTERS else f"{short[:_MAX_LETTERS]}…"
