"""Prepare the text of a structure for 3Dmol.js.

3Dmol.js draws cartoons only for nucleotides with PDB names, so AMBER and CHARMM names (``RA5``, ``GUA``) are
replaced. Large structures lose their waters, which are not drawn; if they are still too large, only one atom
per polymer residue is kept, so that a capsid is drawn in seconds. Of several models only the first is kept:
3Dmol.js would draw all models of an mmCIF file on top of each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import gemmi

from foldnote.residue_names import find_parent
from foldnote.results import Structure

MAX_ATOMS = 60_000
"""Maximum number of atoms of a structure that is drawn in full."""
_BARE = re.compile(r"(?!(?:data|save|loop|stop|global)_)[A-Za-z0-9][A-Za-z0-9_.+-]*", re.IGNORECASE)
"""Pattern of names that need no quotes in CIF, whose reserved words end in an underscore."""
_RECORDS = ("ATOM", "HETATM")
_Type = gemmi.EntityType


@dataclass(frozen=True)
class ModelText:
    """The text of a structure in a scene.

    Attributes:
        text: PDB or mmCIF.
        atoms: number of its atoms.
        is_reduced: whether polymers have one atom per residue only.
        note: caveat for readers of the picture; may be empty.
    """

    text: str
    atoms: int
    is_reduced: bool = False
    note: str = ""


def write_model_text(structure: Structure) -> ModelText:
    """Return the text to draw the first model of a structure from.

    Raises:
        UnreadableFileError: the file is damaged or holds no atoms.
    """
    parsed = structure.to_gemmi()
    counts = _count_atoms(parsed[0])
    total = sum(counts.values())
    if total > MAX_ATOMS:
        return _reduce(parsed, structure.format, counts)
    text = structure.text if len(parsed) == 1 else _write_first(parsed, structure)
    if structure.format == "mmcif":
        text = _unquote(text, {chain.name for chain in parsed[0]})
    renamed = _list_renamed(structure) if structure.format == "pdb" else {}
    return ModelText(_rename(text, renamed) if renamed else text, total)


def list_other_locations(text: str, form: str) -> list[int]:
    """Return the indices of the atoms that are not in the first alternate location of their residue.

    3Dmol.js draws only location A of a PDB file, so that a ligand only in location B would be missing, but
    all locations of an mmCIF file.

    Args:
        text: PDB or mmCIF.
        form: ``pdb`` or ``mmcif``.

    Returns:
        0-based indices among the atoms of the first model.
    """
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    rows = _walk_pdb(text) if form == "pdb" else _walk_mmcif(text) if form == "mmcif" else ()
    return [
        index
        for index, (owner, residue, location) in enumerate(rows)
        if location and first.setdefault(owner, (residue, location)) != (residue, location)
    ]


def list_insertion_codes(text: str, form: str) -> list[tuple[int, int, str]]:
    """Return the insertion codes of an mmCIF file, which 3Dmol.js ignores; empty for another format.

    Args:
        text: the file.
        form: ``mmcif`` or another format.

    Returns:
        Index of the first atom in the first model, number of atoms, code.
    """
    runs: list[tuple[int, int, str]] = []
    for index, ((*_, code), _, _) in enumerate(_walk_mmcif(text) if form == "mmcif" else ()):
        if code in ("", ".", "?"):
            continue
        first, count, last = runs[-1] if runs else (0, 0, "")
        if last == code and first + count == index:
            runs[-1] = (first, count + 1, code)
        else:
            runs.append((index, 1, code))
    return runs


def _walk_pdb(text: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield the chain and number, residue name and alternate location of each atom of the first model."""
    for line in text.splitlines():
        if line.startswith("ENDMDL"):
            return
        if line.startswith(_RECORDS):
            yield (line[21:22], line[22:27]), line[17:20], line[16:17].strip()


