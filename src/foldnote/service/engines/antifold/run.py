"""Score and sample the sequence of an antibody's backbone with AntiFold.

Reads ``task``, ``pdbFile``, the names of the chains and ``includeAntigen`` from job.json, and
``numSequences``, ``temperature`` and ``regions`` if given. Scores, perplexities and samples come from
AntiFold's own functions. The files of the result are listed in engine.toml.
"""

from __future__ import annotations

import argparse
import csv
import functools
import logging
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_protocol import AMINO_ACIDS, fail, read_job, report, write_notes, write_score, write_used
from protein_files import Protein, ProteinResidue, read_protein, write_protein

OUTPUTS = Path("outputs")
BACKBONE = ("N", "CA", "C")
REGIONS = ("CDR1", "CDR2", "CDR3")
"""Regions that are sampled by default."""
NUMBER_OF_SEQUENCES, TEMPERATURE = 10, 0.2
MAX_SEQUENCES = 1000
LONGEST_TEMPERATURE = 10.0
MAX_RESIDUES = 2000
"""Maximum residues of all chains together: memory grows with the square of their number."""
NO_IMGT_POSITION = 10
"""A heavy chain has no residue with this IMGT number; AntiFold recognises other schemes by it."""
MORE = ("numSequences", "temperature", "regions")
"""Settings that the form lacks but a service may pass on."""
Row = dict[str, Any]


@dataclass(frozen=True)
class SamplingRequest:
    """The request of a job.

    Attributes:
        chains: names of the chains: heavy or nanobody, light, and antigen.
        is_paired: whether there is a light chain.
        number: number of sequences to sample.
        temperature: sampling temperature.
        regions: regions to sample, by AntiFold's names.
    """

    chains: tuple[str, ...]
    is_paired: bool
    number: int
    temperature: float
    regions: tuple[str, ...]


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    report(0.02, "Reading the structure")
    protein = read_protein(Path(job["files"]["pdbFile"][0]))
    notes, ignored = list(protein.notes), {}
    request = read_request(job["settings"], protein, ignored)
    residues = choose_residues(protein, request, notes)
    write_used(
        seed=job["seed"] if request.number else None,
        settings={
            "numSequences": request.number,
            "temperature": request.temperature,
            "regions": list(request.regions),
        }
        if request.number
        else {},
        ignored=ignored,
    )
    path = write_protein(Path("antibody"), rename_chains(residues, request), ["CHAINS THAT ANTIFOLD READ"])
    report(0.1, "Loading AntiFold")
    model = load_model()
    report(0.4, "Reading the backbone")
    table = find_log_probabilities(model, path, request)
    rows = make_residue_rows(table, residues)
    write_rows("residues.csv", rows)
    score: Row = {"log_likelihood": round(sum(row["log_probability"] for row in rows) / len(rows), 4)}
    if request.number:
        report(0.8, f"Sampling {request.number} sequences")
        sampled = sample(table, request, job["seed"])
        write_rows("sequences.csv", sampled)
        write_fasta(sampled)
        score["best_antifold_score"] = min(row["antifold_score"] for row in sampled[1:])
    write_notes(notes)
    write_score(score)
    report(1.0, "Done")


