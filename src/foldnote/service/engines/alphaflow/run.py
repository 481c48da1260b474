"""Sample conformations with the lab's own copy of AlphaFlow.

Reads job.json and the alignment, writes the table, the alignments' folder and the arguments that predict.py
takes, and collects outputs/ensemble.pdb and outputs/conformations.csv.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from adapter_program import (
    OUTPUTS,
    PROGRAM_FOLDER,
    ProgressSpan,
    describe_program,
    describe_weights,
    read_alignment,
    read_bar,
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

MODES = {"alphaflow": "alphafold", "esmflow": "esmfold"}
"""The tasks, with their names in predict.py."""
TRAINED_ON = {"pdb": "pdb", "md-atlas": "md"}
"""The models, with their names in the files of weights."""
COLUMNS = ("model", "batch", "mean_plddt")
CA_NAME = slice(12, 16)
B_FACTOR = slice(60, 66)


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings = job["settings"]
    task = settings["task"]
    samples, batches = require_integer(settings, "conformations"), require_integer(settings, "numBatches")
    sequence = read_chains(settings["sequence"])[0]
    if ":" in settings["sequence"]:
        fail("AlphaFlow samples one chain; the sequence has a colon.")
    weights = find_weights(Path(options["weights"]), task, settings["model"], options["version"])
    names = [f"batch_{number:03}" for number in range(1, batches + 1)]
    ignored = {} if task == "alphaflow" else {"msaFile": "ESMFlow uses the sequence alone."}
    write_used(seed=None, ignored={name: why for name, why in ignored.items() if settings.get(name)})
    report(0.01, "Writing the program's input")
    PROGRAM_FOLDER.mkdir()
    table = ["name,seqres,msa_id", *(f"{name},{sequence},query" for name in names)]
    (PROGRAM_FOLDER / "input.csv").write_text("\n".join(table) + "\n", "utf-8")
    if task == "alphaflow":
        place = PROGRAM_FOLDER / "alignments" / "query" / "a3m"
        place.mkdir(parents=True)
        (place / "query.a3m").write_text(read_alignment(Path(job["files"]["msaFile"][0]), sequence), "utf-8")
    run_program(
        "AlphaFlow",
        [
            *(options["python"], Path(options["folder"]) / "predict.py"),
            *("--mode", MODES[task], "--input_csv", "input.csv", "--outpdb", "models"),
            *(("--msa_dir", "alignments") if task == "alphaflow" else ()),
            *("--weights", weights, "--samples", str(samples)),
            *(("--self_cond", "--resample") if settings["model"] == "pdb" else ()),
            *(("--noisy_first", "--no_diffusion") if options["version"] == "distilled" else ()),
            *options.get("arguments", ()),
        ],
        ProgressSpan(0.02, 0.97, "Sampling conformations"),
        read_progress=BatchProgress(batches),
    )
    files = require_files(
        "AlphaFlow", (PROGRAM_FOLDER / "models" / f"{name}.pdb" for name in names), "models"
    )
    rows = list(merge(files, OUTPUTS / "ensemble.pdb"))
    if len(rows) != samples * batches:
        fail(f"AlphaFlow wrote {len(rows)} conformations, and {samples * batches} were asked for.")
    write_table("conformations.csv", rows, COLUMNS)
    write_score({"conformations": len(rows)})
    write_notes(
        [
            *describe_program("AlphaFlow", Path(options["folder"]), options.get("arguments", ())),
            describe_weights(weights),
            "predict.py takes no seed: another run gives other conformations.",
        ]
    )
    report(1.0, "Done")


class BatchProgress:
    """Computes the fraction of all batches from the bars that predict.py draws for each batch."""

    def __init__(self, batches: int) -> None:
        self._batches = batches
        self._done = 0
        self._last = 0.0

    def __call__(self, line: str) -> float | None:
        """Return the fraction that a line reports, or None."""
        fraction = read_bar(line)
        if fraction is None:
            return None
        if fraction < self._last:
            self._done += 1
        self._last = fraction
        return (self._done + fraction) / self._batches


def find_weights(folder: Path, task: str, model: str, version: str) -> Path:
    """Return the newest file of the published weights; fail if there is none."""
    pattern = f"{task}_{TRAINED_ON[model]}_{version}_*.pt"
    found = sorted(folder.glob(pattern))
    if not found:
        fail(f"The configured folder of weights has no {pattern}.")
    return found[-1]


def merge(files: Sequence[Path], target: Path) -> Iterator[dict[str, Any]]:
    """Write the conformations of all batches into one file, numbered from 1; return a row for each."""
    number = 0
    with target.open("w", encoding="utf-8") as merged:
        for batch, path in enumerate(files, 1):
            for model in path.read_text("utf-8").split("\nENDMDL")[:-1]:
                number += 1
                lines = [line for line in model.splitlines() if line.startswith(("ATOM", "TER"))]
                merged.write("\n".join([f"MODEL     {number:4}", *lines, "ENDMDL\n"]))
                scores = [float(line[B_FACTOR]) for line in lines if line[CA_NAME].strip() == "CA"]
                mean = f"{sum(scores) / len(scores):.2f}" if scores else ""
                yield {"model": number, "batch": batch, "mean_plddt": mean}
        merged.write("END\n")


main()
