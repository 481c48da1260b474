"""Views for structures: superpositions, aggregation scores, pKa values, domains, binding sites, designs.

Results without the expected files use the default view.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pandas as pd

from foldnote.results import Result, Structure
from foldnote.results.provenance.identity import find_title
from foldnote.text import count
from foldnote.viewers.display.batches import read_table
from foldnote.viewers.display.bundles import default_view, table_bundle
from foldnote.viewers.plots.curves import plot_curves
from foldnote.viewers.plots.matrix_plot import plot_matrix
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.profile import plot_profile
from foldnote.viewers.registry import builtin_view
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.coloring import Scale, color_by_column, color_by_values, read_column
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.model import Coloring, Scene
from foldnote.viewers.scene.superposed import compose_superposed

_SUPERPOSED = "superposed"
_MAX_STRUCTURES = 20
_RESIDUES, _CHAINS, _REGIONS = "residues.csv", "chains.csv", "regions.csv"
_SCORE, _PART = "a3d_score", "part"
_BINDING, _BAITS = "p_bind", "baits.csv"
_MAX_SITES, _MAX_CURVES = 60, 6
_PROFILE = "B-factor column along the chain (pLDDT for predicted structures)"
_SHADES = 24
_REMOVED_COLORS = ("#9aa0a6", "#c2c8cf", "#6c737a")
"""Greys for removed regions, so that domains stand out."""


@builtin_view("align-pdbs")
def show_superposed(result: Result) -> list[Any]:
    """Show the superposed structures in one scene, the fit of each, and the aligned residues."""
    structures = [
        structure
        for structure in result.structures
        if PurePosixPath(structure.name).parent.name == _SUPERPOSED
    ]
    table, pairs = read_table(result, "alignment.csv"), read_table(result, "pairs.csv")
    if table is None or len(structures) < 2 or "file" not in table:
        return default_view(result)
    drawn = structures[:_MAX_STRUCTURES]
    rows = {str(row["file"]): row for _, row in table.iterrows()}
    names = [_name_structure(structure, rows, str(table["reference"].iloc[0])) for structure in drawn]
    fits = ["reference", *(_describe_fit(rows, structure) for structure in drawn[1:])]
    notes = ["RMSD: aligned Cα atoms after a least-squares fit. TM-score: maximum over all superpositions."]
    if len(structures) > len(drawn):
        notes.append(f"The first {len(drawn)} of {count(len(structures), 'structure')} are drawn.")
    return [
        compose_superposed(drawn, names, fits, notes=notes),
        table_bundle(table.drop(columns="file"), "Fit of each structure to the first"),
        *([] if pairs is None else [table_bundle(pairs, "Aligned residues")]),
    ]


def _name_structure(structure: Structure, rows: dict[str, pd.Series], reference: str) -> str:
    row = rows.get(PurePosixPath(structure.name).name)
    return reference if row is None else str(row["structure"])


def _describe_fit(rows: dict[str, pd.Series], structure: Structure) -> str:
    row = rows.get(PurePosixPath(structure.name).name)
    if row is None:
        return "not in the table"
    return (
        f"TM-score {row['tm_score_by_reference']:.3f} by the reference's length and"
        f" {row['tm_score_by_structure']:.3f} by its own, RMSD {row['rmsd']:.2f} Å over"
        f" {count(int(row['aligned_residues']), 'residue')}, {row['identity']:.0%} identical"
    )


@builtin_view("aggrescan3d")
def show_aggregation(result: Result) -> list[Any]:
    """Show the protein coloured by A3D score, the score along the chains, then the tables."""
    frame = _read_residues(result, _SCORE)
    structure = _find_structure(result, "aggrescan3d")
    if frame is None or structure is None:
        return default_view(result)
    scores = read_column(frame, _SCORE, structure.chains)
    values = {chain: [_to_number(value) for value in row] for chain, row in scores.items()}
    limit = max(float(frame[_SCORE].abs().max()), 0.1)
    coloring = color_by_values(
        "A3D score",
        values,
        key="a3d",
        source=_RESIDUES,
        scale=Scale(palette.ramp(palette.SIGNED, _SHADES), -limit, limit),
        ends=(", soluble", "", ", tends to aggregate"),
    )
    profile = plot_profile(frame, _SCORE, "A3D score along the chain", level=0.0)
    chains = [table_bundle(result.tables[name], "Chains") for name in result.tables if name == _CHAINS]
    worst = frame[frame[_SCORE] > 0].sort_values(_SCORE, ascending=False, kind="stable")
    prone = [table_bundle(worst.reset_index(drop=True), "Aggregation-prone residues")] if len(worst) else []
    default = default_view(result, without=[_CHAINS])
    return [_compose_colored(result, structure, coloring), profile, *chains, *prone, *default[1:]]


@builtin_view("propka")
def show_ionisation(result: Result) -> list[Any]:
    """Show the protein coloured by pKa shift, charge and stability by pH, then the ionisable groups."""
    groups, structure = read_table(result, "pka.csv"), _find_structure(result, "propka")
    charge, stability = read_table(result, "charge.csv"), read_table(result, "stability.csv")
    if groups is None or structure is None or charge is None or stability is None:
        return default_view(result)
    if not groups["pka_shift"].notna().any():
        return default_view(result)
    ph = _to_number(result.scores.get("pH"))
    plots = [
        plot_curves(
            charge,
            "ph",
            {"charge_folded": "folded", "charge_unfolded": "unfolded"},
            "Net charge by pH",
            labels=("pH", "Net charge (e)"),
            place=ph,
        ),
        plot_curves(
            stability,
            "ph",
            {"folding_energy_kcal_per_mol": "folding"},
            "Contribution of ionisation to the free energy of folding",
            labels=("pH", "kcal/mol"),
            place=ph,
        ),
    ]
    shifted = groups.reindex(groups["pka_shift"].abs().sort_values(ascending=False, kind="stable").index)
    default = default_view(result, without=["pka.csv", "charge.csv", "stability.csv"])
    return [
        _compose_colored(result, structure, _color_by_shift(groups, structure)),
        *plots,
        table_bundle(shifted.reset_index(drop=True), "Ionisable groups, largest pKa shift first"),
        *default[1:],
    ]


def _color_by_shift(groups: pd.DataFrame, structure: Structure) -> Coloring:
    """Colour residues by the largest shift of their groups; those without a group have no value."""
    frame = groups.assign(chain=groups["chain"].fillna("").astype(str), number=groups["number"].astype(str))
    frame = frame.dropna(subset=["pka_shift"])
    order = frame["pka_shift"].abs().sort_values(ascending=False, kind="stable").index
    frame = frame.loc[order].drop_duplicates(["chain", "number"])
    shifts = read_column(frame, "pka_shift", structure.chains)
    values = {chain: [_to_number(value) for value in row] for chain, row in shifts.items()}
    limit = max(float(frame["pka_shift"].abs().max()), 0.1)
    return color_by_values(
        "pKa shift",
        values,
        key="pka-shift",
        source="pka.csv",
        scale=Scale(palette.ramp(palette.SIGNED, _SHADES), -limit, limit),
        ends=(", more acidic than in water", "", ", less acidic than in water"),
    )


@builtin_view("alphacutter")
def show_domains(result: Result) -> list[Any]:
    """Show the protein coloured by domain, the regions, and the pLDDT along the chains.

    Files of single domains are parts of one structure, so they are not shown as models.
    """
    frame = _read_residues(result, _PART)
    structure = _find_structure(result, "domains")
    if frame is None or structure is None or _REGIONS not in result.tables:
        return default_view(result)
    coloring = _color_domains(color_by_column(frame, _PART, structure.chains))
    regions = result.tables[_REGIONS].drop(columns="sequence", errors="ignore")
    numbered = [_format_domains(table) for table in (regions, frame)]
    bundles = [
        table_bundle(table, title) for table, title in zip(numbered, ("Regions", _RESIDUES), strict=True)
    ]
    profile = (
        [plot_profile(frame.rename(columns={"plddt": "B-factor"}), "B-factor", _PROFILE)]
        if "plddt" in frame.columns
        else []
    )
    return [_compose_colored(result, structure, coloring), bundles[0], *profile, bundles[1]]


@builtin_view("af2bind")
def show_binding_sites(result: Result) -> list[Any]:
    """Show the protein coloured by p(bind), p(bind) along the chain, and the contribution of the baits."""
    frame = _read_residues(result, _BINDING)
    structure = _find_structure(result, "af2bind")
    baits = read_table(result, _BAITS)
    if frame is None or structure is None or baits is None:
        return default_view(result)
    probabilities = read_column(frame, _BINDING, structure.chains)
    coloring = color_by_values(
        "p(bind)",
        {chain: [_to_number(value) for value in row] for chain, row in probabilities.items()},
        key="p-bind",
        source=_RESIDUES,
        scale=Scale(palette.ramp(palette.MAGNITUDE, _SHADES), 0.0, 1.0),
        ends=("", "", ", binds a small molecule"),
    )
    ordered = frame.sort_values(_BINDING, ascending=False, kind="stable")
    default = default_view(result, without=[_BAITS])
    return [
        _compose_colored(result, structure, coloring),
        plot_profile(frame, _BINDING, "p(bind) along the chain", level=0.5),
        table_bundle(ordered.reset_index(drop=True), "Residues, most likely to bind first"),
        _plot_baits(baits, ordered),
        *default[1:],
    ]


def _plot_baits(baits: pd.DataFrame, ordered: pd.DataFrame) -> Plot:
    """Plot each bait's contribution to the logit of p(bind), for the residues most likely to bind."""
    rows = baits.loc[sorted(ordered.index[:_MAX_SITES])]
    matrix = rows.drop(columns=["chain", "number", "residue"]).astype(float).T
    matrix.columns = pd.Index(rows["residue"] + rows["number"].astype(str), name="Residue")
    matrix.index.name = "Bait amino acid"
    title = f"Contribution of each bait to the logit of p(bind), {count(len(rows), 'most likely residue')}"
    return plot_matrix(matrix, title, "Contribution to the logit", is_signed=True)


