"""Classify the residues of a structure as polymer, water or neither, if the file does not declare it.

gemmi uses PDB residue names, ATOM and HETATM records, and TER. Molecular-dynamics programs use other names,
write everything as ATOM, and put several chains, ions and waters into one unnamed chain; for such files
gemmi's classification is corrected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import gemmi

from foldnote.results.structure.residues import find_ion_element, find_role, has_backbone

_POLYMERS = ("protein", "DNA", "RNA")
_Type = gemmi.EntityType
_BOND_A = 2.0
_STRAINED_BOND_A = 2.5
"""Longest bond of successive residues in a model that is not relaxed, Å; other contacts are above 2.8."""
_HYDROGEN_BOND_A = 1.6
"""Longest bond of a hydrogen, Å: 1.35 at sulfur and selenium 1.5."""


def set_up_entities(structure: gemmi.Structure) -> None:
    """Assign an entity to every residue, recognising the names of AMBER, CHARMM and GROMACS."""
    is_declared = structure.input_format != gemmi.CoorFormat.Pdb and any(
        entity.entity_type != _Type.Unknown for entity in structure.entities
    )
    listed = {name for entity in structure.entities for name in entity.full_sequence}
    structure.setup_entities()
    if is_declared:
        return
    changed = [_correct_chain(chain, listed) for model in structure for chain in model]
    if any(changed):
        structure.entities = gemmi.EntityList()
        structure.assign_subchains(force=True)
        structure.ensure_entities()
        structure.deduplicate_entities()


def gather_conformers(structure: gemmi.Structure) -> None:
    """Gather residues of one number, if a file has one conformation after the other.

    An example is Ser 22 and Glu 23 of conformation A, followed by Pro 22 and Glu 23 of B: gemmi takes
    adjacent residues of one number for alternatives, but separated ones for further residues.
    """
    for chain in (chain for model in structure for chain in model):
        firsts: dict[tuple[str, int | None, str], int] = {}
        order: list[int] = []
        for index, residue in enumerate(chain):
            is_alternative = len(residue) > 0 and all(atom.has_altloc() for atom in residue)
            number = (residue.subchain, residue.seqid.num, residue.seqid.icode)
            order.append(firsts.setdefault(number, index) if is_alternative else index)
        if order != sorted(order):
            residues = [chain[index].clone() for index in sorted(range(len(order)), key=order.__getitem__)]
            _refill(chain, residues)


def gather_hydrogens(structure: gemmi.Structure) -> None:
    """Move hydrogens that are listed apart from their residue into it, as in files written by Open Babel.

    Otherwise they would form a separate residue. Separate hydrogens belong to the residue of the same number
    and name in which one of them is bonded to a heavy atom.
    """
    for chain in (chain for model in structure for chain in model):
        bare_indices = [index for index, residue in enumerate(chain) if _is_bare(residue)]
        if bare_indices and len(bare_indices) < len(chain):
            whole: dict[tuple[str, str], list[gemmi.Residue]] = {}
            for residue in chain:
                if not _is_bare(residue):
                    whole.setdefault((str(residue.seqid), residue.name), []).append(residue)
            absorbed = [index for index in bare_indices if _join_hydrogens(chain[index], whole)]
            for index in reversed(absorbed):
                del chain[index]


def _join_hydrogens(bare: gemmi.Residue, whole: Mapping[tuple[str, str], Sequence[gemmi.Residue]]) -> bool:
    """Copy a residue of hydrogens into the residue they belong to; return whether there is one."""
    for residue in whole.get((str(bare.seqid), bare.name), ()):
        if _is_bonded(bare, residue):
            for atom in bare:
                residue.add_atom(atom)
            return True
    return False


def _is_bare(residue: gemmi.Residue) -> bool:
    return len(residue) > 0 and all(atom.is_hydrogen() for atom in residue)


def _is_bonded(bare: gemmi.Residue, residue: gemmi.Residue) -> bool:
    """Return whether a hydrogen of ``bare`` is bonded to a heavy atom of ``residue``."""
    heavy = [atom.pos for atom in residue if not atom.is_hydrogen()]
    return any(hydrogen.pos.dist(position) < _HYDROGEN_BOND_A for hydrogen in bare for position in heavy)


def _refill(chain: gemmi.Chain, residues: list[gemmi.Residue]) -> None:
    while len(chain):
        del chain[-1]
    for residue in residues:
        chain.add_residue(residue)


def find_chain_kind(polymer: Sequence[gemmi.Residue]) -> str:
    """Classify a polymer as ``protein``, ``DNA``, ``RNA``, ``DNA/RNA hybrid`` or ``other``."""
    roles = [find_role(residue) for residue in polymer]
    protein, dna, rna = (roles.count(role) for role in _POLYMERS)
    if not protein + dna + rna:
        return (
            "protein"
            if any(residue.find_atom("CA", "*", gemmi.Element("C")) for residue in polymer)
            else "other"
        )
    if protein >= dna + rna:
        return "protein"
    return "DNA/RNA hybrid" if dna and rna else "DNA" if dna else "RNA"


def count_waters(residue: gemmi.Residue) -> int:
    """Return the number of water molecules in a residue; several if residue numbers restarted after 9999."""
    if residue.entity_type != _Type.Water:
        return 0
    first = next((atom for atom in residue if atom.name.startswith("O")), residue[0])
    return sum(atom.name == first.name and atom.altloc == first.altloc for atom in residue)


def _correct_chain(chain: gemmi.Chain, listed: set[str]) -> bool:
    """Set the entity types of a chain's residues; return whether any of them changed."""
    residues = list(chain)
    roles = [find_role(residue) for residue in residues]
    types = [_find_type(each, role, listed) for each, role in zip(residues, roles, strict=True)]
    _join_runs(residues, roles, types)
    _keep_linked(residues, types)
    for residue in residues:
        if element := find_ion_element(residue):
            residue[0].element = gemmi.Element(element)
    if all(residue.entity_type == entity_type for residue, entity_type in zip(residues, types, strict=True)):
        return False
    for residue, entity_type in zip(residues, types, strict=True):
        residue.entity_type = entity_type
    _put_polymer_first(chain)
    return True


