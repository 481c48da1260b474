"""Compose the Scene of a structure: colours, highlighted CDRs and the initial orientation.

A CDR is highlighted only if its residues are found in the structure, by residue number or, if the file uses
another numbering, by position in the chain. Otherwise a note says which CDRs are not marked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from foldnote import settings
from foldnote.errors import UnreadableFileError
from foldnote.results import Chain, Region, Structure
from foldnote.results.sequences.antibody_numbering import locate_region
from foldnote.results.structure.formats import MOLECULE_FORMATS
from foldnote.text import count
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.assemblies import list_scene_assemblies
from foldnote.viewers.scene.coloring import find_colorings
from foldnote.viewers.scene.description import describe, find_marking
from foldnote.viewers.scene.interfaces import list_interfaces
from foldnote.viewers.scene.model import Coloring, Highlight, Scene, SceneChain, SceneModel
from foldnote.viewers.scene.model_text import ModelText, write_model_text
from foldnote.viewers.scene.molecule_view import compose_molecule_file
from foldnote.viewers.scene.orientation import find_axes, find_axis_angle, find_fill
from foldnote.viewers.scene.traces import ChainTrace, Points, join_points, list_atom_positions, read_traces

_ROLES = {"H": "Heavy chain", "L": "Light chain"}
_TAG_OFFSET_A = 3.0
_MAX_RESIDUES = 5_000
"""Largest structure with nucleic acids of which the first view is fitted to all atoms."""


def compose(
    structure: Structure,
    regions: Sequence[Region] = (),
    *,
    title: str = "",
    height_px: int = 440,
    with_interfaces: bool = True,
) -> Scene:
    """Return the scene of a structure, or of the molecules in a molecule file.

    Args:
        structure: the structure to show.
        regions: regions of a numbering, of which the CDRs are highlighted.
        title: heading; defaults to the file name.
        height_px: height of the picture in pixels.
        with_interfaces: whether to list the interfaces between chains.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    if structure.format in MOLECULE_FORMATS:
        return compose_molecule_file(structure, title=title, height_px=height_px)
    cdrs, notes = _locate_cdrs(structure, regions)
    traces = read_traces(structure)
    points = join_points(traces) if traces else list_atom_positions(structure)
    highlights = _mark_cdrs(cdrs, traces)
    model_text = write_model_text(structure)
    bare = frozenset(name for name, trace in traces.items() if trace.is_bare or model_text.is_reduced)
    numbered = {region.chain for region, _ in cdrs}
    chains = tuple(_make_chain(chain, i, numbered, bare) for i, chain in enumerate(structure.chains))
    _require_drawable(structure)
    colorings = find_colorings(structure, traces)
    rotation = _find_rotation(points, traces, highlights)
    return Scene(
        models=(_make_model(structure, model_text, chains, highlights),),
        title=title or structure.name,
        marking=find_marking([region for region, _ in cdrs]),
        facts=describe(structure, chains, cdrs),
        notes=(*notes, *filter(None, [model_text.note])),
        interfaces=list_interfaces(structure) if with_interfaces else (),
        assemblies=list_scene_assemblies(structure, model_text.atoms),
        colorings=colorings,
        color=_choose_coloring(colorings, bool(cdrs)),
        rotation=rotation,
        fill=find_fill(_find_extent(structure, traces, points), rotation),
        height_px=height_px,
    )


def _make_model(
    structure: Structure,
    model_text: ModelText,
    chains: tuple[SceneChain, ...],
    highlights: tuple[Highlight, ...],
) -> SceneModel:
    ions = {ligand.name for ligand in structure.ligands if ligand.atoms == 1}
    return SceneModel(
        name=structure.name,
        format="mmcif" if structure.format == "mmcif" else "pdb",
        text=model_text.text,
        is_reduced=model_text.is_reduced,
        chains=chains,
        ligands=tuple(sorted({ligand.name for ligand in structure.ligands} - ions)),
        guests=() if chains else _find_guests(structure),
        ions=tuple(sorted(ions)),
        waters=structure.water_names,
        highlights=highlights,
    )


def _require_drawable(structure: Structure) -> None:
    """Refuse a structure of which nothing would be drawn."""
    if not structure.chains and not structure.ligands:
        waters = count(structure.waters, "water molecule")
        contents = (
            f": it holds {waters}, which are not drawn. `to_frame()` lists them" if structure.waters else ""
        )
        raise UnreadableFileError(f"{structure.name} has no chain and no ligand to draw{contents}.")


def _mark_cdrs(
    cdrs: Sequence[tuple[Region, tuple[str, ...]]], traces: Mapping[str, ChainTrace]
) -> tuple[Highlight, ...]:
    """Highlight each CDR in the colour of its chain and number."""
    return tuple(
        mark_region(
            region.label,
            region.chain,
            numbers,
            traces,
            palette.cdr_color(region.chain, region.name[3:]),
            region.sequence,
        )
        for region, numbers in cdrs
    )