def read_request(settings: Mapping[str, Any], protein: Protein, ignored: dict[str, str]) -> SamplingRequest:
    """Check the settings against the structure; fail if they do not fit."""
    is_paired = settings["task"] == "antibody"
    heavy, light = (str(settings.get(name) or "").strip() for name in ("heavyChain", "lightChain"))
    antigen = str(settings.get("antigenChain") or "").strip()
    if is_paired and not light:
        fail("lightChain is empty. Name the light chain, or choose the task nanobody.")
    if not is_paired and light:
        ignored["lightChain"] = "A nanobody is a single domain of a heavy chain."
        light = ""
    if settings.get("includeAntigen") and not antigen:
        others = [name for name in protein.chains if name not in (heavy, light)]
        if len(others) > 1:
            names = ", ".join(others)
            fail(f"The structure has {len(others)} further chains ({names}). Name the antigenChain.")
        antigen = "".join(others)
        ignored |= {} if antigen else {"includeAntigen": "The structure has no further chain."}
    elif antigen and not settings.get("includeAntigen"):
        ignored["antigenChain"] = "The antigen is not included."
        antigen = ""
    chains = tuple(filter(None, (heavy, light, antigen)))
    if len(set(chains)) < len(chains):
        fail(f"A chain is named twice: {', '.join(chains)}.")
    for name in chains:
        if name not in protein.chains:
            there = ", ".join(each or "one without a name" for each in protein.chains)
            fail(f"The structure has no chain {name}; it has {there}.")
    known = {"task", "pdbFile", "heavyChain", "lightChain", "includeAntigen", "antigenChain", *MORE}
    ignored |= {name: "This engine has no such setting." for name in settings if name not in known}
    if not is_paired:
        ignored |= {name: "AntiFold samples paired antibodies only." for name in MORE if name in settings}
    return SamplingRequest(
        chains, is_paired, *(read_sampling(settings) if is_paired else (0, TEMPERATURE, REGIONS))
    )


def read_sampling(settings: Mapping[str, Any]) -> tuple[int, float, tuple[str, ...]]:
    """Return the number of sequences, the temperature, and the regions."""
    number, temperature = settings.get(MORE[0], NUMBER_OF_SEQUENCES), settings.get(MORE[1], TEMPERATURE)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_SEQUENCES:
        fail(f"numSequences is {number!r}; give a whole number from 0 to {MAX_SEQUENCES}.")
    if not isinstance(temperature, int | float) or not 0 < temperature <= LONGEST_TEMPERATURE:
        fail(f"temperature is {temperature!r}; give a number above 0, up to {LONGEST_TEMPERATURE:g}.")
    from antifold.antiscripts import IMGT_dict

    given = settings.get(MORE[2], REGIONS)
    regions = tuple(given.replace(",", " ").split() if isinstance(given, str) else map(str, given))
    if not regions or (strange := [name for name in regions if name not in IMGT_dict]):
        fail(f"regions has {', '.join(strange) or 'nothing'}; AntiFold knows {', '.join(IMGT_dict)}.")
    return number, float(temperature), regions


def choose_residues(protein: Protein, request: SamplingRequest, notes: list[str]) -> list[ProteinResidue]:
    """Return the residues of the wanted chains in order, if their backbone is complete."""
    chosen, broken = [], 0
    for name in request.chains:
        chain = [each for each in protein.residues if each.chain == name]
        whole = [each for each in chain if all(each.find(atom) for atom in BACKBONE)]
        broken += len(chain) - len(whole)
        if not whole:
            fail(f"No residue of chain {name} has the backbone atoms N, CA and C.")
        if len({each.number for each in whole}) < len(whole):
            fail(f"Chain {name} has residue numbers that stand more than once. Number it by IMGT.")
        if any(not re.fullmatch(r"\d+[A-Z]?", each.number) for each in whole):
            fail(f"Chain {name} has negative residue numbers. Number it by IMGT.")
        chosen += whole
    if len(chosen) > MAX_RESIDUES:
        fail(f"The chains have {len(chosen)} residues; AntiFold is run with at most {MAX_RESIDUES}.")
    if broken:
        notes.append(f"{broken} residues without the backbone atoms N, CA and C were left out.")
    if any(each.chain == request.chains[0] and each.number == str(NO_IMGT_POSITION) for each in chosen):
        notes.append(
            f"The heavy chain has a residue {NO_IMGT_POSITION}, which IMGT leaves out: its numbers may be"
            " others. Then the regions are wrong, and with them the sampled sequences."
        )
    return chosen


def rename_chains(residues: Sequence[ProteinResidue], request: SamplingRequest) -> list[ProteinResidue]:
    """Return the residues in chains with names of one letter, which AntiFold needs."""
    from dataclasses import replace

    names = dict(zip(request.chains, "HLA" if request.is_paired else "HA", strict=False))
    return [replace(each, chain=names[each.chain]) for each in residues]


