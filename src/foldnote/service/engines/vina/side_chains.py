"""Flexible side chains of the receptor: their selection, separation from the rigid part, and final positions.

Meeko separates them from the rigid receptor. Cα is the fixed root of each and belongs to its flexible part;
the rest of the main chain stays rigid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain as concatenate
from typing import Any

from engine_protocol import fail

MOST_TORSIONS = 32
"""Maximum rotatable bonds of ligand and side chains; AutoDock's limit, Vina has none."""
MAIN_CHAIN = frozenset({"N", "CA", "C", "O", "OXT"})
IMMOBILE = frozenset({"GLY", "ALA", "PRO"})
"""Amino acids without a side-chain bond whose rotation moves another heavy atom."""

Triple = tuple[float, float, float]
Places = Mapping[tuple[str, str], Mapping[str, Triple]]
"""Coordinates in Å of atoms by name, of each side chain by chain and residue number with insertion code."""


def list_flexible(
    settings: Mapping[str, Any], structure: Any, left_out: Sequence[tuple[str, Any]]
) -> list[str]:
    """Return the residues that the settings make flexible, such as ``A:99``; fail if one cannot be.

    Args:
        settings: settings of the job.
        structure: the receptor of the docking.
        left_out: residues of the file that are not part of it, by name.
    """
    asked = settings.get("flexibleResidues") or {}
    known = {name_of(chain, residue): residue for chain in structure[0] for residue in chain}
    names = [name for chain, text in asked.items() for name in expand(chain, text, list(known))]
    names = list(dict.fromkeys(names))
    others = {name.split()[1]: name for name, _ in left_out}
    for name in names:
        residue = known.get(name)
        if residue is None and name in others:
            fail(f"{others[name]} cannot be flexible, since it was left out of the receptor.")
        if residue is None:
            fail(
                f"The receptor has no residue {name}, so it cannot be flexible."
                f" {describe_extent(structure, name)}"
            )
        if not {atom.name for atom in residue} >= {"N", "CA", "C"}:
            fail(f"{residue.name} {name} cannot be flexible: only side chains of amino acids can.")
        if residue.name in IMMOBILE:
            fail(f"{residue.name} {name} cannot be flexible: it has no side chain that can turn.")
    return names


def expand(chain: str, text: str, known: Sequence[str]) -> Iterator[str]:
    """Yield the residues of a chain that the setting names; ``105-107`` is a range in file order.

    Args:
        chain: the chain.
        text: numbers and ranges, separated by spaces.
        known: all residues of the receptor, such as ``A:99``.
    """
    for word in text.split():
        first, hyphen, last = word[1:].partition("-")
        ends = [f"{chain}:{word[0]}{first}", f"{chain}:{last}"]
        if not hyphen or f"{chain}:{word}" in known:
            yield f"{chain}:{word}"
        elif not set(ends) <= set(known):
            yield from ends  # the caller says which of them is not there
        else:
            yield from known[known.index(ends[0]) : known.index(ends[1]) + 1]


def describe_extent(structure: Any, name: str) -> str:
    """Describe the extent of the chain in which a residue does not exist."""
    chains = {chain.name: chain for chain in structure[0]}
    chain = chains.get(name.partition(":")[0])
    if chain is None or len(chain) == 0:
        return f"Its chains are {', '.join(chains)}."
    return f"Its chain {chain.name} extends from {chain[0].seqid} to {chain[-1].seqid}."


def free_side_chains(polymer: Any, names: Sequence[str]) -> None:
    """Make the side chains of these residues flexible in Meeko's polymer; fail if one lacks atoms."""
    from meeko import MoleculePreparation

    valid = polymer.get_valid_monomers()
    for name in names:
        if name not in valid or valid[name].input_resname in IMMOBILE:
            fail(f"{name} cannot be flexible, since the receptor's file lacks atoms of its side chain.")
        hold_main_chain(valid[name].molsetup)
        polymer.flexibilize_sidechain(name, MoleculePreparation())


