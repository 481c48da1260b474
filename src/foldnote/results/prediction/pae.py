"""The predicted aligned error (PAE) of a model, with the residue or atom that each row stands for.

Rows are assigned to residues by the labels in the file, or by the model's structure if it has as many tokens
as the matrix has rows; otherwise the chain boundaries are unknown.

AlphaFold 3 labels the chains of tokens A, B, C, … regardless of their names, but labels the chains of atoms
as the structure does, so the atoms' labels take precedence.
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
    """The tokens of a PAE matrix as labelled in its own file.

    Attributes:
        frame: one row per token, with the columns of :attr:`Pae.tokens`.
        is_confirmed: True if the chain names were confirmed by the file's atoms; otherwise they may be mere
            consecutive letters.
    """

    frame: pd.DataFrame
    is_confirmed: bool = False


@dataclass(frozen=True, eq=False)
class Pae(NotebookRepr):
    """The predicted aligned error of one model.

    Attributes:
        matrix: float32, shape (L, L), Å, lower is better. Entry (i, j) is the expected position error of
            token j when prediction and true structure are superposed at token i. A token is a standard
            residue of a polymer, or one heavy atom of a ligand or a modified residue.
        tokens: one row per token, in the order of the matrix: ``chain`` str, ``number`` str, ``residue`` str,
            ``atom`` str ("" for a whole residue). None where neither the file nor the structure identifies
            the tokens.
        source: name of the file that holds the matrix.
    """

    matrix: NDArray[np.float32]
    tokens: pd.DataFrame | None
    source: str

    def __len__(self) -> int:
        """Return the number of tokens, L."""
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
        """Index of the first token of every chain except the first, shape (number of chains - 1,)."""
        return self.starts[1:]

    @property
    def chains(self) -> tuple[str, ...]:
        """Names of the chains in the order of the matrix; empty where they are unknown."""
        return () if self.tokens is None else tuple(str(self.tokens["chain"].iloc[i]) for i in self.starts)

    def by_chain(self) -> pd.DataFrame:
        """Return the mean error within and between chains, in Å.

        Returns:
            Square table of float64; the index ``aligned`` and the columns ``scored`` are chain names. The
            diagonal entry of a chain with one token is that token's error relative to itself, which carries
            no information. Empty where chains are unknown.
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
    """Label tokens, using the chain names of the atoms where the file gives them.

    Args:
        chains: chain of each token; may be consecutive letters instead of names.
        numbers: residue number of each token.
        atom_chains: chain of each atom, chains in the same order as in ``chains``; [] if the file has none.
    """
    counted, chain_names = list(dict.fromkeys(chains)), list(dict.fromkeys(atom_chains))
    is_confirmed = len(counted) == len(chain_names)
    names = dict(zip(counted, chain_names, strict=True)) if is_confirmed else {}
    columns = [[names.get(chain, chain) for chain in chains], numbers, [""] * len(chains), [""] * len(chains)]
    frame = pd.DataFrame(dict(zip(TOKEN_COLUMNS, columns, strict=True))).astype("str")
    return TokenLabels(frame, is_confirmed)


def make_pae(
    matrix: Array, source: str, labels: TokenLabels | None, structure: gemmi.Structure | None
) -> Pae | None:
    """Build a PAE from a file's matrix; None if it is not square or has values outside 0 to 1000 Å.

    Args:
        matrix: the array in the file, shape (L, L) or with leading axes of length 1, Å.
        source: the file's name.
        labels: the tokens as labelled in the file; None if it has no labels.
        structure: the structure of the same model; None if it cannot be read.
    """
    square = np.asarray(matrix, dtype=np.float32)
    while square.ndim > 2 and square.shape[0] == 1:
        square = square[0]
    if square.ndim != 2 or square.shape[0] != square.shape[1] or len(square) == 0:
        return None
    finite = square[np.isfinite(square)]
    if len(finite) == 0 or finite.min() < 0 or finite.max() > 1000:
        return None
    own = None if structure is None else list_tokens(structure)
    fitting = labels if labels is not None and len(labels.frame) == len(square) else None
    if own is None or len(own) != len(square):
        return Pae(square, None if fitting is None else fitting.frame, source)
    return Pae(square, own if fitting is None else _choose_tokens(own, fitting), source)


def _choose_tokens(own: pd.DataFrame, labels: TokenLabels) -> pd.DataFrame | None:
    """Choose between the structure's tokens and the file's; None if they contradict each other.

    If the chains have the same lengths in the same order, the file's unconfirmed names are taken for
    consecutive letters and the structure's names are used.
    """
    labelled = labels.frame
    ours, theirs = own["chain"].tolist(), labelled["chain"].tolist()
    if ours == theirs:
        return own
    if labels.is_confirmed or _find_lengths(ours) != _find_lengths(theirs):
        return labelled
    is_reordered = {name: ours.count(name) for name in ours} == {n: theirs.count(n) for n in theirs}
    return None if is_reordered else own


def _find_lengths(chains: list[str]) -> list[int]:
    return [len(list(run)) for _, run in groupby(chains)]


def list_tokens(structure: gemmi.Structure) -> pd.DataFrame:
    """List the tokens of a structure's first model in file order, without waters.

    A standard residue of a polymer is one token; every other residue has one token per heavy atom.

    Returns:
        The columns of :attr:`Pae.tokens`, one row per token.
    """
    rows: list[tuple[str, str, str, str]] = []
    for owner, residue in walk_residues(structure[0]):
        if residue.entity_type == gemmi.EntityType.Polymer and _is_standard(residue):
            rows.append((*owner, ""))
        elif residue.entity_type != gemmi.EntityType.Water:
            rows += [(*owner, atom.name) for atom in residue if not atom.is_hydrogen()]
    return pd.DataFrame(rows, columns=TOKEN_COLUMNS).astype("str")


def _is_standard(residue: gemmi.Residue) -> bool:
    return bool(gemmi.find_tabulated_residue(residue.name).is_standard()) or residue.name in (
        "UNK",
        "N",
        "DN",
    )
