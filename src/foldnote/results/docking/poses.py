"""Docked poses: recognise them among a result's molecules, and rank them as the program did."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import pandas as pd

from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.metrics.registry import find_metric
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.naming.families import find_rank, strip_packing
from foldnote.results.naming.file_kinds import structure_order
from foldnote.results.tables.tabular import Scalar

FLEXIBLE = "flexible residues"
"""Property of a pose: names of the receptor's residues that were flexible."""
_CONFIDENCE = re.compile(r"confidence[_=]?(-?\d+(?:\.\d+)?)")
_RANKED = re.compile(r"[_.\-]?(rank|pose)[_.\-]?\d+|[_.\-]?confidence[_=]?-?\d+(\.\d+)?")
_FORMATS = ("sdf", "mol2", "pdbqt")
_POSE_WORD = re.compile(r"(^|[^a-z])(rank|poses?|dock|docked|out)(?=[^a-z]|$)")
_NO_LIGAND = frozenset({"pose", "poses", "out", "output", "docked", "docking", "result", "results", "rank"})
_ENERGIES = ("affinity", "minimizedAffinity", "free_energy", "docking_score")


@dataclass(frozen=True, eq=False)
class Pose(NotebookRepr):
    """One pose of a ligand.

    Attributes:
        file: name of the file.
        ligand: name of the ligand, from the name of the file or its folder, or the title of the record in a
            file of several ligands; "" if they do not give one.
        rank: 1 for the best pose of its ligand.
        ranked_by: ``file name``, ``order in the file``, the name of a score, or "" if the poses are not
            ranked.
        molecule: atoms, bonds and properties; coordinates in Å in the receptor's frame.
        scores: scores under the program's names; :data:`METRICS` defines the known ones. Foldnote adds
            ``rmsd_to_reference`` in Å where there is a reference ligand.
        reference: name of the reference ligand, such as ``BEN A:1``; "" without one.
    """

    file: str
    ligand: str
    rank: int
    ranked_by: str
    molecule: Molecule
    scores: Mapping[str, float]
    reference: str = ""

    def __repr__(self) -> str:
        by = f" by {self.ranked_by}" if self.ranked_by else ""
        return f"<Pose rank {self.rank}{by}: {self.ligand or self.file}>"


def rank_poses(molecules: Iterable[Molecule], *, has_receptor: bool) -> tuple[Pose, ...]:
    """Find the poses among molecules, best first within each ligand and folder.

    A molecule is a pose if it has a docking score or its file is named like one. If there are none but there
    is a receptor, every molecule with 3D coordinates is a pose. SMILES have no coordinates and are left out,
    and so are files of reference ligands. The records of one file are poses of one ligand, unless all have
    titles and not all have the same heavy atoms: then those of one title are.

    Args:
        molecules: all molecules of a result.
        has_receptor: whether the result holds a structure.
    """
    placed = [
        molecule_record
        for molecule_record in molecules
        if molecule_record.format != "smiles" and not is_reference_file(molecule_record.file)
    ]
    scored = [(molecule, find_scores(molecule)) for molecule in _drop_duplicate_formats(placed)]
    candidates = [pair for pair in scored if _is_pose(*pair)]
    if not candidates and has_receptor:
        candidates = [pair for pair in scored if not pair[0].is_flat]
    mixed = _find_mixed_files([molecule for molecule, _ in candidates])
    groups: dict[tuple[str, str, str], list[tuple[Molecule, dict[str, float]]]] = defaultdict(list)
    for molecule, scores in candidates:
        title = molecule.name if molecule.file in mixed else ""
        groups[*_find_group(molecule), title].append((molecule, scores))
    poses: list[Pose] = []
    for key in sorted(groups, key=lambda key: (structure_order(key[0]), structure_order(key[1]))):
        poses += _rank_group(key[2] or key[1], _drop_unscored_copies(groups[key]))
    return tuple(poses)


def is_reference_file(name: str) -> bool:
    """Return whether a file of molecules is the reference ligand of poses next to it (``reference.sdf``)."""
    return PurePosixPath(strip_packing(name)).stem.lower() == "reference"


def find_scores(molecule: Molecule) -> dict[str, float]:
    """Collect the properties that are known metrics, and the confidence in a file name (DiffDock)."""
    scores = {
        name: float(value)
        for name, value in molecule.properties.items()
        if isinstance(value, int | float) and find_metric(name) is not None
    }
    match = _CONFIDENCE.search(PurePosixPath(strip_packing(molecule.file)).stem)
    return scores | ({"confidence": float(match[1])} if match else {})