def _walk_mmcif(text: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
    names = ("auth_asym_id", "auth_seq_id", "?pdbx_PDB_ins_code", "label_comp_id", "label_alt_id")
    table = gemmi.cif.read_string(text)[0].find("_atom_site.", [*names, "?pdbx_PDB_model_num"])
    model = table[0].get(5) if len(table) else None
    for row in table:
        if row.get(5) != model:
            return
        location = row[4]
        yield (row[0], row[1], row.get(2) or ""), row[3], "" if location in (".", "?") else location


def _count_atoms(model: gemmi.Model) -> dict[str, int]:
    counts = {"water": 0, "polymer": 0, "other": 0}
    for chain in model:
        for residue in chain:
            kind = {_Type.Water: "water", _Type.Polymer: "polymer"}.get(residue.entity_type, "other")
            counts[kind] += len(residue)
    return counts


def _reduce(parsed: gemmi.Structure, form: str, counts: dict[str, int]) -> ModelText:
    is_trace = counts["polymer"] + counts["other"] > MAX_ATOMS
    has_others = counts["other"] <= MAX_ATOMS
    reduced = gemmi.Structure()
    reduced.add_model(gemmi.Model(1))
    for chain in parsed[0]:
        reduced_chain = gemmi.Chain(chain.name)
        for residue in chain:
            if residue.entity_type == _Type.Polymer:
                reduced_chain.add_residue(_trace(residue) if is_trace else residue)
            elif residue.entity_type != _Type.Water and has_others:
                reduced_chain.add_residue(residue)
        if len(reduced_chain):
            reduced[0].add_chain(reduced_chain)
    reduced.setup_entities()
    note = _describe(counts, has_others) if is_trace else ""
    return ModelText(_write(reduced, form), reduced[0].count_atom_sites(), is_trace, note)


def _write_first(parsed: gemmi.Structure, structure: Structure) -> str:
    """Return the text of the first of several models; of a PDB file unchanged, with the bonds."""
    if structure.format == "pdb":
        first, _, following = structure.text.partition("\nENDMDL")
        bonds = [line for line in following.splitlines() if line.startswith("CONECT")]
        return "\n".join([first, "ENDMDL", *bonds, "END", ""])
    del parsed[1:]
    return _write(parsed, structure.format)


def _trace(residue: gemmi.Residue) -> gemmi.Residue:
    """Copy a residue with only its Cα or C4', else its first atom."""
    reduced = gemmi.Residue()
    reduced.name, reduced.seqid, reduced.het_flag = residue.name, residue.seqid, residue.het_flag
    reduced.entity_type, reduced.subchain, reduced.label_seq = (
        residue.entity_type,
        residue.subchain,
        residue.label_seq,
    )
    atom = residue.find_atom("CA", "*", gemmi.Element("C")) or residue.find_atom("C4'", "*")
    if atom is not None or len(residue):
        reduced.add_atom(atom or residue[0])
    return reduced


def _write(structure: gemmi.Structure, form: str) -> str:
    if form == "pdb":
        return str(structure.make_pdb_string(gemmi.PdbWriteOptions(minimal=True)))
    groups = gemmi.MmcifOutputGroups(False)
    groups.atoms = groups.group_pdb = True
    names = {chain.name for chain in structure[0]}
    return _unquote(str(structure.make_mmcif_block(groups).as_string()), names)


def _unquote(text: str, names: Iterable[str]) -> str:
    """Remove the quotes around these chain names in mmCIF text where allowed.

    3Dmol.js keeps the quotes as part of the name, so that the chain is not found and not drawn. gemmi and
    other programs quote names such as ``chain_A``.
    """
    patterns = [re.escape(name) for name in names if "_" in name and _BARE.fullmatch(name)]
    return re.sub(rf"""(?<!\S)(['"])({"|".join(patterns)})\1(?!\S)""", r"\2", text) if patterns else text


def _describe(counts: dict[str, int], has_others: bool) -> str:
    total = sum(counts.values())
    omission = "" if has_others else f"; the {counts['other']:,} atoms outside polymers are not drawn"
    return (
        f"This structure has {total:,} atoms. Above {MAX_ATOMS:,} only one atom per residue is drawn, as a "
        f"sphere{omission}. Values and tables are computed from all atoms."
    )


def _list_renamed(structure: Structure) -> dict[str, str]:
    """Map nucleotide names in the file to PDB names, where they differ."""
    kinds = {chain.name: chain.kind for chain in structure.chains}
    if not any("NA" in kind for kind in kinds.values()):
        return {}
    names = {
        residue.name
        for chain in structure.to_gemmi()[0]
        if "NA" in kinds.get(chain.name, "")
        for residue in chain.get_polymer()
    }
    return {name: find_parent(name) for name in names if find_parent(name) != name}


def _rename(text: str, names: dict[str, str]) -> str:
    padded = {f"{name:>3}": f"{parent:>3} " for name, parent in names.items()}
    return "".join(
        f"{line[:17]}{padded[name]}{line[21:]}"
        if line.startswith(_RECORDS) and (name := line[17:21].rstrip()) in padded
        else line
        for line in text.splitlines(keepends=True)
    )
