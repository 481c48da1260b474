"""Generate antibody chains that continue given residues, with AbGPT.

Calls the functions of the authors' package, so that the same seed gives the same sequences and perplexities.
Reads ``startingResidues``, ``chainType`` and ``numSequences`` from job.json. The files of the result are
listed in engine.toml.
"""

from __future__ import annotations

import functools
import os
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import engine_protocol as protocol

BATCH = 100
"""Sequences sampled in one call: as many as the tool makes by default."""
MAX_SEQUENCES = 10_000
MAX_PERPLEXITY = 13.0
"""The authors' filter keeps sequences with a perplexity below this."""
FILTERED_LETTERS = frozenset("XB")
"""The authors' filter drops sequences that contain one of these."""
GENERATED = 0.8
"""Fraction of the run after which all sequences are sampled."""
RATED_AT_ONCE = 10
"""Number of perplexities between two reports of progress."""
YES_OR_NO = {True: "yes", False: "no"}
OUTPUTS = Path("outputs")
END = 0
"""The token that ends a chain, as the package uses it."""
Row = dict[str, Any]


class GeneratedChain(NamedTuple):
    """One generated chain."""

    sequence: str
    is_ended: bool
    """Whether the model ended it; otherwise it was cut off at the maximum length."""


def main() -> None:
    """Run the job of this folder."""
    job = protocol.read_job()
    settings, seed = job["settings"], int(job["seed"] or 1)
    start, number = read_start(settings), read_number(settings)
    protocol.write_used(seed=seed, settings={"startingResidues": start, "numSequences": number})
    protocol.report(0.02, "Loading AbGPT")
    check_length(start)
    chains = list(generate_chains(start, settings.get("chainType", "heavy"), number, seed))
    rows = rate_chains(chains)
    write_results(rows)
    protocol.report(1.0, "Done")


def read_start(settings: Mapping[str, Any]) -> str:
    """Return the first residues of the chain, cleaned."""
    start = protocol.clean_sequence(settings["startingResidues"])
    if not start:
        protocol.fail("startingResidues is empty. Give the first residues of the chain, such as EVQL.")
    protocol.reject_nonstandard_letters("startingResidues", start, "AbGPT")
    return start


def read_number(settings: Mapping[str, Any]) -> int:
    """Return how many sequences to generate."""
    number = settings.get("numSequences", BATCH)
    if number != int(number) or not 1 <= number <= MAX_SEQUENCES:
        protocol.fail(f"numSequences is {number}; give a whole number from 1 to {MAX_SEQUENCES}.")
    return int(number)


@functools.cache
def load_pipeline() -> Any:
    """Return AbGPT with the installed weights, as the package loads it at each call."""
    import torch
    from transformers import pipeline

    folder = os.environ["FOLDNOTE_WEIGHTS"]
    device = 0 if torch.cuda.is_available() else -1
    return pipeline("text-generation", model=folder, tokenizer=folder, device=device)


def find_longest() -> int:
    """Return the tokens of the longest chain, its start included, by the model's own configuration."""
    return int(load_pipeline().model.generation_config.max_length)


def check_length(start: str) -> None:
    """Fail if the given residues leave no token to generate."""
    longest = find_longest()
    given = len(load_pipeline().tokenizer.encode(f"<|endoftext|>{start}"))
    if given >= longest:
        protocol.fail(
            f"startingResidues has {len(start)} residues, which are {given - 1} tokens; a chain of AbGPT has"
            f" at most {longest - 1}. Give fewer residues."
        )


def generate_chains(start: str, kind: str, number: int, seed: int) -> Iterator[GeneratedChain]:
    """Sample the chains, up to ``BATCH`` together, from one stream of random numbers."""
    from abgpt import generate
    from transformers import StoppingCriteriaList, set_seed

    load_pipeline()
    set_seed(seed % 2**32)
    for first in range(0, number, BATCH):
        count = min(BATCH, number - first)
        watch = TokenWatch(first, count, number)
        loaded = functools.partial(load_pipeline(), stopping_criteria=StoppingCriteriaList([watch]))
        # Without this, the package would load the model again at each call.
        generate.pipeline = lambda *_, _loaded=loaded, **__: _loaded
        texts = generate.generate_bcr_sequences(count, kind, start)
        for text, is_ended in zip(texts, watch.is_ended, strict=True):
            yield GeneratedChain("".join(text.split()), is_ended)


