"""A predicted model: a structure with its rank, scores, pLDDT and PAE.

:mod:`foldnote.results.prediction.grouping` assigns files to models and ranks them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.core.numeric import Floats
from foldnote.results.prediction.pae import Pae, make_pae
from foldnote.results.prediction.score_files import ScoreFiles
from foldnote.results.structure.confidence import Confidence, StatedPlddt
from foldnote.results.structure.geometry import COLUMNS
from foldnote.results.structure.structure import Structure
from foldnote.results.tables.tabular import Scalar

MEAN_PLDDT_NAMES = ("mean_plddt", "complex_plddt", "avg_plddt", "plddt_mean", "plddt")


@dataclass(frozen=True, eq=False)
class Model(NotebookRepr):
    """One model of a prediction.

    Attributes:
        name: file name of its structure.
        rank: 1 for the best model of its prediction; its place in the order of names if nothing ranks them.
        ranked_by: where the rank comes from: ``the program's list`` (``ranking_debug.json``), ``file name``,
            a score such as ``ranking_score``, or ``the program's choice`` if the program only marked the best
            model by a copy at the top of the folder. "" if there is no ranking and the models are in the
            order of their names.
        prediction: name of the prediction, from the file names; models are ranked within one prediction.
        structure: the structure; the relaxed one if there are several versions.
        variants: the other versions, such as the unrelaxed one.
        scores: single figures under the names and on the scale of the files; :data:`METRICS` defines the
            known ones. None where a file gives no value.
        files: names of the model's score files.
    """

    name: str
    rank: int
    ranked_by: str
    prediction: str
    structure: Structure
    variants: tuple[Structure, ...]
    scores: Mapping[str, Scalar]
    files: tuple[str, ...]
    _score_files: ScoreFiles = field(repr=False)

    @property
    def title(self) -> str:
        """Title such as ``Rank 2``; the file's name if the models are not ranked, as for designs."""
        return f"Rank {self.rank}" if self.ranked_by else PurePosixPath(self.name).name

    @property
    def confidence(self) -> Confidence | None:
        """The pLDDT per residue and per atom, 0 to 100, with its source; None if there is no evidence of one.

        Raises:
            UnreadableFileError: the structure's file is damaged or holds no atoms.
        """
        return self.structure.confidence

    @property
    def plddt(self) -> pd.DataFrame | None:
        """The pLDDT of the polymers' residues; see :attr:`foldnote.results.Structure.plddt`.

        Raises:
            UnreadableFileError: the structure's file is damaged or holds no atoms.
        """
        return self.structure.plddt

    @cached_property
    def pae(self) -> Pae | None:
        """The predicted aligned error in Å with the chain boundaries; None if no file has one."""
        for name in sorted(self.files, key=_rank_pae_file):
            contents = self._score_files.read(name)
            if contents.pae is not None:
                try:
                    parsed = self.structure.to_gemmi()
                except UnreadableFileError:
                    parsed = None
                pae = make_pae(contents.pae, name, contents.tokens, parsed)
                if pae is not None:
                    return pae
        return None

    @cached_property
    def chain_scores(self) -> Mapping[str, Floats]:
        """Scores of chains and chain pairs, under the names in the files.

        Float64 arrays of shape (C,) or (C, C) for C chains in the file's order; missing values are NaN. See
        :func:`foldnote.results.prediction.chain_tables.read_chain_tables`.
        """
        tables: dict[str, Floats] = {}
        for name in self.files:
            tables |= self._score_files.read(name).tables
        return tables

    @property
    def claims(self) -> list[StatedPlddt]:
        """The pLDDT values in the score files: first those per residue, token or atom, then means."""
        files = [self._score_files.read(name) for name in self.files]
        values = [StatedPlddt(file.plddt, file.file) for file in files if file.plddt is not None]
        figures = ((file.figures.get(name), file.file) for file in files for name in MEAN_PLDDT_NAMES)
        means = [StatedPlddt(np.array([v]), f) for v, f in figures if isinstance(v, float) and v > 0]
        return values + means

    def __repr__(self) -> str:
        if not self.ranked_by:
            return f"<Model {self.name}, not ranked>"
        return f"<Model rank {self.rank} by {self.ranked_by}: {self.name}>"


def make_geometry_table(models: Iterable[Model]) -> pd.DataFrame:
    """Tabulate the geometric outliers of several models.

    Returns:
        One row per outlier: ``model`` str, then the columns of :attr:`foldnote.results.Structure.geometry`.
        Empty if there are none.

    Raises:
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    tables = [model.structure.geometry.assign(model=model.name) for model in models]
    empty = pd.DataFrame(columns=["model", *COLUMNS]).astype({"model": "str", **COLUMNS})
    return pd.concat([empty, *tables], ignore_index=True)


def make_model_table(models: Iterable[Model], jobs: Container[str] = ()) -> pd.DataFrame:
    """Tabulate models and their scores.

    Args:
        models: the models, one row each.
        jobs: folders of a batch's jobs; if a model is in one, the table gets the column ``job``.

    Returns:
        See :attr:`foldnote.results.Result.model_table`.
    """
    front = ["prediction", "rank", "model"]
    rows = [{**m.scores, "prediction": m.prediction, "rank": m.rank, "model": m.name} for m in models]
    frame = pd.DataFrame(rows, columns=list(dict.fromkeys(front + [key for row in rows for key in row])))
    folders = [name.partition("/")[0] for name in frame["model"]]
    if any(folder in jobs for folder in folders):
        job_names = [folder if folder in jobs else None for folder in folders]
        frame.insert(0, "job", pd.Series(job_names, dtype="str"))
    return frame


def _rank_pae_file(name: str) -> tuple[bool, str]:
    """Sort key: files whose name suggests a PAE come first."""
    lower = name.lower()
    return (not any(word in lower for word in ("pae", "aligned_error", "full_data")), name)
