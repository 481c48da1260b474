"""Hydration free energies of small molecules by alchemical decoupling with OpenMM.

Reads job.json and the file of ``ligandsSDF``. For each molecule the charges and then the Lennard-Jones
interactions with the water are switched off, in a periodic box; the charges also in the gas phase, which
gives back what they do within the molecule. Writes outputs/free-energies.csv (a row for each molecule),
legs.csv, windows.csv, overlap.csv and convergence.csv, and the force field's parameters. Blocks of the
simulation are checkpoints.
"""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from analysis import FEW_SAMPLES, MIN_OVERLAP, Convergence, Estimate, disagree, estimate, follow
from checkpoints import keep_checkpoints
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from ligands import PreparedLigand, parametrize, read_ligands, slug
from openmm import OpenMMException
from sampling import Leg, Lengths, draw_seed, find_platform, list_states, sample
from systems import LONGEST_STEP, build_ligand_legs

OUTPUTS = Path("outputs")
KCAL = 4.184
"""kJ."""
WATER, GAS = "water", "gas"
FREE_ENERGY_COLUMNS = (
    *("ligand", "smiles", "hydration_free_energy_kcal_per_mol", "uncertainty_kcal_per_mol"),
    *("sd_of_repeats_kcal_per_mol", "mbar_error_kcal_per_mol", "repeats", "least_overlap", "is_converged"),
)
"""Columns of free-energies.csv: name; SMILES; mean over the repeats; the larger of the standard error of the
repeats and the error of MBAR, empty where MBAR has none; standard deviation of the repeats, empty for one;
MBAR's error of the mean; number of repeats; smallest overlap of neighbouring states; whether overlap is at
least MIN_OVERLAP, both halves of each leg agree and each window has FEW_SAMPLES or more."""
LEG_COLUMNS = (
    *("ligand", "repeat", "leg", "free_energy_kcal_per_mol", "error_kcal_per_mol", "least_overlap"),
    *("windows", "production_ps_per_window", "stopped_early"),
)
"""Columns of legs.csv; the free energy is that of switching the interactions off."""
WINDOW_COLUMNS = (
    *("ligand", "repeat", "leg", "window", "lambda_electrostatics", "lambda_sterics"),
    *("free_energy_kcal_per_mol", "error_kcal_per_mol", "overlap_with_next"),
    *("samples", "statistical_inefficiency"),
)
"""Columns of windows.csv: free energy from the first window with its error; samples that were used."""
OVERLAP_COLUMNS = ("ligand", "repeat", "leg", "window", "other_window", "overlap")
CONVERGENCE_COLUMNS = (
    *("ligand", "repeat", "leg", "fraction", "forward_kcal_per_mol", "forward_error_kcal_per_mol"),
    *("reverse_kcal_per_mol", "reverse_error_kcal_per_mol"),
)
"""Columns of convergence.csv: share of the samples; the leg's free energy from the first and last ones."""
MIN_SHARE = 0.2
"""Of the production, before which no leg ends early."""
MIN_SAMPLES = 25
"""Uncorrelated samples of each window, likewise."""
REPORT_S = 2.0


@dataclass
class LegResult:
    """A leg of one repeat; energies in kcal/mol."""

    ligand: str
    repeat: int
    leg: Leg
    estimate: Estimate
    convergence: Sequence[Convergence]
    production: float
    """ps of each window."""
    is_early: bool
    sampled: int
    """Samples of each window, of which the estimate uses the uncorrelated ones."""

    @property
    def unit(self) -> float:
        """kcal/mol of 1 kT."""
        return 1 / self.leg.beta / KCAL

    @property
    def total(self) -> float:
        """Free energy of switching off."""
        return self.estimate.total * self.unit

    @property
    def error(self) -> float:
        """MBAR's error of `total`."""
        return self.estimate.error * self.unit

    @property
    def is_converged(self) -> bool:
        """Whether neighbours overlap, both halves agree and there are samples enough to tell."""
        is_told = self.sampled >= FEW_SAMPLES and math.isfinite(self.error)
        return is_told and self.estimate.least_overlap >= MIN_OVERLAP and not disagree(self.convergence)

    def key(self) -> dict[str, Any]:
        """The first columns of its rows."""
        return {"ligand": self.ligand, "repeat": self.repeat, "leg": self.leg.name}


