"""The pLDDT of a structure, and the evidence for it.

The B-factor column may contain experimental B-factors, predicted errors in Å or zeros. Its values are taken
for a pLDDT only on evidence, in this order: a quality metric in mmCIF, a score file of the same prediction,
file names of a program that is known to write the pLDDT there, a header that mentions pLDDT. Without it, or
if two sources contradict each other, the structure has no pLDDT. A statement by the user counts as evidence
and is named as the source.

The pLDDT of a ligand is the mean over its atoms, of their B-factors or of the values in a score file. Without
these, a ligand of several atoms has none, because the value that mmCIF declares may not be the mean: Boltz-1
declares that of the first atom, Chai-1 none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gemmi
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldnote.errors import ArgumentError
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.core.numeric import Floats, scale_to_hundred
from foldnote.results.naming.families import EITHER_SCALE
from foldnote.results.structure.walk import walk_residues

_TOLERANCE = 0.51
"""Largest difference, on the scale 0 to 100, between values in a score file and in the B-factor column."""
_MEAN_TOLERANCE = 1.0
"""Largest difference between means, which programs take over residues, tokens or atoms."""
_HEADER = re.compile(r"PLDDT|ESMFOLD")
_ALPHAFOLD = re.compile(r"ALPHAFOLD MONOMER")
"""Title in files of the AlphaFold database, whose pLDDT is 0 to 100; edited copies keep the title."""
_CENTRAL = frozenset({"CA", "C1'"})
"""The atom whose pLDDT represents the residue."""
_PARENT = re.compile(r"(REMARK[^\n]*\n)*PARENT ")
"""First record of files in OpenFold's format; CASP submissions have other records before it."""


@dataclass(frozen=True, eq=False)
class Confidence(NotebookRepr):
    """The pLDDT of a structure's first model, 0 to 100, higher is better.

    Attributes:
        residues: one row per residue except waters, in file order: ``chain`` str, ``number`` str, ``residue``
            str (residue name), ``is_polymer`` bool, ``plddt`` float64 (missing if the source has none).
        atoms: one row per atom except waters, in file order: ``chain``, ``number``, ``residue``, ``atom``
            str, ``plddt`` float64. None if the source has values per residue only.
        source: source of the values, as text without a full stop.
    """

    residues: pd.DataFrame
    atoms: pd.DataFrame | None
    source: str

    @property
    def mean(self) -> float:
        """Mean over polymer residues, 0 to 100; over all residues if there is no polymer."""
        polymer = self.residues[self.residues["is_polymer"]]
        return float((self.residues if polymer.empty else polymer)["plddt"].mean())

    def __repr__(self) -> str:
        return f"<Confidence mean pLDDT {self.mean:.1f}, {len(self.residues)} residues; {self.source}>"


@dataclass(frozen=True, eq=False)
class StatedPlddt:
    """pLDDT values in a score file.

    Attributes:
        values: shape (n,), one per residue, token or atom, or only their mean; 0 to 1 or 0 to 100.
        source: name of the file.
    """

    values: Floats
    source: str


ReadClaims = Callable[[], Sequence[StatedPlddt]]