@functools.cache
def load_model() -> Any:
    """Return AntiFold with the installed weights; the package's own download of weights is never used."""
    logging.getLogger("antifold").setLevel(logging.ERROR)
    import torch
    from antifold import antiscripts, esm
    from antifold.esm.inverse_folding.gvp_transformer import GVPTransformerModel
    from antifold.esm.pretrained import IF1_dict

    alphabet = esm.Alphabet.from_architecture("vt_medium_with_invariant_gvp")
    model = GVPTransformerModel(argparse.Namespace(**IF1_dict), alphabet)
    model = antiscripts.load_IF1_checkpoint(model, str(Path(os.environ["FOLDNOTE_WEIGHTS"]) / "model.pt"))
    return model.eval().to("cuda" if torch.cuda.is_available() else "cpu")


def find_log_probabilities(model: Any, path: Path, request: SamplingRequest) -> Any:
    """Return AntiFold's table of the residues with their logits, as its command line makes it."""
    import pandas
    from antifold.antiscripts import get_pdbs_logits

    columns = ("Hchain", "Lchain", "Agchain") if request.is_paired else ("Hchain", "Agchain")
    names = dict(zip(columns, "HLA" if request.is_paired else "HA", strict=True))
    row = {"pdb": path.stem} | dict(list(names.items())[: len(request.chains)])
    is_plain = request.is_paired and len(request.chains) == 2
    (table,) = get_pdbs_logits(
        model, pandas.DataFrame([row]), str(path.parent), custom_chain_mode=not is_plain, num_threads=0
    )
    return table


def make_residue_rows(table: Any, residues: Sequence[ProteinResidue]) -> list[Row]:
    """Return the rows of residues.csv, with the chains and numbers of the file.

    Raises:
        RuntimeError: AntiFold read residues other than the given ones.
    """
    from antifold.antiscripts import df_logits_to_logprobs

    logs = df_logits_to_logprobs(table)
    if "".join(table["pdb_res"]) != "".join(each.letter for each in residues):
        raise RuntimeError("AntiFold read other residues than it was given")
    rows = []
    for residue, (_, values) in zip(residues, logs.iterrows(), strict=True):
        rows.append(
            {
                "chain": residue.chain,
                "number": residue.number,
                "residue": residue.letter,
                "best": values["top_res"],
                "log_probability": round(float(values[residue.letter]), 4),
                "perplexity": round(float(values["perplexity"]), 4),
            }
            | {letter: round(float(values[letter]), 4) for letter in AMINO_ACIDS}
        )
    return rows


def sample(table: Any, request: SamplingRequest, seed: int) -> list[Row]:
    """Return the given sequence and sampled ones, with AntiFold's scores."""
    from antifold import antiscripts

    heavy, light = antiscripts.get_dfs_HL(table)
    pair = table.iloc[: len(heavy) + len(light)]
    given = "".join(pair["pdb_res"])
    antiscripts.seed_everything(seed % 2**32)
    pair.name = "antibody"
    sampled = antiscripts.sample_from_df_logits(
        pair,
        sample_n=request.number,
        sampling_temp=request.temperature,
        regions_to_mutate=list(request.regions),
    )
    rows = []
    for place, record in enumerate(sampled.values()):
        first, _, second = str(record.seq).partition("/")
        own, whole = antiscripts.get_sequence_sampled_global_score(
            first + second, pair, list(request.regions)
        )
        same = sum(one == two for one, two in zip(first + second, given, strict=True))
        rows.append(
            {
                "sequence_id": f"sampled_{place}" if place else "given",
                "heavy": first,
                "light": second,
                "antifold_score": round(float(own), 4),
                "global_score": round(float(whole), 4),
                "seq_recovery": round(same / len(given), 4),
                "mutations": len(given) - same,
            }
        )
    return rows


def write_fasta(rows: Sequence[Row]) -> None:
    """Write sequences.fasta."""
    lines = [
        f">{row['sequence_id']} score={row['antifold_score']}\n{row['heavy']}/{row['light']}\n"
        for row in rows
    ]
    (OUTPUTS / "sequences.fasta").write_text("".join(lines), "utf-8")


def write_rows(name: str, rows: Sequence[Row]) -> None:
    """Write rows with the same keys as a CSV file."""
    with (OUTPUTS / name).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