@dataclass
class Progress:
    """Reports what share of all legs is done, at most every REPORT_S."""

    total: int
    done: int = 0
    told: float = field(default_factory=time.monotonic)

    def tell(self, part: float, message: str) -> None:
        """Report that a ``part`` of the present leg is done."""
        if time.monotonic() - self.told > REPORT_S:
            self.told = time.monotonic()
            report(0.02 + 0.97 * (self.done + part) / self.total, message)


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings = job["settings"]
    seed = job["seed"] or 1
    notes: list[str] = []
    write_used(seed=seed)
    report(0.01, "Reading the molecules")
    ligands = read_ligands(Path(job["files"]["ligandsSDF"][0]), seed, notes)
    platform = find_platform()
    lengths = plan_lengths(settings, notes)
    write_used(seed=seed, settings=lengths.rounded())
    legs: list[LegResult] = []
    progress = Progress(len(ligands) * settings["protocolRepeats"])
    with keep_checkpoints(job) as folder:
        if any(folder.rglob("window-*.npz")):
            notes.append("The run goes on from the checkpoints of an attempt that was interrupted.")
        try:
            for number, ligand in enumerate(ligands, start=1):
                place = Path("systems") / f"{number:03}"
                parametrize(ligand, place, settings["forcefieldSmallMolecule"], keep_told(progress))
                keep_parameters(place, number, ligand)
                kept = folder / f"{number:03}"
                legs += hydrate(ligand, place, kept, settings, lengths, seed, platform, progress)
                write_results(ligands, legs, settings["protocolRepeats"])
        except OpenMMException as exc:
            print(exc)
            fail(
                "The simulation became unstable or could not run; the log has OpenMM's message."
                " Choose a shorter time step, and check the molecule's coordinates."
            )
    notes += describe(legs, platform, settings)
    write_notes(notes)
    write_score(make_score(ligands, legs, settings["protocolRepeats"]))
    report(1.0, "Done")


def keep_told(progress: Progress) -> Callable[[str], None]:
    """Report a step of the preparation."""
    return lambda message: progress.tell(0.0, message)


def plan_lengths(settings: dict[str, Any], notes: list[str]) -> Lengths:
    """The lengths of the settings in whole blocks."""
    timestep = settings["timestep"]
    if timestep > LONGEST_STEP:
        notes.append("The solute's hydrogens have a mass of 3 u, since the time step is above 2 fs.")
    return Lengths.plan(timestep / 1000, settings["equilLength"], settings["prodLength"])


def hydrate(
    ligand: PreparedLigand,
    place: Path,
    folder: Path,
    settings: dict[str, Any],
    lengths: Lengths,
    seed: int,
    platform: str,
    progress: Progress,
) -> list[LegResult]:
    """Sample both legs of every repeat."""
    water, gas = build_ligand_legs(
        place,
        settings["forcefieldSmallMolecule"],
        settings["solventModel"],
        settings["solventPadding"],
        settings["timestep"],
        keep_told(progress),
    )
    charges, sterics = settings["electrostaticWindows"], settings["stericWindows"]
    target = settings["earlyTerminationTargetError"] / math.sqrt(2)
    results = []
    for repeat in range(1, settings["protocolRepeats"] + 1):
        for name, solute, states, where in (
            (GAS, gas, list_states(charges, 0), "Reference"),
            (WATER, water, list_states(charges, sterics), platform),
        ):
            leg = Leg(
                name,
                solute.decouple(),
                solute.positions,
                solute.box,
                states,
                settings["temperature"],
                lengths,
                draw_seed(seed, ligand.name, repeat),
                where,
            )
            share = 0.0 if name == GAS else 1.0
            message = f"{ligand.name}, repeat {repeat}, {name}: {len(states)} windows"
            results.append(
                run_leg(
                    ligand.name,
                    repeat,
                    leg,
                    folder / f"{repeat}-{name}",
                    target,
                    lambda part, share=share, message=message: progress.tell(share * part, message),
                )
            )
        progress.done += 1
    return results


