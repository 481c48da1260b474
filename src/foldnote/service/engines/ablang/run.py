"""Score substitutions, embed or fill in residues of the chains of an antibody with AbLang.

Reads ``task``, ``heavySequence``, ``lightSequence`` and their masks from job.json. The files that a task
writes are listed in engine.toml.
"""

from __future__ import annotations

import csv
import functools
import os
import sys
from pathlib import Path
from typing import Any

from engine_protocol import (
    AMINO_ACIDS,
    clean_sequence,
    fail,
    read_job,
    reject_nonstandard_letters,
    report,
    write_score,
    write_used,
)
from residue_masks import read_masks

FIELDS = {"heavy": ("heavySequence", "heavyMask"), "light": ("lightSequence", "lightMask")}
OUTPUTS = Path("outputs")
MASK = "*"
NOT_RESIDUES = 3
"""Positions of the model that hold no residue: padding, the start token and the end token."""
Row = dict[str, Any]


def main() -> None:
    """Run the job of this folder."""
    settings = read_job()["settings"]
    task, ignored = settings["task"], {}
    chains = read_chains(settings)
    masks = read_masks(settings, chains, FIELDS, ignored, is_used=task == "mask")
    write_used(
        seed=None, settings={FIELDS[name][0]: sequence for name, sequence in chains.items()}, ignored=ignored
    )
    summary = []
    for number, (name, sequence) in enumerate(chains.items()):
        report((number + 0.05) / len(chains), f"Loading AbLang for {name} chains")
        model = load_model(name)
        check_length(model, name, sequence)
        report((number + 0.6) / len(chains), f"Reading the {name} chain")
        row = {"chain": name, "residues": len(sequence)}
        if task == "scan":
            row |= scan_chain(model, name, sequence)
        elif task == "embeddings":
            row |= embed_chain(model, name, sequence)
        else:
            row |= fill_chain(model, name, sequence, masks.get(name, range(0)))
        summary.append(row)
    write_rows("summary.csv", summary)
    write_score(count_work(task, summary))
    report(1.0, "Done")


def read_chains(settings: Row) -> dict[str, str]:
    """Return the sequences by chain; at least one."""
    chains = {name: clean_sequence(settings.get(field) or "") for name, (field, _) in FIELDS.items()}
    chains = {name: sequence for name, sequence in chains.items() if sequence}
    if not chains:
        fail("There is no sequence. Give the variable domain of a heavy chain, of a light chain, or both.")
    for name, sequence in chains.items():
        reject_nonstandard_letters(f"The {name} chain", sequence, "AbLang")
    return chains


@functools.cache
def load_model(name: str) -> Any:
    """Return AbLang for ``heavy`` or ``light`` chains, with the installed weights; dropout is switched off.

    It runs on the CPU, where a job takes half a second; an H200 took longer, because of the start of CUDA.
    """
    import ablang

    folder = Path(os.environ["FOLDNOTE_WEIGHTS"]) / name
    model = ablang.pretrained(name, model_folder=str(folder), device="cpu")
    model.freeze()
    return model


def check_length(model: Any, name: str, sequence: str) -> None:
    """Fail if the model has no positions for the whole chain."""
    longest = model.hparams.max_position_embeddings - NOT_RESIDUES
    if len(sequence) > longest:
        fail(
            f"The {name} chain has {len(sequence)} residues; AbLang reads at most {longest}."
            " Give its variable domain."
        )


def find_logits(model: Any, text: str) -> Any:
    """Return the logits of the 20 amino acids, in the order of ``AMINO_ACIDS``; shape (residues, 20)."""
    import torch

    with torch.no_grad():
        logits = model([text], mode="likelihood")[0][1 : 1 + len(text)]
    letters = [model.tokenizer.vocab_to_token[letter] - 1 for letter in AMINO_ACIDS]
    return logits[:, letters].astype(float)


