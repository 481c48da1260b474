"""Solvent-accessible surface areas of atoms, by FreeSASA.

FreeSASA (Mitternacht, F1000Research 5, 189 (2016)), as built into RDKit, computes them by the algorithm of
Lee and Richards, J. Mol. Biol. 55, 379 (1971), with 20 slices per atom, a probe of 1.4 Å, and the ProtOr
radii of Tsai et al., J. Mol. Biol. 290, 253 (1999), which include the hydrogens of each heavy atom. Atoms
that ProtOr does not know have the van der Waals radius of their element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.results.core.numeric import Floats

PROBE_A = 1.4
METHOD = f"Lee and Richards, ProtOr radii, probe {PROBE_A} Å (FreeSASA)"


class AtomName(NamedTuple):
    """An atom's parent residue, name and element, which determine its radius."""

    residue: str
    atom: str
    element: str


def find_radii(names: Iterable[AtomName]) -> Floats:
    """Return the radius of each atom, shape (n,), Å."""
    return np.array([_find_radius(name) for name in names], dtype=np.float64)


@lru_cache(maxsize=4096)
def _find_radius(name: AtomName) -> float:
    """Return the radius of an atom, Å; queried singly, since an unknown atom makes FreeSASA return none."""
    from rdkit import rdBase
    from rdkit.Chem import rdFreeSASA

    with rdBase.BlockLogs():
        radii = rdFreeSASA.classifyAtoms(_make_molecule([name]))
    radius = float(radii[0]) if radii else 0.0
    return radius if radius > 0 else float(gemmi.Element(name.element).vdw_r)


def measure_areas(points: Floats, radii: Floats) -> Floats:
    """Return the solvent-accessible surface area of each atom, shape (n,), Å².

    Of atoms at the same position, the largest gets the whole area; FreeSASA alone returns no number there.

    Args:
        points: positions, shape (n, 3), Å.
        radii: as returned by :func:`find_radii`.
    """
    areas = np.zeros(len(points))
    largest = np.argsort(-radii, kind="stable")
    single = largest[np.unique(points[largest], axis=0, return_index=True)[1]]
    for rows in _split(points, np.sort(single), 2 * (float(radii.max(initial=0)) + PROBE_A)):
        areas[rows] = _measure_group(points[rows], radii[rows])
    return areas


def _split(points: Floats, rows: NDArray[np.int64], reach: float) -> Iterator[NDArray[np.int64]]:
    """Yield groups of atoms that are more than ``reach`` apart along an axis and cannot cover each other.

    FreeSASA's time and memory grow with the box around all atoms, and one atom may be thousands of Å away.
    """
    for axis in range(3) if len(rows) > 1 else ():
        order = rows[np.argsort(points[rows, axis], kind="stable")]
        cuts = np.flatnonzero(np.diff(points[order, axis]) > reach) + 1
        if len(cuts):
            for group in np.split(order, cuts):
                yield from _split(points, np.sort(group), reach)
            return
    if len(rows):
        yield rows


def _measure_group(points: Floats, radii: Floats) -> Floats:
    from rdkit.Chem import Conformer, rdFreeSASA

    molecule = _make_molecule([AtomName("", "", "C")] * len(points))
    conformer = Conformer(len(points))
    conformer.SetPositions(np.ascontiguousarray(points, dtype=np.float64))
    molecule.AddConformer(conformer)
    options = rdFreeSASA.SASAOpts(rdFreeSASA.LeeRichards, rdFreeSASA.Protor, PROBE_A)
    rdFreeSASA.CalcSASA(molecule, radii.tolist(), opts=options)
    return np.array([molecule.GetAtomWithIdx(row).GetDoubleProp("SASA") for row in range(len(points))])


def _make_molecule(names: Sequence[AtomName]) -> Any:
    """Return the atoms without bonds, since FreeSASA needs none."""
    from rdkit.Chem import Atom, AtomPDBResidueInfo, RWMol

    molecule = RWMol()
    for residue, name, element in names:
        atom = Atom(max(gemmi.Element(element).atomic_number, 1))
        padded = name if len(name) > 3 else f" {name:<3}"
        atom.SetMonomerInfo(AtomPDBResidueInfo(padded, residueName=residue))
        molecule.AddAtom(atom)
    return molecule
