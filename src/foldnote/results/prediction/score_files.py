"""Read JSON, npz and npy files: single figures, pLDDT, PAE with its tokens, and per-chain scores.

Files are read on demand. Which model a file belongs to is decided in
:mod:`foldnote.results.prediction.grouping`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from foldnote.results.core.numeric import Floats, as_floats, as_matrix
from foldnote.results.metrics.registry import has_scores
from foldnote.results.naming.families import is_bulk, strip_packing
from foldnote.results.naming.file_kinds import structure_order
from foldnote.results.prediction.chain_tables import read_chain_tables
from foldnote.results.prediction.pae import TokenLabels, label_tokens
from foldnote.results.tables.arrays import Array, read_npy, read_npz
from foldnote.results.tables.tabular import Scalar, find_figures, read_json

PLDDT_NAMES = ("plddt", "atom_plddts", "atom_plddt", "confidencescore", "plddts", "per_residue_plddt")
PAE_NAMES = ("pae", "predicted_aligned_error", "token_pair_pae", "full_pae")
_MAX_SIDE = 20_000
"""A matrix given as lists of residue pairs is ignored if it has more rows."""
_MAX_CACHED_VALUES = 4_000_000
"""Files with a larger PAE matrix (over 2,000 tokens) are not cached but read again on each access."""
MAX_FIGURES_BYTES = 32 * 1024**2
"""Larger files are not searched for single figures; their arrays are still read on demand."""


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """The scores in one file.

    Attributes:
        file: the file's name.
        figures: single values under the names in the file.
        plddt: float64, shape (N,), one value per residue, token or atom, on the file's scale; None if
            missing.
        pae: numeric, shape (L, L) or with leading axes of length 1, Å, unchecked; None if missing.
        tokens: the labels of the PAE's tokens; None if the file has none.
        tables: scores of chains and chain pairs, float64, shapes (C,) and (C, C), under the names in the
            file.
    """

    file: str
    figures: Mapping[str, Scalar] = field(default_factory=dict)
    plddt: Floats | None = None
    pae: Array | None = None
    tokens: TokenLabels | None = None
    tables: Mapping[str, Floats] = field(default_factory=dict)


def read_score_file(data: bytes, name: str) -> ScoreFile:
    """Read a JSON, npz or npy file.

    Args:
        data: the file's content, decompressed.
        name: its name, whose extension gives the format; the name of an npy file also says what the array is.

    Raises:
        UnreadableFileError: the file is damaged.
    """
    plain = strip_packing(name)
    if plain.endswith(".npz"):
        return _from_arrays(dict(read_npz(data, name)), name)
    if plain.endswith(".npy"):
        array = read_npy(data, name)
        tokens = PurePosixPath(plain).stem.replace("-", "_").replace(".", "_").split("_")
        kind = next((token for token in (*PAE_NAMES, *PLDDT_NAMES) if token in tokens), "")
        return _from_arrays({kind: array} if array is not None and kind else {}, name)
    return _from_json(read_json(data, name), name)


def _from_json(content: Any, name: str) -> ScoreFile:
    content = _unwrap(content)
    if not isinstance(content, Mapping):
        return ScoreFile(name)
    return ScoreFile(
        file=name,
        figures=find_figures({key: _unwrap(value) for key, value in content.items()}),
        plddt=_first(content, PLDDT_NAMES, as_floats),
        pae=_first(content, PAE_NAMES, as_matrix) if "distance" not in content else _read_triples(content),
        tokens=_read_tokens(content),
        tables=read_chain_tables(content),
    )


def _unwrap(value: Any) -> Any:
    """Take the value out of a list of length 1, in which some programs write single figures or the scores."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _from_arrays(arrays: Mapping[str, Array], name: str) -> ScoreFile:
    numbers = {key: array for key, array in arrays.items() if array.dtype.kind in "biuf"}
    plddt = _first(numbers, (*PLDDT_NAMES, "lddt"), _as_vector)
    pae = _first(numbers, PAE_NAMES, lambda array: array)
    single = {key: array.item() for key, array in arrays.items() if array.size == 1}
    tables = {
        key: np.squeeze(array).astype(np.float64)
        for key, array in numbers.items()
        if 1 < array.size <= 10_000 and "chain" in key.lower()
    }
    return ScoreFile(name, find_figures(single), plddt, pae, None, tables)


