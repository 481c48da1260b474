"""Dock two proteins with the lab's own copy of AF2Dock.

Reads job.json and the two structures, runs predict.py, and collects outputs/complex_*.pdb by falling ipTM and
outputs/scores.csv.
"""

from __future__ import annotations

import csv
from pathlib import Path

from adapter_program import (
    PROGRAM_FOLDER,
    ProgressSpan,
    copy_file,
    describe_program,
    describe_weights,
    read_bar,
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
from pdb_lines import mean_plddt, read_protein

NAME = "complex"
LARGEST_SEED = 2**32 - 1
"""Largest seed that numpy accepts."""
COLUMNS = ("rank", "file", "sample", "iptm", "mean_plddt")


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings, seed = job["settings"], job["seed"] % LARGEST_SEED
    samples, steps = require_integer(settings, "numSamples"), require_integer(settings, "numSteps")
    write_used(seed=seed)
    report(0.01, "Reading the structures")
    PROGRAM_FOLDER.mkdir()
    for name, setting, what in (
        ("receptor", "receptorFile", "The receptor"),
        ("ligand", "ligandFile", "The ligand protein"),
    ):
        text = read_protein(Path(job["files"][setting][0]), what)
        (PROGRAM_FOLDER / f"{name}.pdb").write_text(text, "utf-8")
    weights = Path(options["weights"])
    run_program(
        "AF2Dock",
        [
            *(options["python"], Path(options["folder"]) / "predict.py", "models", "--data_id", NAME),
            *("--rec_struc_path", "receptor.pdb", "--lig_struc_path", "ligand.pdb"),
            *("--num_samples", str(samples), "--num_steps", str(steps)),
            *("--checkpoint_path", weights, "--data_random_seed", str(seed)),
            *options.get("arguments", ()),
        ],
        ProgressSpan(0.02, 0.97, "Sampling complexes"),
        read_progress=lambda line: read_bar(line, of=samples),
    )
    rows = collect(PROGRAM_FOLDER / "models" / f"0_{NAME}", samples)
    write_table("scores.csv", rows, COLUMNS)
    write_score({"iptm": float(rows[0]["iptm"]), "samples": samples})
    write_notes(
        [
            *describe_program("AF2Dock", Path(options["folder"]), options.get("arguments", ())),
            describe_weights(weights),
        ]
    )
    report(1.0, "Done")


def collect(folder: Path, samples: int) -> list[dict[str, str]]:
    """Copy the complexes into the result by falling ipTM; return a row for each."""
    (table,) = require_files("AF2Dock", [folder / f"{NAME}_s0_{samples - 1}_iptm.csv"], "table of ipTM")
    with table.open(newline="", encoding="utf-8") as file:
        scores = {row["sample_idx"]: row["iptm"] for row in csv.DictReader(file)}
    if len(scores) != samples:
        fail(f"AF2Dock sampled {len(scores)} complexes, and {samples} were asked for.")
    rows = []
    for rank, sample in enumerate(sorted(scores, key=lambda each: -float(scores[each])), 1):
        (path,) = require_files("AF2Dock", [folder / f"{NAME}_s{sample}.pdb"], f"complex of sample {sample}")
        copied = copy_file(path, f"complex_{rank:03}.pdb")
        plddt = mean_plddt(path.read_text("utf-8"))
        rows.append(
            {
                "rank": str(rank),
                "file": copied.name,
                "sample": sample,
                "iptm": scores[sample],
                "mean_plddt": plddt,
            }
        )
    return rows


main()