def make_pose_table(poses: Sequence[Pose]) -> pd.DataFrame:
    """Tabulate poses and their scores.

    Returns:
        One row per pose: ``ligand`` str, ``rank`` int64, ``file`` str, ``record`` int64 (1-based position in
        the file), ``formula`` str, with flexible side chains ``flexible residues`` str, their names, then one
        float64 column per score under the program's name, and last,
        with a reference ligand, ``rmsd_to_reference`` float64 in Å and ``reference`` str, its name.
    """
    rows: list[dict[str, Scalar]] = [
        {
            "ligand": pose.ligand,
            "rank": pose.rank,
            "file": pose.file,
            "record": pose.molecule.index + 1,
            "formula": pose.molecule.formula,
            **{name: text for name, text in pose.molecule.properties.items() if name == FLEXIBLE},
            **pose.scores,
            **({"reference": pose.reference} if pose.reference else {}),
        }
        for pose in poses
    ]
    columns = ["ligand", "rank", "file", "record", "formula"]
    return pd.DataFrame(rows, columns=None if rows else columns)


def _is_pose(molecule: Molecule, scores: Mapping[str, float]) -> bool:
    return bool(_POSE_WORD.search(strip_packing(molecule.file))) or any(
        (metric := find_metric(name)) is not None and metric.group == "docking" for name in scores
    )


def _find_mixed_files(molecules: Iterable[Molecule]) -> set[str]:
    """Return the names of files with poses of several ligands, whose titles tell them apart."""
    records: dict[str, list[Molecule]] = defaultdict(list)
    for molecule in molecules:
        records[molecule.file].append(molecule)
    return {name for name, found in records.items() if len(found) > 1 and _are_several_ligands(found)}


def _are_several_ligands(molecules: Sequence[Molecule]) -> bool:
    heavy = {
        frozenset(Counter(element for element in each.elements if element not in ("H", "D")).items())
        for each in molecules
    }
    return len(heavy) > 1 and all(each.name for each in molecules)


def _find_group(molecule: Molecule) -> tuple[str, str]:
    path = PurePosixPath(molecule.file)
    stem = PurePosixPath(strip_packing(path.name)).stem
    plain = _RANKED.sub("", stem).strip("_.-")
    return str(path.parent), "" if plain in _NO_LIGAND else plain or path.parent.name


def _drop_duplicate_formats(molecules: Iterable[Molecule]) -> list[Molecule]:
    """Drop files that repeat the same poses in another format; the format with bonds is kept.

    A PDBQT with flexible side chains is kept, with the properties of its copy in another format.
    """
    kept = list(molecules)
    own = {(_strip_suffix(item.file), item.index): item for item in kept if FLEXIBLE in item.properties}
    if own:
        others = [item for item in kept if item.format != "pdbqt"]
        copies = {(_strip_suffix(item.file), item.index): item for item in others}
        kept = [item for item in kept if (_strip_suffix(item.file), item.index) not in own]
        kept += [_describe_as(item, copies.get(key)) for key, item in own.items()]
    forms: dict[str, set[str]] = defaultdict(set)
    for item in kept:
        forms[_strip_suffix(item.file)].add(item.format)
    best = {name: next(form for form in _FORMATS if form in available) for name, available in forms.items()}
    return [item for item in kept if item.format == best[_strip_suffix(item.file)]]


def _describe_as(molecule: Molecule, copy: Molecule | None) -> Molecule:
    """Return the molecule with name and properties of a copy with the same atoms in another format."""
    if copy is None or copy.formula != molecule.formula:
        return molecule
    properties = {**copy.properties, FLEXIBLE: molecule.properties[FLEXIBLE]}
    return replace(molecule, name=copy.name, properties=properties)


def _strip_suffix(name: str) -> str:
    return str(PurePosixPath(strip_packing(name)).with_suffix(""))


def _drop_unscored_copies(
    group: list[tuple[Molecule, dict[str, float]]],
) -> list[tuple[Molecule, dict[str, float]]]:
    """Drop copies of ranked files that some programs write a second time without the score in the name."""
    scored = {find_rank(molecule.file) for molecule, scores in group if "confidence" in scores}
    return [
        (molecule, scores)
        for molecule, scores in group
        if "confidence" in scores
        or find_rank(molecule.file) is None
        or find_rank(molecule.file) not in scored
    ]


def _rank_group(ligand: str, group: list[tuple[Molecule, dict[str, float]]]) -> list[Pose]:
    def in_order(pair: tuple[Molecule, dict[str, float]]) -> tuple[object, ...]:
        return (structure_order(pair[0].file), pair[0].index)

    ranks = {molecule.file: find_rank(molecule.file) for molecule, _ in group}
    ordered = sorted(group, key=in_order)
    ranked_by = ""
    energy = next((name for name in _ENERGIES if all(name in scores for _, scores in group)), "")
    if all(rank is not None for rank in ranks.values()):
        ordered = sorted(ordered, key=lambda pair: (ranks[pair[0].file] or 0, pair[0].index))
        ranked_by = "file name"
    elif len(ranks) == 1 and len(group) > 1:
        ranked_by = "order in the file"
    elif energy:
        ordered = sorted(ordered, key=lambda pair: pair[1][energy])
        ranked_by = energy
    return [
        Pose(molecule.file, ligand, rank, ranked_by, molecule, scores)
        for rank, (molecule, scores) in enumerate(ordered, 1)
    ]