@dataclass(frozen=True, eq=False)
class _Layout:
    """Residues, atoms and B-factors of the first model, without waters.

    Attributes:
        names: name of each atom.
        owner: index of the residue of each atom.
        keys: ``label_asym_id`` and ``label_seq_id`` of each residue; the latter is empty outside polymers.
        b_factors: B-factor of each atom.
        central: B-factor of each residue's Cα or C1'; NaN without one.
    """

    residues: pd.DataFrame
    names: list[str]
    owner: NDArray[np.int64]
    keys: list[tuple[str, str]]
    b_factors: Floats
    central: Floats

    @property
    def atoms(self) -> pd.DataFrame:
        """The table of the atoms."""
        residues = self.residues[["chain", "number", "residue"]].take(self.owner.tolist())
        return residues.reset_index(drop=True).assign(atom=self.names)

    @property
    def is_polymer(self) -> NDArray[np.bool_]:
        return self.residues["is_polymer"].to_numpy(bool)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of atoms of each residue."""
        return np.bincount(self.owner, minlength=len(self.residues)).astype(np.int64)

    @property
    def residue_means(self) -> Floats:
        return self.average(self.b_factors)

    def average(self, values: Floats) -> Floats:
        """Return the mean per residue of values per atom."""
        return np.asarray(np.bincount(self.owner, values, len(self.residues)) / np.maximum(self.sizes, 1))


def find_confidence(
    structure: gemmi.Structure, text: str, form: str, claims: ReadClaims = tuple, family: str = ""
) -> Confidence | None:
    """Return the pLDDT of the first model; None without evidence of one.

    Args:
        structure: the parsed file.
        text: contents of the file.
        form: ``pdb`` or ``mmcif``.
        claims: function that returns the values in score files of the same model.
        family: program with this kind of file names, which writes the pLDDT as B-factors, or "".
    """
    header = text[: max(text.find("\nATOM"), 0)].upper() if form == "pdb" else ""
    is_declared = "_ma_qa_metric" in text if form == "mmcif" else _mentions(header)
    if not family and not is_declared and not list(claims()):
        return None  # returns without tabulating the atoms, which takes seconds for a capsid
    layout = _read_layout(structure)
    if layout.residues.empty:
        return None
    if form == "mmcif":
        declared = _find_declared(layout, text, claims)
        if declared is not None:
            return declared
    for claim in claims():
        confirmed = _check_claim(layout, claim)
        if confirmed is not None:
            return confirmed
    if family:
        take = _take_b_factors if family in EITHER_SCALE else _take_percent
        return take(layout, f"B-factors of a file named as {family} names them")
    if _HEADER.search(header):
        return _take_b_factors(layout, "B-factors, which the header calls pLDDT")
    if _ALPHAFOLD.search(header):
        return _take_percent(layout, "B-factors, in a file with the title of the AlphaFold database")
    if _PARENT.match(header):
        return _take_b_factors(layout, "B-factors, in a file that begins as OpenFold and ESMFold write it")
    return None


def _mentions(header: str) -> bool:
    """Return whether a PDB header contains one of the phrases that state what the B-factors are."""
    return bool(_HEADER.search(header) or _ALPHAFOLD.search(header) or _PARENT.match(header))


def read_stated_confidence(structure: gemmi.Structure, name: str) -> Confidence:
    """Return the B-factors as a pLDDT, as stated by the user.

    Raises:
        ArgumentError: they cannot be a pLDDT: some are negative or above 100, or all are equal.
    """
    layout = _read_layout(structure)
    confidence = _take_b_factors(layout, "B-factors, taken as pLDDT because the user said so")
    if confidence is None:
        values = layout.b_factors
        reason = (
            f"they range from {values.min():g} to {values.max():g}; a pLDDT is 0 to 100, or 0 to 1"
            if len(values) and not _is_constant(values)
            else "they are all equal"
        )
        raise ArgumentError(f"The B-factors of {name} cannot be a pLDDT: {reason}.")
    return confidence


def _read_layout(structure: gemmi.Structure) -> _Layout:
    residues: list[tuple[str, str, str, bool]] = []
    names: list[str] = []
    owner: list[int] = []
    keys: list[tuple[str, str]] = []
    values: list[float] = []
    central: list[float] = []
    for where, residue in walk_residues(structure[0]):
        if residue.entity_type == gemmi.EntityType.Water or not len(residue):
            continue
        is_polymer = residue.entity_type == gemmi.EntityType.Polymer
        keys.append((residue.subchain, str(residue.label_seq) if is_polymer else ""))
        own, factors = [atom.name for atom in residue], [atom.b_iso for atom in residue]
        names += own
        values += factors
        owner += [len(residues)] * len(own)
        residues.append((*where, is_polymer))
        index = (
            next((position for position, name in enumerate(own) if name in _CENTRAL), None)
            if is_polymer
            else None
        )
        central.append(np.nan if index is None else factors[index])
    return _Layout(
        residues=pd.DataFrame(residues, columns=["chain", "number", "residue", "is_polymer"]),
        names=names,
        owner=np.array(owner, dtype=np.int64),
        keys=keys,
        b_factors=np.array(values, dtype=np.float64),
        central=np.array(central, dtype=np.float64),
    )


def _make(layout: _Layout, residues: Floats, atoms: Floats | None, source: str) -> Confidence | None:
    """Return the confidence on the scale 0 to 100; None if the values cannot be a pLDDT."""
    scaled = scale_to_hundred(residues)
    of_atoms = None if atoms is None else scale_to_hundred(atoms)
    if scaled is None or (atoms is not None and of_atoms is None):
        return None
    frame = None if of_atoms is None else layout.atoms.assign(plddt=of_atoms)
    return Confidence(layout.residues.assign(plddt=scaled), frame, source)


def _take_b_factors(layout: _Layout, source: str) -> Confidence | None:
    """Return the B-factors as a pLDDT; None if they are all equal."""
    if _is_constant(layout.b_factors):
        return None
    return _make(layout, layout.residue_means, layout.b_factors, source)


def _take_percent(layout: _Layout, source: str) -> Confidence | None:
    """Return the B-factors of a program that writes 0 to 100; None if none is above 1."""
    return _take_b_factors(layout, source) if layout.b_factors.max(initial=0) > 1 else None


def _is_constant(values: Floats) -> bool:
    return bool(np.ptp(values) < 1e-6) if len(values) else True


def _check_claim(layout: _Layout, claim: StatedPlddt) -> Confidence | None:
    """Return a score file's pLDDT, if it has values per residue, token or atom that agree with B-factors."""
    if len(claim.values) == 1 < len(layout.residues):
        return _check_mean_claim(layout, float(claim.values[0]), claim.source)
    spread = _distribute(layout, claim.values)
    if spread is None:
        return None
    residues, atoms = spread
    if _is_constant(layout.b_factors):
        return _make(layout, residues, atoms, claim.source)
    own = layout.b_factors if atoms is not None else layout.residue_means
    is_known = np.ones(len(own), bool) if atoms is not None else np.isfinite(residues)
    if not _repeats(own[is_known], (residues if atoms is None else atoms)[is_known]):
        return None
    finer = atoms if atoms is not None else layout.b_factors
    return _make(layout, residues, finer, f"B-factors (same values as in {claim.source})")


