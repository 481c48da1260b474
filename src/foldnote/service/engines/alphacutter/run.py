"""Cut the non-globular regions out of one structure by the algorithm of AlphaCutter.

Reads job.json and the file of ``pdbFile``. Writes outputs/regions.csv (a row for each region, kept or
removed), outputs/residues.csv (a row for each residue), outputs/domains.pdb, the protein with the number of
the domain in the B-factor column, and outputs/regions.fasta; with ``domain_out`` a file for each domain, with
``single_out`` one with all of them.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from kabsch_sander import assign_states
from protein_files import Protein, ProteinResidue, read_protein, write_protein
from regions import CutRegion, CutterSettings, count_far_contacts, cut, find_contacts, lay_out

REGION_COLUMNS = (
    *("region", "chain", "start", "end", "residues", "kind", "domain", "kept", "reason", "mean_plddt"),
    "sequence",
)
"""Columns of regions.csv: region, 1-based; chain; numbers of its first and last residue with insertion code;
residues in it; kind (loop, helix or fragment); domain, 1-based, empty if it was removed; kept, yes or no;
reason for the removal; mean pLDDT, 0 to 100, over its residues; one-letter sequence."""
RESIDUE_COLUMNS = (
    *("chain", "number", "residue", "secondary", "far_contacts", "plddt", "region", "domain"),
    "part",
)
"""Columns of residues.csv: chain; residue number with insertion code; three-letter name; letter of DSSP, of
which ``-`` is loop and ``H`` α-helix; residues that it touches in other chains or beyond the local range;
pLDDT, 0 to 100; region; domain, empty if it was removed; what it is a part of, in words."""
OUTPUTS = Path("outputs")
BACKBONE = ("N", "CA", "C", "O")
MIN_WHOLE = 0.5
"""Share of residues with a complete backbone below which secondary structure is meaningless."""
MAX_RANGES = 4
"""Maximum residue ranges in a file name."""
EXPERIMENT = re.compile(r"DIFFRACTION|MICROSCOPY|NMR|CRYSTALLOGRAPHY|SCATTERING", re.IGNORECASE)
DOMAIN_REMARK = (
    "B-FACTOR COLUMN: NUMBER OF THE DOMAIN, FROM 1; 0 FOR REMOVED RESIDUES.",
    "CUT BY THE ALGORITHM OF ALPHACUTTER.",
)
PLDDT_REMARK = "B-FACTOR COLUMN: PLDDT, AS IN THE FILE THAT WAS GIVEN."
OTHER_REMARK = "B-FACTOR COLUMN: AS IN THE FILE THAT WAS GIVEN."


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    given = job["settings"]
    settings = CutterSettings.read(given)
    write_used(seed=None)
    report(0.05, "Reading the structure")
    protein = read_protein(Path(job["files"]["pdbFile"][0]))
    plddt, is_plddt = read_plddt(protein, settings)
    report(0.2, "Finding secondary structure")
    states = find_states(protein)
    report(0.5, "Finding contacts")
    contacts = find_contacts(protein.residues)
    report(0.8, "Cutting")
    layout = lay_out(protein.residues, find_alphas(protein))
    regions = cut(states, contacts, layout, plddt, settings)
    far = count_far_contacts(contacts, layout, settings.local_contact_range)
    report(0.9, "Writing the regions")
    write_tables(protein.residues, regions, states, far, plddt)
    numbers = list_domains(protein.residues, regions)
    write_protein(OUTPUTS / "domains", protein.residues, DOMAIN_REMARK, [float(each) for each in numbers])
    protein.notes.append(
        "The B-factor column of the file domains is the number of the domain, not a B-factor."
    )
    remark = [PLDDT_REMARK if is_plddt else OTHER_REMARK]
    if given.get("domain_out", False):
        write_domains(protein.residues, numbers, remark)
    kept = [residue for residue, number in zip(protein.residues, numbers, strict=True) if number]
    if given.get("single_out", False) and kept:
        write_protein(OUTPUTS / "merged", kept, remark)
    if not any(numbers):
        protein.notes.append("Nothing was kept: see the reasons in regions.csv.")
    write_notes(protein.notes)
    write_summary(regions, plddt, numbers)
    report(1.0, "Done")


def read_plddt(protein: Protein, settings: CutterSettings) -> tuple[Any, bool]:
    """Return the B-factor of each residue as pLDDT, 0 to 100, shape (n,), and whether it can be one.

    Values from 0 to 1 are taken for fractions. Fail if a minimum pLDDT is requested and the column cannot be
    one.
    """
    values = np.array([np.mean([atom.b_iso for atom in each.atoms]) for each in protein.residues])
    if is_experimental(protein):
        doubt = "the file names an experiment, so its B-factor column is not a pLDDT"
    elif values.min() < 0 or values.max() > 100:
        doubt = (
            f"the B-factor column goes from {values.min():.1f} to {values.max():.1f}, so it is not a pLDDT"
        )
    elif values.max() - values.min() < 1e-6:
        doubt = "the B-factor column has one value throughout, so it is not a pLDDT"
    else:
        if values.max() <= 1:
            protein.notes.append("The B-factors are 0 to 1 and were taken for pLDDT divided by 100.")
            values = 100 * values
        return values, True
    if settings.plddt_min > 0:
        fail(f"A least pLDDT was asked for, but {doubt}. Set pLDDT_min to 0 or give a predicted structure.")
    protein.notes.append(f"{doubt[0].upper()}{doubt[1:]}: columns named plddt repeat it as it is.")
    return values, False


def is_experimental(protein: Protein) -> bool:
    """Return whether the file's header names an experiment."""
    return bool(EXPERIMENT.search(dict(protein.structure.info).get("_exptl.method", "")))


