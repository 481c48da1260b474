"""Laying one structure over another: which residues are paired, the best fit, RMSD and TM-score.

Residues are paired by their numbers where both chains are numbered alike, else by aligning the sequences. The
pairing is never taken from the structures: this compares models of the same or of similar sequences, and is
no structural alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, permutations, product

import gemmi
import numpy as np
import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.fitting import find_tm_score, fit, measure_rmsd
from foldnote.results.model import Model
from foldnote.results.numbers import Floats
from foldnote.results.shown import Shown
from foldnote.results.structure import Structure

_LEAST_PAIRS = 3
_LEAST_IDENTITY = 0.2
_MOST_TRIALS = 120
_FURTHEST_A = 1e6
_CENTRES = {"protein": "CA", "DNA": "C3'", "RNA": "C3'"}


@dataclass(frozen=True, eq=False)
class Superposition(Shown):
    """How a mobile structure lies best over a fixed one.

    Attributes:
        rotation: float64, shape (3, 3).
        translation: float64, shape (3,), Å; a mobile point x goes to ``rotation @ x + translation``.
        rmsd: over the paired atoms after the fit, Å: Cα of proteins, C3' of nucleic acids.
        tm_score: 0 to 1, over the paired protein residues by the definition of Zhang and Skolnick (2004),
            with the number of protein residues of the fixed structure as length and the best of many fits;
            None without protein. Not the score of a structural alignment.
        aligned: number of pairs.
        identity: share of the pairs with the same residue, 0 to 1.
        pairs: one row a pair: ``chain``, ``number``, ``mobile_chain``, ``mobile_number`` str, ``distance``
            float64 in Å after the fit.
    """

    rotation: Floats
    translation: Floats
    rmsd: float
    tm_score: float | None
    aligned: int
    identity: float
    pairs: pd.DataFrame

    @property
    def matrix(self) -> Floats:
        """Rotation and translation as one matrix, shape (4, 4), for points as columns (x, y, z, 1)."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.rotation, self.translation
        return matrix

    def move(self, points: Floats) -> Floats:
        """Points of the mobile structure where they come to lie, shape (n, 3), Å."""
        return np.asarray(points @ self.rotation.T + self.translation)

    def move_structure(self, structure: Structure | Model) -> gemmi.Structure:
        """The whole of a structure where it comes to lie, every model of it.

        Raises:
            UnreadableFileError: the structure's file is damaged or holds no atoms.
        """
        moved = _as_structure(structure).to_gemmi()
        transform = gemmi.Transform(
            gemmi.Mat33(self.rotation.tolist()), gemmi.Vec3(*self.translation.tolist())
        )
        for model in moved:
            model.transform_pos_and_adp(transform)
        return moved

    def __repr__(self) -> str:
        tm = "" if self.tm_score is None else f", TM-score {self.tm_score:.3f}"
        return f"<Superposition {self.aligned} pairs, RMSD {self.rmsd:.2f} Å{tm}>"


@dataclass(frozen=True, eq=False)
class _Trace:
    """The central atoms of one chain."""

    chain: str
    kind: str
    letters: str
    numbers: list[str]
    points: Floats


@dataclass(frozen=True, eq=False)
class _Pairing:
    """Rows of two traces that belong together."""

    fixed: _Trace
    mobile: _Trace
    rows: list[int]
    mobile_rows: list[int]

    @property
    def equal(self) -> int:
        return sum(
            self.fixed.letters[i] == self.mobile.letters[j]
            for i, j in zip(self.rows, self.mobile_rows, strict=True)
        )


def superpose(fixed: Structure | Model, mobile: Structure | Model) -> Superposition:
    """The best fit of ``mobile`` over ``fixed``; first models, polymers only.

    Chains of the same kind are paired by sequence, of several equal ones in the way that fits best.

    Raises:
        UnreadableFileError: a file is damaged, or fewer than three residues can be paired.
    """
    first, second = _as_structure(fixed), _as_structure(mobile)
    ours, theirs = _read_traces(first), _read_traces(second)
    pairings = _choose(ours, theirs)
    if sum(len(pairing.rows) for pairing in pairings) < _LEAST_PAIRS:
        raise UnreadableFileError(
            f"{second.name} cannot be laid over {first.name}: their chains have fewer than "
            f"{_LEAST_PAIRS} residues that can be paired by number or sequence."
        )
    return _measure(pairings, sum(len(trace.letters) for trace in ours if trace.kind == "protein"))


def _as_structure(item: Structure | Model) -> Structure:
    return item.structure if isinstance(item, Model) else item