def _check_mean_claim(layout: _Layout, mean: float, source: str) -> Confidence | None:
    """Return the B-factors, if their mean is the mean pLDDT in a score file."""
    confidence = _take_b_factors(layout, f"B-factors, whose mean is the mean pLDDT in {source}")
    expected = mean * 100 if mean <= 1 else mean
    return (
        confidence if confidence is not None and abs(confidence.mean - expected) <= _MEAN_TOLERANCE else None
    )


def _distribute(layout: _Layout, values: Floats) -> tuple[Floats, Floats | None] | None:
    """Return the values per residue, and per atom if available; None if their number does not match."""
    if len(values) == len(layout.residues):
        return values, None
    if len(values) == len(layout.atoms):
        return layout.average(values), values
    is_polymer = layout.is_polymer
    if len(values) == is_polymer.sum():
        filled = np.full(len(is_polymer), np.nan)
        filled[is_polymer] = values
        return filled, None
    return _distribute_tokens(layout, values)


def _distribute_tokens(layout: _Layout, values: Floats) -> tuple[Floats, Floats | None] | None:
    """Average one value per polymer residue and one per other atom (tokens) over residues."""
    sizes = np.where(layout.is_polymer, 1, layout.sizes)
    if sizes.sum() != len(values):
        return None
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return np.add.reduceat(values, starts) / sizes, None


def _repeats(own: Floats, claimed: Floats) -> bool:
    if len(own) == 0 or not np.isfinite(claimed).any() or not np.isfinite(own).any():
        return False
    expected = claimed * 100 if np.nanmax(claimed) <= 1 else claimed
    mine = own * 100 if np.nanmax(own) <= 1 else own
    # Up to one residue in fifty may differ, for example because of a damaged line.
    return bool(np.mean(np.abs(expected - mine) <= _TOLERANCE) >= 0.98)


