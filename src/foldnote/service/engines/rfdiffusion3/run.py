"""Design proteins with RFdiffusion3: alone, around a motif, to bind a target, a nucleic acid or a ligand.

Reads job.json and its structure. Writes a structure and RFdiffusion3's figures of each design into outputs/,
with designs.csv, a row for each. The program runs in this process, so that its steps can be counted. It finds
its weights through FOUNDRY_CHECKPOINT_DIRS, and downloads nothing.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from designs import collect, summarize
from engine_protocol import fail, read_job, report, write_notes, write_score, write_used
from inputs import KEY, STRUCTURE, DesignInput, count_steps, list_options, read_design

OUT = Path("rfd3")
QUERY = Path("design.json")
BEGIN, SHARE = 0.1, 0.86
"""Fraction of the run before the first step, and that of all steps."""


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings = job["settings"]
    report(0.01, "Reading the input")
    seed = int(settings.get("seed") or job["seed"] % 2**32)
    options = list_options(settings, seed)
    given = read_design(job)
    count_steps(settings)
    write_used(seed=seed, settings=given.used)
    given.write(QUERY)
    report(0.03, "Loading RFdiffusion3")
    check_with_program(given)
    run_program([f"inputs={QUERY}", f"out_dir={OUT}", *options], settings)
    is_stand_in = os.environ.get("FOLDNOTE_WEIGHTS_STATE") == "stand-in"
    outputs = Path("outputs")
    rows = collect(OUT, outputs, is_stand_in=is_stand_in)
    if len(rows) < int(settings.get("designs", 1)):
        fail(
            "RFdiffusion3 made fewer designs than were asked for; the log says why.", is_worth_repeating=True
        )
    QUERY.rename(outputs / QUERY.name)
    if Path(STRUCTURE).exists():  # compressed, so that no tool takes it for a design
        (outputs / f"{STRUCTURE}.gz").write_bytes(gzip.compress(Path(STRUCTURE).read_bytes(), mtime=0))
    if not is_stand_in:
        write_score(summarize(rows))
    write_notes(given.notes)
    report(1.0, "Done")


def check_with_program(given: DesignInput) -> None:
    """Let RFdiffusion3 read its input before it loads its weights; fail with its reason if it refuses."""
    from rfd3.inference.input_parsing import DesignInputSpecification

    values = dict(given.specification)
    if "input" in values:
        values["input"] = str(Path(values["input"]).resolve())
    try:
        DesignInputSpecification.safe_init(**values).build()
    except (ValueError, AssertionError, LookupError, TypeError, AttributeError, NotImplementedError) as exc:
        hint = ""
        if "symmetry" in given.specification and "input" in given.specification:
            hint = " With symmetry the structure must have a protein in each of the copies, in their places."
        fail(f"RFdiffusion3 does not take this input: {tell_reason(exc)}.{hint}")


def tell_reason(exc: Exception) -> str:
    """Return the program's message on one line, without parts that only its authors understand."""
    listed = getattr(exc, "errors", None)
    text = str(listed()[0]["msg"]) if callable(listed) else str(exc)
    text = " ".join(text.removeprefix("Value error, ").removeprefix("Assertion failed, ").split())
    return (text[:300].rstrip(" .") or type(exc).__name__).replace(str(Path.cwd()), "")


def run_program(arguments: list[str], settings: Mapping[str, Any]) -> None:
    """Run ``rfd3 design``, and report the progress of its sampling."""
    import torch
    from rfd3.cli import app
    from rfd3.engine import RFD3Output
    from rfd3.model.RFD3_diffusion_module import RFD3DiffusionModule

    forward, dump = RFD3DiffusionModule.forward, RFD3Output.dump
    at_once = int(settings.get("batchSize", 1))
    passes = 2 if settings.get("guidanceScale") else 1
    sampling = DesignSteps(
        int(settings.get("designs", 1)), at_once, (int(settings.get("steps", 200)) - 1) * passes
    )

    def count_step(*values: Any, **named: Any) -> Any:
        sampling.step()
        return forward(*values, **named)

    def count_design(*values: Any, **named: Any) -> Any:
        sampling.finish_design()
        return dump(*values, **named)

    RFD3DiffusionModule.forward, RFD3Output.dump = count_step, count_design
    try:
        app([KEY, *arguments], standalone_mode=False)
    except torch.cuda.OutOfMemoryError:
        fail(
            "The GPU's memory is too small for this design. Keep less of the structure, give shorter"
            " lengths, a"
            " smaller batchSize, or lowMemory."
        )


@dataclass
class DesignSteps:
    """The steps of all designs."""

    designs: int
    at_once: int
    steps: int
    """Number of designs that are made at once."""
    finished: int = 0
    done: int = 0

    def step(self) -> None:
        """Count a step, and report it."""
        self.done = min(self.steps, self.done + 1)
        last = min(self.designs, self.finished + self.at_once)
        which = f"design {last}" if self.at_once == 1 else f"designs {self.finished + 1} to {last}"
        fraction = (self.finished + (last - self.finished) * self.done / self.steps) / self.designs
        message = f"Step {self.done} of {self.steps} of {which} of {self.designs}"
        report(round(BEGIN + SHARE * fraction, 4), message)

    def finish_design(self) -> None:
        """Count a design that has been written."""
        self.finished, self.done = self.finished + 1, 0


if __name__ == "__main__":
    sys.exit(main())