def hold_main_chain(setup: Any) -> None:
    """Keep the bonds of the main chain rigid, which Meeko does only between two peptide bonds."""
    names = {atom.index: atom.pdbinfo.name for atom in setup.atoms if atom.pdbinfo is not None}
    for pair, bond in setup.bond_info.items():
        if all(names.get(index) in MAIN_CHAIN for index in pair):
            bond.rotatable = False


def check_torsions(ligand: str, flexible: Mapping[str, str], names: Sequence[str]) -> None:
    """Fail if a side chain cannot rotate, or if there are too many rotatable bonds.

    Args:
        ligand: the ligand in PDBQT.
        flexible: each flexible side chain in PDBQT.
        names: the requested residues.
    """
    held = next((name for name in names if name not in flexible), None)
    if held is not None:
        fail(f"{held} cannot be flexible: none of the bonds of its side chain can turn, as in a disulfide.")
    own, others = count_torsions(ligand), sum(map(count_torsions, flexible.values()))
    if flexible and own + others > MOST_TORSIONS:
        fail(
            f"{own + others} bonds would turn, {own} of the ligand and {others} of the side chains. At most"
            f" {MOST_TORSIONS} are searched together, as in AutoDock: each is one more dimension, and poses"
            " would be found by chance only. Choose fewer flexible residues."
        )


def count_torsions(text: str) -> int:
    """Count the rotatable bonds of a PDBQT."""
    return sum(line.startswith("BRANCH") for line in text.splitlines())


def list_side_chain_places(structure: Any, names: Sequence[str]) -> dict[str, list[Triple]]:
    """Return the file's coordinates of these side chains, Cα included; in Å, by residue."""
    wanted = frozenset(names)
    return {
        name_of(chain, residue): [
            tuple(atom.pos.tolist()) for atom in residue if atom.name == "CA" or atom.name not in MAIN_CHAIN
        ]
        for chain in structure[0]
        for residue in chain
        if name_of(chain, residue) in wanted
    }


def read_side_chains(poses: str) -> list[Places]:
    """Return the positions of the flexible side chains in each pose of a PDBQT.

    Meeko writes a residue's insertion code only in its BEGIN_RES line.
    """
    found: list[dict[tuple[str, str], dict[str, Triple]]] = []
    owner: tuple[str, str] | None = None
    for line in poses.splitlines():
        if line.startswith("MODEL"):
            found.append({})
        elif line.startswith(("BEGIN_RES", "END_RES")):
            words = line.split()
            owner = (words[-2], words[-1]) if words[0] == "BEGIN_RES" else None
        elif owner is not None and line.startswith(("ATOM", "HETATM")):
            place = (float(line[30:38]), float(line[38:46]), float(line[46:54]))
            found[-1].setdefault(owner, {})[line[12:16].strip()] = place
    return found


def move_side_chains(structure: Any, places: Places) -> None:
    """Move the heavy atoms of flexible side chains to their positions in a pose."""
    import gemmi

    for chain in structure[0]:
        for residue in chain:
            moved = places.get((chain.name, str(residue.seqid)), {})
            for atom in residue:
                if atom.name in moved:
                    atom.pos = gemmi.Position(*moved[atom.name])


def find_extent(places: Mapping[str, Sequence[Triple]]) -> tuple[Triple, Triple]:
    """Return the lowest and highest x, y and z of all places."""
    axes = list(zip(*concatenate.from_iterable(places.values()), strict=True))
    return tuple(map(min, axes)), tuple(map(max, axes))


def list_outside(
    places: Mapping[str, Sequence[Triple]], center: Sequence[float], size: Sequence[float]
) -> Iterator[str]:
    """Yield the residues with an atom outside of a box."""
    for name, own in places.items():
        if any(
            abs(value - middle) > edge / 2
            for place in own
            for value, middle, edge in zip(place, center, size, strict=True)
        ):
            yield name


def name_of(chain: Any, residue: Any) -> str:
    """Return a residue's identifier in Meeko's format: chain, number, insertion code."""
    return f"{chain.name}:{residue.seqid}"