@builtin_view("afcycdesign")
def show_cyclic_designs(result: Result) -> list[Any]:
    """Show the designs, best first, the loss by step, then the peptides and all other tables."""
    designs, course = (read_table(result, name) for name in ("designs.csv", "loss.csv"))
    if designs is None or course is None:
        return default_view(result)
    curves = course.pivot(index="step", columns="design", values="loss")
    names = [int(name.rpartition("_")[2]) for name in designs["design"].head(_MAX_CURVES)]
    table = curves[names].rename(columns=lambda number: f"design_{number}").reset_index()
    columns = {name: str(name) for name in table.columns if name != "step"}
    return [
        table_bundle(designs, "Designs, lowest loss first"),
        plot_curves(table, "step", columns, "Loss by step", labels=("Step", "Loss")),
        *default_view(result, without=["designs.csv"]),
    ]


@builtin_view("rfdiffusion3")
def show_new_proteins(result: Result) -> list[Any]:
    """Show the designs with their figures, then the table of all designs with contigs and sequences."""
    designs = read_table(result, "designs.csv")
    if designs is None or not result.structures:
        return default_view(result)
    structure, *_ = default_view(result, without=["designs.csv"])
    return [structure, table_bundle(designs, "Designs, in the order in which they were made")]


def _read_residues(result: Result, column: str) -> pd.DataFrame | None:
    """Read the table of residues; None if it is missing or lacks the column."""
    if result.jobs or _RESIDUES not in result.tables:
        return None
    frame = result.tables[_RESIDUES]
    if not {"chain", "number", column} <= set(frame.columns):
        return None
    return frame.assign(chain=frame["chain"].fillna("").astype(str), number=frame["number"].astype(str))


