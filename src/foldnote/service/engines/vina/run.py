"""Dock one molecule into one receptor with AutoDock Vina, rigid except for named side chains.

Reads job.json and its files. Writes outputs/poses.sdf and outputs/poses.pdbqt (every pose, the best first),
outputs/docking.csv (a row for each pose), outputs/receptor.pdbqt (the receptor of the docking) and
outputs/complex.pdb (the receptor with the best pose, for viewing). If side chains were flexible,
receptor.pdbqt is the rigid part, outputs/flexible.pdbqt contains their initial state, and each pose of
poses.pdbqt has its own. If the receptor's file contained the docked molecule, outputs/reference.sdf contains
it. If the add-on gnina is installed, each pose has GNINA's figures in addition to Vina's. Nothing is
requested from the internet: residues without a template are removed from the receptor before its preparation,
and named in the notes.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_protocol import (
    fail,
    read_add_ons,
    read_job,
    report,
    write_notes,
    write_score,
    write_table,
    write_used,
)
from receptor import prepare_receptor, read_receptor, shorten_chain_names
from references import write_references
from rescoring import ADD_ON, FIGURES, Rescoring, rescore
from side_chains import (
    check_torsions,
    find_extent,
    list_flexible,
    list_outside,
    list_side_chain_places,
    move_side_chains,
    read_side_chains,
)

COLUMNS = ("pose", "affinity", "rmsd_lower", "rmsd_upper")
"""Columns of docking.csv: pose, 1-based, the best first; affinity in kcal/mol; Vina's lower and upper bound
of the distance from the best pose in Å. A row is a pose; rescored ones also have FIGURES,
vina_rank and cnn_rank, which are 1 for the best by affinity and by CNNscore."""
ENERGIES = {"vina_inter": "INTER", "vina_intra": "INTRA"}
"""Columns of docking.csv if side chains were flexible, in kcal/mol, with Vina's names: the ligand with the
rigid receptor and the moving atoms of side chains; within the ligand, among side chains, and of these with
the rigid receptor."""

OUTPUTS = Path("outputs")
BLIND_MARGIN = 5.0
"""Default margin in Å between the receptor's atoms and each side of the box."""
SITE_SIZE = 20.0
"""Å of each edge of a box that has a centre and no size; also the minimum for one around flexible side
chains."""
LARGE_VOLUME = 27_000.0
"""Å³ above which Vina itself recommends a more thorough search."""
ELEMENTS = frozenset({"H", "C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "Si"})
"""Elements for which the scoring functions have ligand parameters."""
LARGEST_LIGAND = 250
"""Maximum heavy atoms: more than the search finds good poses for, and few enough to be prepared."""
LIGAND_NAME = "LIG"


@dataclass(frozen=True)
class DockingBox:
    """Centre and edges in Å."""

    center: tuple[float, float, float]
    size: tuple[float, float, float]

    @property
    def volume(self) -> float:
        """Volume in Å³."""
        return math.prod(self.size)


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    settings, files = job["settings"], job["files"]
    seed = settings.get("seed") or job["seed"] or 1
    report(0.05, "Preparing the receptor")
    protonation = settings.get("protonation", "names")
    structure, notes, left_out = read_receptor(Path(files["receptorFile"][0]), protonation)
    names = list_flexible(settings, structure, left_out)
    short = shorten_chain_names(structure, notes)
    flexible = [f"{short[chain]}:{number}" for chain, _, number in (name.rpartition(":") for name in names)]
    receptor, side_chains = prepare_receptor(structure, notes, flexible)
    OUTPUTS.joinpath("receptor.pdbqt").write_text(receptor, "utf-8")
    report(0.2, "Preparing the ligand")
    molecule = read_ligand(Path(files["ligandFile"][0]), seed)
    ligand = prepare_ligand(molecule)
    notes += describe_radicals(molecule)
    check_torsions(ligand, side_chains, flexible)
    box = find_box(settings, structure, notes, flexible)
    if names := write_references(left_out, molecule):
        notes.append(f"The docked molecule was in the receptor's file ({', '.join(names)}): reference.sdf.")
    used = {"seed": seed, "boxCenter": box.center, "boxSize": box.size}
    write_used(seed=seed, settings=used)
    report(0.25, "Searching for poses")
    poses = dock(settings, (receptor, "".join(side_chains.values())), ligand, box, seed)
    report(0.9, "Writing the poses")
    rows, docked = read_poses(poses)
    if flexible:
        notes.insert(0, describe_flexible(poses))
    write_poses(poses, rows, docked)
    receptors = place_side_chains(structure, poses)
    write_complex(receptors[0].clone(), docked)
    if rows[0]["affinity"] >= 0:
        notes.append("Even the best pose is repelled: the ligand does not fit into the box.")
    write_summary(rows, box, molecule)
    if offered := read_add_ons(os.environ).get(ADD_ON):
        write_notes(notes)
        rescoring = rescore_poses(offered, receptors, rows, docked)
        write_used(seed=seed, settings=used, add_ons={ADD_ON: rescoring.describe()})
        notes += rescoring.notes
        if rescoring.rows:
            rows = [insert(row, more) for row, more in zip(rows, rescoring.rows, strict=True)]
            write_poses(poses, rows, docked)
            write_summary(rows, box, molecule)
    write_notes(notes)
    report(1.0, "Done")


def read_ligand(path: Path, seed: int) -> Any:
    """Return the only molecule of the file, with hydrogens and coordinates."""
    from rdkit import Chem

    molecule = read_ligand_file(path)
    if len(Chem.GetMolFrags(molecule)) > 1:
        fail("The ligand has several parts that are not bonded. Give one molecule, without its salt.")
    if not molecule.GetNumHeavyAtoms():
        fail("The ligand has no atoms but hydrogens. Give a molecule that can be docked.")
    if molecule.GetNumHeavyAtoms() > LARGEST_LIGAND:
        fail(
            f"The ligand has {molecule.GetNumHeavyAtoms()} atoms without hydrogens; at most {LARGEST_LIGAND}"
            " are taken. Dock a part of it, or use a program for docking proteins."
        )
    has_place = molecule.GetNumConformers() > 0 and molecule.GetConformer().Is3D()
    molecule = Chem.AddHs(molecule, addCoords=has_place)
    return molecule if has_place else embed(molecule, seed)


def read_ligand_file(path: Path) -> Any:
    """Return the molecule of an SDF or MOL file, or of a file of SMILES."""
    from rdkit import Chem

    text = path.read_text("utf-8", "replace")
    if "V2000" not in text and "V3000" not in text:
        lines = [line for line in text.splitlines() if line.strip()]
        require_one(len(lines))
        return read_smiles(lines[0].split()[0])
    supplier = Chem.SDMolSupplier()
    supplier.SetData(text, removeHs=False)
    require_one(len(supplier))
    if supplier[0] is None:
        fail("The ligand's file cannot be read as a molecule. Check its atoms, bonds and charges.")
    return supplier[0]


def require_one(count: int) -> None:
    """Fail unless there is exactly one molecule."""
    if count == 0:
        fail("The ligand's file has no molecule. Give an SDF or MOL file, or a SMILES string.")
    if count != 1:
        fail(
            f"The ligand's file has {count} molecules, and a job docks one."
            " Dock each by a job of its own: fn.screen(receptor, ligands), or a batch with a row for each."
        )


def read_smiles(text: str) -> Any:
    """Return the molecule of a SMILES string."""
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(text.strip())
    if molecule is None or molecule.GetNumAtoms() == 0:
        unchecked = Chem.MolFromSmiles(text.strip(), sanitize=False)
        problems = Chem.DetectChemistryProblems(unchecked) if unchecked is not None else ()
        why = "; ".join(problem.Message() for problem in problems)
        fail(f"The SMILES {text.strip()[:80]!r} is not valid{f': {why[:200]}' if why else ''}.")
    return molecule


def describe_radicals(molecule: Any) -> list[str]:
    """Return a note if atoms have unpaired electrons, mostly because hydrogens are missing; else none."""
    number = sum(atom.GetNumRadicalElectrons() for atom in molecule.GetAtoms())
    if not number:
        return []
    electrons = "1 unpaired electron" if number == 1 else f"{number} unpaired electrons"
    told = f"The ligand has {electrons}, which Vina does not know: it was docked as if it had none."
    return [f"{told} Check the hydrogens of its atoms."]


def embed(molecule: Any, seed: int) -> Any:
    """Return the molecule with ETKDG version 3 coordinates, relaxed with MMFF94 if that has parameters."""
    from rdkit.Chem import AllChem

    rules = AllChem.ETKDGv3()
    rules.randomSeed = seed
    if AllChem.EmbedMolecule(molecule, rules) != 0:
        rules.useRandomCoords = True
        if AllChem.EmbedMolecule(molecule, rules) != 0:
            fail("No 3D shape could be made for the ligand. Give it as an SDF file with coordinates.")
    if AllChem.MMFFHasAllMoleculeParams(molecule):
        AllChem.MMFFOptimizeMolecule(molecule, maxIters=1000)
    return molecule


def prepare_ligand(molecule: Any) -> str:
    """Return the ligand in PDBQT."""
    from meeko import MoleculePreparation, PDBQTWriterLegacy

    strange = sorted({atom.GetSymbol() for atom in molecule.GetAtoms()} - ELEMENTS)
    if strange:
        fail(f"AutoDock Vina has no parameters for {', '.join(strange)} in a ligand.")
    try:
        setups = MoleculePreparation().prepare(molecule)
        text, is_good, complaint = PDBQTWriterLegacy.write_string(setups[0])
    except (RuntimeError, ValueError, KeyError) as exc:
        text, is_good, complaint = "", False, str(exc)
    if not is_good:
        fail(f"The ligand cannot be prepared: {' '.join(complaint.split())[:300]}")
    return text


def find_box(
    settings: dict[str, Any], structure: Any, notes: list[str], flexible: Sequence[str]
) -> DockingBox:
    """Return the requested box, or one around the flexible side chains or the whole receptor."""
    places = [list(each.atom.pos) for each in structure[0].all()]
    low = [min(place[axis] for place in places) for axis in range(3)]
    high = [max(place[axis] for place in places) for axis in range(3)]
    has_center = "boxCenter" in settings
    places = list_side_chain_places(structure, flexible)
    site = list(zip(*(find_extent(places) if flexible else (low, high)), strict=True))
    middle = [(a + b) / 2 for a, b in site]
    least = SITE_SIZE if flexible else 0.0
    usual = [SITE_SIZE if has_center else max(least, b - a + 2 * BLIND_MARGIN) for a, b in site]
    box = DockingBox(tuple(settings.get("boxCenter", middle)), tuple(settings.get("boxSize", usual)))
    edges = zip(box.center, box.size, low, high, strict=True)
    if any(place + edge / 2 < a or place - edge / 2 > b for place, edge, a, b in edges):
        reach = " to ".join(f"({', '.join(f'{each:.1f}' for each in corner)})" for corner in (low, high))
        fail(f"The box does not touch the receptor, which extends from {reach} Å. Correct boxCenter.")
    if outside := list(list_outside(places, box.center, box.size)):
        fail(
            f"The box does not hold the flexible side chains of {', '.join(outside)}. Make it larger, or"
            " choose residues inside of it: Vina only keeps poses whose side chains are wholly in the box."
        )
    if flexible and not has_center:
        extent = " × ".join(f"{edge:.0f}" for edge in box.size)
        notes.insert(0, f"No site was given, so the box of {extent} Å is about the flexible side chains.")
    elif not has_center:
        extent = " × ".join(f"{edge:.0f}" for edge in box.size)
        notes.insert(0, f"Blind docking: no site was given, so the box of {extent} Å is about the receptor.")
    if box.volume > LARGE_VOLUME:
        notes.insert(
            0,
            f"The box is too large for a sure search: {box.volume:.0f} Å³; at most {LARGE_VOLUME:.0f} is"
            " advised. Give a site, or a higher exhaustiveness.",
        )
    return box


def dock(settings: dict[str, Any], receptor: tuple[str, str], ligand: str, box: DockingBox, seed: int) -> str:
    """Return the poses in PDBQT, best first; ``receptor`` is its rigid part and its flexible one or ""."""
    from vina import Vina

    place, flexible = Path("receptor.pdbqt"), Path("flexible.pdbqt")
    place.write_text(receptor[0], "utf-8")
    if receptor[1]:
        flexible.write_text(receptor[1], "utf-8")
        OUTPUTS.joinpath(flexible).write_text(receptor[1], "utf-8")
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    program = Vina(sf_name=settings.get("scoring", "vina"), cpu=threads, seed=seed, verbosity=1)
    try:
        program.set_receptor(os.fspath(place), os.fspath(flexible) if receptor[1] else None)
        program.set_ligand_from_string(ligand)
        program.compute_vina_maps(center=list(box.center), box_size=list(box.size))
        program.dock(exhaustiveness=settings["exhaustiveness"], n_poses=settings["numPoses"])
        poses: str = program.poses(n_poses=settings["numPoses"], energy_range=settings["energyRange"])
    except (RuntimeError, ValueError, TypeError) as exc:
        fail(f"AutoDock Vina refused: {' '.join(str(exc).split())[:300]}")
    if "REMARK VINA RESULT" not in poses:
        what = "the ligand and the flexible side chains" if receptor[1] else "the ligand"
        fail(f"AutoDock Vina found no pose. Make the box larger: {what} must fit into it.")
    return poses


def read_poses(poses: str) -> tuple[list[dict[str, Any]], Any]:
    """Return the rows of docking.csv, and the molecule with a conformer for each pose."""
    from meeko import PDBQTMolecule, RDKitMolCreate

    lines = [line.split()[3:6] for line in poses.splitlines() if line.startswith("REMARK VINA RESULT:")]
    rows = [
        dict(zip(COLUMNS, (number, *map(float, figures)), strict=True))
        for number, figures in enumerate(lines, start=1)
    ]
    if "BEGIN_RES" in poses:
        for name, theirs in ENERGIES.items():
            found = [line.split()[-1] for line in poses.splitlines() if line.startswith(f"REMARK {theirs}:")]
            for row, value in zip(rows, found, strict=True):
                row[name] = float(value)
    (molecule,) = RDKitMolCreate.from_pdbqt_mol(PDBQTMolecule(poses, skip_typing=True))
    return rows, molecule


def describe_flexible(poses: str) -> str:
    """Return a note for readers of the affinities if side chains were flexible."""
    names = dict.fromkeys(line[10:].strip() for line in poses.splitlines() if line.startswith("BEGIN_RES"))
    return (
        f"Flexible side chains: {', '.join(names)}. Each pose has its own, in poses.pdbqt and in the views;"
        " complex.pdb has those of the best pose only. Affinities include the ligand's"
        " energy with their moving atoms, not with their Cα and Cβ, and how much their own energy (within"
        " vina_intra) differs from that in the best pose; the energy that it takes to move them from the"
        " receptor's structure is not counted. Do not compare them with affinities of other flexible residues"
        " or of a rigid receptor."
    )


def place_side_chains(structure: Any, poses: str) -> list[Any]:
    """Return the receptor of each pose; identical for all if no side chain is flexible."""
    receptors = []
    for places in read_side_chains(poses):
        own = structure.clone() if places else structure
        move_side_chains(own, places)
        receptors.append(own)
    return receptors


def write_poses(poses: str, rows: list[dict[str, Any]], molecule: Any) -> None:
    """Write the poses in all formats, with the available figures."""
    from rdkit import Chem

    OUTPUTS.joinpath("poses.pdbqt").write_text(poses, "utf-8")
    write_table("docking.csv", rows)
    with Chem.SDWriter(os.fspath(OUTPUTS / "poses.sdf")) as writer:
        for row, conformer in zip(rows, molecule.GetConformers(), strict=True):
            molecule.SetProp("_Name", f"pose {row['pose']}")
            for name, value in row.items():
                molecule.SetProp(name, str(value))
            writer.write(molecule, confId=conformer.GetId())


def insert(row: dict[str, Any], figures: dict[str, float]) -> dict[str, Any]:
    """Return the row with the figures inserted after the affinity."""
    return {name: row[name] for name in ("pose", "affinity")} | figures | row


def rescore_poses(
    offered: dict[str, Any], receptors: Sequence[Any], rows: list[dict[str, Any]], molecule: Any
) -> Rescoring:
    """Return GNINA's figures of the poses, or the reason why there are none."""
    from rdkit import Chem

    records = [
        Chem.MolToMolBlock(molecule, confId=each.GetId()) + "$$$$\n" for each in molecule.GetConformers()
    ]
    report(0.92, f"Rescoring {len(rows)} poses")
    return rescore(
        offered,
        [receptor.make_pdb_string() for receptor in receptors],
        records,
        lambda fraction, message: report(0.92 + 0.07 * fraction, message),
    )


def write_complex(structure: Any, molecule: Any) -> None:
    """Write the receptor with the best pose as a residue of its own chain."""
    import gemmi

    residue = gemmi.Residue()
    residue.name, residue.het_flag, residue.seqid = LIGAND_NAME, "H", gemmi.SeqId("1")
    residue.entity_type = gemmi.EntityType.NonPolymer
    places = molecule.GetConformers()[0].GetPositions()
    for number, (atom, place) in enumerate(zip(molecule.GetAtoms(), places, strict=True), start=1):
        if atom.GetAtomicNum() > 1:
            new = gemmi.Atom()
            new.name, new.element = f"{atom.GetSymbol()}{number}", gemmi.Element(atom.GetSymbol())
            new.pos = gemmi.Position(*map(float, place))
            residue.add_atom(new)
    taken = {chain.name for chain in structure[0]}
    chain = gemmi.Chain(next(letter for letter in "LXYZMNOPQRSTUVW0123456789" if letter not in taken))
    chain.add_residue(residue)
    structure[0].add_chain(chain)
    structure.write_pdb(os.fspath(OUTPUTS / "complex.pdb"))


def write_summary(rows: list[dict[str, Any]], box: DockingBox, molecule: Any) -> None:
    """Write the figures of the run."""
    heavy = molecule.GetNumHeavyAtoms()
    best = rows[0]["affinity"]
    figures = {
        "affinity": best,
        "ligandEfficiency": round(best / heavy, 4),
        "heavyAtoms": heavy,
        "poses": len(rows),
    }
    figures |= {name: rows[0][name] for name in FIGURES if name in rows[0]}
    figures |= {f"center{axis}": round(value, 3) for axis, value in zip("XYZ", box.center, strict=True)}
    figures |= {f"size{axis}": round(value, 3) for axis, value in zip("XYZ", box.size, strict=True)}
    write_score(figures)


if __name__ == "__main__":
    sys.exit(main())
