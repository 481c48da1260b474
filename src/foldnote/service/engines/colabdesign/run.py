"""Run AF2BIND or AfCycDesign with ColabDesign.

Reads ``pdbFile`` and ``chain``, and for AfCycDesign ``numDesigns``, from job.json. The files of the results
are listed in engine.toml.
"""

from __future__ import annotations

import sys
from pathlib import Path

from binding import predict_binding
from cyclic_design import design_peptides
from engine_protocol import read_job, report, write_notes
from protein_files import read_protein

TOOLS = {"af2bind": predict_binding, "afcycdesign": design_peptides}


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    report(0.02, "Reading the structure")
    protein = read_protein(Path(job["files"]["pdbFile"][0]))
    notes = list(protein.notes)
    job["settings"]["chain"] = str(job["settings"]["chain"]).strip()
    TOOLS[job["type"]](job, protein, notes)
    write_notes(notes)
    report(1.0, "Done")


if __name__ == "__main__":
    sys.exit(main())