def _measure(pairings: Sequence[_Pairing], length: int) -> Superposition:
    targets, points = _gather(pairings)
    rotation, translation = fit(points, targets)
    distances = np.linalg.norm(points @ rotation.T + translation - targets, axis=1)
    rows = [
        (p.fixed.chain, p.fixed.numbers[i], p.mobile.chain, p.mobile.numbers[j])
        for p in pairings
        for i, j in zip(p.rows, p.mobile_rows, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["chain", "number", "mobile_chain", "mobile_number"])
    proteins = [pairing for pairing in pairings if pairing.fixed.kind == "protein"]
    tm_score = None
    if proteins and sum(len(pairing.rows) for pairing in proteins) >= _LEAST_PAIRS:
        protein_targets, protein_points = _gather(proteins)
        tm_score = find_tm_score(protein_points, protein_targets, length)
    return Superposition(
        rotation=rotation,
        translation=translation,
        rmsd=float(np.sqrt(np.mean(distances**2))),
        tm_score=tm_score,
        aligned=len(rows),
        identity=sum(pairing.equal for pairing in pairings) / len(rows),
        pairs=frame.assign(distance=distances),
    )


def _gather(pairings: Sequence[_Pairing]) -> tuple[Floats, Floats]:
    return (
        np.concatenate([pairing.fixed.points[pairing.rows] for pairing in pairings]),
        np.concatenate([pairing.mobile.points[pairing.mobile_rows] for pairing in pairings]),
    )


def _read_traces(structure: Structure) -> list[_Trace]:
    traces = []
    kinds = {each.name: each.kind for each in structure.chains}
    for part in structure.to_gemmi()[0]:
        kind = kinds.get(part.name, "")
        wanted = _CENTRES.get(kind, "C3'")
        found = [
            (residue, atom)
            for residue in part.get_polymer().first_conformer()
            if (atom := residue.find_atom(wanted, "*")) is not None and _is_placed(atom)
        ]
        if kind and found:
            letters = (gemmi.find_tabulated_residue(r.name).one_letter_code.upper() for r, _ in found)
            traces.append(
                _Trace(
                    chain=part.name,
                    kind="protein" if kind == "protein" else "nucleic",
                    letters="".join(letter if letter.isalpha() else "X" for letter in letters),
                    numbers=[str(residue.seqid) for residue, _ in found],
                    points=np.array([atom.pos.tolist() for _, atom in found], dtype=np.float64),
                )
            )
    return traces


def _is_placed(atom: gemmi.Atom) -> bool:
    """Whether an atom's place is known and could be one (a damaged file holds anything)."""
    return all(abs(value) < _FURTHEST_A for value in atom.pos.tolist())


def _choose(ours: list[_Trace], theirs: list[_Trace]) -> list[_Pairing]:
    """One partner for each chain: the most similar, and among equal ones the assignment of least RMSD."""
    groups: dict[str, list[_Trace]] = {}
    for trace in ours:
        groups.setdefault(trace.letters, []).append(trace)
    left = list(theirs)
    choices: list[list[list[_Pairing]]] = []
    for letters, members in groups.items():
        twins = [trace for trace in left if trace.letters == letters and trace.kind == members[0].kind]
        if len(members) > 1 and len(twins) >= len(members):
            left = [trace for trace in left if trace not in twins]
            orders = list(zip(permutations(twins, len(members)), range(_MOST_TRIALS), strict=False))
            choices.append(
                [[_pair(a, b) for a, b in zip(members, order, strict=True)] for order, _ in orders]
            )
        else:
            choices.append([_pair_greedily(members, left)])
    trials = [
        list(chain.from_iterable(trial))
        for trial, _ in zip(product(*choices), range(_MOST_TRIALS), strict=False)
    ]
    if len(trials) == 1:
        return trials[0]
    return min(trials, key=_find_rmsd)


def _find_rmsd(pairings: Sequence[_Pairing]) -> float:
    targets, points = _gather(pairings)
    return measure_rmsd(points, targets)


def _pair_greedily(members: list[_Trace], left: list[_Trace]) -> list[_Pairing]:
    """The most similar partner left for each member, by name among equals; takes it out of ``left``."""
    found = []
    for member in members:
        tried = [_pair(member, other) for other in left if other.kind == member.kind]
        good = [pairing for pairing in tried if _is_similar(pairing)]
        if good:
            best = max(good, key=lambda pairing: (pairing.equal, pairing.mobile.chain == member.chain))
            left.remove(best.mobile)
            found.append(best)
    return found


def _is_similar(pairing: _Pairing) -> bool:
    is_numbered_alike = pairing.fixed.numbers == pairing.mobile.numbers
    return is_numbered_alike or pairing.equal >= _LEAST_IDENTITY * max(len(pairing.rows), 1) > 0


def _pair(fixed: _Trace, mobile: _Trace) -> _Pairing:
    if fixed.numbers == mobile.numbers or fixed.letters == mobile.letters:
        rows = list(range(len(fixed.letters)))
        return _Pairing(fixed, mobile, rows, rows)
    scoring = gemmi.AlignmentScoring("b")
    aligned = gemmi.align_string_sequences(list(fixed.letters), list(mobile.letters), [], scoring)
    above, below = aligned.add_gaps(fixed.letters, 1), aligned.add_gaps(mobile.letters, 2)
    rows, others = [], []
    i = j = 0
    for upper, lower in zip(above, below, strict=True):
        if upper != "-" and lower != "-":
            rows.append(i)
            others.append(j)
        i += upper != "-"
        j += lower != "-"
    return _Pairing(fixed, mobile, rows, others)