def scan_chain(model: Any, name: str, sequence: str) -> Row:
    """Return the score each substitution by one pass over the whole chain."""
    logits = find_logits(model, sequence)
    rows = []
    for position, (letter, values) in enumerate(zip(sequence, logits, strict=True)):
        best, own = int(values.argmax()), values[AMINO_ACIDS.index(letter)]
        head = {"chain": name, "index": position + 1, "residue": letter}
        tail = {each: f"{value:.4f}" for each, value in zip(AMINO_ACIDS, values, strict=True)}
        rows.append(
            head | {"best": AMINO_ACIDS[best], "best_above_given": f"{values[best] - own:.4f}"} | tail
        )
    write_rows("scan.csv", rows)
    return {"likelier_substitutions": sum(row["best"] != row["residue"] for row in rows)}


def fill_chain(model: Any, name: str, sequence: str, masked: range) -> Row:
    """Fill all masked residues of the chain at once, each with the most likely amino acid."""
    import numpy

    text = "".join(MASK if position in masked else letter for position, letter in enumerate(sequence))
    filled = sequence
    if masked:
        (restored,) = model([text], mode="restore")
        filled = str(restored)
        logits = find_logits(model, text)
        logs = logits - numpy.logaddexp.reduce(logits, axis=1, keepdims=True)
        rows = [describe_residue(name, position, sequence[position], logs[position]) for position in masked]
        write_rows("residues.csv", rows)
    with (OUTPUTS / "filled.fasta").open("a", encoding="utf-8") as stream:
        stream.write(f">{name}\n{filled}\n")
    same = sum(filled[position] == sequence[position] for position in masked)
    return {"masked": len(masked), "as_given": same, "given": text, "filled": filled}


def describe_residue(name: str, position: int, letter: str, logs: Any) -> Row:
    """Return one row of residues.csv: chain, index from 1, given and likeliest residue, 20 probabilities."""
    import numpy

    best = int(logs.argmax())
    values = {each: round(float(numpy.exp(log)), 4) for each, log in zip(AMINO_ACIDS, logs, strict=True)}
    return {
        "chain": name,
        "index": position + 1,
        "residue": letter,
        "log_probability": round(float(logs[AMINO_ACIDS.index(letter)]), 4),
        "best": AMINO_ACIDS[best],
        "best_probability": values[AMINO_ACIDS[best]],
        **values,
    }


def embed_chain(model: Any, name: str, sequence: str) -> Row:
    """Write the embedding of each residue, and their mean over the chain."""
    import torch

    with torch.no_grad():
        residues = model([sequence], mode="rescoding")[0]
        mean = model([sequence], mode="seqcoding")[0]
    rows = [
        {"index": position + 1, "residue": letter} | name_numbers(values)
        for position, (letter, values) in enumerate(zip(sequence, residues, strict=True))
    ]
    write_rows(f"{name}_embedding.csv", rows)
    write_rows("sequence_embeddings.csv", [{"chain": name} | name_numbers(mean)])
    return {"dimensions": len(mean)}


def name_numbers(values: Any) -> Row:
    """Return the columns e1, e2 and so on."""
    return {f"e{number}": f"{value:.6g}" for number, value in enumerate(values, start=1)}


def count_work(task: str, summary: list[Row]) -> Row:
    """Return the figures of the whole run."""
    residues = sum(row["residues"] for row in summary)
    if task == "scan":
        return {
            "residues": residues,
            "likelierSubstitutions": sum(r["likelier_substitutions"] for r in summary),
        }
    if task == "embeddings":
        return {"residues": residues, "dimensions": summary[0]["dimensions"]}
    return {
        "filledResidues": sum(row["masked"] for row in summary),
        "asGiven": sum(row["as_given"] for row in summary),
    }


def write_rows(name: str, rows: list[Row]) -> None:
    """Write rows with the same keys as a CSV file, or append those of another chain to it."""
    path = OUTPUTS / name
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
