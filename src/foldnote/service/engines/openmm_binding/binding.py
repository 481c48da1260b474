"""The closed cycle of a binding free energy, for ligands and receptors whose force field is given.

In the complex, a restraint is switched on, then the ligand's charges and its Lennard-Jones interactions with
the rest are switched off; in water alone, the same without a restraint. With the free energy of releasing the
restrained, decoupled ligand to 1 mol/L:

    binding = decoupling in water - decoupling in the complex - release - RT ln(symmetry number)

Writes free-energies.csv (a row for each ligand), legs.csv, windows.csv, overlap.csv, convergence.csv,
restraints.csv, complexes/*.pdb and the force field's parameters. Blocks of the simulation are checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alchemy import ELECTROSTATICS, RESTRAINT, STERICS
from anchors import choose_restraint, restrain_given
from checkpoints import keep_checkpoints
from complex_files import write_complex
from complexes import HOST, BuiltComplex, Receptor, SmallMolecules, build_complex, build_ligand, check_pose
from engine_protocol import fail, report, write_notes, write_score, write_table, write_used
from equilibration import Equilibrated, equilibrate, list_near, make_whole
from leg_tables import describe_legs, round_row, summarize, write_legs
from legs import KCAL, LegResult, Progress, plan_lengths, run_leg
from ligands import PreparedLigand, slug
from openmm import OpenMMException
from restraint import Restraint, list_bound_states
from sampling import GAS_CONSTANT, Leg, Lengths, describe_platform, draw_seed, find_platform, list_states
from systems import Solute
from windows import SampledWindow, name_window

OUTPUTS = Path("outputs")
BOUND, SOLVENT, RELEASE = "complex", "solvent", "release"
FREE_ENERGY_COLUMNS = (
    *("ligand", "smiles", "binding_free_energy_kcal_per_mol", "uncertainty_kcal_per_mol"),
    *("sd_of_repeats_kcal_per_mol", "mbar_error_kcal_per_mol", "repeats", "least_overlap", "is_converged"),
)
"""Columns of free-energies.csv: name; SMILES; mean over the repeats at 1 mol/L; the larger of the standard
error of the repeats and the error of MBAR, empty if MBAR has none; standard deviation of the repeats, empty
for one; MBAR's error of the mean; number of repeats; smallest overlap of neighbouring states; whether
overlap, halves of the samples and their number are sufficient."""
RESTRAINT_COLUMNS = (
    *("ligand", "P1", "P2", "P3", "L1", "L2", "L3", "distance_angstrom", "angle_a_deg", "angle_b_deg"),
    *("dihedral_a_deg", "dihedral_b_deg", "dihedral_c_deg", "distance_constant_kcal_per_mol_per_angstrom2"),
    *("angle_constant_kcal_per_mol_per_rad2", "release_kcal_per_mol"),
)
"""Columns of restraints.csv: anchors of the protein as chain:residue:atom, those of molecules as their number
in the file; values and constants of the restraint, whose energy is half the constant times the square; free
energy of releasing the restrained ligand to 1 mol/L."""
MOST_ANCHORS = 60
"""Atoms of the receptor among which anchors are chosen."""
AWAY = 0.6
"""Distance in nm between ligand and receptor beyond which the ligand has left."""


@dataclass
class Bound:
    """A ligand's systems, restraint and legs."""

    ligand: PreparedLigand
    restraint: Restraint
    complex: BuiltComplex
    release: float
    """Free energy in kcal/mol."""
    legs: list[LegResult] = field(default_factory=list)


@dataclass(frozen=True)
class Calculation:
    """The data that all ligands of a job share."""

    settings: Mapping[str, Any]
    """Settings of `binding-free-energy`, without its files."""
    force_field: SmallMolecules
    receptor: Receptor
    seed: int
    lengths: Lengths
    platform: str
    folder: Path
    """Folder of the checkpoints."""
    progress: Progress

    def report_progress(self, message: str) -> None:
        """Report the activity between the legs."""
        self.progress.report_progress(0.0, message)

    def own_seed(self, *names: object) -> int:
        """Derive a seed from the job's and from names."""
        return draw_seed(self.seed, *names)


