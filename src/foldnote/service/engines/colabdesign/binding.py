"""AF2BIND: p(bind) of each residue, from AlphaFold's pair representation of the protein and 20 bait residues.

The calculation is that of the authors' notebook (af2bind.ipynb of https://github.com/sokrypton/af2bind): the
chain as template without side chains, each bait 50 positions from the next, and a linear head on the pairs of
residue and bait in both orders.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import network
import numpy as np
from chain_input import GivenChain, take_chain
from engine_protocol import AMINO_ACIDS, fail, report, write_score, write_table, write_used
from numpy.typing import NDArray
from protein_files import Protein, ProteinResidue, write_protein

BAITS = AMINO_ACIDS
BAIT_DISTANCE = 50
"""Positions between two baits, so that AlphaFold does not treat them as neighbours."""
HEAD = "split_nosc_pair_A_split_nosc_pair_B_0.pickle"
"""The first of the authors' heads for proteins without side chains, used in their notebook."""
SITE = 0.5
"""p(bind) above which a residue counts in score.json."""
MAX_RESIDUES = 600
MAX_TRAINED_RESIDUES = 500
"""Length of the longest proteins in the authors' training."""
MIN_RESIDUES = 5
Floats = NDArray[np.floating[Any]]


def predict_binding(job: dict[str, Any], protein: Protein, notes: list[str]) -> None:
    """Run a job of the tool af2bind."""
    given = take_chain(protein, job["settings"]["chain"], notes, keeps_numbers=True)
    length = len(given.residues)
    if not MIN_RESIDUES <= length <= MAX_RESIDUES:
        fail(
            f"The chain has {length} residues; this engine takes {MIN_RESIDUES} to {MAX_RESIDUES}."
            " Give a domain of its own."
        )
    if length > MAX_TRAINED_RESIDUES:
        notes.append(f"AF2BIND was trained with proteins of at most {MAX_TRAINED_RESIDUES} residues.")
    write_used(seed=None, ignored={})
    report(0.05, f"AlphaFold reads {length} residues; minutes without further progress")
    pair = find_pairs(given)
    report(0.95, "Writing p(bind)")
    baits = apply_head(pair, read_head(network.find_weights(network.HEADS) / HEAD))
    write_results(given.residues, baits, 1 / (1 + np.exp(-baits.sum(-1))))


def find_pairs(given: GivenChain) -> Floats:
    """Return AlphaFold's pair representation, shape (residues + 20, residues + 20, 128)."""
    model = network.make_model("binder", debug=True, model_names=["model_1_ptm"])
    model.prep_inputs(
        pdb_filename=str(given.path), chain="A", binder_len=len(BAITS), rm_target_sc=True, rm_target_seq=False
    )
    places = network.find_inputs(model)["residue_index"]
    places[-len(BAITS) :] = places[-len(BAITS)] + (1 + np.arange(len(BAITS))) * BAIT_DISTANCE
    model.set_seq(BAITS)
    model.predict(verbose=False, seed=0)
    return np.asarray(model.aux["debug"]["outputs"]["representations"]["pair"], np.float32)


def apply_head(pair: Floats, head: dict[str, Floats]) -> Floats:
    """Return each bait's contribution to the logit of each residue: shape (residues, 20)."""
    count = len(BAITS)
    there, back = pair[:-count, -count:], pair[-count:, :-count].swapaxes(0, 1)
    flat = np.concatenate([part.reshape(len(part), -1) for part in (there, back)], -1)
    terms = (flat - head["mean"]) / head["std"] * head["w"][:, 0] + head["b"] / flat.shape[-1]
    summed: Floats = terms.reshape(len(flat), 2, count, -1).sum((1, 3))
    return summed


class HeadReader(pickle.Unpickler):
    """Reads the authors' pickled JAX arrays as NumPy arrays, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the few classes that such a file needs.

        Raises:
            UnpicklingError: the file refers to another class.
        """
        if (module, name) == ("jax._src.array", "_reconstruct_array"):
            return _read_array
        if (module, name) in (("numpy", "ndarray"), ("numpy", "dtype")):
            return getattr(np, name)
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "_reconstruct":
            return super().find_class("numpy.core.multiarray", name)
        raise pickle.UnpicklingError(f"the head of AF2BIND asks for {module}.{name}")


def _read_array(make: Any, arguments: tuple[Any, ...], state: Any, _kind: object) -> Floats:
    array: Floats = make(*arguments)
    array.__setstate__(state)
    return array


def read_head(path: Path) -> dict[str, Floats]:
    """Return mean, deviation, weights and bias of the head."""
    with path.open("rb") as stream:
        head = HeadReader(stream).load()
    return {name: array for part in head.values() for name, array in part.items()}


def write_results(residues: Sequence[ProteinResidue], baits: Floats, chances: Floats) -> None:
    """Write the tables, the coloured structure and the figures of the whole."""
    ranks = np.empty(len(chances), int)
    ranks[np.argsort(-chances, kind="stable")] = np.arange(1, len(chances) + 1)
    names = [{"chain": each.chain, "number": each.number, "residue": each.letter} for each in residues]
    rows = zip(names, chances, ranks, strict=True)
    write_table(
        "residues.csv",
        [name | {"p_bind": round(float(one), 4), "rank": int(rank)} for name, one, rank in rows],
    )
    write_table(
        "baits.csv",
        [
            name | {letter: round(float(value), 4) for letter, value in zip(BAITS, row, strict=True)}
            for name, row in zip(names, baits, strict=True)
        ],
    )
    is_real = not network.has_stand_ins()
    remark = "P(BIND), 0 TO 1, IN THE B-FACTOR COLUMN" if is_real else "STAND-IN WEIGHTS: NO P(BIND)"
    write_protein(Path("outputs/af2bind"), residues, [remark], [float(one) * is_real for one in chances])
    write_score(
        {"highest_p_bind": round(float(chances.max()), 4), "binding_residues": int((chances > SITE).sum())}
    )
