"""Predicted aligned errors with the chains that they are between.

Files give a bare matrix. Which row is which residue is known where the file says it, or where the structure
of the same model has as many tokens as the matrix has rows; otherwise the borders stay unknown.

AlphaFold 3 numbers the chains of its tokens A, B, C … whatever they are called, and names the chains of its
atoms as the structure does. The chains of the atoms therefore decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import gemmi
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.structure.walk import walk_residues
from foldnote.results.tables.arrays import Array

TOKEN_COLUMNS = ["chain", "number", "residue", "atom"]


@dataclass(frozen=True, eq=False)
class TokenLabels:
    """The tokens of a matrix as its own file names them.

    Attributes:
        frame: one row a token: see :attr:`Pae.tokens`.
        is_confirmed: whether the chains are those of the file's atoms, not counted letters.
    """

    frame: pd.DataFrame
    is_confirmed: bool = False


@dataclass(frozen=True, eq=False)
class Pae(NotebookRepr):
    """The predicted aligned error of one model.

    Attributes:
        matrix: float32, shape (L, L), Å, lower is better. Row i, column j: the expected error in the place of
            token j when prediction and truth are superposed at token i. A token is a residue of a polymer,
            or an atom of a ligand or a modified residue.
        tokens: one row a token, in the order of the matrix: ``chain`` str, ``number`` str, ``residue`` str,
            ``atom`` str ("" for a whole residue). None where neither file nor structure tells.
        source: the file that the matrix is from.
    """

    matrix: NDArray[np.float32]
    tokens: pd.DataFrame | None
    source: str

    def __len__(self) -> int:
        """Number of tokens, L."""
        return len(self.matrix)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Index of the first token of each chain, shape (number of chains,).

        Empty where chains are unknown.
        """
        if self.tokens is None:
            return np.empty(0, dtype=np.int64)
        names = self.tokens["chain"].to_numpy()
        return np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1]))).astype(np.int64)

    @property
    def borders(self) -> NDArray[np.int64]:
        """Index of the first token of each chain but the first: where lines are drawn in a plot."""
        return self.starts[1:]

    @property
    def chains(self) -> tuple[str, ...]:
        """Names of the chains in the order of the matrix; empty where they are unknown."""
        return () if self.tokens is None else tuple(str(self.tokens["chain"].iloc[i]) for i in self.starts)

    def by_chain(self) -> pd.DataFrame:
        """Mean error between chains, in Å.

        Returns:
            Square frame; index ``aligned`` and columns ``scored`` are chain names, values float64. A chain
            of one token has no error to itself worth the name, and is given as it stands. Empty where chains
            are unknown.
        """
        starts, ends = self.starts, [*self.borders, len(self)]
        spans = [slice(int(a), int(b)) for a, b in zip(starts, ends, strict=False)]
        means = [[float(np.nanmean(self.matrix[a, b])) for b in spans] for a in spans]
        index = pd.Index(self.chains, name="aligned")
        return pd.DataFrame(means, index=index, columns=pd.Index(self.chains, name="scored"))

    def __repr__(self) -> str:
        chains = f", chains {' '.join(self.chains)}" if self.chains else ""
        return f"<Pae {len(self)} × {len(self)}{chains}>"


def label_tokens(chains: list[str], numbers: list[str], atom_chains: list[str]) -> TokenLabels:
    """The labels of tokens, chains named as the atoms' chains are where a file has both.

    Args:
        chains: the chain of each token, which may be a counted letter.
        numbers: the residue number of each token.
        atom_chains: the chain of each atom, in the same order of chains; empty without.
    """
    counted, named = list(dict.fromkeys(chains)), list(dict.fromkeys(atom_chains))
    is_confirmed = len(counted) == len(named)
    names = dict(zip(counted, named, strict=True)) if is_confirmed else {}
    columns = [[names.get(chain, chain) for chain in chains], numbers, [""] * len(chains), [""] * len(chains)]
    frame = pd.DataFrame(dict(zip(TOKEN_COLUMNS, columns, strict=True))).astype("str")
    return TokenLabels(frame, is_confirmed)


def make_pae(
    matrix: Array, source: str, labels: TokenLabels | None, structure: gemmi.Structure | None
) -> Pae | None:
    """The error matrix with its tokens, or None when it cannot be one.

    Args:
        matrix: what the file holds; a leading axis of length 1 is dropped.
        source: the file's name.
        labels: tokens as the file names them, if it does.
        structure: the structure of the same model, if there is one.
    """
    square = np.asarray(matrix, dtype=np.float32)
    while square.ndim > 2 and square.shape[0] == 1:
        square = square[0]
    if square.ndim != 2 or square.shape[0] != square.shape[1] or len(square) == 0:
        return None
    known = square[np.isfinite(square)]
    if len(known) == 0 or known.min() < 0 or known.max() > 1000:
        return None
    own = None if structure is None else list_tokens(structure)
    named = labels if labels is not None and len(labels.frame) == len(square) else None
    if own is None or len(own) != len(square):
        return Pae(square, None if named is None else named.frame, source)
    return Pae(square, own if named is None else _choose_tokens(own, named), source)


def _choose_tokens(own: pd.DataFrame, labels: TokenLabels) -> pd.DataFrame | None:
    """The structure's tokens or the file's; None where both are possible and contradict each other.

    Counted letters are recognised by the lengths of the chains: the structure's chains have the same lengths
    in the same order, under other names.
    """
    named = labels.frame
    ours, theirs = own["chain"].tolist(), named["chain"].tolist()
    if ours == theirs:
        return own
    if labels.is_confirmed or _find_lengths(ours) != _find_lengths(theirs):
        return named
    is_reordered = {name: ours.count(name) for name in ours} == {n: theirs.count(n) for n in theirs}
    return None if is_reordered else own


def _find_lengths(chains: list[str]) -> list[int]:
    return [len(list(run)) for _, run in groupby(chains)]


def list_tokens(structure: gemmi.Structure) -> pd.DataFrame:
    """The tokens of a structure's first model in file order, waters left out.

    A standard residue of a polymer is one token; every heavy atom of anything else is one of its own.
    """
    rows: list[tuple[str, str, str, str]] = []
    for where, residue in walk_residues(structure[0]):
        if residue.entity_type == gemmi.EntityType.Polymer and _is_standard(residue):
            rows.append((*where, ""))
        elif residue.entity_type != gemmi.EntityType.Water:
            rows += [(*where, atom.name) for atom in residue if not atom.is_hydrogen()]
    return pd.DataFrame(rows, columns=TOKEN_COLUMNS).astype("str")


def _is_standard(residue: gemmi.Residue) -> bool:
    return bool(gemmi.find_tabulated_residue(residue.name).is_standard()) or residue.name in (
        "UNK",
        "N",
        "DN",
    )