def _first(content: Mapping[str, Any], names: Iterable[str], read: Callable[[Any], Any]) -> Any:
    """Return the first value under one of ``names`` for which ``read`` is not None, or None."""
    lower = {str(key).lower(): value for key, value in content.items()}
    values = (read(lower[name]) for name in names if name in lower)
    return next((value for value in values if value is not None), None)


def _as_vector(array: Array) -> Floats | None:
    flat = np.squeeze(array)
    return flat.astype(np.float64) if flat.ndim == 1 and flat.size > 1 else None


def _read_triples(content: Mapping[str, Any]) -> Array | None:
    """Build the matrix from the older AlphaFold DB format: lists ``residue1``, ``residue2``, ``distance``."""
    rows, columns = as_floats(content.get("residue1")), as_floats(content.get("residue2"))
    values = as_floats(content["distance"])
    if rows is None or columns is None or values is None or not len(rows) == len(columns) == len(values):
        return None
    side = np.nanmax([rows.max(), columns.max()])
    if not 1 <= side <= _MAX_SIDE or side**2 != len(values) or min(rows.min(), columns.min()) < 1:
        return None
    matrix = np.full((int(side), int(side)), np.nan, dtype=np.float32)
    matrix[rows.astype(int) - 1, columns.astype(int) - 1] = values
    return matrix


def _read_tokens(content: Mapping[str, Any]) -> TokenLabels | None:
    chains, numbers = content.get("token_chain_ids"), content.get("token_res_ids")
    if not isinstance(chains, list) or not isinstance(numbers, list) or len(chains) != len(numbers):
        return None
    atom_chains = content.get("atom_chain_ids")
    of_atoms = atom_chains if isinstance(atom_chains, list) else []
    return label_tokens([str(c) for c in chains], [str(n) for n in numbers], [str(c) for c in of_atoms])


class ScoreFiles:
    """The score files of a result, read on demand and cached."""

    def __init__(self, sizes: Mapping[str, int], read: Callable[[str], ScoreFile | None]) -> None:
        """Store the sizes and the reader.

        Args:
            sizes: size in bytes of every JSON, npz and npy file, by name.
            read: reads the file of a name; reports damage itself and then returns None.
        """
        self.sizes = sizes
        self.names = frozenset(sizes)
        self._read = read
        self._cache: dict[str, ScoreFile] = {}

    def read(self, name: str) -> ScoreFile:
        """Read the file ``name``; a damaged file has no scores."""
        if name not in self._cache:
            file = self._read(name) or ScoreFile(name)
            if file.pae is not None and file.pae.size > _MAX_CACHED_VALUES:
                return file
            self._cache[name] = file
        return self._cache[name]

    def figures(self, name: str) -> Mapping[str, Scalar]:
        """Read the single figures of a file.

        Empty for very large files, and for files of arrays whose figures are in a smaller file beside them.
        """
        if is_bulk(name, self.names) or self.sizes[name] > MAX_FIGURES_BYTES:
            return {}
        return self.read(name).figures


def make_score_table(score_files: ScoreFiles, names: Iterable[str]) -> pd.DataFrame:
    """Tabulate the figures of all files that hold a known score.

    Args:
        score_files: the score files of the result.
        names: the files to consider.

    Returns:
        One row per file, indexed by ``file``; see :attr:`foldnote.results.Result.score_table`.
    """
    rows = {name: dict(score_files.figures(name)) for name in names}
    scored = sorted((name for name, row in rows.items() if has_scores(row)), key=structure_order)
    return pd.DataFrame([rows[name] for name in scored], index=pd.Index(scored, name="file"))
