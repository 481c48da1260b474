"""Recommend substitutions of an antibody by the vote of six protein language models.

The procedure of Hie B. L. et al., Nature Biotechnology 42, 275 (2024): a model reads the wild type once,
without masking, and recommends at each position the most probable residue, if it is not the wild type's.
Reads ``sequence`` from job.json. The files of the result are listed in engine.toml.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import engine_protocol as protocol

MODELS = {"ESM-1b": "esm1b_t33_650M_UR50S"} | {
    f"ESM-1v {n}": f"esm1v_t33_650M_UR90S_{n}" for n in range(1, 6)
}
"""Name of each model in the result, and of its file."""
LONGEST = 1022
"""Maximum residues: the models' 1024 positions without those of the start and the end token."""
FEWEST_VOTES = 2
"""Votes from which the paper tested a substitution."""
OUTPUTS = Path("outputs")
Row = dict[str, Any]


def main() -> None:
    """Run the job of this folder."""
    sequence = read_sequence(protocol.read_job()["settings"])
    protocol.write_used(seed=None, settings={"sequence": sequence})
    logs, likeliest = [], {}
    for number, (name, file) in enumerate(MODELS.items()):
        protocol.report((number + 0.02) / len(MODELS), f"Reading the sequence with {name}")
        values, likeliest[name] = read_with_model(file, sequence)
        logs.append(values)
    mean = sum(logs) / len(logs)
    rows = list_substitutions(sequence, mean, likeliest)
    write_rows("substitutions.csv", rows)
    write_rows("positions.csv", list_positions(sequence, mean, rows))
    agreed = sum(row["votes"] >= FEWEST_VOTES for row in rows)
    if not rows:
        protocol.write_notes(["No model recommends any substitution."])
    protocol.write_score({"substitutions": len(rows), "substitutionsOfTwoModels": agreed})
    protocol.report(1.0, "Done")


def read_sequence(settings: Mapping[str, Any]) -> str:
    """Return the wild type, cleaned."""
    sequence = protocol.clean_sequence(settings["sequence"])
    if not sequence:
        protocol.fail("The sequence is empty. Give the wild type of one antibody chain.")
    protocol.reject_nonstandard_letters("The sequence", sequence, "the method")
    if len(sequence) > LONGEST:
        protocol.fail(f"The sequence has {len(sequence)} residues; the models read at most {LONGEST}.")
    return sequence


def load_model(file: str) -> tuple[Any, Any]:
    """Return a model in fair-esm's format and its alphabet.

    Unpickling is limited to the class of its arguments.
    """
    import esm
    import torch

    path = Path(os.environ["FOLDNOTE_WEIGHTS"]) / f"{file}.pt"
    with torch.serialization.safe_globals([argparse.Namespace]):
        content = torch.load(path, map_location="cpu", weights_only=True)
    content = {key: content[key] for key in ("args", "model")}
    # The contact head is not used; with the name of a model without one, fair-esm omits it.
    model, alphabet = esm.pretrained.load_model_and_alphabet_core(f"esm1v_{file}", content)
    return model.eval().to("cuda" if torch.cuda.is_available() else "cpu"), alphabet


def read_with_model(file: str, sequence: str) -> tuple[Any, str]:
    """Return a model's result at each residue.

    Returns:
        Log-probabilities of the 20 amino acids, of shape (residues, 20), among all tokens of the model; and
        the most likely token of each residue, ``.`` if that is no amino acid.
    """
    import torch

    model, alphabet = load_model(file)
    _, _, tokens = alphabet.get_batch_converter()([("wild type", sequence)])
    with torch.no_grad():
        logits = model(tokens.to(next(model.parameters()).device))["logits"][0, 1 : len(sequence) + 1]
    logs = torch.log_softmax(logits.double(), dim=-1).cpu()
    best = (alphabet.get_tok(int(position)) for position in logs.argmax(dim=-1))
    letters = [alphabet.get_idx(letter) for letter in protocol.AMINO_ACIDS]
    return logs[:, letters].numpy(), "".join(each if each in protocol.AMINO_ACIDS else "." for each in best)


def list_substitutions(sequence: str, mean: Any, likeliest: Mapping[str, str]) -> list[Row]:
    """Return the rows of substitutions.csv: most votes first, then by the gain in log-probability."""
    voters: dict[tuple[int, str], list[str]] = {}
    for name, letters in likeliest.items():
        for position, (own, best) in enumerate(zip(sequence, letters, strict=True)):
            if best not in (own, "."):
                voters.setdefault((position, best), []).append(name)
    rows = [
        {
            "substitution": f"{sequence[position]}{position + 1}{best}",
            "index": position + 1,
            "wild_type": sequence[position],
            "mutant": best,
            "votes": len(names),
            "mean_log_ratio": round(
                float(
                    mean[position, protocol.AMINO_ACIDS.index(best)]
                    - mean[position, protocol.AMINO_ACIDS.index(sequence[position])]
                ),
                4,
            ),
            "models": ", ".join(names),
        }
        for (position, best), names in voters.items()
    ]
    return sorted(rows, key=lambda row: (-row["votes"], -row["mean_log_ratio"], row["index"]))


def list_positions(sequence: str, mean: Any, substitutions: list[Row]) -> list[Row]:
    """Return the rows of positions.csv."""
    votes = dict.fromkeys(range(1, len(sequence) + 1), 0)
    for row in substitutions:
        votes[row["index"]] += row["votes"]
    return [
        {
            "index": position + 1,
            "residue": letter,
            "mean_log_probability": round(float(mean[position, protocol.AMINO_ACIDS.index(letter)]), 4),
            "votes_against": votes[position + 1],
        }
        for position, letter in enumerate(sequence)
    ]


COLUMNS = {
    "substitutions.csv": (
        *("substitution", "index", "wild_type", "mutant"),
        *("votes", "mean_log_ratio", "models"),
    ),
    "positions.csv": ("index", "residue", "mean_log_probability", "votes_against"),
}


def write_rows(name: str, rows: list[Row]) -> None:
    """Write a CSV file, with its header even if there are no rows."""
    with (OUTPUTS / name).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS[name])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