def calculate(
    job: dict[str, Any],
    settings: Mapping[str, Any],
    receptor: Receptor,
    ligands: Sequence[PreparedLigand],
    force_field: SmallMolecules,
    notes: list[str],
) -> None:
    """Calculate the binding free energy of every ligand, and write the results of the job.

    Args:
        job: content of job.json, for seed and checkpoints.
        settings: settings of `binding-free-energy`, without its files.
        receptor: the molecule to which the ligands are bound.
        ligands: the ligands at their bound positions.
        force_field: force field of ligands, cofactors and a host.
        notes: sentences for readers of the results.
    """
    seed = job["seed"] or 1
    for ligand in ligands:
        check_ligand(ligand, receptor)
    platform = find_platform()
    lengths = plan_lengths(dict(settings), notes)
    write_used(seed=seed, settings=lengths.rounded())
    progress = Progress(len(ligands) * (settings["protocolRepeats"] + 1))
    done: list[Bound] = []
    with keep_checkpoints(job) as folder:
        if any(folder.rglob("*.npz")):
            notes.append("The run continues from the checkpoints of an attempt that was interrupted.")
        own = Calculation(settings, force_field, receptor, seed, lengths, platform, folder, progress)
        others = prepare_others(own)
        try:
            for number, ligand in enumerate(ligands, start=1):
                bound = prepare(number, ligand, others, own)
                done.append(bound)
                bind(number, bound, own)
                write_results(done, settings)
        except OpenMMException as exc:
            print(exc)
            fail(
                "The simulation became unstable or could not run; the log has OpenMM's message."
                " Choose a shorter time step, and check the coordinates of receptor and ligand."
            )
    legs = [leg for each in done for leg in each.legs]
    notes.append(describe_platform(platform))
    notes += describe_legs(legs, [combine(each, settings) for each in done])
    if settings["symmetryNumber"] > 1:
        notes.append(f"The free energies contain -RT ln {settings['symmetryNumber']} for equivalent poses.")
    write_notes(notes)
    write_score(make_score(done, settings))
    report(1.0, "Done")


def check_ligand(ligand: PreparedLigand, receptor: Receptor) -> None:
    """Fail if a ligand cannot be restrained, or is not bound."""
    if ligand.molecule.GetNumHeavyAtoms() < 3:
        fail(
            f"Molecule {ligand.name!r} has fewer than three atoms without hydrogens, which the restraint of"
            " place and orientation takes."
        )
    check_pose(ligand, receptor)


def prepare_others(own: Calculation) -> dict[str, Path]:
    """Prepare parameters of a host or of cofactors once for all ligands; return folders by residue name."""
    made = {}
    for residue, molecule in own.receptor.molecules.items():
        place = made[residue] = Path("systems") / residue
        own.force_field.parametrize(molecule, place, own.report_progress, residue)
        own.force_field.keep(place, "000" if residue == HOST else residue, molecule)
    return made


def prepare(number: int, ligand: PreparedLigand, others: Mapping[str, Path], own: Calculation) -> Bound:
    """Build and equilibrate a complex, and choose its restraint."""
    settings = own.settings
    place = Path("systems") / f"{number:03}"
    seed = own.own_seed(ligand.name)
    own.force_field.parametrize(ligand, place, own.report_progress)
    own.force_field.keep(place, f"{number:03}", ligand)
    built = build_complex(place, others, own.receptor, settings, own.force_field, seed, own.report_progress)
    found = equilibrate(
        built,
        settings["temperature"],
        settings["timestep"] / 1000,
        settings["anchorLength"],
        seed,
        own.platform,
        own.folder / f"{number:03}" / "equilibrated.npz",
        lambda part: own.progress.report_progress(part, f"{ligand.name}: equilibration of the complex"),
    )
    own.progress.done += 1
    check_bound(ligand, built, found)
    restraint = find_restraint(built, found, settings, seed)
    built.solute = Solute(
        built.solute.system, built.solute.topology, found.positions, found.box, built.solute.ligand
    )
    return Bound(ligand, restraint, built, restraint.release(settings["temperature"]) / KCAL)


