"""Superpose the models of an ensemble (NMR, simulation) on their mean, and measure the RMSF of each residue.

The mean structure is found by iteration: the models are fitted to it by all their common central atoms (Cα of
proteins, C3' of nucleic acids), and averaged again, until it no longer changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import gemmi
import numpy as np
import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.comparison.fitting import fit
from foldnote.results.comparison.traces import read_model_traces
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.core.numeric import Floats
from foldnote.results.structure.structure import Structure

_MIN_RESIDUES = 3
_MAX_ROUNDS = 50
_SAME_A = 1e-5
_COPY_A = 0.005
_MOVED_A = 1.0


@dataclass(frozen=True, eq=False)
class Ensemble(NotebookRepr):
    """The superposed models of one file.

    Attributes:
        structure: the file.
        transforms: for each model rotation (3, 3) and translation (3,) in Å: a point x of the file moves to
            ``rotation @ x + translation``.
        rmsf: one row per residue that all models have: ``chain``, ``number`` str, ``rmsf`` float64 in Å, the
            root mean square distance of its central atom from the mean position over all models.
    """

    structure: Structure
    transforms: tuple[tuple[Floats, Floats], ...]
    rmsf: pd.DataFrame

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.transforms)

    @property
    def are_copies(self) -> bool:
        """Whether the models are copies of one model, as in a biological assembly, rather than an ensemble.

        All must superpose within the precision of a file, 0.005 Å, and some must be rotated or translated by
        more than 1 Å. Then :meth:`foldnote.results.Structure.join_models` is the assembly.
        """
        first, shift = self.transforms[0]
        moved = max(
            float(np.abs(rotation - first).max() + np.abs(translation - shift).max())
            for rotation, translation in self.transforms
        )
        return bool(self.rmsf["rmsf"].max() <= _COPY_A and moved > _MOVED_A)

    def split(self) -> list[Structure]:
        """Return each superposed model as a structure of its own, in the format of the file.

        Raises:
            UnreadableFileError: the structure's file is damaged or holds no atoms.
        """
        whole = self.structure.to_gemmi()
        structures = []
        for index, (rotation, translation) in enumerate(self.transforms):
            single = whole.clone()
            for removed in range(len(single) - 1, -1, -1):
                if removed != index:
                    del single[removed]
            turn = gemmi.Transform(gemmi.Mat33(rotation.tolist()), gemmi.Vec3(*translation.tolist()))
            single[0].transform_pos_and_adp(turn)
            if self.structure.format == "pdb":
                text = single.make_pdb_string(gemmi.PdbWriteOptions(minimal=True))
            else:
                text = single.make_mmcif_document().as_string()
            structures.append(
                Structure(f"{self.structure.name}, model {index + 1}", self.structure.format, text)
            )
        return structures

    def __repr__(self) -> str:
        return f"<Ensemble {self.structure.name}: {len(self)} models>"


def superpose_models(structure: Structure) -> Ensemble:
    """Superpose the models of one file on their mean.

    Args:
        structure: a file of at least two models, as of NMR or a simulation.

    Raises:
        UnreadableFileError: the file has a single model, is damaged, or its models have fewer than three
            residues in common.
    """
    parsed = structure.to_gemmi()
    if len(parsed) < 2:
        raise UnreadableFileError(f"{structure.name} has one model; an ensemble has at least two.")
    models = []
    for model in parsed:
        traces = read_model_traces(structure, model)
        rows = (
            (t.chain, number, point)
            for t in traces
            for number, point in zip(t.numbers, t.points, strict=True)
        )
        models.append({(chain, number): point for chain, number, point in rows})
    common = [key for key in models[0] if all(key in points_by_residue for points_by_residue in models[1:])]
    if len(common) < _MIN_RESIDUES:
        raise UnreadableFileError(
            f"The models of {structure.name} have {len(common)} residues in common; "
            "at least three are needed."
        )
    points = np.array([[points_by_residue[key] for key in common] for points_by_residue in models])
    mean, transforms = _find_mean(points)
    moved = np.array([p @ r.T + t for p, (r, t) in zip(points, transforms, strict=True)])
    rmsf = np.sqrt(np.mean(np.sum((moved - mean) ** 2, axis=2), axis=0))
    frame = pd.DataFrame(common, columns=["chain", "number"]).assign(rmsf=rmsf)
    return Ensemble(structure, tuple(transforms), frame)


def _find_mean(points: Floats) -> tuple[Floats, list[tuple[Floats, Floats]]]:
    """Return the mean structure (n, 3) of the models (m, n, 3), and the fit of each model to it."""
    mean = points[0]
    transforms: list[tuple[Floats, Floats]] = []
    for _ in range(_MAX_ROUNDS):
        transforms = [fit(model, mean) for model in points]
        moved = np.array([p @ r.T + t for p, (r, t) in zip(points, transforms, strict=True)])
        last, mean = mean, moved.mean(axis=0)
        if np.abs(mean - last).max() < _SAME_A:
            break
    return mean, transforms
