"""Small molecules: atoms, bonds and properties as plain data.

For the formats see :mod:`foldnote.results.molecules.molfile`, :mod:`foldnote.results.molecules.mol2` and
:mod:`foldnote.results.molecules.pdbqt`. Aromaticity, hydrogens and charges are those of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import isfinite
from typing import TypeVar

import gemmi
import numpy as np
import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.core.messages import explain
from foldnote.results.core.numeric import Floats
from foldnote.results.tables.tabular import Scalar

MAX_ATOMS = 100_000
T = TypeVar("T")

AtomRow = tuple[str, str, float, float, float, float]
BondRow = tuple[int, int, float]


class RecordError(ValueError):
    """A record cannot be read; the message says why."""


@dataclass(frozen=True, eq=False)
class Molecule(NotebookRepr):
    """One record of an SDF, MOL2 or PDBQT file, or one line of SMILES.

    Attributes:
        name: title of the record; "" if it has none.
        file: name of the file.
        index: 0-based position of the record in the file.
        format: ``sdf``, ``mol2``, ``pdbqt`` or ``smiles``; ``pdb`` for a residue of a structure's file.
        atoms: one row per atom: ``name`` str, ``element`` str, ``x``, ``y``, ``z`` float64 in Å, ``charge``
            float64 in elementary charges (formal in SDF, partial in the others; missing if the file has
            none).
        bonds: one row per bond: ``first`` and ``second`` int64, 0-based rows of ``atoms``; ``order`` float64,
            1.5 for aromatic bonds, missing if unknown. For PDBQT, the bonds of the SMILES that Meeko writes
            into the file.
        properties: the record's properties; numeric values as numbers.
        text: the record's text; for SMILES, an SDF record generated from it; "" for a residue of a structure.
    """

    name: str
    file: str
    index: int
    format: str
    properties: Mapping[str, Scalar]
    text: str = field(repr=False)
    _atom_rows: Sequence[AtomRow] = field(repr=False)
    _bond_rows: Sequence[BondRow] = field(repr=False)
    _elements: Mapping[str, int] | None = field(repr=False, default=None)
    _isotope_shift: float = field(repr=False, default=0.0)

    def __post_init__(self) -> None:
        """Validate atoms and bonds.

        Raises:
            RecordError: there is no atom, a coordinate is not finite, or a bond refers to a missing atom.
        """
        if not self._atom_rows:
            raise RecordError("it holds no atoms")
        if not all(isfinite(x) and isfinite(y) and isfinite(z) for _, _, x, y, z, _ in self._atom_rows):
            raise RecordError("a coordinate is not a finite number")
        count = len(self._atom_rows)
        if any(not (0 <= first < count and 0 <= second < count) for first, second, _ in self._bond_rows):
            raise RecordError("a bond refers to a missing atom")

    @cached_property
    def atoms(self) -> pd.DataFrame:
        """The atoms, one per row; see the class for the columns."""
        return pd.DataFrame(list(self._atom_rows), columns=["name", "element", "x", "y", "z", "charge"])

    @cached_property
    def bonds(self) -> pd.DataFrame:
        """The bonds, one per row; see the class for the columns."""
        frame = pd.DataFrame(list(self._bond_rows), columns=["first", "second", "order"])
        return frame.astype({"first": "int64", "second": "int64", "order": "float64"})

    @property
    def names(self) -> list[str]:
        """Names of the atoms, as in :attr:`atoms`."""
        return [row[0] for row in self._atom_rows]

    @property
    def elements(self) -> list[str]:
        """Elements of the atoms, as in :attr:`atoms`."""
        return [row[1] for row in self._atom_rows]

    @property
    def charges(self) -> Floats:
        """Charges of the atoms, as in :attr:`atoms`, NaN where the file has none; shape (n,)."""
        return np.array([row[5] for row in self._atom_rows], dtype=np.float64)

    @property
    def bond_rows(self) -> Sequence[BondRow]:
        """The rows of :attr:`bonds` without a DataFrame, for loops over thousands of molecules."""
        return self._bond_rows

    @property
    def coordinates(self) -> Floats:
        """Coordinates of the atoms in Å, shape (n, 3)."""
        return np.array([row[2:5] for row in self._atom_rows], dtype=np.float64)

    @property
    def heavy_atoms(self) -> int:
        """Number of atoms other than hydrogen."""
        return sum(element not in ("H", "D") for _, element, *_ in self._atom_rows)

    @property
    def has_all_hydrogens(self) -> bool:
        """Whether :attr:`formula` counts every hydrogen.

        An SDF may omit hydrogens, which follow from the valences. A PDBQT has polar hydrogens only; the
        others follow from the SMILES that Meeko writes.
        """
        return self._elements is not None or (self.format not in ("pdbqt", "sdf") and "H" in self._counts)

    @property
    def formula(self) -> str:
        """Formula in Hill order; unless :attr:`has_all_hydrogens`, with the hydrogens of the file only.

        The charge is not part of it.
        """
        counts = self._counts
        first = [symbol for symbol in ("C", "H") if symbol in counts] if "C" in counts else []
        order = [*first, *sorted(symbol for symbol in counts if symbol not in first)]
        return "".join(f"{symbol}{counts[symbol] if counts[symbol] > 1 else ''}" for symbol in order)

    @property
    def mass(self) -> float | None:
        """Mean molar mass of :attr:`formula` in g/mol (Da).

        None where hydrogens are missing from the formula, or where it has dummy atoms, ``X``. Isotopes given
        in an SDF have their own mass; the formula distinguishes only deuterium.
        """
        if not self.has_all_hydrogens or "X" in self._counts:
            return None
        mean = sum(gemmi.Element(symbol).weight * count for symbol, count in self._counts.items())
        return mean + self._isotope_shift

    @property
    def _counts(self) -> Mapping[str, int]:
        return self._elements or Counter(element for _, element, *_ in self._atom_rows)

    @property
    def is_flat(self) -> bool:
        """Whether all z coordinates are zero, as in a 2D drawing."""
        return all(row[4] == 0 for row in self._atom_rows)

    def to_gemmi(self) -> gemmi.Structure:
        """Convert the atoms to one residue ``LIG`` of chain ``A``, coordinates in Å, without bonds."""
        residue = gemmi.Residue()
        residue.name, residue.seqid, residue.het_flag = "LIG", gemmi.SeqId("1"), "H"
        for name, element, position in zip(
            self.atoms["name"], self.atoms["element"], self.coordinates.tolist(), strict=True
        ):
            atom = gemmi.Atom()
            atom.name, atom.element = str(name)[:4], gemmi.Element(str(element))
            atom.pos, atom.occ = gemmi.Position(*position), 1.0
            residue.add_atom(atom)
        chain, model = gemmi.Chain("A"), gemmi.Model(1)
        chain.add_residue(residue)
        model.add_chain(chain)
        structure = gemmi.Structure()
        structure.name = self.name
        structure.add_model(model)
        structure.setup_entities()
        return structure

    def __repr__(self) -> str:
        return f"<Molecule {self.name or f'{self.index + 1} of {self.file}'}: {self.formula}>"


@dataclass(frozen=True)
class MoleculeFile:
    """The records of one file.

    Attributes:
        molecules: those that can be read.
        problems: a message for each record that cannot be read.
    """

    molecules: tuple[Molecule, ...]
    problems: tuple[str, ...]


@lru_cache(maxsize=1024)
def find_element(symbol: str) -> str:
    """Return the element's symbol in standard spelling; ``X`` for anything else (a dummy or query atom)."""
    element = gemmi.Element(symbol.strip().capitalize())
    return str(element.name)


def read_value(text: str) -> Scalar:
    """Convert the text of a property to a number if possible; ``2021_07`` is not a number."""
    stripped = text.strip()
    if "_" in stripped:
        return stripped
    for kind in (int, float):
        try:
            return kind(stripped)
        except (ValueError, OverflowError):
            continue
    return stripped


def read_records(
    records: Iterable[tuple[str, T]], read: Callable[[T, int], Molecule], name: str
) -> MoleculeFile:
    """Read the records of a file, with a message for each that cannot be read.

    Args:
        records: pairs of a label for messages, such as ``Record 2``, and the record to pass to ``read``.
        read: reads a record, given its 0-based index.
        name: the file's name.

    Raises:
        UnreadableFileError: no record can be read.
    """
    molecules, problems = [], []
    for index, (label, record) in enumerate(records):
        try:
            molecules.append(read(record, index))
        except (ValueError, IndexError, OverflowError, RuntimeError) as exc:
            problems.append(f"{label} of {name} cannot be read: {explain(exc)}.")
    if not molecules:
        raise UnreadableFileError(problems[0] if problems else f"{name} holds no molecule.")
    return MoleculeFile(tuple(molecules), tuple(problems))
