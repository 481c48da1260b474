"""Convert a structure file to the receptor in PDBQT: what is kept, repaired and left out.

Meeko has templates for the usual residues. A residue without one is never passed to Meeko, which would
request one from the internet; residues left out or truncated are listed in the notes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alternate_locations import keep_most_occupied
from engine_protocol import fail
from side_chains import free_side_chains, name_of
from structure_text import parse_structure

IONS = frozenset({"CA", "CU", "FE", "MG", "MN", "ZN"})
"""Metal ions that are kept in the receptor."""
PROTONATION = (
    "Protonation follows the residue names (HID, HIE, HIP, ASH, GLH, LYN); else Asp and Glu, Lys and Arg"
    " are charged and His has its hydrogen on Nε."
)
"""States that Meeko's templates give residues without hydrogens."""
KEPT = "Protonation states of His, Asp, Glu and Lys follow the hydrogens of the file where it has them"
STATES = {
    "HIS": (("HIP", {"HD1", "HE2"}), ("HID", {"HD1"}), ("HIE", {"HE2"})),
    "ASP": (("ASH", {"HD1"}), ("ASH", {"HD2"}), ("ASP", set())),
    "GLU": (("GLH", {"HE1"}), ("GLH", {"HE2"}), ("GLU", set())),
    "LYS": (("LYS", {"HZ1", "HZ2", "HZ3"}), ("LYN", {"HZ1", "HZ2"}), ("LYN", {"HZ2", "HZ3"})),
}
"""For each residue, its states with the hydrogens that identify them; the first match counts."""
FAMILIES = {
    **dict.fromkeys(("HIS", "HID", "HIE", "HIP"), "HIS"), **dict.fromkeys(("ASP", "ASH"), "ASP"),
    **dict.fromkeys(("GLU", "GLH"), "GLU"), **dict.fromkeys(("LYS", "LYN"), "LYS"),
}  # fmt: skip
USUAL = {"HIS": "HIE"}
"""State of a residue with its usual name, if that state has a different name."""
MAIN_CHAIN = ("N", "CA", "C", "O")
BACKBONE = frozenset(MAIN_CHAIN)
MAX_TOLERATED = 0.1
"""Share of repaired residues, or of coinciding atoms, above which the receptor counts as unfit."""


def read_receptor(path: Path, protonation: str = "names") -> tuple[Any, list[str], list[tuple[str, Any]]]:
    """Return the receptor's heavy atoms that have a template, notes, and left-out residues by name.

    Args:
        path: the file.
        protonation: whether residue ``names`` or the hydrogens of the ``file`` determine protonation states.
    """
    text = path.read_text("utf-8", "replace")
    structure = parse_structure(text, "The receptor's file", "a protein or nucleic acid")
    notes = []
    if len(structure) > 1:
        notes.append(f"The receptor's file has {len(structure)} models; the first was used.")
        del structure[1:]
    structure.setup_entities()
    keep_most_occupied(structure[0], notes, "the receptor's")
    check_places(structure[0])
    hydrogens = sum(each.atom.is_hydrogen() for each in structure[0].all())
    named = name_states(structure[0]) if protonation == "file" else []
    structure.remove_hydrogens()
    structure.remove_waters()
    given = count_residues(structure)
    left_out = remove_others(structure[0])
    structure.remove_empty_chains()
    put_main_chains_first(structure[0])
    if left_out:
        kept = f"Docked to {count_residues(structure)} of the {given} residues of its file without waters"
        names = [name for name, _ in left_out]
        notes.append(f"Left out of the receptor: {shorten(names)}. {kept}.")
    if hydrogens and protonation == "file":
        unusual = f", unlike at neutral pH: {shorten(named)}" if named else ""
        notes.append(f"The {hydrogens} hydrogens of the receptor's file were placed again. {KEPT}{unusual}.")
    elif hydrogens:
        notes.append(f"The {hydrogens} hydrogens of the receptor's file were replaced. {PROTONATION}")
    elif protonation == "file":
        notes.append(f"The receptor's file has no hydrogens. {PROTONATION}")
    if not any(True for _ in structure[0].all()):
        fail("The receptor has no protein or nucleic acid that Vina's preparation knows.")
    return structure, notes, left_out


def shorten_chain_names(structure: Any, notes: list[str]) -> dict[str, str]:
    """Rename chains with names longer than the one letter of a PDBQT; return the new names by the old."""
    given = [chain.name for chain in structure[0]]
    structure.shorten_chain_names()
    names = dict(zip(given, (chain.name for chain in structure[0]), strict=True))
    changed = [f"{old} is {new}" for old, new in names.items() if old != new]
    if changed:
        notes.append(f"Names of chains have one letter in the files of a docking: {shorten(changed)}.")
    return names


def name_states(model: Any) -> list[str]:
    """Name residues by their hydrogens; return those that differ from the usual state."""
    unusual = []
    for chain in model:
        for residue in chain:
            family = FAMILIES.get(residue.name)
            own = {atom.name for atom in residue if atom.is_hydrogen()}
            if family is None or not own:
                continue
            state = next((state for state, told in STATES[family] if told <= own), None)
            if state is None:
                continue
            residue.name = state
            if state != USUAL.get(family, family):
                unusual.append(f"{state} {name_of(chain, residue)}")
    return unusual


