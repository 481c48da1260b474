"""Design T-cell receptors with the lab's own copy of ADAPT.

Reads job.json and the table of targets, runs design/dock_design.py, and collects outputs/design_*.pdb and
outputs/designs.csv, the best first.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from adapter_program import (
    PROGRAM_FOLDER,
    ProgressSpan,
    copy_file,
    describe_program,
    require_files,
    require_integer,
    run_program,
)
from engine_protocol import (
    fail,
    read_job,
    read_options,
    report,
    write_notes,
    write_score,
    write_table,
    write_used,
)

TARGET_COLUMNS = ("organism", "mhc_class", "mhc", "peptide")
ORGANISMS = ("human", "mouse")
SCRIPTS_CDRS = "3 7"
"""CDRs that the script designs by default."""
STAGES = (
    ("afold1_targets", 0.05),
    ("mpnn", 0.4),
    ("afold2_targets", 0.5),
    ("mpnn_pprobs", 0.85),
    ("_rf2", 0.9),
)
"""Names in the commands that the script prints, with the fraction done at that point."""
SCORES = (
    *("pmhc_tcr_pae", "peptide_loop_pae", "combo_score", "combo_score_wtd", "pepspec_delta"),
    *("rf2_rfab_pbind", "rf2_rfab_pmhc_tcr_pae", "rf2_cdr3_rmsd", "rf2_dgeom_rmsd", "dgeom_rmsd"),
)
"""Columns of scores in the program's table that are passed on if present."""
DESCRIPTIONS = (
    *("organism", "mhc_class", "mhc", "peptide", "tcr_template_pdbid"),
    *("va", "ja", "cdr3a", "vb", "jb", "cdr3b", "chainseq"),
)
LARGEST_SEED = 2**32 - 1
"""Largest seed that pandas accepts."""


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings, seed = job["settings"], job["seed"] % LARGEST_SEED
    designs = require_integer(settings, "numDesigns")
    pdb_ids, cdrs = settings["tcrPdbids"].lower().split(), settings["designCdrs"].split()
    write_used(seed=seed, settings={} if cdrs else {"designCdrs": SCRIPTS_CDRS})
    report(0.01, "Reading the targets")
    PROGRAM_FOLDER.mkdir()
    write_targets(Path(job["files"]["pmhcTargets"][0]), PROGRAM_FOLDER / "targets.tsv")
    run_program(
        "ADAPT",
        [
            *(options["python"], Path(options["folder"]) / "design" / "dock_design.py"),
            *("--pmhc_targets", "targets.tsv", "--num_designs", str(designs), "--outfile_prefix", "design"),
            *(("--tcr_pdbids", *pdb_ids) if pdb_ids else ()),
            *(("--design_cdrs", *cdrs) if cdrs else ()),
            *("--random_state", str(seed)),
            *(() if options["rf_antibody"] == "yes" else ("--skip_rf_antibody",)),
            *options.get("arguments", ()),
        ],
        ProgressSpan(0.02, 0.97, "Designing receptors"),
        read_progress=read_stage,
        more_logs="design_tmp/*_run.err",
    )
    rows = list(collect(PROGRAM_FOLDER / "design_final_results.tsv"))
    if len(rows) != designs:
        fail(f"ADAPT made {len(rows)} designs, and {designs} were asked for.")
    write_table("designs.csv", rows)
    write_score({"pmhc_tcr_pae": float(rows[0]["pmhc_tcr_pae"]), "designs": designs})
    write_notes(
        [
            *describe_program("ADAPT", Path(options["folder"]), options.get("arguments", ())),
            "The seed fixes the choice of targets and CDR3s, and nothing else.",
            f"Designs are ranked by {rank_by(rows)}, the lowest first.",
        ]
    )
    report(1.0, "Done")


def write_targets(source: Path, target: Path) -> None:
    """Write the table of targets in the script's format; fail for one that it cannot use."""
    lines = source.read_text("utf-8-sig", "replace").splitlines()
    rows = list(csv.DictReader((line for line in lines if line.strip()), delimiter="\t"))
    if not rows:
        fail("The table of targets has no rows.")
    table = ["\t".join(TARGET_COLUMNS)]
    for number, row in enumerate(rows, 1):
        values = [(row.get(name) or "").strip() for name in TARGET_COLUMNS]
        organism, mhc_class, _, peptide = values
        if not all(values):
            fail(f"Target {number} lacks a value; it needs {', '.join(TARGET_COLUMNS)}.")
        if organism not in ORGANISMS:
            fail(f"Target {number} is of the organism {organism!r}; ADAPT knows {' and '.join(ORGANISMS)}.")
        if mhc_class != "1":
            fail(f"Target {number} is of MHC class {mhc_class}; ADAPT designs against class 1 only.")
        if not peptide.isalpha():
            fail(f"The peptide of target {number} has other characters than letters: {peptide!r}.")
        table.append("\t".join([*values[:3], peptide.upper()]))
    target.write_text("\n".join(table) + "\n", "utf-8")


def read_stage(line: str) -> float | None:
    """Return the fraction done when the script prints a command or its end."""
    if line.strip() == "DONE":
        return 1.0
    return max((done for name, done in STAGES if name in line), default=None)


def rank_by(rows: Sequence[dict[str, str]]) -> str:
    """Return the score that ranks designs: the script's combination if RFantibody evaluated them."""
    return "combo_score_wtd" if "combo_score_wtd" in rows[0] else "pmhc_tcr_pae"


def collect(table: Path) -> Iterator[dict[str, str]]:
    """Copy the models into the result, the best first; return a row for each."""
    require_files("ADAPT", [table], "table of designs")
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    if not rows or "pmhc_tcr_pae" not in rows[0]:
        fail(
            "ADAPT's table has no designs with pmhc_tcr_pae. The log says what it did.",
            is_worth_repeating=True,
        )
    for rank, row in enumerate(sorted(rows, key=lambda each: float(each[rank_by(rows)])), 1):
        (model,) = require_files("ADAPT", [PROGRAM_FOLDER / row["model_pdbfile"]], f"model of design {rank}")
        copied = copy_file(model, f"design_{rank:03}.pdb")
        kept = {name: row[name] for name in (*DESCRIPTIONS, *SCORES) if name in row}
        yield {"rank": str(rank), "file": copied.name, **kept}


main()
