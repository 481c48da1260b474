"""Predict an antibody's variable domains with FlashABB, and its TAP scores with FlashTAP.

Reads ``heavy``, ``light`` and ``developability`` from job.json. Writes outputs/prediction.pdb (chains H and
L, IMGT numbers, heavy atoms, Å, not refined), outputs/numbering.csv and outputs/developability.csv. Neither
model draws random numbers, and FlashABB gives no confidence: B-factors are zero.
"""

from __future__ import annotations

import functools
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import engine_protocol as protocol
from antibody_regions import COLUMNS, number_rows
from fv_domains import FIELDS, FvDomain, find_domain, note_what_is_left_out, renumber

PREDICTION = Path("outputs/prediction.pdb")
REMARKS = (
    "ANTIBODY STRUCTURE MODELLED USING FLASHABB, NOT REFINED",
    "B-FACTORS ARE ZERO: FLASHABB GIVES NO ERROR ESTIMATE",
    "RESIDUE NUMBERS ARE IMGT NUMBERS",
)
NO_CONFIDENCE = "The structure is not refined. FlashABB gives no confidence, so the B-factors are zero."
SCORES = {
    "PSH": "patches of surface hydrophobicity near the CDRs",
    "PPC": "patches of positive charge near the CDRs",
    "PNC": "patches of negative charge near the CDRs",
    "SFvCSP": "symmetry of the charges of heavy and light domain",
}
BOND = (1.2, 1.5)
"""Range in Å of the distance between C and the next N; 1.33 in proteins."""
CLASH = 2.0
"""Distance in Å below which atoms of residues that are not neighbours in the chain overlap."""


def main() -> None:
    """Run the job of this folder."""
    job = protocol.read_job()
    settings = job["settings"]
    given = {chain: protocol.clean_sequence(settings[field]) for chain, field in FIELDS.items()}
    protocol.write_used(seed=None, settings={field: given[chain] for chain, field in FIELDS.items()})
    protocol.report(0.02, "Recognising the heavy and the light chain")
    domains = [find_domain(chain, sequence, "FlashABB") for chain, sequence in given.items()]
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
    protocol.write_notes([NO_CONFIDENCE, *note_what_is_left_out(domains), *note_geometry(figures)])
    protocol.write_score(figures)
    protocol.report(1.0, "Done")


@functools.cache
def load_model() -> Any:
    """Return FlashABB with the weights of its package, on the CPU, where a domain takes a second."""
    from flash_abb import pretrained

    return pretrained(device="cpu")


@functools.cache
def load_profiler() -> Any:
    """Return FlashTAP with the weights of its package."""
    from flash_abb import pretrained_tap

    return pretrained_tap(device="cpu")


def predict(model: Any, pair: str) -> Any:
    """Return FlashABB's result for a pair ``heavy|light``."""
    import torch

    with torch.inference_mode():
        return model([pair])


def write_structure(domains: list[FvDomain], result: Any) -> None:
    """Write the structure with FlashABB's own writer, and number it by IMGT."""
    with tempfile.TemporaryDirectory() as folder:
        result.to_pdbs(["model"], pdb_dir=folder)
        lines = (Path(folder) / "model.pdb").read_text("utf-8").splitlines()
    lines = [line for line in lines if not line.startswith("PARENT")]
    written = [f"REMARK   1 {text}".ljust(80) for text in REMARKS]
    written += renumber(lines, {each.chain: each for each in domains})
    PREDICTION.write_text("\n".join(written) + "\n", "utf-8")


def measure_geometry() -> dict[str, float | int]:
    """Return the share of peptide bonds of a usual length, and the number of overlapping atom pairs."""
    import numpy
    from scipy.spatial import cKDTree

    residues: dict[str, int] = {}
    coordinates, owners, names, chains = [], [], [], []
    for line in PREDICTION.read_text("utf-8").splitlines():
        if line.startswith("ATOM"):
            owners.append(residues.setdefault(line[21:27], len(residues)))
            names.append(line[12:16].strip())
            chains.append(line[21])
            coordinates.append([float(line[start : start + 8]) for start in (30, 38, 46)])
    atoms = {(owner, name): place for owner, name, place in zip(owners, names, coordinates, strict=True)}
    chain_of = dict(zip(owners, chains, strict=True))
    bonds = [
        float(numpy.linalg.norm(numpy.subtract(atoms[here, "C"], atoms[here + 1, "N"])))
        for here in range(len(residues) - 1)
        if chain_of[here] == chain_of[here + 1]
    ]
    pairs = cKDTree(numpy.array(coordinates)).query_pairs(CLASH)
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
    """Write the TAP scores and the probabilities of their flags; return them as figures of the run."""
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


def note_geometry(figures: Mapping[str, float | int | str]) -> list[str]:
    """Return a remark on strained geometry."""
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
