"""Predicts an antibody's variable domains with FlashABB, and its TAP scores with FlashTAP.

Reads ``heavy``, ``light`` and ``developability`` from job.json. Writes outputs/prediction.pdb (chains H and
L, IMGT numbers, heavy atoms, Å, not refined), outputs/numbering.csv and outputs/developability.csv. Neither
model draws random numbers, and FlashABB gives no confidence: B-factors are zero.
"""

from __future__ import annotations

import functools
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine_protocol as protocol
from antibody_regions import COLUMNS, number_rows
from variable_domains import explain_missing_ends

CHAINS = {"H": ("heavy", ("H",)), "L": ("light", ("K", "L"))}
PREDICTION = Path("outputs/prediction.pdb")
REMARKS = (
    "ANTIBODY STRUCTURE MODELLED USING FLASHABB, NOT REFINED",
    "B-FACTORS ARE ZERO: FLASHABB GIVES NO ERROR ESTIMATE",
    "RESIDUE NUMBERS ARE IMGT NUMBERS",
)
SCORES = {
    "PSH": "patches of surface hydrophobicity near the CDRs",
    "PPC": "patches of positive charge near the CDRs",
    "PNC": "patches of negative charge near the CDRs",
    "SFvCSP": "symmetry of the charges of heavy and light domain",
}
BOND = (1.2, 1.5)
"""Å between C and the next N; 1.33 in proteins."""
CLASH = 2.0
"""Å between atoms of residues that are no neighbours in the chain, below which they overlap."""


@dataclass(frozen=True)
class FvDomain:
    """The variable domain of one chain."""

    chain: str
    sequence: str
    first_index: int
    """1-based index of its first residue in the given sequence."""
    left_out: int
    """Residues of the given sequence outside of it."""
    numbering: tuple[tuple[tuple[int, str], str], ...]
    """((IMGT number, insertion), amino acid) of each residue."""


def main() -> None:
    """Run the job of this folder."""
    job = protocol.read_job()
    settings = job["settings"]
    given = {chain: protocol.clean_sequence(settings[field]) for chain, (field, _) in CHAINS.items()}
    protocol.write_used(seed=None, settings={field: given[chain] for chain, (field, _) in CHAINS.items()})
    protocol.report(0.02, "Recognising the heavy and the light chain")
    domains = [find_domain(chain, sequence) for chain, sequence in given.items()]
    protocol.report(0.1, "Loading FlashABB")
    is_profiled = bool(settings.get("developability", True))
    model, profiler = load_model(), load_profiler() if is_profiled else None
    pair = "|".join(each.sequence for each in domains)
    protocol.report(0.5, "Predicting the structure")
    write_structure(domains, predict(model, pair))
    rows = [
        row
        for each in domains
        for row in number_rows(each.numbering, scheme="imgt", chain=each.chain, first_index=each.first_index)
    ]
    protocol.write_table("numbering.csv", rows, COLUMNS)
    figures: dict[str, float | int | str] = {
        "heavyResidues": len(domains[0].sequence),
        "lightResidues": len(domains[1].sequence),
        **measure_geometry(),
    }
    if profiler is not None:
        protocol.report(0.8, "Predicting the TAP scores")
        figures |= write_scores(profiler, pair)
    protocol.write_notes([*note_what_is_lost(domains), *note_geometry(figures)])
    protocol.write_score(figures)
    protocol.report(1.0, "Done")


@functools.cache
def load_model() -> Any:
    """FlashABB with the weights of its package, on the CPU, where a domain takes a second."""
    from flash_abb import pretrained

    return pretrained(device="cpu")


@functools.cache
def load_profiler() -> Any:
    """FlashTAP with the weights of its package."""
    from flash_abb import pretrained_tap

    return pretrained_tap(device="cpu")


def find_domain(chain: str, sequence: str) -> FvDomain:
    """The variable domain of a sequence; ends with a sentence for the user where there is none."""
    import immunum

    field, kinds = CHAINS[chain]
    protocol.refuse_strange_letters(f"The {field} sequence", sequence, "FlashABB")
    try:
        found = immunum.Annotator(chains=["H", "K", "L"], scheme="imgt").number(sequence)
    except (RuntimeError, ValueError) as exc:
        protocol.fail(f"The {field} sequence cannot be numbered: {' '.join(str(exc).split())[:200]}")
    if found.error:
        protocol.fail(
            f"The {field} sequence is not recognised as the variable domain of an antibody's {field} chain."
            " Give the whole domain."
        )
    if found.chain not in kinds:
        protocol.fail(
            f"The {field} sequence is not that of a {field} chain."
            " Check that heavy and light are not exchanged."
        )
    numbering = tuple((split_position(name), letter) for name, letter in found.numbering.items())
    numbers = [number for (number, _), _ in numbering]
    if fault := explain_missing_ends(field, numbers):
        protocol.fail(fault)
    domain = "".join(letter for _, letter in numbering)
    if domain not in sequence:
        protocol.fail(f"The residues of the {field} sequence's variable domain cannot be told apart.")
    return FvDomain(chain, domain, sequence.index(domain) + 1, len(sequence) - len(domain), numbering)