def find_states(protein: Protein) -> Any:
    """Return the DSSP letter of each residue, shape (n,), chain by chain, with AlphaCutter's options.

    Residues without a complete backbone are neither loop nor helix.
    """
    atoms = [[residue.find(name) for name in BACKBONE] for residue in protein.residues]
    whole = np.array([all(row) for row in atoms])
    if whole.sum() < MIN_WHOLE * len(whole):
        fail(
            f"{len(whole) - whole.sum()} of {len(whole)} residues lack atoms of the backbone. Secondary"
            " structure is made of its hydrogen bonds: give an all-atom model."
        )
    if lacking := len(whole) - whole.sum():
        protein.notes.append(
            f"{lacking} residues lack atoms of the backbone and count neither as loop nor as helix."
        )
    states = np.full(len(whole), "?", dtype="<U1")
    chains = np.array([residue.chain for residue in protein.residues])
    for name in protein.chains:
        places = np.flatnonzero(whole & (chains == name))
        if not len(places):
            continue
        backbone = np.array([[atom.pos.tolist() for atom in atoms[place]] for place in places])
        prolines = np.array([protein.residues[place].name == "PRO" for place in places])
        states[places] = assign_states(backbone, [name] * len(places), prolines)
    return states


def find_alphas(protein: Protein) -> Any:
    """Return the positions of the Cα atoms, shape (n, 3), Å; NaN for a residue without one."""
    atoms = [residue.find("CA") for residue in protein.residues]
    return np.array([atom.pos.tolist() if atom else [np.nan] * 3 for atom in atoms])


def list_domains(residues: Sequence[ProteinResidue], regions: Sequence[CutRegion]) -> list[int]:
    """Return the number of each residue's domain; 0 if it was removed."""
    numbers = [0] * len(residues)
    for region in regions:
        numbers[region.start : region.end] = [region.domain] * len(region)
    return numbers


def write_tables(
    residues: Sequence[ProteinResidue], regions: Sequence[CutRegion], states: Any, far: Any, plddt: Any
) -> None:
    """Write regions.csv, residues.csv and regions.fasta."""
    rows, details, records = [], [], []
    for index, region in enumerate(regions, start=1):
        own = residues[region.start : region.end]
        sequence = "".join(each.letter for each in own)
        part = f"Domain {region.domain}" if region.domain else f"Removed {region.kind}"
        shared = {"chain": own[0].chain, "region": index, "domain": region.domain or ""}
        rows.append(
            shared
            | {
                "start": own[0].number,
                "end": own[-1].number,
                "residues": len(own),
                "kind": region.kind,
                "kept": "yes" if region.domain else "no",
                "reason": region.reason,
                "mean_plddt": f"{plddt[region.start : region.end].mean():.2f}",
                "sequence": sequence,
            }
        )
        details += [
            shared
            | {
                "number": residue.number,
                "residue": residue.name,
                "secondary": states[place],
                "far_contacts": far[place],
                "plddt": f"{plddt[place]:.2f}",
                "part": part,
            }
            for place, residue in enumerate(own, start=region.start)
        ]
        records.append(f">{own[0].chain}:{own[0].number}-{own[-1].number} {part}\n{sequence}\n")
    write_table("regions.csv", rows, REGION_COLUMNS)
    write_table("residues.csv", details, RESIDUE_COLUMNS)
    OUTPUTS.joinpath("regions.fasta").write_text("".join(records), "utf-8")


def write_domains(residues: Sequence[ProteinResidue], numbers: Sequence[int], remark: Sequence[str]) -> None:
    """Write a file for each domain."""
    for number in range(1, max(numbers) + 1):
        own = [residue for residue, domain in zip(residues, numbers, strict=True) if domain == number]
        write_protein(OUTPUTS / f"domain_{number}_{name_ranges(own)}", own, remark)


def name_ranges(residues: Sequence[ProteinResidue]) -> str:
    """Return the first and last residue in each chain, such as ``A12-150_B3-90``."""
    chains = defaultdict(list)
    for residue in residues:
        chains[residue.chain].append(residue.number)
    ranges = [f"{name}{own[0]}-{own[-1]}" for name, own in chains.items()]
    return "_".join(ranges[:MAX_RANGES]) + ("_and_more" if len(ranges) > MAX_RANGES else "")


def write_summary(regions: Sequence[CutRegion], plddt: Any, numbers: Sequence[int]) -> None:
    """Write the figures of the run."""
    domains = np.array(numbers)
    figures: dict[str, Any] = {
        "domains": int(domains.max()),
        "residues": len(numbers),
        "keptResidues": int((domains > 0).sum()),
        "removedLoops": sum(region.kind == "loop" for region in regions),
        "removedHelices": sum(region.kind == "helix" for region in regions),
        "removedFragments": sum(region.kind == "fragment" and not region.domain for region in regions),
    }
    if (domains > 0).any():
        figures["keptMeanPlddt"] = round(float(plddt[domains > 0].mean()), 2)
    figures["givenMeanPlddt"] = round(float(plddt.mean()), 2)
    write_score(figures)


if __name__ == "__main__":
    sys.exit(main())
