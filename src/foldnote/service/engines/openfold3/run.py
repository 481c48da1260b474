"""Predict the structure of a complex of proteins, nucleic acids and ligands with OpenFold 3.

Reads job.json and its files. Writes OpenFold 3's models and figures into outputs/, with ranking.csv (a row
for each model, the best first) and chains.csv. OpenFold's program runs in this process, so that its steps can
be counted. It gets the path of its weights, searches no alignments and templates, and downloads nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from complex_chains import write_chains
from engine_protocol import fail, read_job, report, write_notes, write_score, write_used
from inputs import NAME, FoldingQuery, read_complex
from predictions import collect, read_models, strip_confidence

OUT = Path("openfold3")
CACHE = Path("cache-openfold3")
QUERY, RUNNER = Path(f"{NAME}.json"), Path("runner.yml")
CHECKPOINT = "of3-ob-2025-06-30-174k.pt"
SCORES = ("sample_ranking_score", "iptm", "ptm", "avg_plddt", "gpde")
"""Values of the best model that become figures of the run, by OpenFold's names."""
SEEDS = 2**32
STACKS = {
    "msa_module": ("msa", "msa_module"),
    "pairformer_stack": ("pairformer",),
    "diffusion_module.diffusion_transformer": ("diffusion_module", "diffusion_transformer"),
    "aux_heads.pairformer_embedding.pairformer_stack": ("heads", "pairformer_embedding", "pairformer"),
}
"""Parts of the network that consist of blocks, with the OpenFold setting for their number."""


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings, weights = job["settings"], Path(os.environ["FOLDNOTE_WEIGHTS"])
    report(0.01, "Preparing the input")
    given = read_complex(job)
    seed = int(settings.get("seed") or job["seed"] % SEEDS)
    write_used(seed=seed)
    given.write(QUERY)
    seeds = [(seed + place) % SEEDS for place in range(int(settings.get("seedCount", 1)))]
    report(0.02, "Loading OpenFold 3")
    write_runner(settings, seeds, read_depths(weights / CHECKPOINT))
    run_openfold(weights / CHECKPOINT, settings, seeds)
    rows = read_models(OUT / NAME)
    if not rows:
        explain_failure(OUT / "logs")
    if lost := [each for each in seeds if each not in {row["seed"] for row in rows}]:
        given.notes.append(f"No model of seed {', '.join(map(str, lost))} was made; the log says why.")
    write_results(given, rows)
    report(1.0, "Done")


def write_runner(settings: Mapping[str, Any], seeds: list[int], depths: Mapping[str, int]) -> None:
    """Write the settings of ``run_openfold predict``: YAML, of which JSON is a subset."""
    import torch

    architecture: dict[str, Any] = {
        "shared": {
            "num_recycles": settings.get("recyclingSteps", 3),
            "diffusion": {
                "no_full_rollout_steps": settings.get("samplingSteps", 200),
                "no_full_rollout_samples": settings.get("samples", 5),
            },
        },
        "sample_diffusion": {"step_scale": settings.get("stepScale", 1.5)},
    }
    for stack, keys in STACKS.items():
        inner = architecture
        for key in keys:
            inner = inner.setdefault(key, {})
        inner["no_blocks"] = depths[stack]
    content = {
        "experiment_settings": {"seeds": seeds},
        "pl_trainer_args": {"accelerator": "gpu" if torch.cuda.is_available() else "cpu", "devices": 1},
        "data_module_args": {"num_workers": 0},
        "output_writer_settings": {
            "full_confidence_output_format": "npz",
            "full_confidence_output_dtype": "float32",
        },
        "model_update": {
            "presets": ["predict"],
            "custom": {
                "architecture": architecture,
                # These kernels are compiled at run time, and there may be no compiler.
                "settings": {"memory": {"eval": {"use_triton_triangle_kernels": False}}},
            },
        },
    }
    RUNNER.write_text(json.dumps(content, indent=1), "utf-8")


def read_depths(checkpoint: Path) -> dict[str, int]:
    """Return the number of blocks in each stack of the network of these weights; values are not read."""
    import torch
    from openfold3.core.utils.checkpoint_loading_utils import get_state_dict_from_checkpoint

    # The file is the authors', and its hash was checked.
    content = torch.load(checkpoint, map_location="cpu", mmap=True, weights_only=False)
    names = get_state_dict_from_checkpoint(content, init_from_ema_weights=True)[0].keys()
    depths = dict.fromkeys(STACKS, 0)
    for stack in STACKS:
        begin = f"model.{stack}.blocks."
        numbers = {name.removeprefix(begin).partition(".")[0] for name in names if name.startswith(begin)}
        depths[stack] = len(numbers)
    return depths