def check_bound(ligand: PreparedLigand, built: BuiltComplex, found: Equilibrated) -> None:
    """Fail if the ligand has left its place."""
    last = found.frames[-1]
    pairs = last[list(built.heavy)][:, None] - last[list(built.receptor)][None]
    if np.linalg.norm(pairs, axis=-1).min() > AWAY:
        fail(f"Molecule {ligand.name!r} left the receptor during the equilibration: this pose is not bound.")


def find_restraint(
    built: BuiltComplex, found: Equilibrated, settings: Mapping[str, Any], seed: int
) -> Restraint:
    """Return the restraint on the atoms that the job names, or on those that fluctuate least."""
    constants = (
        settings["restraintDistanceConstant"] * KCAL * 100,
        settings["restraintAngleConstant"] * KCAL,
    )
    given = settings.get("receptorAnchors", ""), settings.get("ligandAnchors", "")
    if any(given):
        return restrain_given(found.frames, *find_anchors(built, given), constants)
    near = list_near(found, built.anchors, built.heavy, MOST_ANCHORS)
    if len(near) < 3:
        fail("The receptor has fewer than three atoms that may hold the ligand.")
    reach = 0.4 * float(found.box[0][0])
    return choose_restraint(found.frames, near, built.heavy, constants, draw_seed(seed, "anchors"), reach)


def find_anchors(built: BuiltComplex, given: tuple[str, str]) -> tuple[list[int], list[int]]:
    """Return the indices of the named atoms; each setting names three."""
    found = []
    for name, text, atoms in (
        ("receptorAnchors", given[0], built.anchors),
        ("ligandAnchors", given[1], built.heavy),
    ):
        known = {built.titles[index]: index for index in atoms}
        words = text.split()
        if len(set(words)) != 3:
            fail(f"{name} must name three different atoms, such as {' '.join(list(known)[:3])}.")
        if strange := [word for word in words if word not in known]:
            fail(
                f"{name} names {strange[0]}, which may not be an anchor: take N, CA or C of a protein's"
                " residue, and of a molecule any atom but hydrogens."
            )
        found.append([known[word] for word in words])
    return found[0], found[1]


def bind(number: int, bound: Bound, own: Calculation) -> None:
    """Sample both legs of every repeat."""
    settings, name = own.settings, bound.ligand.name
    place = Path("systems") / f"{number:03}"
    alone = build_ligand(place, settings, own.force_field, own.own_seed(name, SOLVENT), own.report_progress)
    off = list_states(settings["electrostaticWindows"], settings["stericWindows"])
    held = bound.complex.solute.decouple()
    bound.restraint.add_to(held)
    target = settings["earlyTerminationTargetError"] / math.sqrt(2)
    plan = (
        (SOLVENT, alone, alone.decouple(), off),
        (BOUND, bound.complex.solute, held, list_bound_states(settings["restraintWindows"], off)),
    )
    whole = sum(len(solute.positions) * len(states) for _, solute, _, states in plan)
    for repeat in range(1, settings["protocolRepeats"] + 1):
        begun = 0.0
        for kind, solute, system, states in plan:
            leg = Leg(
                kind,
                system,
                solute.positions,
                solute.box,
                states,
                settings["temperature"],
                own.lengths,
                own.own_seed(name, repeat),
                own.platform,
            )
            share = len(solute.positions) * len(states) / whole
            message = f"{name}, repeat {repeat}, {kind}: {len(states)} windows"
            report_progress = partial(report_leg_progress, own.progress, begun, share, message)
            kept = own.folder / f"{number:03}" / f"{repeat}-{kind}"
            bound.legs.append(run_leg(name, repeat, leg, kept, target, report_progress))
            begun += share
            if kind == BOUND and repeat == 1:
                keep_structure(number, bound, own.receptor, SampledWindow.load(name_window(kept, 0)))
        own.progress.done += 1