def check_places(model: Any) -> None:
    """Fail if an atom has no coordinates, or if many have the same ones as another."""
    places = [tuple(each.atom.pos.tolist()) for each in model.all()]
    for each, place in zip(model.all(), places, strict=True):
        if not all(map(math.isfinite, place)):
            where = name_of(each.chain, each.residue)
            fail(
                f"The coordinates of {each.atom.name} in {each.residue.name} {where} are damaged."
                " Correct the file."
            )
    shared = len(places) - len(set(places))
    if shared > MAX_TOLERATED * len(places):
        fail(f"{shared} of {len(places)} atoms of the receptor lie exactly on others. Correct the file.")


def count_residues(structure: Any) -> int:
    """Count residues of all kinds in the first model."""
    return sum(len(chain) for chain in structure[0])


def remove_others(model: Any) -> list[tuple[str, Any]]:
    """Remove everything but known chains and metal ions; return the removed residues with their names."""
    import gemmi
    from meeko import ResidueChemTemplates

    templates = ResidueChemTemplates.create_from_defaults()
    known = {*templates.residue_templates, *templates.ambiguous}
    left_out = []
    for chain in model:
        for index in reversed(range(len(chain))):
            residue = chain[index]
            if residue.name == "MSE":
                rename_selenomethionine(residue)
            is_part = residue.entity_type == gemmi.EntityType.Polymer or residue.name in ("HIE", "HID", "HIP")
            if not (residue.name in known and (is_part or residue.name in IONS)):
                left_out.append((f"{residue.name} {name_of(chain, residue)}", residue.clone()))
                del chain[index]
    return left_out[::-1]


def put_main_chains_first(model: Any) -> None:
    """Order atoms as in the PDB: otherwise Meeko takes a serine's hydroxyl for its carbonyl."""
    places = {name: index for index, name in enumerate(MAIN_CHAIN)}
    for chain in model:
        for residue in chain:
            copies = sorted((atom.clone() for atom in residue), key=lambda atom: places.get(atom.name, 9))
            for index in reversed(range(len(residue))):
                del residue[index]
            for atom in copies:
                residue.add_atom(atom)


def rename_selenomethionine(residue: Any) -> None:
    """Replace selenomethionine by methionine, as is usual for docking."""
    import gemmi

    residue.name = "MET"
    residue.het_flag = "A"
    for atom in residue:
        if atom.name == "SE":
            atom.name, atom.element = "SD", gemmi.Element("S")


def prepare_receptor(
    structure: Any, notes: list[str], flexible: Sequence[str] = ()
) -> tuple[str, dict[str, str]]:
    """Return the rigid receptor in PDBQT, and each flexible side chain.

    Residues that lack atoms of their side chains become alanine or glycine.
    """
    from meeko import PDBQTWriterLegacy

    polymer, bad = match_templates(structure)
    if bad:
        count = count_residues(structure)
        if len(bad) > MAX_TOLERATED * count:
            fail(
                f"{len(bad)} of {count} residues of the receptor lack atoms, for example {shorten(bad, 3)}."
                " Give a structure with whole side chains."
            )
        notes.append(f"Residues that lack atoms were cut back to alanine or glycine: {shorten(bad)}.")
        cut_back(structure, set(bad))
        polymer, bad = match_templates(structure)
        if bad:
            notes.append(f"Left out of the receptor, since atoms of the main chain lack: {shorten(bad)}.")
            remove_residues(structure, set(bad))
    free_side_chains(polymer, flexible)
    written: tuple[str, dict[str, str]] = PDBQTWriterLegacy.write_from_polymer(polymer)
    return written


def match_templates(structure: Any) -> tuple[Any, list[str]]:
    """Return Meeko's polymer, with its hydrogens, and the residues that match no template."""
    from meeko import MoleculePreparation, Polymer, PolymerCreationError, ResidueChemTemplates

    templates = ResidueChemTemplates.create_from_defaults()
    try:
        polymer = Polymer.from_pdb_string(
            structure.make_pdb_string(),
            templates,
            MoleculePreparation(),
            allow_bad_res=True,
        )
    except (PolymerCreationError, RuntimeError, ValueError, KeyError) as exc:
        fail(f"The receptor cannot be prepared: {' '.join(str(exc).split())[:300]}")
    return polymer, list(polymer.get_ignored_monomers())


def cut_back(structure: Any, names: set[str]) -> None:
    """Keep the main chain of these residues, and the first atom of the side chain if present."""
    for chain in structure[0]:
        for residue in chain:
            if name_of(chain, residue) in names and {atom.name for atom in residue} >= BACKBONE:
                has_side = residue.find_atom("CB", "*") is not None and residue.name != "GLY"
                kept = BACKBONE | {"CB", "OXT"} if has_side else BACKBONE | {"OXT"}
                for index in reversed(range(len(residue))):
                    if residue[index].name not in kept:
                        del residue[index]
                residue.name = "ALA" if has_side else "GLY"


def remove_residues(structure: Any, names: set[str]) -> None:
    """Remove these residues, so that the complex shows the receptor of the docking."""
    for chain in structure[0]:
        for index in reversed(range(len(chain))):
            if name_of(chain, chain[index]) in names:
                del chain[index]


def shorten(names: list[str], limit: int = 12) -> str:
    """Return the first names, and the number of further ones."""
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
