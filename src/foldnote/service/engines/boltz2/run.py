"""Predict the structure of a complex of proteins, nucleic acids and ligands with Boltz-2.

Reads job.json and its files. Writes Boltz's own output into outputs/, with ranking.csv (a row for each model,
in Boltz's own order) and chains.csv. Boltz's program runs in this process, so that its sampling steps can be
counted. It finds its weights in a cache folder of this run and downloads nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from complex_chains import write_chains
from engine_protocol import fail, read_job, report, write_notes, write_score, write_used
from inputs import Complex, read_complex
from predictions import NAME, collect, read_models, strip_confidence

OUT = Path("boltz")
CACHE = Path("cache-boltz")
COMPONENTS = "mols"
STRUCTURE, AFFINITY = "boltz2_conf.ckpt", "boltz2_aff.ckpt"
SCORES = ("confidence_score", "complex_plddt", "ptm", "iptm", "ligand_iptm")
"""Values of the best model that become figures of the run, by Boltz's names."""
AT_ONCE = 5
"""Number of models that Boltz samples at once."""
AFFINITY_SAMPLES = 5
"""Number of samples for which Boltz predicts the affinity, one after another."""
AFFINITIES = ("affinity_pred_value", "affinity_probability_binary")


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings, weights = job["settings"], Path(os.environ["FOLDNOTE_WEIGHTS"])
    report(0.01, "Preparing the input")
    given = read_complex(job, weights / COMPONENTS)
    seed = int(settings.get("seed") or job["seed"] % 2**32)
    write_used(seed=seed)
    query = Path(f"{NAME}.yaml")
    given.write(query)
    link_weights(weights, needs_affinity=bool(given.binder))
    run_boltz([str(query), *arguments(settings, seed)], settings)
    rows = read_models(OUT / f"boltz_results_{NAME}" / "predictions" / NAME)
    if not rows:
        fail("Boltz made no model; the log says why.", is_worth_repeating=True)
    write_results(given, rows, query)
    report(1.0, "Done")


def arguments(settings: Mapping[str, Any], seed: int) -> list[str]:
    """Return the options of ``boltz predict`` for the settings."""
    import torch

    accelerator = "gpu" if torch.cuda.is_available() else "cpu"
    counts = {
        "--diffusion_samples": settings.get("samples", 1),
        "--recycling_steps": settings.get("recyclingSteps", 3),
        "--sampling_steps": settings.get("samplingSteps", 200),
        "--step_scale": settings.get("stepScale", 1.5),
        "--sampling_steps_affinity": settings.get("affinitySteps", 200),
        "--max_parallel_samples": AT_ONCE,
        "--diffusion_samples_affinity": AFFINITY_SAMPLES,
        "--seed": seed,
    }
    options = [word for option, value in counts.items() for word in (option, str(value))]
    options += ["--out_dir", str(OUT), "--cache", str(CACHE), "--accelerator", accelerator]
    # The kernels need a package by NVIDIA that is not installed; the results are the same.
    options += ["--no_kernels", "--num_workers", "0", "--preprocessing-threads", "1"]
    options += ["--write_full_pae", "--write_full_pde"]
    return options + (["--use_potentials"] if settings.get("usePotentials") else [])


def link_weights(weights: Path, *, needs_affinity: bool) -> None:
    """Link the weights where Boltz looks for them, so that it downloads none."""
    CACHE.mkdir()
    for name in (STRUCTURE, AFFINITY, COMPONENTS):
        if (weights / name).exists():
            (CACHE / name).symlink_to(weights / name)
    (CACHE / f"{COMPONENTS}.tar").touch()  # Boltz looks for the original archive
    if not (CACHE / AFFINITY).exists():
        if needs_affinity:
            fail("The weights that predict affinities are not installed: foldnote engines install boltz2.")
        (CACHE / AFFINITY).touch()


def run_boltz(options: list[str], settings: Mapping[str, Any]) -> None:
    """Run ``boltz predict``, and report the progress of its sampling."""
    import boltz.main
    from boltz.model.models.boltz2 import Boltz2
    from boltz.model.modules.diffusionv2 import AtomDiffusion

    report(0.03, "Loading Boltz-2")
    forward, predict_step = AtomDiffusion.preconditioned_network_forward, Boltz2.predict_step
    structure = Sampling("structure", 0.1, 0.6, int(settings.get("samplingSteps", 200)))
    structure.steps *= -(-int(settings.get("samples", 1)) // AT_ONCE)
    affinity = Sampling("affinity", 0.72, 0.24, int(settings.get("affinitySteps", 200)) * AFFINITY_SAMPLES)
    running = structure

    def count_step(*values: Any, **named: Any) -> Any:
        running.step()
        return forward(*values, **named)

    def predict(model: Any, *values: Any, **named: Any) -> Any:
        nonlocal running
        running = affinity if model.affinity_prediction else structure
        made = predict_step(model, *values, **named)
        if made.get("exception"):
            fail("The GPU's memory is too small for this complex. Leave out chains, or ask for fewer models.")
        return made

    AtomDiffusion.preconditioned_network_forward, Boltz2.predict_step = count_step, predict
    boltz.main.predict.main(options, standalone_mode=False)


@dataclass
class Sampling:
    """Steps of one network's diffusion, and their part of the run."""

    what: str
    begin: float
    share: float
    steps: int
    done: int = 0

    def step(self) -> None:
        """Count a step, and report it."""
        self.done = min(self.steps, self.done + 1)
        message = f"Sampling step {self.done} of {self.steps} of the {self.what}"
        report(round(self.begin + self.share * self.done / self.steps, 4), message)


def write_results(given: Complex, rows: list[dict[str, Any]], query: Path) -> None:
    """Move the files of Boltz into outputs/, with tables, notes and figures."""
    outputs = Path("outputs")
    affinity = collect(rows, OUT / f"boltz_results_{NAME}" / "predictions" / NAME, outputs)
    query.rename(outputs / query.name)
    write_chains(given.chains)
    notes = list(given.notes)
    if os.environ.get("FOLDNOTE_WEIGHTS_STATE") == "stand-in":
        strip_confidence(outputs)
    else:
        if given.binder and not affinity:
            notes.append("Boltz predicted no affinity; the log says why.")
        best = {name: rows[0][name] for name in SCORES if rows[0].get(name) is not None}
        write_score({**best, **{name: affinity[name] for name in AFFINITIES if name in affinity}})
    write_notes(notes)


if __name__ == "__main__":
    sys.exit(main())
