"""Biological assemblies that a view can show instead of the file's content."""

from __future__ import annotations

from collections.abc import Sequence

import gemmi

from foldnote.results import Structure
from foldnote.results.structure.assemblies import IDENTITY, Assembly, AssemblyPart, list_parts, list_residues
from foldnote.viewers.scene.model import AssemblyCopies, SceneAssembly

MAX_ATOMS = 120_000
"""Maximum number of atoms that a page draws; :meth:`Structure.make_assembly` reduces larger assemblies."""
_MAX_LISTED = 12


def list_scene_assemblies(structure: Structure, drawn_atoms: int) -> tuple[SceneAssembly, ...]:
    """Return the assemblies that differ from the file's content, at most twelve.

    Args:
        structure: the displayed structure, in the coordinate frame of its file.
        drawn_atoms: number of its atoms in the text of the scene.
    """
    assemblies = structure.assemblies[:_MAX_LISTED]
    if not assemblies:
        return ()
    parsed = structure.to_gemmi()
    total = parsed[0].count_atom_sites()
    scene_assemblies = []
    for assembly in assemblies:
        parts = list_parts(parsed, assembly.name)
        if not parts or _holds_file(parts, parsed[0]):
            continue
        atoms = sum(len(part.copies) * sum(map(len, list_residues(parsed[0], part))) for part in parts)
        scene_assemblies.append(
            SceneAssembly(
                label=_write_label(assembly),
                atoms=atoms,
                is_too_large=atoms * drawn_atoms / max(total, 1) > MAX_ATOMS,
                parts=tuple(
                    AssemblyCopies(chain=part.chain, numbers=part.numbers, copies=part.copies)
                    for part in parts
                ),
            )
        )
    return tuple(scene_assemblies)


def _holds_file(parts: Sequence[AssemblyPart], model: gemmi.Model) -> bool:
    """Return whether an assembly equals the file's content: every chain once, at its position."""
    whole = {part.chain for part in parts if part.numbers is None and part.copies == ((1, IDENTITY),)}
    return len(parts) == len(whole) and whole == {chain.name for chain in model}


def _write_label(assembly: Assembly) -> str:
    state = f": {assembly.description}" if assembly.description else ""
    return f"Assembly {assembly.name}{state}" + (f" ({assembly.source})" if assembly.source else "")
