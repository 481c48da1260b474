"""Predict the pKa values of a protein with PROPKA.

Reads job.json and the file of ``pdbFile``. Writes outputs/pka.csv (a row for each ionisable group),
outputs/contributions.csv (a row for each contribution to a shift), outputs/charge.csv and
outputs/stability.csv (a row for each pH), and outputs/propka.pdb with shifts in the B-factor column.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from propka import run as propka
from protein_files import read_protein
from structures import ReadableStructure, prepare_structure, write_shifts

PKA_COLUMNS = (
    *("chain", "number", "residue", "group", "pka", "model_pka", "pka_shift", "buried_percent", "charge"),
    "coupled",
)
"""Columns of pka.csv: chain; residue number with insertion code; three-letter name; which group of it; pKa;
pKa of the group alone in water; their difference; burial in %; mean charge at the job's pH in e;
whether the value depends on the state of a neighbour, so that another one is possible."""
CONTRIBUTION_COLUMNS = ("chain", "number", "residue", "group", "contribution", "partner", "pka_shift")
"""Columns of contributions.csv: the group as in pka.csv; kind of contribution; partner; shift in pH units."""
OUTPUTS = Path("outputs")
GRID = (0.0, 14.0, 0.1)
"""First and last pH, and the step."""
BRIDGED_PKA = 99.0
"""pKa that PROPKA exceeds for a cysteine in a disulfide bridge."""
KINDS = {"sidechain": "side-chain hydrogen bond", "backbone": "backbone hydrogen bond", "coulomb": "charge"}
TERMINI = {"N+": "N-terminus", "C-": "C-terminus"}
MIN_WHOLE = 0.5
"""Share of ionisable residues with their group below which the file lacks side chains."""
MAX_NAMED = 8
REPORT_S = 3.0
IONISABLE = {"ASP", "GLU", "HIS", "CYS", "TYR", "LYS", "ARG"}


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings = job["settings"]
    write_used(seed=None)
    report(0.02, "Reading the protein")
    protein = read_protein(Path(job["files"]["pdbFile"][0]))
    prepared = prepare_structure(protein.structure, settings.get("chains") or [])
    Path("propka-input.pdb").write_text(prepared.text, "utf-8")
    report(0.1, "Predicting pKa values")
    conformation, molecule = run_propka()
    groups = list(conformation.get_groups_for_calculations())
    names = [prepared.name(group.atom) for group in groups]
    notes = [*prepared.notes, *check_groups(prepared, groups, names)]
    report(0.7, "Writing tables")
    rows = [list_group(group, name, settings["pH"]) for group, name in zip(groups, names, strict=True)]
    write_table("pka.csv", rows, PKA_COLUMNS)
    parts = [
        row
        for group, name in zip(groups, names, strict=True)
        for row in list_contributions(group, name, prepared)
    ]
    write_table("contributions.csv", parts, CONTRIBUTION_COLUMNS)
    shifts: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        where = row["chain"], row["number"]
        shifts[where] = max(shifts[where], float(row.get("pka_shift", 0)), key=abs)
    place = write_shifts(OUTPUTS / "propka", prepared, shifts)
    notes.append(f"The B-factor column of {place.name} is a pKa shift, not a B-factor.")
    write_notes(notes)
    write_score(write_profiles(molecule, conformation, settings))
    report(1.0, "Done")


def run_propka() -> tuple[Any, Any]:
    """Return the mean conformation, and the molecule with all conformations."""
    logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.WARNING)
    done = threading.Event()
    threading.Thread(target=report_time, args=(done,), daemon=True).start()
    try:
        molecule = propka.single("propka-input.pdb", optargs=["--quiet"], write_pka=False)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError):
        logging.getLogger(__name__).exception("PROPKA failed")
        fail(
            "PROPKA cannot work on this structure. It needs whole residues, and residue numbers that are"
            " unique in their chain; the log says where it stopped."
        )
    finally:
        done.set()
    return molecule.conformations["AVR"], molecule


def report_time(done: threading.Event) -> None:
    """Report every few seconds that PROPKA, which does not report its progress, is running."""
    begun = time.monotonic()
    while not done.wait(REPORT_S):
        report(0.1, f"Predicting pKa values, for {time.monotonic() - begun:.0f} s")


def check_groups(
    prepared: ReadableStructure, groups: Sequence[Any], names: Sequence[tuple[str, str, str]]
) -> list[str]:
    """Return notes on groups without a value; fail if the file has no side chains."""
    found = {name for group, name in zip(groups, names, strict=True) if group.residue_type not in TERMINI}
    wanted = [name for name in prepared.residues if name[2] in IONISABLE]
    lacking = [name for name in wanted if name not in found]
    if len(wanted) - len(lacking) < MIN_WHOLE * len(wanted):
        fail(
            f"{len(lacking)} of {len(wanted)} ionisable residues have no side-chain group in the file."
            " Give an all-atom model."
        )
    if not groups:
        fail("The structure has no ionisable group.")
    if not lacking:
        return []
    named = ", ".join(f"{residue} {chain}:{number}" for chain, number, residue in lacking[:MAX_NAMED])
    more = ", …" if len(lacking) > MAX_NAMED else ""
    return [
        f"{len(lacking)} residues have no pKa, since atoms of their side chains are missing: {named}{more}."
    ]


def name_group(group: Any) -> str:
    """Return which group of its residue it is."""
    if group.residue_type in TERMINI:
        return TERMINI[group.residue_type]
    if group.atom.type == "atom":
        return "side chain"
    return f"ligand atom {group.atom.name.strip()}"


def list_group(group: Any, name: tuple[str, str, str], ph: float) -> dict[str, Any]:
    """Return a row of pka.csv; a bridged cysteine has no pKa."""
    chain, number, residue = name
    row = {"chain": chain, "number": number, "residue": residue, "group": name_group(group)}
    row |= {"model_pka": f"{group.model_pka:.2f}", "buried_percent": f"{100 * group.buried:.0f}"}
    if group.pka_value > BRIDGED_PKA:
        return row | {"group": "side chain, disulfide bridge", "charge": "0.000", "coupled": False}
    charge = group.charge / (1 + 10 ** (group.charge * (ph - group.pka_value)))
    return row | {
        "pka": f"{group.pka_value:.2f}",
        "pka_shift": f"{group.pka_value - group.model_pka:.2f}",
        "charge": f"{round(charge, 3) + 0.0:.3f}",
        "coupled": bool(group.coupled_titrating_group or group.non_covalently_coupled_groups),
    }


def list_contributions(
    group: Any, name: tuple[str, str, str], prepared: ReadableStructure
) -> Iterable[dict[str, Any]]:
    """Yield the rows of contributions.csv; together they are the shift."""
    if group.pka_value > BRIDGED_PKA:
        return
    own = dict(zip(CONTRIBUTION_COLUMNS, (*name, name_group(group)), strict=False))
    for kind, value in (
        ("desolvation", group.energy_volume),
        ("desolvation, reorganisation", group.energy_local),
    ):
        if value:
            yield own | {"contribution": kind, "partner": "", "pka_shift": f"{value:.3f}"}
    for kind, determinants in group.determinants.items():
        for each in determinants:
            partner = prepared.name(each.group.atom)
            words = f"{partner[2]} {partner[0]}:{partner[1]}"
            if terminus := TERMINI.get(each.group.label.split()[0]):
                words += f" {terminus}"
            yield own | {"contribution": KINDS[kind], "partner": words, "pka_shift": f"{each.value:.3f}"}


def write_profiles(molecule: Any, conformation: Any, settings: dict[str, Any]) -> dict[str, float]:
    """Write charge.csv and stability.csv; return the figures of the whole protein."""
    charges = molecule.get_charge_profile(conformation="AVR", grid=GRID)
    rows = [
        {"ph": f"{ph:.1f}", "charge_folded": f"{folded:.3f}", "charge_unfolded": f"{unfolded:.3f}"}
        for ph, unfolded, folded in charges
    ]
    write_table("charge.csv", rows, ("ph", "charge_folded", "charge_unfolded"))
    profile, best, _, _ = molecule.get_folding_profile(
        conformation="AVR", reference=settings["reference"], grid=GRID
    )
    energies = [(f"{ph:.1f}", f"{energy:.3f}") for ph, energy in profile]
    write_table("stability.csv", energies, ("ph", "folding_energy_kcal_per_mol"))
    unfolded, folded = conformation.calculate_charge(molecule.version.parameters, settings["pH"])
    figures = {
        "pH": settings["pH"],
        "charge": round(folded + 0.0, 3),
        "charge_unfolded": round(unfolded + 0.0, 3),
        "most_stable_pH": round(best[0], 1),
        "lowest_folding_energy_kcal_per_mol": round(best[1], 3),
    }
    low, high = charges[0], charges[-1]
    if low[2] > 0 > high[2] and low[1] > 0 > high[1]:
        folded_pi, unfolded_pi = molecule.get_pi("AVR")
        figures |= {
            "isoelectric_point": round(folded_pi, 2),
            "isoelectric_point_unfolded": round(unfolded_pi, 2),
        }
    return figures


if __name__ == "__main__":
    sys.exit(main())