def split_position(name: str) -> tuple[int, str]:
    """Number and insertion letter of a position such as ``111A``."""
    digits = name.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return int(digits), name[len(digits) :]


def predict(model: Any, pair: str) -> Any:
    """What FlashABB says of a pair ``heavy|light``."""
    import torch

    with torch.inference_mode():
        return model([pair])


def write_structure(domains: list[FvDomain], result: Any) -> None:
    """Write the structure by FlashABB's own writer, and number it by IMGT."""
    with tempfile.TemporaryDirectory() as folder:
        result.to_pdbs(["model"], pdb_dir=folder)
        lines = (Path(folder) / "model.pdb").read_text("utf-8").splitlines()
    written = [f"REMARK   1 {text}".ljust(80) for text in REMARKS]
    written += renumber(lines, {each.chain: each for each in domains})
    PREDICTION.write_text("\n".join(written) + "\n", "utf-8")


def renumber(lines: list[str], domains: Mapping[str, FvDomain]) -> Iterator[str]:
    """The lines of a PDB file in which residues are counted from 1 in each chain."""
    for line in lines:
        if line.startswith("PARENT"):
            continue
        if not line.startswith(("ATOM", "TER")):
            yield line
            continue
        domain = domains[line[21]]
        (number, insertion), _ = domain.numbering[int(line[22:26]) - 1]
        yield f"{line[:22]}{number:4d}{insertion or ' '}{line[27:]}"


def measure_geometry() -> dict[str, float | int]:
    """The share of peptide bonds of a usual length, and the pairs of atoms that overlap."""
    import numpy
    from scipy.spatial import cKDTree

    residues: dict[str, int] = {}
    places, owners, names, chains = [], [], [], []
    for line in PREDICTION.read_text("utf-8").splitlines():
        if line.startswith("ATOM"):
            owners.append(residues.setdefault(line[21:27], len(residues)))
            names.append(line[12:16].strip())
            chains.append(line[21])
            places.append([float(line[start : start + 8]) for start in (30, 38, 46)])
    atoms = {(owner, name): place for owner, name, place in zip(owners, names, places, strict=True)}
    chain_of = dict(zip(owners, chains, strict=True))
    bonds = [
        float(numpy.linalg.norm(numpy.subtract(atoms[here, "C"], atoms[here + 1, "N"])))
        for here in range(len(residues) - 1)
        if chain_of[here] == chain_of[here + 1]
    ]
    pairs = cKDTree(numpy.array(places)).query_pairs(CLASH)
    overlaps = [
        (first, second)
        for first, second in pairs
        if chains[first] != chains[second] or abs(owners[first] - owners[second]) > 1
    ]
    # The sulphurs of a disulfide bond are 2.05 Å apart.
    overlaps = [each for each in overlaps if {names[place] for place in each} != {"SG"}]
    usual = sum(BOND[0] <= bond <= BOND[1] for bond in bonds)
    return {"usualPeptideBonds": round(usual / len(bonds), 4), "overlappingAtoms": len(overlaps)}


def write_scores(profiler: Any, pair: str) -> dict[str, float]:
    """Write the TAP scores and the probabilities of their flags; gives them as figures of the run."""
    result = profiler([pair])
    scores, flags = result.scores[0], result.flag_probs[0]
    protocol.write_table(
        "developability.csv",
        [
            {
                "score": name,
                "meaning": meaning,
                "value": round(scores[name], 3),
                "flag_probability": round(flags[name], 4),
            }
            for name, meaning in SCORES.items()
        ],
    )
    figures = {name: round(scores[name], 3) for name in SCORES}
    return figures | {"anyFlagProbability": round(float(result.any_flag_prob[0]), 4)}


def note_what_is_lost(domains: list[FvDomain]) -> list[str]:
    """Remarks on what is not in the structure, or not to be read from it."""
    notes = ["The structure is not refined. FlashABB gives no confidence, so the B-factors are zero."]
    for each in domains:
        if each.left_out:
            notes.append(
                f"{each.left_out} residues of the {CHAINS[each.chain][0]} sequence are outside the variable"
                " domain and were not used."
            )
    return notes


def note_geometry(figures: Mapping[str, float | int | str]) -> list[str]:
    """A remark on strained geometry."""
    share, overlaps = float(figures["usualPeptideBonds"]), int(figures["overlappingAtoms"])
    if share == 1 and not overlaps:
        return []
    sentence = (
        f"{share:.1%} of the peptide bonds are {BOND[0]} to {BOND[1]} Å long. Pairs of atoms nearer than"
        f" {CLASH:g} Å: {overlaps}. Refine the structure before you use its atoms."
    )
    return [sentence]


if __name__ == "__main__":
    sys.exit(main())
