"""Layouts for tools that say something of each residue: aggregation scores and domains.

Results without such a table use the default layout.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from foldnote.results import Result, Structure
from foldnote.viewers.display.bundles import default_view, table_bundle
from foldnote.viewers.layouts import register_ours
from foldnote.viewers.plots.profile import plot_profile
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.coloring import Scale, color_by_column, color_by_values, read_column
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.model import Coloring, Scene

_RESIDUES, _CHAINS, _REGIONS = "residues.csv", "chains.csv", "regions.csv"
_SCORE, _PART = "a3d_score", "part"
_PROFILE = "B-factor column along the chain: pLDDT of a predicted structure"
_STEPS = 24
_REMOVED = ("#9aa0a6", "#c2c8cf", "#6c737a")
"""Greys of what was cut out, so that domains stand out."""


def show_aggregation(result: Result) -> list[Any]:
    """The protein coloured by its score, the scores along the residues, then the tables."""
    frame = _read_residues(result, _SCORE)
    structure = _find_structure(result, "aggrescan3d")
    if frame is None or structure is None:
        return default_view(result)
    known = read_column(frame, _SCORE, structure.chains)
    values = {chain: [_to_number(value) for value in row] for chain, row in known.items()}
    limit = max(float(frame[_SCORE].abs().max()), 0.1)
    coloring = color_by_values(
        "A3D score",
        values,
        key="a3d",
        source=_RESIDUES,
        scale=Scale(palette.ramp(palette.DIVERGING, _STEPS), -limit, limit),
        ends=(", soluble", "", ", tends to aggregate"),
    )
    profile = plot_profile(frame, _SCORE, "A3D score along the chain", level=0.0)
    chains = [table_bundle(result.tables[name], "Chains") for name in result.tables if name == _CHAINS]
    worst = frame[frame[_SCORE] > 0].sort_values(_SCORE, ascending=False, kind="stable")
    prone = [table_bundle(worst.reset_index(drop=True), "Aggregation-prone residues")] if len(worst) else []
    rest = default_view(result, without=[_CHAINS])
    return [_paint(result, structure, coloring), profile, *chains, *prone, *rest[1:]]


def show_domains(result: Result) -> list[Any]:
    """The protein coloured by domain with what was removed in grey, the regions, and pLDDT along the chains.

    Files of single domains are parts of one structure and no models of it, so that they are not compared.
    """
    frame = _read_residues(result, _PART)
    structure = _find_structure(result, "domains")
    if frame is None or structure is None or _REGIONS not in result.tables:
        return default_view(result)
    coloring = _grey_removed(color_by_column(frame, _PART, structure.chains))
    regions = result.tables[_REGIONS].drop(columns="sequence", errors="ignore")
    numbered = [_write_domains(table) for table in (regions, frame)]
    bundles = [
        table_bundle(table, title) for table, title in zip(numbered, ("Regions", _RESIDUES), strict=True)
    ]
    profile = (
        [plot_profile(frame.rename(columns={"plddt": "B-factor"}), "B-factor", _PROFILE)]
        if "plddt" in frame.columns
        else []
    )
    return [_paint(result, structure, coloring), bundles[0], *profile, bundles[1]]


def _read_residues(result: Result, column: str) -> pd.DataFrame | None:
    """The table of residues, if it has the column."""
    if result.jobs or _RESIDUES not in result.tables:
        return None
    frame = result.tables[_RESIDUES]
    if not {"chain", "number", column} <= set(frame.columns):
        return None
    return frame.assign(chain=frame["chain"].fillna("").astype(str), number=frame["number"].astype(str))


def _find_structure(result: Result, stem: str) -> Structure | None:
    names = (f"{stem}.pdb", f"{stem}.cif")
    return next((structure for structure in result.structures if structure.name in names), None)


def _paint(result: Result, structure: Structure, coloring: Coloring) -> Scene:
    """The structure in this colouring, without that of its B-factor column, which shows the same."""
    scene = compose(structure, title=(result.manifest and result.manifest.job_name) or structure.name)
    others = [one for one in scene.colorings if one.key != "b-factor"]
    return scene.model_copy(update={"colorings": (*others, coloring), "color": coloring.key})


def _write_domains(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with whole numbers of domains, and none where a region was removed."""
    if "domain" not in frame.columns:
        return frame
    return frame.assign(domain=frame["domain"].astype("Int64").astype("string").fillna(""))


def _grey_removed(coloring: Coloring) -> Coloring:
    """The colours of parts, with greys for those that were removed."""
    labels = [item.label for item in coloring.legend]
    removed = [label for label in labels if label.startswith("Removed")]
    kept = [label for label in labels if label not in removed]
    colors = tuple(
        _REMOVED[removed.index(label) % len(_REMOVED)]
        if label in removed
        else palette.chain_color(kept.index(label))
        for label in labels
    )
    legend = tuple(
        item.model_copy(update={"color": color}) for item, color in zip(coloring.legend, colors, strict=True)
    )
    return coloring.model_copy(
        update={"palette": colors, "legend": legend, "name": "Domain", "source": _RESIDUES}
    )


def _to_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


register_ours("aggrescan3d", show_aggregation)
register_ours("alphacutter", show_domains)
