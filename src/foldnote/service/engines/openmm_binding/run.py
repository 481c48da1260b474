"""Absolute binding free energies of neutral ligands by alchemical decoupling with OpenMM and GAFF.

Reads job.json, the file of ``receptorFile`` (a protein as PDB or a host molecule as SDF) and the bound poses
of ``ligandsSDF``; ``binding.py`` has the protocol and the results.
"""

from __future__ import annotations

import sys
from pathlib import Path

from binding import calculate
from complexes import Gaff, read_receptor
from engine_protocol import read_job, report, write_used
from ligands import read_ligands


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings = job["settings"]
    seed = job["seed"] or 1
    notes: list[str] = []
    write_used(seed=seed)
    report(0.01, "Reading receptor and ligands")
    receptor = read_receptor(Path(job["files"]["receptorFile"][0]), seed, notes)
    ligands = read_ligands(Path(job["files"]["ligandsSDF"][0]), seed, notes, are_placed=True)
    calculate(job, settings, receptor, ligands, Gaff(settings["forcefieldSmallMolecule"]), notes)


if __name__ == "__main__":
    sys.exit(main())