class TokenWatch:
    """Observes the tokens of chains that are sampled together after each new token; ends none of them."""

    def __init__(self, first: int, count: int, number: int) -> None:
        """Watch ``count`` chains that are sampled after ``first`` others, of ``number`` in all."""
        self.first, self.count, self.number = first, count, number
        self.is_ended: list[bool] = []
        """For each chain, whether the model has ended it."""

    def __call__(self, tokens: Any, _scores: Any, **_: Any) -> Any:
        """Receive the tokens so far, of shape (chains, tokens)."""
        import torch

        # A chain that has ended is padded with the same token.
        self.is_ended = (tokens[:, -1] == END).tolist()
        done = (self.first + tokens.shape[1] / find_longest() * self.count) / self.number
        last = self.first + self.count
        protocol.report(
            0.05 + GENERATED * done, f"Sampling sequences {self.first + 1} to {last} of {self.number}"
        )
        return torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)


def rate_chains(chains: Sequence[GeneratedChain]) -> list[Row]:
    """Return the rows of sequences.csv without their names: the lowest perplexity first."""
    from abgpt import generate

    pipeline, rows = load_pipeline(), []
    for place, chain in enumerate(chains):
        if place % RATED_AT_ONCE == 0:
            protocol.report(
                0.86 + 0.13 * place / len(chains), f"Perplexity of sequence {place + 1} of {len(chains)}"
            )
        text = generate.preprocess_sequence(chain.sequence)
        perplexity = generate.calculate_perplexity(text, pipeline.model, pipeline.tokenizer, pipeline.device)
        is_kept = perplexity < MAX_PERPLEXITY and not FILTERED_LETTERS & set(chain.sequence)
        rows.append(
            {
                "perplexity": round(perplexity, 4),
                "residues": len(chain.sequence),
                "ended": YES_OR_NO[chain.is_ended],
                "other_letters": protocol.list_nonstandard_letters(chain.sequence),
                "kept_by_filter": YES_OR_NO[is_kept],
                "sequence": chain.sequence,
            }
        )
    return sorted(rows, key=lambda row: (row["perplexity"], row["sequence"]))


def write_results(rows: Sequence[Row]) -> None:
    """Write the table, the sequences, the figures of the run, and notes for the reader."""
    named = [{"name": f"sequence_{place}", **row} for place, row in enumerate(rows, start=1)]
    protocol.write_table("sequences.csv", named)
    standard = [row for row in named if not row["other_letters"]]
    different = list({row["sequence"]: row for row in reversed(standard)}.values())[::-1]
    if different:
        records = [f">{row['name']} perplexity={row['perplexity']}\n{row['sequence']}\n" for row in different]
        (OUTPUTS / "sequences.fasta").write_text("".join(records), "utf-8")
    protocol.write_notes(list(list_warnings(named, different)))
    perplexities = [row["perplexity"] for row in rows]
    protocol.write_score(
        {
            "sequences": len(rows),
            "differentSequences": len({row["sequence"] for row in rows}),
            "keptByFilter": sum(row["kept_by_filter"] == YES_OR_NO[True] for row in rows),
            "lowestPerplexity": perplexities[0],
            "medianPerplexity": round(statistics.median(perplexities), 4),
        }
    )


def list_warnings(rows: Sequence[Row], different: Sequence[Row]) -> Iterator[str]:
    """Yield notes on sequences that are not what they should be."""
    strange = sum(bool(row["other_letters"]) for row in rows)
    if strange:
        yield (
            f"{strange} of {len(rows)} sequences have letters that are none of the 20 amino acids; they are"
            " in sequences.csv only."
        )
    if not different:
        yield "No sequence is of the 20 amino acids alone, so there is no sequences.fasta."
    cut = sum(row["ended"] == YES_OR_NO[False] for row in rows)
    if cut:
        yield (
            f"{cut} of {len(rows)} sequences were cut off at the longest chain of {find_longest()} tokens"
            " before the model ended them; their ends are missing."
        )


if __name__ == "__main__":
    sys.exit(main())
