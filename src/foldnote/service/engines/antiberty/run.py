"""Fill masks, score or embed the chains of an antibody with AntiBERTy.

Reads ``task``, ``heavyChain``, ``lightChain``, their masks and ``attention`` from job.json. The files that a
task writes are listed in engine.toml.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import engine_protocol as protocol
from residue_masks import read_masks

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
LONGEST = 510
"""Maximum residues: the model's 512 positions without the start and the end token."""
BATCH = 16
FIELDS = {"heavy": ("heavyChain", "heavyMask"), "light": ("lightChain", "lightMask")}
OUTPUTS = Path("outputs")
SCORED_TASK = "log-likelihood"
MASK = "_"


def main() -> None:
    """Run the job of this folder."""
    settings = protocol.read_job()["settings"]
    molecule, _, task = settings["task"].partition("-")
    chains, ignored = read_chains(settings, molecule)
    masks = read_masks(settings, chains, FIELDS, ignored, is_used=task == "mask")
    if settings.get("attention") and task != "embeddings":
        ignored["attention"] = "Attention maps are part of the embedding tasks."
    protocol.write_used(
        seed=None, settings={FIELDS[name][0]: sequence for name, sequence in chains.items()}, ignored=ignored
    )
    protocol.report(0.02, "Loading AntiBERTy")
    runner = load_runner()
    protocol.report(0.2, "Recognising species and chain type")
    species, kinds = runner.classify(list(chains.values()))
    summary = {
        name: {"chain": name, "species": kind_of, "chain_type": chain_type, "residues": len(chains[name])}
        for name, kind_of, chain_type in zip(chains, species, kinds, strict=True)
    }
    protocol.write_notes(list(list_warnings(summary)))
    if task == "mask":
        fill_masks(runner, chains, masks, summary)
    elif task == SCORED_TASK:
        score_chains(runner, chains, summary)
    else:
        embed_chains(runner, chains, with_attention=bool(settings.get("attention")))
    protocol.write_table("summary.csv", list(summary.values()))
    protocol.report(1.0, "Done")


def read_chains(settings: dict[str, Any], molecule: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the sequences by chain, and ignored settings with their reasons."""
    chains, ignored = {}, {}
    for name, (field, mask) in FIELDS.items():
        sequence = protocol.clean_sequence(settings.get(field) or "")
        if name == "light" and not sequence:
            continue
        if name == "light" and molecule == "nanobody":
            reason = "A nanobody is a single domain of a heavy chain."
            ignored |= {each: reason for each in (field, mask) if settings.get(each)}
            continue
        if not sequence:
            protocol.fail(f"The {name} chain is empty. Give the sequence of one variable domain.")
        protocol.reject_nonstandard_letters(f"The {name} chain", sequence, "AntiBERTy")
        if len(sequence) > LONGEST:
            protocol.fail(
                f"The {name} chain has {len(sequence)} residues; AntiBERTy reads at most {LONGEST}."
            )
        chains[name] = sequence
    return chains, ignored


@functools.cache
def load_runner() -> Any:
    """Return AntiBERTy with the weights of its package."""
    os.environ["TQDM_DISABLE"] = "1"
    logging.getLogger("transformers").setLevel(logging.ERROR)
    from antiberty import AntiBERTyRunner

    return AntiBERTyRunner()


def list_warnings(summary: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield notes on chains that the model classifies as the other kind."""
    for name, row in summary.items():
        if row["chain_type"].lower() != name:
            yield (
                f"AntiBERTy takes the {name} chain for a {row['chain_type'].lower()} chain."
                " Check that heavy and light are not exchanged."
            )


def find_probabilities(runner: Any, texts: list[str]) -> Any:
    """Return probabilities of the 20 amino acids at each residue of equally long texts, masked at ``_``.

    Returns:
        Array of shape (texts, residues, 20) in the order of ``LETTERS``. Only amino acids are considered.
    """
    import torch

    words = [" ".join("[MASK]" if letter == MASK else letter for letter in text) for text in texts]
    tokens = runner.tokenizer(words, return_tensors="pt").to(runner.device)
    with torch.no_grad():
        logits = runner.model(
            input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]
        ).prediction_logits
    letters = runner.tokenizer.convert_tokens_to_ids(list(LETTERS))
    return torch.softmax(logits[:, 1:-1, letters].double(), dim=-1).cpu().numpy()


