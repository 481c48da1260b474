"""Superposition of two structures: residue pairs, least-squares fit, RMSD and TM-score.

:meth:`Superposition.refit` fits a selection of the pairs, such as the framework of an antibody.

Residues are paired by number if the chains share a numbering, else by sequence alignment, or by structural
alignment on request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import gemmi
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.residue_names import UNKNOWN
from foldnote.results.comparison.chain_assignment import assign_chains, assign_chains_by_structure, gather
from foldnote.results.comparison.fitting import find_tm_score, fit
from foldnote.results.comparison.pairing import (
    PairChains,
    Pairing,
    pair_by_number,
    pair_by_sequence,
    pair_chains,
)
from foldnote.results.comparison.traces import CentralAtoms, read_traces
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.core.numeric import Floats
from foldnote.results.prediction.model import Model
from foldnote.results.structure.structure import Structure
from foldnote.text import count

PairingMethod = Literal["auto", "numbers", "sequence", "structure"]

_MIN_PAIRS = 3
_PAIR_CHAINS: Mapping[str, PairChains] = {
    "auto": pair_chains,
    "numbers": pair_by_number,
    "sequence": pair_by_sequence,
}


@dataclass(frozen=True, eq=False)
class Superposition(NotebookRepr):
    """The least-squares superposition of a mobile structure on a fixed one.

    Attributes:
        rotation: float64, shape (3, 3).
        translation: float64, shape (3,), Å; a mobile point x moves to ``rotation @ x + translation``.
        rmsd: RMSD of all paired atoms after the fit, Å: Cα of proteins, C3' of nucleic acids.
        tm_score: TM-score of the paired protein residues (Zhang and Skolnick, 2004), 0 to 1, normalized by
            the number of protein residues in the fixed structure; None if fewer than three are paired. It is
            the maximum over many superpositions, not that of the least-squares fit.
        mobile_tm_score: the same, normalized by the number of protein residues in the mobile structure.
        pairing: how residues were paired: ``residue numbers``, ``sequence``, ``structure``, or
            ``residue numbers and sequence`` if different parts were paired differently.
        aligned: number of pairs.
        coverage: fraction of the fixed structure's residues that are paired, 0 to 1.
        mobile_coverage: fraction of the mobile structure's residues that are paired, 0 to 1.
        identity: fraction of the pairs with identical residues, 0 to 1; an unknown residue (``X``) is
            identical with none.
        pairs: one row per pair: ``chain``, ``number``, ``mobile_chain``, ``mobile_number`` str, ``distance``
            float64 in Å after the fit.
        points: coordinates of the paired atoms of the fixed structure, float64, shape (n, 3), Å.
        mobile_points: those of the mobile structure before the fit, float64, shape (n, 3), Å.
        is_identical: whether the residues of each pair have the same letter, bool, shape (n,).
        fitted: number of the pairs that the fit minimizes the RMSD of; all of them unless :meth:`refit`.
    """

    rotation: Floats
    translation: Floats
    rmsd: float
    tm_score: float | None
    mobile_tm_score: float | None
    pairing: str
    aligned: int
    coverage: float
    mobile_coverage: float
    identity: float
    pairs: pd.DataFrame
    points: Floats
    mobile_points: Floats
    is_identical: NDArray[np.bool_]
    fitted: int

    @property
    def matrix(self) -> Floats:
        """The transformation as a homogeneous matrix, float64 (4, 4), for column vectors (x, y, z, 1)."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.rotation, self.translation
        return matrix

    def move(self, points: Floats) -> Floats:
        """Superpose points of the mobile structure, shape (n, 3), Å; returns the same shape."""
        return np.asarray(points @ self.rotation.T + self.translation)

    def move_structure(self, structure: Structure | Model) -> gemmi.Structure:
        """Superpose a complete structure, including all its models, ligands and waters.

        Args:
            structure: usually the mobile structure.

        Returns:
            A moved copy.

        Raises:
            UnreadableFileError: the structure's file is damaged or holds no atoms.
        """
        moved = _get_structure(structure).to_gemmi()
        transform = gemmi.Transform(
            gemmi.Mat33(self.rotation.tolist()), gemmi.Vec3(*self.translation.tolist())
        )
        for model in moved:
            model.transform_pos_and_adp(transform)
        return moved

    def refit(self, residues: Collection[tuple[str, str]]) -> Superposition:
        """Return the superposition that minimizes the RMSD of some pairs only; the pairs stay the same.

        Args:
            residues: (chain, number) of residues in the fixed structure.

        Raises:
            ArgumentError: fewer than three of these residues are paired.
        """
        is_selected = self.select(residues)
        if int(is_selected.sum()) < _MIN_PAIRS:
            raise ArgumentError(
                f"Of {count(len(residues), 'selected residue')}, {int(is_selected.sum())} "
                f"{'has' if is_selected.sum() == 1 else 'have'} a counterpart; "
                f"a superposition needs at least {_MIN_PAIRS}."
            )
        rotation, translation = fit(self.mobile_points[is_selected], self.points[is_selected])
        distances = np.linalg.norm(self.mobile_points @ rotation.T + translation - self.points, axis=1)
        return replace(
            self,
            rotation=rotation,
            translation=translation,
            rmsd=_average(distances),
            pairs=self.pairs.assign(distance=distances),
            fitted=int(is_selected.sum()),
        )

    def select(self, residues: Collection[tuple[str, str]]) -> NDArray[np.bool_]:
        """Return whether each pair has one of these (chain, number) of the fixed structure; shape (n,)."""
        selected = set(residues)
        return np.array(
            [key in selected for key in zip(self.pairs["chain"], self.pairs["number"], strict=True)]
        )

    def __repr__(self) -> str:
        tm = "" if self.tm_score is None else f", TM-score {self.tm_score:.3f}"
        return f"<Superposition {self.aligned} pairs by {self.pairing}, RMSD {self.rmsd:.2f} Å{tm}>"


