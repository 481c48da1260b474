"""Predict the structure of a protein or a complex with ColabFold's batch program.

Reads job.json and its files. Writes ColabFold's own output into outputs/, and outputs/ranking.csv (a row for
each model, in ColabFold's own order). A sequence leaves the machine only if the user agreed for this job, or
if the lab has configured its own server: without either, the program is given no server that could be
reached. If the lab has databases on this machine, the alignment is searched there before anything else.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from alignments import write_alignment
from arguments import PARAMETERS, RunPlan, plan_run
from engine_protocol import fail, read_job, report, write_notes, write_score, write_used
from own_databases import END, describe, search
from predictions import NAME, collect, has_templates, read_models, strip_confidence
from program_lines import read_lines, start

OUT = Path("colabfold")
DATA = Path("data")
_MODEL = re.compile(r"model_(\d)_seed_\d+ recycle=(\d+)")
_DONE = re.compile(r"model_\d_seed_\d+ took ")
_FAULTS = (
    ("Could not get MSA/templates", "The alignment or the templates could not be made; the log says why."),
    ("Could not generate input features", "ColabFold could not read the alignment; the log says where."),
    ("Not Enough GPU memory", "ColabFold ended early, perhaps for want of memory; the log has its words."),
)


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    plan = plan_run(job, os.environ)
    report(0.01, "Preparing the input")
    link_parameters(plan.model_type)
    databases = describe(plan.databases) if plan.databases is not None else []
    write_used(seed=plan.seed, settings=plan.used, ignored=plan.ignored, databases=databases)
    query = write_query(plan)
    write_notes(plan.notes)
    lines = follow(start_prediction(plan, query), plan)
    rows = read_models(OUT)
    if not rows:
        fail(explain(lines), is_worth_repeating=True)
    for row in rows[: plan.relaxed]:
        report(0.96, f"Relaxing the model of rank {row['rank']}")
        row["relaxed"] = relax(OUT / row["file"])
        if not row["relaxed"]:
            plan.notes.append(f"The model of rank {row['rank']} could not be relaxed; the log says why.")
    if "--templates" in plan.arguments and not has_templates(OUT):
        plan.notes.append("No template was used: AlphaFold leaves out those with the job's very sequence.")
    collect(rows, OUT, Path("outputs"))
    best = rows[0]
    plan.notes.append(f"The best of {len(rows)} models by ColabFold's order is {best['model']}.")
    if os.environ.get("FOLDNOTE_WEIGHTS_STATE") == "stand-in":
        strip_confidence(Path("outputs"))
    else:
        figures = {"pLDDT": best["plddt"], "pTM": best["ptm"], "ipTM": best["iptm"]}
        figures |= {"ipSAE": best["ipsae"]} if plan.has_ipsae else {}
        write_score({name: float(value) for name, value in figures.items() if value != ""})
    write_notes(plan.notes)
    report(1.0, "Done")


def write_query(plan: RunPlan) -> Path:
    """Write the program's input: the sequence, or its alignment, the user's or from the lab's databases."""
    if plan.alignment is not None:
        path = Path(f"{NAME}.a3m")
        write_alignment(plan.alignment, plan.chains, path)
        return path
    if plan.databases is not None:
        path = Path(f"{NAME}.a3m")
        found = search(plan.chains, plan.pairing, plan.databases, path)
        plan.notes.append(
            f"The alignment was searched in the service's own databases, {plan.databases.names}, and nothing"
            f" was sent for it; it has {found} rows beside the job's own."
        )
        return path
    path = Path(f"{NAME}.fasta")
    path.write_text(f">{NAME}\n{':'.join(plan.chains)}\n", "utf-8")
    return path


def link_parameters(model_type: str) -> None:
    """Link the parameters where the program looks for them, with the marker that prevents a download."""
    family = PARAMETERS[model_type]
    folder = Path(os.environ["FOLDNOTE_WEIGHTS"]) / family.folder
    found = sorted(folder.glob(family.pattern))
    if not found:
        fail(f"The parameters of {model_type} are not among those that are installed.")
    (DATA / "params").mkdir(parents=True)
    for each in found:
        (DATA / "params" / each.name).symlink_to(each)
    (DATA / "params" / family.mark).touch()


def start_prediction(plan: RunPlan, query: Path) -> subprocess.Popen[str]:
    """Start ColabFold's batch program."""
    program = Path(sys.executable).with_name("colabfold_batch")
    command = [sys.executable, "-u", str(program), str(query), str(OUT), "--data", str(DATA), *plan.arguments]
    cache = Path(os.environ.get("XDG_CACHE_HOME", "cache")) / "jax"
    environment = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(cache),  # graphs of the same size are compiled once
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "1",
    }
    return start(command, environment)


def follow(process: subprocess.Popen[str], plan: RunPlan) -> list[str]:
    """Copy the program's output to the log, and report the progress; return its lines."""
    lines: list[str] = []
    steps = plan.models * (plan.recycles + 1)
    step, message, started_at = 0, "Loading the parameters", time.monotonic()
    begin = 0.02 if plan.databases is None else END

    def report_progress(more: str = "") -> None:
        report(begin + (0.95 - begin) * step / steps, message + more)

    for line in read_lines(process):
        if line is None:
            report_progress(f", {time.monotonic() - started_at:.0f} s so far")
            continue
        lines.append(line)
        sys.stdout.write(line)
        sys.stdout.flush()
        if found := _MODEL.search(line):
            step = min(steps, step + 1)
            message = f"Model {found[1]}, recycle {found[2]}"
        elif _DONE.search(line):
            step = -(-step // (plan.recycles + 1)) * (plan.recycles + 1)  # it may have stopped early
        elif "reranking" in line:
            step, message = steps, "Ranking the models"
        else:
            continue
        report_progress()
    if process.wait() < 0:
        fail("ColabFold was ended by the system, perhaps for want of memory.", is_worth_repeating=True)
    return lines


def relax(model: Path) -> str:
    """Relax a model with Amber, using ColabFold's program; return the file's name, empty if it failed.

    ColabFold's batch program can also relax, but loses all models if that fails.
    """
    relaxed = model.with_name(model.name.replace("_unrelaxed_", "_relaxed_"))
    program = Path(sys.executable).with_name("colabfold_relax")
    done = subprocess.run([sys.executable, "-u", str(program), str(model), str(relaxed)], check=False)
    return relaxed.name if done.returncode == 0 and relaxed.exists() else ""


def explain(lines: list[str]) -> str:
    """Explain in a sentence why there is no model."""
    said = "".join(lines)
    found = (sentence for words, sentence in _FAULTS if words in said)
    return next(found, "ColabFold made no model; the log says why.")


if __name__ == "__main__":
    main()