def _find_extent(structure: Structure, traces: Mapping[str, ChainTrace], trace: Points) -> Points:
    """Return the points that the first view must show: all atoms if there are bases, which are long."""
    has_bases = any(not chain_trace.is_calpha.any() for chain_trace in traces.values())
    return list_atom_positions(structure) if has_bases and len(trace) <= _MAX_RESIDUES else trace


def _find_guests(structure: Structure) -> tuple[str, ...]:
    """Return the names of the molecules other than the largest one, their host."""
    sizes = {ligand.name: ligand.atoms for ligand in structure.ligands if ligand.atoms > 1}
    host = max(sizes, key=lambda name: sizes[name], default="")
    return tuple(sorted(sizes.keys() - {host}))


def _make_chain(chain: Chain, index: int, numbered: Collection[str], bare: frozenset[str]) -> SceneChain:
    """Return a chain, labelled by its role in an antibody if some chains are numbered."""
    role = _ROLES.get(chain.name) if numbered else None
    pale = palette.receptor_color(chain.name) if role or chain.name in numbered else None
    kind = chain.kind if chain.kind != "protein" else "Chain"
    return SceneChain(
        name=chain.name,
        label=f"{role or kind} {chain.name}".strip(),
        kind=chain.kind,
        length=len(chain),
        numbers=chain.numbers,
        sequence=chain.sequence,
        is_trace=chain.name in bare,
        color=pale or palette.chain_color(index),
    )


def _choose_coloring(colorings: Sequence[Coloring], has_cdrs: bool) -> str:
    """Return the colouring from the user's options, else confidence or error unless CDRs are marked."""
    keys = [coloring.key for coloring in colorings]
    preferred = settings.option("view_colors")
    if preferred in keys:
        return str(preferred)
    by_quality = [key for key in ("confidence", "error") if key in keys]
    return by_quality[0] if by_quality and not has_cdrs else "chain"


def _locate_cdrs(
    structure: Structure, regions: Sequence[Region]
) -> tuple[list[tuple[Region, tuple[str, ...]]], tuple[str, ...]]:
    """Return the CDRs of the first scheme with their residue numbers here, and a note on those not found."""
    cdrs = [region for region in regions if region.is_cdr and region.scheme == regions[0].scheme]
    chains = {chain.name: chain for chain in structure.chains}
    located, missing = [], []
    for region in cdrs:
        numbers = locate_region(region, chains)
        if numbers:
            located.append((region, numbers))
        else:
            missing.append(region.label)
    if not missing:
        return located, ()
    verb = "are" if len(missing) > 1 else "is"
    note = (
        f"The numbering table does not fit {structure.name} at {', '.join(missing)}, which {verb} not marked."
    )
    return located, (note,)


def mark_region(
    label: str,
    chain: str,
    numbers: tuple[str, ...],
    traces: Mapping[str, ChainTrace],
    color: str,
    sequence: str = "",
) -> Highlight:
    """Return a highlight of some residues of one chain, whose tag is just outside of them.

    Args:
        label: full name, such as ``CDR-H3``.
        chain: chain name.
        numbers: residue numbers with insertion code.
        traces: the structure's backbone traces by chain.
        color: ``#rrggbb``.
        sequence: its residues, for the legend.
    """
    trace, marked = traces[chain], set(numbers)
    points = trace.points[[name in marked for name in trace.numbers]]
    return Highlight(
        label=label,
        tag=label.removeprefix("CDR-"),
        chain=chain,
        numbers=numbers,
        color=color,
        sequence=sequence,
        centre=_find_tag_position(points, join_points(dict(traces)).mean(axis=0)) if len(points) else None,
    )


def _find_tag_position(points: Points, centre: Points) -> tuple[float, float, float]:
    """Return the position of a tag (Å): just outside the region's residue furthest from the centre."""
    tip = points[np.argmax(np.linalg.norm(points - centre, axis=1))]
    outward = tip - centre
    position = tip + outward / max(float(np.linalg.norm(outward)), 1e-6) * _TAG_OFFSET_A
    return (round(float(position[0]), 1), round(float(position[1]), 1), round(float(position[2]), 1))


def _find_rotation(
    points: Points, traces: Mapping[str, ChainTrace], highlights: Sequence[Highlight]
) -> tuple[float, float, float, float] | None:
    """Return the rotation that puts highlights at the top, else the longest axis horizontally."""
    frame = find_axes(points)
    if frame is None:
        return None
    middle, axes = frame
    marks = np.array([highlight.centre for highlight in highlights if highlight.centre])
    if len(marks):
        up = marks.mean(axis=0) - middle
        ends = [traces[name].points.mean(axis=0) for name in ("H", "L") if name in traces]
        right = ends[1] - ends[0] if len(ends) == 2 else axes[0]
    else:
        right, up = axes[0], axes[1]
    return find_axis_angle(right, up)
