"""The common part of the MPNN engines: sampling options, and the files of the designs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backbones import LETTERS, Backbone
from engine_protocol import fail, write_table
from positions import join_sequence

COLDEST = 1e-4
"""Temperature used in place of 0, by which the models would divide."""
MAX_SEQUENCES = 10_000
MAX_RESIDUES = 3000
RESIDUES_AT_ONCE = 1000
LARGEST_BATCH = 8
OUTPUTS = Path("outputs")


@dataclass(frozen=True)
class DesignSettings:
    """Sampling options."""

    number: int
    temperature: float
    weights: str
    omitted: str
    seed: int
    biases: Mapping[str, float]
    is_symmetric: bool


def read_options(
    settings: Mapping[str, Any], seed: int, *, weights: Mapping[str, str], noise: str, omitted: str = ""
) -> DesignSettings:
    """Read the sampling options; fail if one is invalid.

    Args:
        settings: settings of the job.
        seed: seed of the random numbers.
        weights: name of the weights by noise level.
        noise: default noise level.
        omitted: amino acids that are omitted by default.
    """
    number = settings.get("numSequences", 2)
    if number != int(number) or not 1 <= number <= MAX_SEQUENCES:
        fail(f"numSequences is {number}; give a whole number from 1 to {MAX_SEQUENCES}.")
    omitted = "".join(sorted(set("".join(settings.get("omitAAs", omitted).split()).upper())))
    if strange := sorted(set(omitted) - set(LETTERS)):
        fail(f"omitAAs has {', '.join(strange)}; give one-letter codes of the 20 amino acids.")
    if len(omitted) == len(LETTERS):
        fail("omitAAs leaves no amino acid to design with.")
    noise = str(settings.get("noiseLevel", noise))
    if noise not in weights:
        fail(f"noiseLevel is {noise}; there are weights for {', '.join(weights)}.")
    temperature = float(settings.get("temperature", 0.1))
    return DesignSettings(
        number=int(number),
        temperature=max(temperature, COLDEST),
        weights=weights[noise],
        omitted=omitted,
        seed=seed,
        biases=settings.get("biasAAs") or {},
        is_symmetric=bool(settings.get("sameSequence")),
    )


def check_size(found: Backbone) -> None:
    """Fail if the structure has more residues than the models accept."""
    if found.size > MAX_RESIDUES:
        fail(f"The structure has more than {MAX_RESIDUES} residues. Leave out chains far from the design.")


def choose_batch(number: int, length: int) -> int:
    """Return how many sequences of ``length`` residues are sampled at a time."""
    return max(1, min(LARGEST_BATCH, number, RESIDUES_AT_ONCE // length))


def note_lost(found: Backbone, chosen: Mapping[str, set[int]], options: DesignSettings) -> None:
    """Note which residues of the input's sequence are lost because their amino acids are omitted."""
    lost = sum(
        found.chains[chain][index].letter in options.omitted for chain in chosen for index in chosen[chain]
    )
    if lost:
        found.notes.append(
            f"{lost} designed residues have an amino acid of omitAAs ({options.omitted}) in the input and get"
            " another one. Leave cysteines of disulfide bonds out of the design, or empty omitAAs."
        )


def write_designs(
    found: Backbone, chosen: Mapping[str, set[int]], rows: Sequence[dict[str, Any]], figures: Sequence[str]
) -> None:
    """Write ``designs.csv`` and ``designs.fasta``: the input first, then the designs.

    Args:
        found: the structure.
        chosen: indices of the designed residues by chain.
        rows: rows of the input and of each design, in the order of the files, with ``name``, ``letters``
            (amino acids by chain and index) and the figures.
        figures: names of the columns between the name and the changes.
    """
    chains = [chain for chain in found.chains if chain in chosen]
    table, fasta = [], []
    for row in rows:
        parts = {}
        for chain in chains:
            letters = {index: row["letters"][chain, index] for index in range(len(found.chains[chain]))}
            parts[chain] = join_sequence(found.chains[chain], letters)
        changed = sum(row["letters"][key] != letter for key, letter in rows[0]["letters"].items())
        told = {key: row.get(key, "") for key in figures}
        about = {"mutations": changed, "temperature": row.get("temperature", ""), "seed": row.get("seed", "")}
        sequences = {f"sequence_{chain}": text for chain, text in parts.items()}
        table.append({"name": row["name"], **told, **about, **sequences})
        said = ", ".join(f"{key}={value}" for key, value in told.items())
        fasta.append(f">{row['name']} {said}, chains={'/'.join(chains)}\n{'/'.join(parts.values())}\n")
    write_table("designs.csv", table)
    (OUTPUTS / "designs.fasta").write_text("".join(fasta), "utf-8")


def write_probabilities(
    found: Backbone,
    chosen: Mapping[str, set[int]],
    best: Mapping[tuple[str, int], str],
    probabilities: Mapping[tuple[str, int], Iterable[float]],
    measured: Mapping[str, Mapping[tuple[str, int], object]] | None = None,
) -> None:
    """Write ``probabilities.csv``: one row per designed residue with the probability of each amino acid.

    Args:
        found: the structure.
        chosen: indices of the designed residues by chain.
        best: amino acids of the best design by chain and index.
        probabilities: by chain and index, in the order of ``LETTERS``.
        measured: further columns, with their values by chain and index.
    """
    write_table(
        "probabilities.csv",
        [
            {
                "chain": chain,
                "residue": found.chains[chain][index].number,
                "given": found.chains[chain][index].letter,
                "designed": best[chain, index],
                **{name: values[chain, index] for name, values in (measured or {}).items()},
                **{
                    letter: round(float(value), 4)
                    for letter, value in zip(LETTERS, probabilities[chain, index], strict=False)
                },
            }
            for chain in found.chains
            if chain in chosen
            for index in sorted(chosen[chain])
        ],
    )