def run_leg(
    ligand: str, repeat: int, leg: Leg, folder: Path, target: float, tell: Callable[[float], None]
) -> LegResult:
    """Sample a leg until its error is at most ``target`` in kcal/mol, or to its end where that is 0."""

    def is_enough(windows: Sequence[np.ndarray]) -> bool:
        if target <= 0 or windows[0].shape[1] < MIN_SHARE * planned:
            return False
        found = estimate(windows)
        return min(found.samples) >= MIN_SAMPLES and found.error / leg.beta / KCAL <= target

    planned = leg.lengths.production_blocks * leg.lengths.samples_per_block
    windows = sample(leg, folder, tell, is_enough)
    count = windows[0].shape[1]
    simulated = count * leg.lengths.interval
    return LegResult(
        ligand, repeat, leg, estimate(windows), follow(windows), simulated, count < planned, count
    )


def keep_parameters(place: Path, number: int, ligand: PreparedLigand) -> None:
    """Copy charges, atom types and further parameters to the result."""
    target = OUTPUTS / "parameters"
    target.mkdir(parents=True, exist_ok=True)
    for name in ("lig.mol2", "lig.frcmod"):
        shutil.copy(place / name, target / f"{number:03}-{slug(ligand.name)}{Path(name).suffix}")


def combine(legs: Sequence[LegResult], ligand: str) -> dict[str, Any] | None:
    """The row of free-energies.csv for a ligand, without name and SMILES; None before its legs are done."""
    own = [each for each in legs if each.ligand == ligand]
    if not own:
        return None
    values, errors = [], []
    for repeat in sorted({each.repeat for each in own}):
        parts = {each.leg.name: each for each in own if each.repeat == repeat}
        values.append(parts[GAS].total - parts[WATER].total)
        errors.append(math.hypot(parts[GAS].error, parts[WATER].error))
    count = len(values)
    mbar_error = math.sqrt(sum(error**2 for error in errors)) / count
    is_known = math.isfinite(mbar_error)
    spread = float(np.std(values, ddof=1)) if count > 1 else None
    return {
        "hydration_free_energy_kcal_per_mol": float(np.mean(values)),
        "uncertainty_kcal_per_mol": max(mbar_error, (spread or 0.0) / math.sqrt(count)) if is_known else None,
        "sd_of_repeats_kcal_per_mol": spread,
        "mbar_error_kcal_per_mol": mbar_error if is_known else None,
        "repeats": count,
        "least_overlap": min(each.estimate.least_overlap for each in own),
        "is_converged": all(each.is_converged for each in own),
    }


def write_results(ligands: Sequence[PreparedLigand], legs: Sequence[LegResult], repeats: int) -> None:
    """Write the tables of all ligands that are done."""
    rows = [
        {"ligand": ligand.name, "smiles": ligand.smiles, **round_row(row)}
        for ligand in ligands
        if (row := combine(legs, ligand.name)) and row["repeats"] == repeats
    ]
    write_table("free-energies.csv", rows, FREE_ENERGY_COLUMNS)
    write_table("legs.csv", (list_leg(each) for each in legs), LEG_COLUMNS)
    write_table("windows.csv", (row for each in legs for row in list_windows(each)), WINDOW_COLUMNS)
    write_table("overlap.csv", (row for each in legs for row in list_overlap(each)), OVERLAP_COLUMNS)
    write_table(
        "convergence.csv", (row for each in legs for row in list_convergence(each)), CONVERGENCE_COLUMNS
    )


def round_row(row: dict[str, Any]) -> dict[str, Any]:
    """Figures with four decimals, nothing and unknown ones as an empty cell."""
    return {
        name: "" if value is None else round_figure(value) if isinstance(value, float) else value
        for name, value in row.items()
    }


def round_figure(value: float) -> str:
    """Four decimals; nothing for an unknown error."""
    return f"{value + 0.0:.4f}" if math.isfinite(value) else ""


