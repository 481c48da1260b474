"""Sample structures with the lab's own copy of AFsample2.

Reads job.json and the alignment, if there is one, runs run_afsample2.py, and collects outputs/sample_*.pdb
and outputs/scores.csv.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from adapter_program import (
    PROGRAM_FOLDER,
    LineCount,
    ProgressSpan,
    copy_file,
    describe_program,
    read_alignment,
    read_chains,
    require_files,
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
from pdb_lines import mean_plddt

ALIGNMENT = "foldnote.alignment"
"""Name of the job's own alignment among its files."""
NETWORKS = 5
LARGEST_SEED = 2**31 - 1
"""The program multiplies the seed by the number of predictions."""
COLUMNS = ("rank", "file", "network", "ranking_confidence", "ptm", "iptm", "mean_plddt")
SAVED = "Saved results to"
"""Line that the program prints after each structure."""


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings, seed = job["settings"], job["seed"] % LARGEST_SEED
    chains = read_chains(settings["sequence"])
    is_complex = len(chains) > 1
    samples, fraction = int(settings["numSamples"]), settings["msaRandomization"]
    write_used(seed=seed)
    report(0.01, "Writing the program's input")
    PROGRAM_FOLDER.mkdir()
    fasta = "".join(f">chain_{number}\n{chain}\n" for number, chain in enumerate(chains, 1))
    (PROGRAM_FOLDER / "target.fasta").write_text(fasta, "utf-8")
    alignment = (job["files"].get(ALIGNMENT) or [None])[0]
    if alignment is not None:
        if is_complex:
            fail("AFsample2 takes an own alignment for one chain only. Leave it out for a complex.")
        (PROGRAM_FOLDER / "target.a3m").write_text(read_alignment(Path(alignment), chains[0]), "utf-8")
    suffix = "_multimer_v3" if is_complex else ""
    networks = [f"model_{number}{suffix}" for number in range(1, min(samples, NETWORKS) + 1)]
    each = samples // len(networks)
    run_program(
        "AFsample2",
        [
            *(options["python"], Path(options["folder"]) / "AF_multitemplate" / "run_afsample2.py"),
            "--method=afsample2",
            "--fasta_paths=target.fasta",
            f"--flagfile={options['multimer_flags' if is_complex else 'monomer_flags']}",
            f"--model_preset={'multimer_v3' if is_complex else 'monomer'}",
            f"--models_to_use={','.join(networks)}",
            f"--nstruct={each}",
            # The program makes the larger of the two numbers of predictions.
            *(["--num_multimer_predictions_per_model=1"] if is_complex else []),
            f"--msa_rand_fraction={fraction}",
            f"--random_seed={seed}",
            "--output_dir=models",
            *(["--msa_file=target.a3m"] if alignment is not None else []),
            *options.get("arguments", ()),
        ],
        ProgressSpan(0.02, 0.97, "Sampling structures"),
        read_progress=LineCount(SAVED, samples),
    )
    rows = collect(PROGRAM_FOLDER / "models" / "target" / "afsample2", samples)
    write_table("scores.csv", rows, COLUMNS)
    write_score({"ranking_confidence": float(rows[0]["ranking_confidence"]), "samples": samples})
    write_notes(
        [
            *describe_program("AFsample2", Path(options["folder"]), options.get("arguments", ())),
            "The program draws the masked columns without a seed: another run gives other structures.",
        ]
    )
    report(1.0, "Done")


def collect(folder: Path, samples: int) -> list[dict[str, str]]:
    """Copy the structures into the result by falling confidence; return a row for each."""
    paths = require_files("AFsample2", folder.glob("unrelaxed_*.pdb"), "structures")
    if len(paths) != samples:
        fail(f"AFsample2 wrote {len(paths)} structures, and {samples} were asked for.")
    found = []
    for path in paths:
        scores = path.with_name(f"{path.stem.replace('unrelaxed_', 'result_')}.pkl.json")
        require_files("AFsample2", [scores], f"scores of {path.name}")
        found.append((path, json.loads(scores.read_text("utf-8"))))
    rows = []
    ranked = sorted(found, key=lambda pair: -pair[1]["ranking_confidence"])
    for rank, (path, scores) in enumerate(ranked, 1):
        copied = copy_file(path, f"sample_{rank:03}.pdb")
        network = re.match(r"unrelaxed_(.*)_pred_|$", path.name)
        rows.append(
            {
                "rank": str(rank),
                "file": copied.name,
                "network": (network and network[1]) or "",
                **{name: f"{value:.4f}" for name, value in scores.items() if name in COLUMNS},
                "mean_plddt": mean_plddt(path.read_text("utf-8")),
            }
        )
    return rows


main()
