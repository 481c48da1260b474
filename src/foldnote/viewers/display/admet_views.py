"""View for predicted properties of small molecules: drawings with key figures, then the tables.

Results without the expected files use the default view.
"""

from __future__ import annotations

import base64
from html import escape
from typing import Any, NamedTuple

import pandas as pd

from foldnote.results import Result
from foldnote.text import count
from foldnote.viewers.display.bundles import Bundle, default_view, fold_bundles, message_bundle, table_bundle
from foldnote.viewers.registry import builtin_view
from foldnote.viewers.render.html import read_asset
from foldnote.viewers.scene.drawings.molecules import draw_smiles

_FILES = {"properties.csv", "percentiles.csv", "columns.csv"}
_MAX_COLUMNS = 3
"""Maximum number of molecules that are columns of the table of properties; more are its rows."""
_MAX_DRAWN = 12
_MAX_DRAWN_LETTERS = 400
"""Maximum length of a SMILES that is drawn; longer ones would not be recognisable."""
_UNITS = {"-": "", "#": "count", "# of 4": "of 4", "Å^2": "Å²", "log-ratio": "log", "hr": "h"}


class _Figure(NamedTuple):
    """A figure of a molecule's card."""

    property: str
    label: str
    unit: str = ""
    decimals: int = 2


_KEY_FIGURES = (
    _Figure("molecular_weight", "Molecular weight", "Da", 1),
    _Figure("logP", "logP"),
    _Figure("tpsa", "TPSA", "Å²", 1),
    _Figure("QED", "QED"),
    _Figure("Lipinski", "Lipinski's rules", "of 4", 0),
    _Figure("Solubility_AqSolDB", "Solubility", "log(mol/L)"),
    _Figure("HIA_Hou", "Intestinal absorption"),
    _Figure("BBB_Martins", "Blood–brain barrier"),
    _Figure("hERG", "hERG block"),
    _Figure("AMES", "Mutagenicity (Ames)"),
    _Figure("DILI", "Liver injury"),
    _Figure("ClinTox", "Clinical toxicity"),
)
"""Calculated figures first, then predictions; figures without a unit are probabilities from 0 to 1."""
_FIRST_PREDICTED = "Solubility_AqSolDB"
_LEGEND = "Below the line are predictions; those without a unit are probabilities, from 0 to 1."


@builtin_view("admet")
def show_admet(result: Result) -> list[Any]:
    """Show molecules drawn with key figures, all properties, and a folded description of the properties.

    Up to three molecules are columns of the table of properties, more are its rows.
    """
    if result.jobs or not set(result.tables) >= _FILES:
        return default_view(result)
    values, percentiles, columns = (
        result.tables[name] for name in ("properties.csv", "percentiles.csv", "columns.csv")
    )
    unread = [message_bundle(note) for note in _describe_unread(values)]
    descriptions = table_bundle(
        columns, "Properties, with the quality of their predictions in cross-validation"
    )
    if len(values) <= _MAX_COLUMNS:
        tables = [table_bundle(_transpose(values, percentiles, columns), "Properties")]
        folded = fold_bundles([descriptions], "Description of each property")
    else:
        tables = [table_bundle(values.dropna(axis="columns", how="all"), "Properties")]
        ranks = table_bundle(percentiles, "Percentiles among the approved drugs of DrugBank")
        folded = fold_bundles([ranks, descriptions], "Percentiles, and a description of each property")
    return [*unread, _draw_cards(values), *tables, folded, *default_view(result, without=_FILES)]


def _describe_unread(values: pd.DataFrame) -> list[str]:
    problems = values.loc[values["problem"].notna(), ["molecule", "problem"]]
    if problems.empty:
        return []
    messages = " ".join(f"Molecule {row.molecule}: {row.problem}" for row in problems.head(3).itertuples())
    ending = f" {count(len(problems) - 3, 'other')} in the table below." if len(problems) > 3 else ""
    return [f"{len(problems)} of {len(values)} molecules have no prediction. {messages}{ending}"]


def _transpose(values: pd.DataFrame, percentiles: pd.DataFrame, columns: pd.DataFrame) -> pd.DataFrame:
    """Return one row per property, and two columns per molecule: its value and percentile."""
    units = columns["units"].map(lambda unit: _UNITS.get(unit, unit))
    units = units.mask(columns["task_type"] == "classification", "probability")
    table = pd.DataFrame({"category": columns["category"], "property": columns["name"], "unit": units})
    properties = list(columns["property"])
    for row, molecule in enumerate(values["molecule"]):
        prefix = "" if len(values) == 1 else f"molecule {molecule}: "
        table[f"{prefix}value"] = values[properties].iloc[row].to_numpy(float)
        table[f"{prefix}percentile of approved drugs"] = percentiles[properties].iloc[row].to_numpy(float)
    return table


def _draw_cards(values: pd.DataFrame) -> Bundle:
    """Return the first molecules as drawings with their key figures."""
    first = values.head(_MAX_DRAWN)
    cards = "".join(_write_card(row) for _, row in first.iterrows())
    hidden = len(values) - len(first)
    legend = f"The first {len(first)} of {len(values):,} molecules. {_LEGEND}" if hidden else _LEGEND
    style = f"<style>{read_asset('molecules.css')}</style>"
    html = f'<div class="fnv-molecules">{style}<ul>{cards}</ul><p>{legend}</p></div>'
    return {"text/html": html, "text/plain": "\n".join(_write_line(row) for _, row in first.iterrows())}


def _write_card(row: pd.Series[Any]) -> str:
    smiles = str(row["smiles"])
    name = f"<b>{row['molecule']}</b><code title='{escape(smiles)}'>{escape(smiles)}</code>"
    if isinstance(row["problem"], str):
        return f'<li class="fnv-unread"><p>{name}</p><p>{escape(row["problem"])}</p></li>'
    drawing = draw_smiles(smiles) if len(smiles) <= _MAX_DRAWN_LETTERS else ""
    picture = "<p>Not drawn: the molecule is too large, or RDKit cannot read it.</p>"
    if drawing:
        data = base64.b64encode(drawing.encode()).decode()
        picture = (
            f'<img alt="2D drawing of molecule {row["molecule"]}" src="data:image/svg+xml;base64,{data}">'
        )
    terms = "".join(
        f"<div{_rule(figure)}><dt>{figure.label}</dt><dd>{_write_figure(row, figure)}</dd></div>"
        for figure in _KEY_FIGURES
        if figure.property in row.index
    )
    return f"<li>{picture}<p>{name}</p><dl>{terms}</dl></li>"


def _rule(figure: _Figure) -> str:
    return ' class="fnv-first"' if figure.property == _FIRST_PREDICTED else ""


def _write_figure(row: pd.Series[Any], figure: _Figure) -> str:
    return f"{float(row[figure.property]):.{figure.decimals}f} {figure.unit}".strip()


def _write_line(row: pd.Series[Any]) -> str:
    head = f"{row['molecule']}  {row['smiles']}"
    if isinstance(row["problem"], str):
        return f"{head}  {row['problem']}"
    figures = [
        f"{figure.label} {_write_figure(row, figure)}"
        for figure in _KEY_FIGURES[:5]
        if figure.property in row.index
    ]
    return "  ".join([head, ", ".join(figures)])