def run_openfold(checkpoint: Path, settings: Mapping[str, Any], seeds: list[int]) -> None:
    """Run ``run_openfold predict``, and report its progress."""
    CACHE.mkdir()
    os.environ["OPENFOLD_CACHE"] = str(CACHE.resolve())  # otherwise it creates a folder in the home
    from openfold3.core.model.latent.pairformer import PairFormerStack
    from openfold3.core.model.structure.diffusion_module import DiffusionModule
    from openfold3.projects.of3_all_atom.model import OpenFold3
    from openfold3.run_openfold import predict
    from pytorch_lightning import seed_everything

    passes, steps = int(settings.get("recyclingSteps", 3)) + 1, int(settings.get("samplingSteps", 200))
    progress = SeedProgress(len(seeds), passes, steps)
    for kind, count in (
        (OpenFold3, progress.begin_seed),
        (PairFormerStack, progress.count_pass),
        (DiffusionModule, progress.count_step),
    ):
        kind.forward = _call_before(kind.forward, count)
    options = {
        "--query-json": QUERY,
        "--runner-yaml": RUNNER,
        "--inference-ckpt-path": checkpoint,
        "--output-dir": OUT,
        "--use-msa-server": "false",
        "--use-templates": "false",
    }
    seed_everything(
        seeds[0]
    )  # it seeds itself only after it has turned the molecules of the first one at random
    with redirect_stdout(sys.stderr):  # its progress bar would otherwise mix with our lines
        predict.main([str(word) for pair in options.items() for word in pair], standalone_mode=False)


def _call_before(function: Any, count: Any) -> Any:
    def call(*values: Any, **named: Any) -> Any:
        count()
        return function(*values, **named)

    return call


@dataclass
class SeedProgress:
    """Counts the passes of the network and the sampling steps of one seed after another."""

    seeds: int
    passes: int
    steps: int
    seed: int = 0
    done_passes: int = 0
    done_steps: int = 0

    def begin_seed(self) -> None:
        """Note that the network begins with the next seed."""
        self.seed, self.done_passes, self.done_steps = self.seed + 1, 0, 0

    def count_pass(self) -> None:
        """Note that the network begins a pass; those after the sampling compute the confidence."""
        if self.done_passes < self.passes:
            self.done_passes += 1
            self._tell(f"pass {self.done_passes} of {self.passes} of the network")

    def count_step(self) -> None:
        """Note that the sampling begins a step."""
        self.done_steps = min(self.steps, self.done_steps + 1)
        self._tell(f"sampling step {self.done_steps} of {self.steps}")

    def _tell(self, what: str) -> None:
        own = 0.4 * (self.done_passes - 1) / self.passes if not self.done_steps else 0.4
        own += 0.55 * self.done_steps / self.steps
        seed = f"Seed {self.seed} of {self.seeds}: " if self.seeds > 1 else ""
        message = seed + (what if seed else what[0].upper() + what[1:])
        with redirect_stdout(sys.__stdout__):
            report(round(0.05 + 0.92 * (self.seed - 1 + own) / self.seeds, 4), message)


def explain_failure(logs: Path) -> None:
    """End the run; the log receives what OpenFold 3 wrote about its failure."""
    told = "".join(path.read_text("utf-8", "replace") for path in sorted(logs.glob("predict_err_*.log")))
    sys.stdout.write(told + "\n")
    if "OutOfMemoryError" in told or "can't allocate memory" in told:
        fail(
            "The memory is too small for this complex. Leave out chains, or ask for fewer models.",
            is_worth_repeating=True,
        )
    fail("OpenFold 3 made no model; the log says why.", is_worth_repeating=True)


def write_results(given: FoldingQuery, rows: list[dict[str, Any]]) -> None:
    """Move the files of OpenFold 3 into outputs/, with tables, notes and figures."""
    outputs = Path("outputs")
    collect(rows, OUT / NAME, outputs)
    for path in (QUERY, RUNNER):
        path.rename(outputs / path.name)
    write_chains(given.chains)
    if os.environ.get("FOLDNOTE_WEIGHTS_STATE") == "stand-in":
        strip_confidence(outputs)
    else:
        names = [name for name in SCORES if name != "iptm" or len(given.chains) > 1]
        write_score({name: rows[0][name] for name in names if name in rows[0]})
    write_notes(given.notes)


if __name__ == "__main__":
    sys.exit(main())