def _find_structure(result: Result, stem: str) -> Structure | None:
    names = (f"{stem}.pdb", f"{stem}.cif")
    return next((structure for structure in result.structures if structure.name in names), None)


def _compose_colored(result: Result, structure: Structure, coloring: Coloring) -> Scene:
    """Compose a scene with this colouring in place of the B-factor column, which holds the same values."""
    scene = compose(structure, title=find_title(result))
    kept = [scene_coloring for scene_coloring in scene.colorings if scene_coloring.key != "b-factor"]
    return scene.model_copy(update={"colorings": (*kept, coloring), "color": coloring.key})


def _format_domains(frame: pd.DataFrame) -> pd.DataFrame:
    """Format domain numbers as integers, "" for removed regions."""
    if "domain" not in frame.columns:
        return frame
    return frame.assign(domain=frame["domain"].astype("Int64").astype("string").fillna(""))


def _color_domains(coloring: Coloring) -> Coloring:
    """Colour the domains, with greys for removed regions."""
    labels = [item.label for item in coloring.legend]
    removed = [label for label in labels if label.startswith("Removed")]
    domains = [label for label in labels if label not in removed]
    colors = tuple(
        _REMOVED_COLORS[removed.index(label) % len(_REMOVED_COLORS)]
        if label in removed
        else palette.chain_color(domains.index(label))
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