def report_leg_progress(progress: Progress, begun: float, share: float, message: str, part: float) -> None:
    """Report a ``part`` of a leg that is a ``share`` of its repeat."""
    progress.report_progress(begun + share * part, message)


def keep_structure(number: int, bound: Bound, receptor: Receptor, window: SampledWindow | None) -> None:
    """Write receptor and ligand at the end of the window with all interactions."""
    if window is None:
        return
    target = OUTPUTS / "complexes"
    target.mkdir(exist_ok=True)
    write_complex(
        bound.complex.solute.topology,
        make_whole(window.positions, window.box, bound.complex),
        receptor.protein.residues if receptor.protein else [],
        "RECEPTOR AND LIGAND AT THE END OF WINDOW 1 OF THE COMPLEX, REPEAT 1",
        target / f"{number:03}-{slug(bound.ligand.name)}.pdb",
    )


def combine(bound: Bound, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a ligand's row of free-energies.csv, without name and SMILES."""
    thermal = GAS_CONSTANT * settings["temperature"] / KCAL
    given = bound.release + thermal * math.log(settings["symmetryNumber"])
    values, errors = [], []
    for repeat in sorted({each.repeat for each in bound.legs}):
        parts = {each.leg.name: each for each in bound.legs if each.repeat == repeat}
        values.append(parts[SOLVENT].total - parts[BOUND].total - given)
        errors.append(math.hypot(parts[SOLVENT].error, parts[BOUND].error))
    return summarize("binding_free_energy_kcal_per_mol", values, errors, bound.legs)


def write_results(done: Sequence[Bound], settings: Mapping[str, Any]) -> None:
    """Write the tables of all finished ligands."""
    rows = [
        {"ligand": each.ligand.name, "smiles": each.ligand.smiles, **round_row(combine(each, settings))}
        for each in done
    ]
    write_table("free-energies.csv", rows, FREE_ENERGY_COLUMNS)
    released = [
        {"ligand": each.ligand.name, "leg": RELEASE, **round_row({"free_energy_kcal_per_mol": each.release})}
        for each in done
    ]
    legs = [leg for each in done for leg in each.legs]
    write_legs(legs, (RESTRAINT, ELECTROSTATICS, STERICS), released)
    write_table("restraints.csv", map(list_restraint, done), RESTRAINT_COLUMNS)


def list_restraint(bound: Bound) -> list[Any]:
    """Return a row of restraints.csv."""
    restraint = bound.restraint
    titles = [bound.complex.titles[index] for index in (*restraint.receptor, *restraint.ligand)]
    distance, *angles = restraint.values
    figures = {
        "distance": 10 * distance,
        **{str(place): math.degrees(each) for place, each in enumerate(angles)},
        "constant": restraint.distance_constant / KCAL / 100,
        "angle constant": restraint.angle_constant / KCAL,
        "release": bound.release,
    }
    return [bound.ligand.name, *titles, *round_row(figures).values()]


def make_score(done: Sequence[Bound], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures of the whole run; the free energy if there is one ligand."""
    figures: dict[str, Any] = {"ligands": len(done), "repeats": settings["protocolRepeats"]}
    if len(done) == 1:
        row = combine(done[0], settings)
        for name in ("binding_free_energy", "uncertainty"):
            value = row[f"{name}_kcal_per_mol"]
            if value is not None:
                figures[f"{name}_kcal_per_mol"] = round(value, 4)
    figures["least_overlap"] = round(min(leg.estimate.least_overlap for each in done for leg in each.legs), 4)
    return figures