def fill_masks(
    runner: Any, chains: dict[str, str], masks: dict[str, range], summary: dict[str, dict[str, Any]]
) -> None:
    """Fill all masked residues of a chain at once, each with the most probable amino acid."""
    rows, fasta = [], []
    for name, sequence in chains.items():
        masked = masks.get(name, range(0))
        text = "".join(MASK if position in masked else letter for position, letter in enumerate(sequence))
        (filled,) = runner.fill_masks([text])
        probabilities = find_probabilities(runner, [text])[0]
        rows += [describe_residue(name, position, sequence, probabilities[position]) for position in masked]
        same = sum(filled[position] == sequence[position] for position in masked)
        summary[name] |= {"masked": len(masked), "as_given": same, "given": text, "filled": filled}
        fasta.append(f">{name}\n{filled}\n")
    protocol.write_table("residues.csv", rows)
    (OUTPUTS / "filled.fasta").write_text("".join(fasta), "utf-8")
    as_given = sum(row["as_given"] for row in summary.values())
    protocol.write_score({"filledResidues": len(rows), "asGiven": as_given})


def score_chains(runner: Any, chains: dict[str, str], summary: dict[str, dict[str, Any]]) -> None:
    """Mask one residue at a time; the pseudo log-likelihood is the mean over the given residues."""
    import numpy

    rows, score = [], {}
    total, done = sum(map(len, chains.values())), 0
    for name, sequence in chains.items():
        logs = []
        for first in range(0, len(sequence), BATCH):
            protocol.report(0.25 + 0.7 * done / total, f"Residue {first + 1} of the {name} chain")
            positions = range(first, min(first + BATCH, len(sequence)))
            texts = [sequence[:position] + MASK + sequence[position + 1 :] for position in positions]
            found = find_probabilities(runner, texts)
            for index, position in enumerate(positions):
                row = describe_residue(name, position, sequence, found[index, position])
                rows.append(row)
                logs.append(row["log_probability"])
            done += len(positions)
        value = float(numpy.mean(logs))
        summary[name]["pseudo_log_likelihood"] = f"{value:.4f}"
        score[f"{name}PseudoLogLikelihood"] = round(value, 4)
    protocol.write_table("residues.csv", rows)
    protocol.write_score(score)


def describe_residue(name: str, position: int, sequence: str, probabilities: Any) -> dict[str, Any]:
    """Return a row of residues.csv: chain, index from 1, given and likeliest residue, 20 probabilities."""
    import numpy

    best = int(probabilities.argmax())
    own = float(probabilities[LETTERS.index(sequence[position])])
    return {
        "chain": name,
        "index": position + 1,
        "residue": sequence[position],
        "log_probability": round(float(numpy.log(max(own, 1e-300))), 4),
        "best": LETTERS[best],
        "best_probability": round(float(probabilities[best]), 4),
        **{letter: round(float(value), 4) for letter, value in zip(LETTERS, probabilities, strict=True)},
    }


def embed_chains(runner: Any, chains: dict[str, str], *, with_attention: bool) -> None:
    """Write the last layer's embeddings and, if requested, the attention."""
    import numpy

    means = []
    for position, (name, sequence) in enumerate(chains.items()):
        protocol.report(0.3 + 0.6 * position / len(chains), f"Embedding the {name} chain")
        found = runner.embed([sequence], return_attention=with_attention)
        embeddings, attentions = found if with_attention else (found, None)
        embedding = embeddings[0].cpu().numpy()
        numpy.save(OUTPUTS / f"{name}_embedding.npy", embedding)
        rows = [
            {"index": index + 1, "residue": letter}
            | {f"e{number}": f"{value:.6g}" for number, value in enumerate(embedding[index + 1], start=1)}
            for index, letter in enumerate(sequence)
        ]
        protocol.write_table(f"{name}_embedding.csv", rows)
        if attentions is not None:
            attention = attentions[0].cpu().numpy()
            numpy.save(OUTPUTS / f"{name}_attention.npy", attention)
            mean = attention.mean(axis=(0, 1))[1:-1, 1:-1]
            means += [
                {"chain": name, "from": one + 1, "to": two + 1, "attention": f"{mean[one, two]:.6f}"}
                for one in range(len(sequence))
                for two in range(len(sequence))
            ]
    if means:
        protocol.write_table("attention.csv", means)
    protocol.write_score(
        {"chains": len(chains), "residues": sum(map(len, chains.values())), "dimensions": 512}
    )


if __name__ == "__main__":
    sys.exit(main())
