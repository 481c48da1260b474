"""Build a tree of related sequences with IQ-TREE and reconstruct the sequences of its ancestors.

Reads job.json and the file of sequences. Sequences of different lengths are aligned first. Writes to outputs/
the tree, a table of its nodes, the ancestors with the probability of every state, the models that were
compared and the alignment. IQ-TREE gets short generated names for the sequences, so that no character of a
name can affect it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

from alignments import align
from engine_protocol import fail, read_job, report, write_notes, write_score, write_used
from reconstruction import Reconstruction, read_reconstruction, write_reconstruction
from sequence_files import Sequence, find_outgroup, read_sequences

MODELS = {
    "AA": ("MFP", "JTT", "WAG", "LG", "Dayhoff"),
    "DNA": ("MFP", "GTR", "HKY", "JC", "K2P"),
    "CODON": ("MFP",),
}
"""Models that exist for each kind of sequence."""
KINDS = {"AA": "amino acids", "DNA": "nucleotides", "CODON": "codons"}
FEWEST_ULTRAFAST = 1000
"""Minimum replicates of IQ-TREE's ultrafast bootstrap."""
FEWEST_SUPPORTED = 4
"""Minimum sequences for a tree with a branch that can be supported."""
SEEDS = 2**31
"""Upper bound of IQ-TREE's seeds."""
PREFIX = "iqtree"
WORKING_FILE = Path("aligned.fasta")
SECONDS_BETWEEN_REPORTS = 2.0


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings = {"mode": "AA", "model": "MFP", "bootstrap": 1000, "fast": False} | job["settings"]
    mode, model = settings["mode"], settings["model"]
    check_model(mode, model)
    replicates = check_replicates(settings["bootstrap"])
    notes: list[str] = []
    report(0.01, "Reading the sequences")
    path = Path(job["files"]["alignmentFile"][0])
    given = read_sequences(path.read_text("utf-8", "replace"), mode, notes)
    outgroup = find_outgroup(settings.get("outgroup"), given)
    report(0.02, f"Aligning {len(given)} sequences")
    sequences = align(given, mode, notes)
    check_differences(sequences)
    seed = (job["seed"] or 1) % SEEDS
    ignored = {}
    if len(sequences) < FEWEST_SUPPORTED:
        replicates = 0
        ignored["bootstrap"] = "A tree of 3 sequences has no inner branch, so there is nothing to support."
    used = {name: settings[name] for name in ("mode", "model", "bootstrap", "fast") if name not in ignored}
    write_used(seed=seed, settings=used, ignored=ignored)
    write_alignment(sequences)
    options = make_options(mode, model, seed, replicates, outgroup, is_fast=bool(settings["fast"]))
    run_iqtree(options, replicates if "-b" in options else 0, [each.name for each in sequences])
    report(0.96, "Writing the ancestors")
    found = read_reconstruction(Path(PREFIX), sequences, mode)
    write_reconstruction(found, mode)
    write_notes(notes + describe(found, options, settings, replicates))
    write_figures(found, sequences, options, mode)
    report(1.0, "Done")


def check_model(mode: str, model: str) -> None:
    """Refuse a model that does not exist for the mode."""
    if mode not in MODELS:
        fail(f"The mode {mode} does not exist. Use {', '.join(MODELS)}.")
    if model not in MODELS[mode]:
        others = [each for each, models in MODELS.items() if model in models and each != mode]
        hint = f", or set mode to {others[0]} for {KINDS[others[0]]}" if others else ""
        fail(
            f"The model {model} does not exist for {KINDS[mode]} (mode {mode})."
            f" Use {join_names(MODELS[mode])}{hint}."
        )


def join_names(names: tuple[str, ...]) -> str:
    """Join names with commas, and ``or`` before the last."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def check_replicates(value: float) -> int:
    """Return the number of replicates, which must be whole."""
    if value != int(value):
        fail(f"bootstrap is {value:g}; give a whole number of replicates from 100 to 10000.")
    return int(value)


def check_differences(sequences: list[Sequence]) -> None:
    """Refuse identical sequences."""
    if len({each.letters for each in sequences}) == 1:
        fail(
            f"All {len(sequences)} sequences are identical, so there is no tree and nothing to reconstruct."
            " Give sequences that differ."
        )


def name_row(place: int) -> str:
    """Return the name of a sequence in IQ-TREE's files, from its 0-based index."""
    return f"row{place:06d}"


def write_alignment(sequences: list[Sequence]) -> None:
    """Write the alignment for IQ-TREE and, with its own names, for the user."""
    Path("outputs").mkdir(exist_ok=True)
    rows = "".join(f">{name_row(place)}\n{each.letters}\n" for place, each in enumerate(sequences))
    WORKING_FILE.write_text(rows, "utf-8")
    text = "".join(f">{each.name}\n{each.letters}\n" for each in sequences)
    Path("outputs/alignment.fasta").write_text(text, "utf-8")


