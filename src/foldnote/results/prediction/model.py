"""A predicted model: one structure with everything that the result says about it.

Files are put together and models are ranked by :mod:`foldnote.results.prediction.grouping`; here stands what
comes of it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.core.numeric import Floats
from foldnote.results.prediction.evidence import EvidenceBook
from foldnote.results.prediction.pae import Pae, make_pae
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
        rank: 1 for the best model of its prediction.
        ranked_by: what the rank is from: ``the program's list`` (``ranking_debug.json``), ``file name``, a
            figure such as ``ranking_score``, ``the program's choice`` where only the best model is marked, by
            a copy at the top, or "" where nothing ranks the models and they stand in the order of their
            names.
        prediction: what was predicted, as the file names call it; models are ranked within one prediction.
        structure: the structure; of several forms of one model the relaxed one.
        variants: its other forms, such as the unrelaxed one.
        scores: single figures, on the files' own scale and under their own names; :data:`METRICS` defines
            the known ones. None where a file says that there is no value.
        files: the files that say something about it.
    """

    name: str
    rank: int
    ranked_by: str
    prediction: str
    structure: Structure
    variants: tuple[Structure, ...]
    scores: Mapping[str, Scalar]
    files: tuple[str, ...]
    _book: EvidenceBook = field(repr=False)

    @property
    def confidence(self) -> Confidence | None:
        """The pLDDT per residue and per atom, 0 to 100, with its source; None without evidence of one.

        Raises:
            UnreadableFileError: the structure's file is damaged or holds no atoms.
        """
        return self.structure.confidence

    @property
    def plddt(self) -> pd.DataFrame | None:
        """The pLDDT of the polymers' residues: see :attr:`foldnote.results.Structure.plddt`.

        Raises:
            UnreadableFileError: the structure's file is damaged or holds no atoms.
        """
        return self.structure.plddt

    @cached_property
    def pae(self) -> Pae | None:
        """The predicted aligned error in Å with the borders between chains, or None without one."""
        for name in sorted(self.files, key=_pae_first):
            evidence = self._book.look_up(name)
            if evidence.pae is not None:
                try:
                    parsed = self.structure.to_gemmi()
                except UnreadableFileError:
                    parsed = None
                pae = make_pae(evidence.pae, name, evidence.tokens, parsed)
                if pae is not None:
                    return pae
        return None

    @cached_property
    def chain_scores(self) -> Mapping[str, Floats]:
        """Scores of chains and pairs of chains, under the files' own names.

        Float64 arrays of shape (C,) or (C, C), C chains in the file's order; NaN where there is no value. See
        :func:`foldnote.results.prediction.chain_tables.read_chain_tables`.
        """
        found: dict[str, Floats] = {}
        for name in self.files:
            found |= self._book.look_up(name).tables
        return found

    @property
    def claims(self) -> list[StatedPlddt]:
        """What the files of this model call its pLDDT: of residues, tokens or atoms first, then means."""
        said = [self._book.look_up(name) for name in self.files]
        values = [StatedPlddt(each.plddt, each.file) for each in said if each.plddt is not None]
        figures = ((each.figures.get(name), each.file) for each in said for name in MEAN_PLDDT_NAMES)
        means = [StatedPlddt(np.array([v]), f) for v, f in figures if isinstance(v, float) and v > 0]
        return values + means

    def __repr__(self) -> str:
        by = f" by {self.ranked_by}" if self.ranked_by else ""
        return f"<Model rank {self.rank}{by}: {self.name}>"


def make_geometry_table(models: Iterable[Model]) -> pd.DataFrame:
    """Where the geometry of models is not that of proteins; empty where nothing is wrong.

    Returns:
        One row an outlier: ``model`` str, then the columns of :attr:`foldnote.results.Structure.geometry`.

    Raises:
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    tables = [model.structure.geometry.assign(model=model.name) for model in models]
    empty = pd.DataFrame(columns=["model", *COLUMNS]).astype({"model": "str", **COLUMNS})
    return pd.concat([empty, *tables], ignore_index=True)


def make_model_table(models: Iterable[Model], jobs: Container[str] = ()) -> pd.DataFrame:
    """The models and their figures; see :attr:`foldnote.results.Result.model_table`.

    Args:
        models: one row each.
        jobs: the folders of a batch's jobs, which are then named.
    """
    front = ["prediction", "rank", "model"]
    rows = [{**m.scores, "prediction": m.prediction, "rank": m.rank, "model": m.name} for m in models]
    frame = pd.DataFrame(rows, columns=list(dict.fromkeys(front + [key for row in rows for key in row])))
    folders = [name.partition("/")[0] for name in frame["model"]]
    if any(folder in jobs for folder in folders):
        named = [folder if folder in jobs else None for folder in folders]
        frame.insert(0, "job", pd.Series(named, dtype="str"))
    return frame


def _pae_first(name: str) -> tuple[bool, str]:
    """Files that are named after an aligned error before the others."""
    lower = name.lower()
    return (not any(word in lower for word in ("pae", "aligned_error", "full_data")), name)
