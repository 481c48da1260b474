"""Absolute binding free energies of neutral ligands by alchemical decoupling with OpenMM and OpenFF.

Reads job.json, the protein of ``proteinPDB``, the bound poses of ``ligandsSDF``, and the molecules of
``cofactorsSDF``, which stay bound; ``binding.py`` of ``openmm_binding`` has the protocol and the results.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from binding import calculate
from complexes import Receptor, check_pose
from engine_protocol import fail, read_job, report, write_used
from ligands import PreparedLigand, read_ligands
from receptors import read_protein
from smirnoff import Smirnoff

MAX_COFACTORS = 9
OWN = {
    "proteinForceField": "ff14SB",
    "symmetryNumber": 1,
    "restraintDistanceConstant": 10,
    "restraintAngleConstant": 20,
    "restraintWindows": 5,
    "electrostaticWindows": 5,
    "stericWindows": 14,
}
"""Settings that `binding-free-energy` offers and `abfe` does not, with their values."""
LEAST_LENGTH, MOST_LENGTH = 0.5, 200.0
"""Bounds in ps of the equilibration that finds atoms to hold the ligand; within
them it is as long as a window."""


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings, files = job["settings"], job["files"]
    seed = job["seed"] or 1
    notes: list[str] = []
    write_used(seed=seed)
    report(0.01, "Reading protein and ligands")
    check_settings(settings)
    protein = read_protein(Path(files["proteinPDB"][0]).read_text("utf-8", "replace"), notes, "proteinPDB")
    cofactors = read_cofactors(files.get("cofactorsSDF"), seed, notes)
    receptor = Receptor(protein, {f"C{number:02}": each for number, each in enumerate(cofactors, start=1)})
    for each in cofactors:
        check_pose(each, Receptor(protein))
    ligands = read_ligands(Path(files["ligandsSDF"][0]), seed, notes, are_placed=True)
    force_field = Smirnoff(settings["forcefieldSmallMolecule"], settings["chargeMethod"])
    length = min(MOST_LENGTH, max(LEAST_LENGTH, settings["equilLength"] + settings["prodLength"]))
    whole = {**OWN, **settings, "protocolRepeats": int(settings["protocolRepeats"]), "anchorLength": length}
    calculate(job, whole, receptor, ligands, force_field, notes)


def check_settings(settings: dict[str, Any]) -> None:
    """Fail if a setting requests what cannot be calculated."""
    if settings["simulationType"].strip().lower() != "abfe":
        fail(
            "simulationType must be abfe: absolute binding free energies are all that this engine calculates."
        )
    if settings["protocolRepeats"] != int(settings["protocolRepeats"]):
        fail("protocolRepeats must be a whole number.")
    if settings["prodLength"] < 1:
        fail("prodLength must be at least 1 ps: without a production run there are no samples.")


def read_cofactors(paths: list[str] | None, seed: int, notes: list[str]) -> list[PreparedLigand]:
    """Read molecules that stay bound; they may be charged."""
    if not paths:
        return []
    found = read_ligands(Path(paths[0]), seed, notes, are_placed=True, may_be_charged=True)
    if len(found) > MAX_COFACTORS:
        fail(f"cofactorsSDF has {len(found)} molecules; at most {MAX_COFACTORS} are taken.")
    return found


if __name__ == "__main__":
    sys.exit(main())