def superpose(
    fixed: Structure | Model, mobile: Structure | Model, *, pairing: PairingMethod = "auto"
) -> Superposition:
    """Superpose ``mobile`` on ``fixed``, using the polymers of the first model of each.

    Each chain is paired with the most similar one; identical copies are assigned so that they fit best.
    Unrelated chains are left out.

    Args:
        fixed: the reference structure.
        mobile: the structure to be moved.
        pairing: how residues are paired. ``auto``: by residue number if the chains share a numbering (an
            antibody scheme, or numbers under which the sequences agree), else by sequence alignment
            (BLOSUM62) if the sequences are similar enough. ``numbers`` or ``sequence``: by that method only;
            ``numbers`` ignores the sequences. ``structure``: by a structural alignment of the Cα atoms that
            maximizes the TM-score; proteins only.

    Raises:
        ArgumentError: ``pairing`` is not one of these.
        UnreadableFileError: a file is damaged, or fewer than three residues can be paired.
    """
    first, second = _get_structure(fixed), _get_structure(mobile)
    fixed_traces, mobile_traces = read_traces(first), read_traces(second)
    if pairing == "structure":
        pairings = assign_chains_by_structure(fixed_traces, mobile_traces)
    elif pairing in _PAIR_CHAINS:
        pairings = assign_chains(fixed_traces, mobile_traces, _PAIR_CHAINS[pairing])
    else:
        names = ", ".join(repr(name) for name in [*_PAIR_CHAINS, "structure"])
        raise ArgumentError(f"There is no pairing {pairing!r}. Choose one of {names}.")
    if sum(len(paired.rows) for paired in pairings) < _MIN_PAIRS:
        reason = _explain_failure(fixed_traces, mobile_traces, pairing)
        raise UnreadableFileError(f"{second.name} cannot be superposed on {first.name}: {reason}")
    return _make_superposition(pairings, fixed_traces, mobile_traces)


def _get_structure(item: Structure | Model) -> Structure:
    return item.structure if isinstance(item, Model) else item


def _explain_failure(
    fixed_traces: Sequence[CentralAtoms], mobile_traces: Sequence[CentralAtoms], pairing: PairingMethod
) -> str:
    kinds = {trace.kind for trace in fixed_traces} & {trace.kind for trace in mobile_traces}
    if pairing == "structure":
        return "a structural alignment needs a protein chain of at least three residues in both."
    if not kinds:
        return "they have no chains of the same kind, protein or nucleic acid."
    reasons = {
        "auto": "their chains share no numbering, and their sequences are not similar enough to align",
        "numbers": f"their chains have fewer than {_MIN_PAIRS} residue numbers in common",
        "sequence": "the sequences of their chains are not similar enough to align",
    }
    advice = " Pair residues by structural alignment: pairing='structure'." if "protein" in kinds else ""
    return f"{reasons[pairing]}.{advice}"


def _make_superposition(
    pairings: Sequence[Pairing], fixed_traces: Sequence[CentralAtoms], mobile_traces: Sequence[CentralAtoms]
) -> Superposition:
    targets, points = gather(pairings)
    rotation, translation = fit(points, targets)
    distances = np.linalg.norm(points @ rotation.T + translation - targets, axis=1)
    rows = [
        (p.fixed.chain, p.fixed.numbers[i], p.mobile.chain, p.mobile.numbers[j])
        for p in pairings
        for i, j in zip(p.rows, p.mobile_rows, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["chain", "number", "mobile_chain", "mobile_number"])
    tm_score, mobile_tm_score = _find_tm_scores(pairings, fixed_traces, mobile_traces)
    is_identical = np.array(
        [
            p.fixed.letters[i] == p.mobile.letters[j] != UNKNOWN
            for p in pairings
            for i, j in zip(p.rows, p.mobile_rows, strict=True)
        ]
    )
    return Superposition(
        rotation=rotation,
        translation=translation,
        rmsd=_average(distances),
        tm_score=tm_score,
        mobile_tm_score=mobile_tm_score,
        pairing=" and ".join(sorted({segment.method for p in pairings for segment in p.segments})),
        aligned=len(rows),
        coverage=len(rows) / sum(map(len, fixed_traces)),
        mobile_coverage=len(rows) / sum(map(len, mobile_traces)),
        identity=float(is_identical.mean()),
        pairs=frame.assign(distance=distances),
        points=targets,
        mobile_points=points,
        is_identical=is_identical,
        fitted=len(rows),
    )


def _average(distances: Floats) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(distances**2)))


def _find_tm_scores(pairings: Sequence[Pairing], *sides: Sequence[CentralAtoms]) -> tuple[float | None, ...]:
    """Return the TM-scores of the paired proteins, normalized by the length of each of ``sides``."""
    targets, points = gather([pairing for pairing in pairings if pairing.fixed.kind == "protein"])
    if len(points) < _MIN_PAIRS:
        return tuple(None for _ in sides)
    lengths = [sum(len(trace) for trace in traces if trace.kind == "protein") for traces in sides]
    scores = {length: find_tm_score(points, targets, length) for length in set(lengths)}
    return tuple(scores[length] for length in lengths)
