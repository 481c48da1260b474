"""Hydration free energies of small molecules by alchemical decoupling with OpenMM.

Reads job.json and the file of ``ligandsSDF``. For each molecule, the charges and then the Lennard-Jones
interactions with the water are switched off, in a periodic box; the charges also in the gas phase, which
gives back their effect within the molecule. Writes outputs/free-energies.csv (a row for each molecule),
legs.csv, windows.csv, overlap.csv and convergence.csv, and the force field's parameters. Blocks of the
simulation are checkpoints.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from checkpoints import keep_checkpoints
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from leg_tables import describe_legs, round_row, summarize, write_legs
from legs import LegResult, Progress, plan_lengths, run_leg
from ligands import PreparedLigand, keep_parameters, parametrize, read_ligands
from openmm import OpenMMException
from sampling import Leg, Lengths, describe_platform, draw_seed, find_platform, list_states
from systems import build_ligand_legs

WATER, GAS = "water", "gas"
FREE_ENERGY_COLUMNS = (
    *("ligand", "smiles", "hydration_free_energy_kcal_per_mol", "uncertainty_kcal_per_mol"),
    *("sd_of_repeats_kcal_per_mol", "mbar_error_kcal_per_mol", "repeats", "least_overlap", "is_converged"),
)
"""Columns of free-energies.csv: name; SMILES; mean over the repeats; the larger of the standard error of the
repeats and the error of MBAR, empty if MBAR has none; standard deviation of the repeats, empty for one;
MBAR's error of the mean; number of repeats; smallest overlap of neighbouring states; whether overlap is at
least MIN_OVERLAP, both halves of each leg agree and each window has FEW_SAMPLES or more."""


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
            notes.append("The run continues from the checkpoints of an attempt that was interrupted.")
        try:
            for number, ligand in enumerate(ligands, start=1):
                place = Path("systems") / f"{number:03}"
                parametrize(
                    ligand, place, settings["forcefieldSmallMolecule"], partial(progress.report_progress, 0.0)
                )
                keep_parameters(place, f"{number:03}", ligand)
                kept = folder / f"{number:03}"
                legs += hydrate(ligand, place, kept, settings, lengths, seed, platform, progress)
                write_results(ligands, legs, settings["protocolRepeats"])
        except OpenMMException as exc:
            print(exc)
            fail(
                "The simulation became unstable or could not run; the log has OpenMM's message."
                " Choose a shorter time step, and check the molecule's coordinates."
            )
    notes.append(f"{describe_platform(platform)} The gas phase was sampled on the platform Reference.")
    notes += describe_legs(legs, [row for ligand in ligands if (row := combine(legs, ligand.name))])
    write_notes(notes)
    write_score(make_score(ligands, legs, settings["protocolRepeats"]))
    report(1.0, "Done")


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
        partial(progress.report_progress, 0.0),
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
                    lambda part, share=share, message=message: progress.report_progress(
                        share * part, message
                    ),
                )
            )
        progress.done += 1
    return results


def combine(legs: Sequence[LegResult], ligand: str) -> dict[str, Any] | None:
    """Return a ligand's row of free-energies.csv, without name and SMILES; None before its legs are done."""
    own = [each for each in legs if each.ligand == ligand]
    if not own:
        return None
    values, errors = [], []
    for repeat in sorted({each.repeat for each in own}):
        parts = {each.leg.name: each for each in own if each.repeat == repeat}
        values.append(parts[GAS].total - parts[WATER].total)
        errors.append(math.hypot(parts[GAS].error, parts[WATER].error))
    return summarize("hydration_free_energy_kcal_per_mol", values, errors, own)


def write_results(ligands: Sequence[PreparedLigand], legs: Sequence[LegResult], repeats: int) -> None:
    """Write the tables of all finished ligands."""
    rows = [
        {"ligand": ligand.name, "smiles": ligand.smiles, **round_row(row)}
        for ligand in ligands
        if (row := combine(legs, ligand.name)) and row["repeats"] == repeats
    ]
    write_table("free-energies.csv", rows, FREE_ENERGY_COLUMNS)
    write_legs(legs)


def make_score(ligands: Sequence[PreparedLigand], legs: Sequence[LegResult], repeats: int) -> dict[str, Any]:
    """Return figures of the whole run; the free energy if there is one molecule."""
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