def _find_declared(layout: _Layout, text: str, claims: ReadClaims) -> Confidence | None:
    """Return the pLDDT that an mmCIF file declares: a metric per residue, else its B-factors."""
    try:
        document = gemmi.cif.read_string(text)
    except (ValueError, RuntimeError):
        return None
    block = next((block for block in document if block.find_loop("_atom_site.id")), None)
    metrics = set() if block is None else _plddt_metrics(block)
    if block is None or not metrics:
        return None
    local = _read_local_metric(layout, block, metrics)
    if local is None:
        return _take_b_factors(layout, "B-factors, which the file declares to be a pLDDT")
    atoms = layout.b_factors if _has_finer_b_factors(layout, local) else None
    ligands, source = _average_ligands(layout, local, atoms, claims)
    return _make(layout, np.where(layout.is_polymer, local, ligands), atoms, source)


def _has_finer_b_factors(layout: _Layout, local: Floats) -> bool:
    """Return whether B-factors agree with the declared values, as residue means or at central atoms."""
    is_known = np.isfinite(local) & layout.is_polymer
    if _is_constant(layout.b_factors) or not is_known.any():
        return False
    return any(_repeats(own[is_known], local[is_known]) for own in (layout.residue_means, layout.central))


def _average_ligands(
    layout: _Layout, local: Floats, atoms: Floats | None, claims: ReadClaims
) -> tuple[Floats, str]:
    """Return values outside polymers on the scale of ``local``, means over atoms or NaN, and their source."""
    declared = "the file's own quality metric per residue"
    if not np.any(~layout.is_polymer & ((layout.sizes > 1) | ~np.isfinite(local))):
        return local, declared
    if atoms is not None:
        scale = _find_scale(local) / _find_scale(atoms)
        return layout.average(atoms) * scale, f"{declared}; of ligands, the mean over the atoms' B-factors"
    is_known = np.isfinite(local) & layout.is_polymer
    for claim in claims():
        spread = _distribute(layout, claim.values) if len(claim.values) > 1 else None
        if spread is not None and _repeats(spread[0][is_known], local[is_known]):
            scale = _find_scale(local) / _find_scale(claim.values)
            filled = np.where(np.isfinite(spread[0]), spread[0] * scale, local)
            return filled, f"{declared}; of ligands, the mean over their atoms in {claim.source}"
    is_single = layout.is_polymer | (layout.sizes == 1)
    return np.where(is_single, local, np.nan), f"{declared}; ligands have none without values of their atoms"


def _find_scale(values: Floats) -> float:
    """Return the maximum of the scale of pLDDT values: 1 or 100."""
    return 1.0 if np.nanmax(values) <= 1 else 100.0


def _plddt_metrics(block: gemmi.cif.Block) -> set[str]:
    """Return the ids of quality metrics whose name or type contains pLDDT."""
    table = block.find("_ma_qa_metric.", ["id", "name", "?type"])
    ids = set()
    for row in table:
        labels = [gemmi.cif.as_string(row[column]) for column in (1, 2) if row.has(column)]
        if any("plddt" in label.lower() for label in labels):
            ids.add(gemmi.cif.as_string(row[0]))
    return ids


def _read_local_metric(layout: _Layout, block: gemmi.cif.Block, metric_ids: set[str]) -> Floats | None:
    """Return the values of a pLDDT metric per residue, in residue order; None if most are missing."""
    columns = ["label_asym_id", "label_seq_id", "metric_id", "metric_value"]
    metrics: dict[tuple[str, str], float] = {}
    for row in block.find("_ma_qa_metric_local.", columns):
        if gemmi.cif.as_string(row[2]) in metric_ids:
            asym, value = gemmi.cif.as_string(row[0]), gemmi.cif.as_number(row[3])
            metrics.setdefault((asym, row[1]), value)
            metrics.setdefault((asym, ""), value)  # a ligand has its own asym id and no sequence number
    values = np.array([metrics.get(key, np.nan) for key in layout.keys])
    return values if np.isfinite(values).mean() > 0.5 else None