def make_options(
    mode: str, model: str, seed: int, replicates: int, outgroup: int | None, *, is_fast: bool
) -> list[str]:
    """Return IQ-TREE's command line.

    The ultrafast bootstrap needs 1000 replicates and is not available with the fast search; otherwise the
    standard bootstrap is run.
    """
    options = ["-s", str(WORKING_FILE), "-st", mode, "-m", model, "-asr", "-seed", str(seed)]
    options += ["-T", "1", "-pre", PREFIX, "-keep-ident"]
    options += ["-o", name_row(outgroup)] if outgroup is not None else []
    options += ["-fast"] if is_fast else []
    if replicates:
        is_ultrafast = replicates >= FEWEST_ULTRAFAST and not is_fast
        options += ["-B" if is_ultrafast else "-b", str(replicates)]
    return options


def run_iqtree(options: list[str], standard_replicates: int, names: list[str]) -> None:
    """Run IQ-TREE to its end, with its log and progress; an error that it reports ends the run."""
    program = Path(__file__).with_name("iqtree_program.py")
    command = [sys.executable, "-u", str(program), *options]
    sys.stdout.write(f"iqtree {' '.join(options)}\n")
    last: deque[str] = deque(maxlen=40)
    told, replicate = 0.0, 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last.append(line.rstrip())
            if found := re.search(r"START BOOTSTRAP REPLICATE NUMBER (\d+)", line):
                replicate = int(found[1])
            elif "START ANALYSIS ON THE ORIGINAL" in line:
                replicate = 0
            if replicate < 2 or "===>" in line:
                sys.stdout.write(line)
            if time.monotonic() - told > SECONDS_BETWEEN_REPORTS:
                told = time.monotonic()
                report(*estimate(line, replicate, standard_replicates))
    if process.returncode:
        explain_failure(process.returncode, last, names)


def estimate(line: str, replicate: int, replicates: int) -> tuple[float, str]:
    """Return the share of the work and a message, from a line of the log and the current replicate."""
    if replicate:
        return 0.1 + 0.8 * replicate / (replicates + 1), f"Bootstrap replicate {replicate} of {replicates}"
    if found := re.match(r"Iteration (\d+) / LogL", line):
        done = int(found[1])
        return 0.9 - 0.8 * 0.99**done if not replicates else 0.92, f"Searching the tree, iteration {done}"
    if re.match(r"\s*\d+\s+\S+\s+\d+\.\d+\s", line):
        return 0.05, f"Comparing models ({line.split()[0]})"
    return (0.9, "Searching the tree") if replicates else (0.08, "Running IQ-TREE")


def explain_failure(status: int, last: deque[str], names: list[str]) -> None:
    """Fail with IQ-TREE's own message, if any, with the sequences' own names.

    Raises:
        RuntimeError: IQ-TREE ended without a message.
    """
    last = deque(re.sub(r"row(\d{6})", lambda row: names[int(row[1])], line) for line in last)
    errors = [line.removeprefix("ERROR:").strip() for line in last if line.startswith("ERROR:")]
    if errors:
        fail(f"IQ-TREE could not use the sequences: {' '.join(errors)}")
    raise RuntimeError(f"IQ-TREE ended with status {status}: {' / '.join(list(last)[-5:])}")


def describe(
    found: Reconstruction, options: list[str], settings: dict[str, Any], replicates: int
) -> list[str]:
    """Return what a reader of the result must know."""
    notes = [f"{found.program}, seed {options[options.index('-seed') + 1]}: {found.model}."]
    if "-B" in options:
        notes.append(
            f"Support: ultrafast bootstrap of {replicates} replicates; 95 % or more counts as strong,"
            " and the values are not comparable with standard bootstrap percentages."
        )
    elif replicates:
        why = (
            " (the ultrafast one is not available with the fast search)"
            if replicates >= FEWEST_ULTRAFAST
            else ""
        )
        notes.append(f"Support: standard bootstrap of {replicates} replicates{why}, in per cent.")
    if settings.get("outgroup"):
        notes.append(
            f"The outgroup joins the tree at {found.root_name}, the last common ancestor of all other"
            " sequences."
        )
    else:
        notes.append(
            f"The tree is unrooted: without an outgroup it is drawn from {found.root_name}, and the direction"
            " of evolution along its branches is unknown. Probabilities do not depend on the root."
        )
    if found.gap_sites:
        notes.append(
            "IQ-TREE treats gaps as missing data and reconstructs a state at every site of every ancestor."
            " Gaps of ancestors are inferred separately by Fitch parsimony, in ancestors_gapped.fasta and the"
            f" column gap: {found.gap_sites} of the {found.total_sites} sites of all ancestors."
        )
    return notes


def write_figures(found: Reconstruction, sequences: list[Sequence], options: list[str], mode: str) -> None:
    """Write score.json: the whole tree in figures."""
    ancestors = [row for row in found.nodes if row["kind"] == "ancestor"]
    mean = sum(row["mean_posterior_probability"] for row in ancestors) / len(ancestors)
    bootstrap = "ultrafast" if "-B" in options else "standard" if "-b" in options else "none"
    write_score(
        {
            "model": found.model,
            "treeLogLikelihood": found.log_likelihood,
            "bic": found.bic,
            "treeLength": found.tree_length,
            "meanPosteriorProbability": round(mean, 5),
            "sequences": len(sequences),
            "sites": len(sequences[0].letters) // (3 if mode == "CODON" else 1),
            "ancestors": len(ancestors),
            "bootstrapKind": bootstrap,
            "root": found.root_name,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
