"""Predict complexes from a template with the lab's own copy of AF_unmasked.

Reads job.json and the template, runs prepare_templates.py once for each template slot and then
run_alphafold.py, and collects outputs/ranked_*.pdb and outputs/scores.csv.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adapter_program import (
    PROGRAM_FOLDER,
    LineCount,
    ProgressSpan,
    copy_file,
    describe_program,
    read_chains,
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
from pdb_lines import mean_plddt, read_protein, read_residues

NETWORKS = 5
LARGEST_SEED = 2**31 - 1
COLUMNS = ("rank", "file", "network", "ranking_confidence", "mean_plddt")
PREDICTED = "predict time (includes compilation time"
"""Line that the program prints after each prediction."""


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings, seed = job["settings"], job["seed"] % LARGEST_SEED
    chains, version = read_chains(settings["sequence"]), settings["modelType"]
    slots = require_integer(settings, "repeat_template")
    networks = read_networks(settings.get("modelsToUse") or "", version)
    per_network = require_integer(settings, "predictionsPerModel")
    predictions = per_network * (len(networks) or NETWORKS)
    write_used(seed=seed)
    report(0.01, "Writing the program's input")
    write_input(chains, Path(job["files"]["templateFile"][0]))
    prepare_templates(options, settings, slots)
    run_program(
        "AF_unmasked",
        [
            *(options["python"], Path(options["folder"]) / "run_alphafold.py", "--fasta_paths=target.fasta"),
            f"--flagfile={options['flags']}",
            "--flagfile=models/target/template_data/templates.flag",
            "--output_dir=models",
            f"--model_preset={version}",
            f"--num_multimer_predictions_per_model={per_network}",
            f"--random_seed={seed}",
            *([f"--models_to_use={','.join(networks)}"] if networks else []),
            *(["--dropout"] if settings["useDropout"] else []),
            *(["--cross_chain_templates_only"] if settings["crossChainTemplatesOnly"] else []),
            *options.get("arguments", ()),
        ],
        ProgressSpan(0.07, 0.97, "Searching the databases and predicting"),
        read_progress=LineCount(PREDICTED, predictions),
    )
    rows = collect(PROGRAM_FOLDER / "models" / "target", predictions)
    write_table("scores.csv", rows, COLUMNS)
    write_score({"ranking_confidence": float(rows[0]["ranking_confidence"]), "predictions": len(rows)})
    write_notes(describe_program("AF_unmasked", Path(options["folder"]), options.get("arguments", ())))
    report(1.0, "Done")


def write_input(chains: Sequence[str], template_file: Path) -> None:
    """Write template.pdb and target.fasta for the program; fail if their numbers of chains differ."""
    template = read_protein(template_file, "The template")
    if len(read_residues(template)) != len(chains):
        fail(
            f"The template has {len(read_residues(template))} chains of protein, and the sequence has"
            f" {len(chains)}; they must match."
        )
    PROGRAM_FOLDER.mkdir()
    (PROGRAM_FOLDER / "template.pdb").write_text(template, "utf-8")
    fasta = "".join(f">chain_{number}\n{chain}\n" for number, chain in enumerate(chains, 1))
    (PROGRAM_FOLDER / "target.fasta").write_text(fasta, "utf-8")


def prepare_templates(options: Mapping[str, Any], settings: Mapping[str, Any], slots: int) -> None:
    """Align the template with the chains, once for each of the ``slots`` of templates that it fills."""
    for slot in range(slots):
        run_program(
            "AF_unmasked's prepare_templates.py",
            [
                *(options["python"], Path(options["folder"]) / "prepare_templates.py"),
                *("--target", "target.fasta", "--template", "template.pdb", "--output_dir", "models"),
                *(("--align",) if settings["align"] else ()),
                *(() if settings["inpaint_clashes"] else ("--noinpaint_clashes",)),
                *(("--append",) if slot else ()),
            ],
            ProgressSpan(0.02 + 0.01 * slot, 0.03 + 0.01 * slot, "Preparing the template"),
        )


def read_networks(text: str, version: str) -> list[str]:
    """Return the networks to run; fail for one that does not belong to the chosen weights."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = [f"model_{number}_{version}" for number in range(1, NETWORKS + 1)]
    if strange := [name for name in names if name not in known]:
        fail(f"modelsToUse names {', '.join(strange)}; with {version} there are {', '.join(known)}.")
    return list(dict.fromkeys(names))


def collect(folder: Path, predictions: int) -> list[dict[str, str]]:
    """Copy the predictions into the result, the best first; return a row for each."""
    (ranking,) = require_files("AF_unmasked", [folder / "ranking_debug.json"], "ranking")
    content = json.loads(ranking.read_text("utf-8"))
    order = content.pop("order")
    (scores,) = content.values()
    if len(order) != predictions:
        fail(f"AF_unmasked made {len(order)} predictions, and {predictions} were asked for.")
    rows = []
    for place, name in enumerate(order):
        (path,) = require_files("AF_unmasked", [folder / f"ranked_{place}.pdb"], f"prediction {place + 1}")
        copied = copy_file(path, f"ranked_{place + 1:03}.pdb")
        rows.append(
            {
                "rank": str(place + 1),
                "file": copied.name,
                "network": name,
                "ranking_confidence": f"{float(scores[name]):.4f}",
                "mean_plddt": mean_plddt(path.read_text("utf-8")),
            }
        )
    return rows


main()