def _find_type(residue: gemmi.Residue, role: str, listed: set[str]) -> gemmi.EntityType:
    """Return the entity type of a single residue, corrected if its name or atoms contradict gemmi's."""
    own = residue.entity_type
    if role == "water":
        return _Type.Water
    if own != _Type.Polymer or residue.name in listed or role in (*_POLYMERS, "cap"):
        return own
    return own if not role and has_backbone(residue) else _Type.NonPolymer


def _join_runs(residues: list[gemmi.Residue], roles: list[str], types: list[gemmi.EntityType]) -> None:
    """Set runs of two or more ATOM residues with polymer or cap names to polymer, except free ones."""
    start = 0
    while start < len(residues):
        end = start
        while end < len(residues) and roles[end] in (*_POLYMERS, "cap") and residues[end].het_flag != "H":
            end += 1
        if end - start > 1:
            run = residues[start:end]
            types[start:end] = [
                types[start + place] if _is_free(run, place) else _Type.Polymer for place in range(len(run))
            ]
        start = max(end, start + 1)


def _is_free(run: list[gemmi.Residue], place: int) -> bool:
    """Return whether a residue after TER is bonded to neither neighbour, such as a free amino acid."""
    if run[place].entity_type != _Type.NonPolymer:
        return False
    neighbours = run[max(0, place - 1) : place + 2]
    return not any(_may_be_bonded(before, after) for before, after in pairwise(neighbours))


def _may_be_bonded(before: gemmi.Residue, after: gemmi.Residue) -> bool:
    """Return whether two residues are bonded, or lack the backbone atoms that would tell."""
    start, end = _find_end(after, ("N", "P")), _find_end(before, ("C", "O3'"))
    return start is None or end is None or start.pos.dist(end.pos) < _STRAINED_BOND_A


def _keep_linked(residues: list[gemmi.Residue], types: list[gemmi.EntityType]) -> None:
    """Keep residues of any name in the polymer if they are bonded to both neighbouring residues."""
    for index in range(1, len(residues) - 1):
        before, own, after = residues[index - 1 : index + 2]
        if own.entity_type != _Type.Polymer or types[index] != _Type.NonPolymer:
            continue
        ends = (_find_end(before, ("C", "O3'")), _find_end(after, ("N", "P")))
        if all(end is not None and any(end.pos.dist(atom.pos) < _BOND_A for atom in own) for end in ends):
            types[index] = _Type.Polymer


def _find_end(residue: gemmi.Residue, names: Sequence[str]) -> gemmi.Atom | None:
    return next((atom for name in names if (atom := residue.find_atom(name, "*")) is not None), None)


def _put_polymer_first(chain: gemmi.Chain) -> None:
    """Move the polymer residues of a chain before all others, keeping the order otherwise."""
    residues = [residue.clone() for residue in chain]
    if not any(
        a.entity_type != _Type.Polymer and b.entity_type == _Type.Polymer for a, b in pairwise(residues)
    ):
        return
    _refill(chain, sorted(residues, key=lambda residue: residue.entity_type != _Type.Polymer))