def list_leg(each: LegResult) -> dict[str, Any]:
    """A row of legs.csv."""
    return each.key() | round_row(
        {
            "free_energy_kcal_per_mol": each.total,
            "error_kcal_per_mol": each.error,
            "least_overlap": each.estimate.least_overlap,
            "windows": len(each.leg.states),
            "production_ps_per_window": each.production,
            "stopped_early": each.is_early,
        }
    )


def list_windows(each: LegResult) -> list[dict[str, Any]]:
    """Rows of windows.csv."""
    found = each.estimate
    beside = [*np.diag(found.overlap, 1).tolist(), None]
    return [
        each.key()
        | {"window": number + 1, "samples": found.samples[number]}
        | round_row(dict(state))
        | round_row(
            {
                "free_energy_kcal_per_mol": float(found.energies[number]) * each.unit,
                "error_kcal_per_mol": float(found.errors[number]) * each.unit,
                "overlap_with_next": beside[number],
                "statistical_inefficiency": found.inefficiency[number],
            }
        )
        for number, state in enumerate(each.leg.states)
    ]


def list_overlap(each: LegResult) -> list[dict[str, Any]]:
    """Rows of overlap.csv."""
    return [
        each.key() | {"window": one + 1, "other_window": two + 1, "overlap": f"{value:.4f}"}
        for (one, two), value in np.ndenumerate(each.estimate.overlap)
    ]


def list_convergence(each: LegResult) -> list[dict[str, Any]]:
    """Rows of convergence.csv."""
    names, rows = CONVERGENCE_COLUMNS[4:], []
    for row in each.convergence:
        values = (value * each.unit for value in (*row.forward, *row.reverse))
        figures = round_row(dict(zip(names, values, strict=True)))
        rows.append(each.key() | {"fraction": f"{row.fraction:.1f}"} | figures)
    return rows


def describe(legs: Sequence[LegResult], platform: str, settings: dict[str, Any]) -> list[str]:
    """What a reader of the figures must know."""
    notes = [f"OpenMM ran on its platform {platform}; the gas phase on Reference."]
    poor = [each for each in legs if each.estimate.least_overlap < MIN_OVERLAP]
    if poor:
        notes.append(
            f"In {len(poor)} of {len(legs)} legs neighbouring states overlap by less than {MIN_OVERLAP}:"
            " their free energies and errors are not reliable. Raise the number of windows or the length."
        )
    unknown = [each for each in legs if not math.isfinite(each.error)]
    if unknown:
        notes.append(
            f"In {len(unknown)} of {len(legs)} legs states overlap so little that MBAR has no error; it is"
            " left empty, and the free energy means nothing."
        )
    if any(each.sampled < FEW_SAMPLES for each in legs):
        notes.append(
            f"Windows have fewer than {FEW_SAMPLES} samples: their correlation could not be estimated, and"
            " the errors are too small. Raise the production length."
        )
    unsure = [each for each in legs if disagree(each.convergence)]
    if unsure:
        notes.append(
            f"In {len(unsure)} of {len(legs)} legs the first and the second half differ by more than twice"
            " their error: they are not converged. Raise the equilibration and the production length."
        )
    if any(each.is_early for each in legs):
        notes.append("Legs ended early, when MBAR's error was small enough; legs.csv says which.")
    if settings["protocolRepeats"] == 1:
        notes.append("One repeat has no spread; the uncertainty is MBAR's error alone.")
    return notes


def make_score(ligands: Sequence[PreparedLigand], legs: Sequence[LegResult], repeats: int) -> dict[str, Any]:
    """Figures of the whole; the free energy where there is one molecule."""
    rows = [combine(legs, ligand.name) for ligand in ligands]
    figures: dict[str, Any] = {"ligands": len(rows), "repeats": repeats}
    if len(rows) == 1 and rows[0]:
        for name in ("hydration_free_energy", "uncertainty"):
            value = rows[0][f"{name}_kcal_per_mol"]
            if value is not None:
                figures[f"{name}_kcal_per_mol"] = round(value, 4)
    figures["least_overlap"] = round(min(each.estimate.least_overlap for each in legs), 4)
    return figures


if __name__ == "__main__":
    sys.exit(main())
