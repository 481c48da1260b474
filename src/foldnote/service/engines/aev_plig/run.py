"""Predict the affinity of ligands in their bound poses with AEV-PLIG, the authors' unmodified program.

Reads ``pdbFile`` and ``sdfFile`` from job.json; an SDF file may contain several ligands. The program runs in
a separate folder, with links to its modules and models. The files of the result are listed in engine.toml.
"""

from __future__ import annotations

import csv
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from engine_protocol import fail, read_job, report, write_notes, write_score, write_used
from protein_files import Protein, ProteinResidue, read_protein, write_protein

MODELS = "model_GATv2Net_ligsim90_fep_benchmark"
"""The ten models that the authors recommend for predictions."""
NUMBER_OF_MODELS = 10
ELEMENTS = {"F", "N", "Cl", "O", "Br", "C", "B", "P", "I", "S"}
"""Elements of ligands that the models know."""
CONTACT_A = 5.1
"""Distance up to which protein atoms affect an atom of the ligand."""
POCKET_A = 12.0
"""Residues within this distance of the box around the ligands are passed on; the program itself uses those
within the contact distance of the box around each ligand."""
MAX_ATOMS = 99_999
"""Maximum number of atoms in a PDB file that the program can read."""
MAX_LIGANDS = 1000
OUTPUTS, PROGRAM = Path("outputs"), Path("program")
STEPS = {"Checking what molecules": 0.2, "Generating graphs": 0.4, "Make predictions": 0.7, "Saving": 0.95}
"""Fraction of the run when the program writes a line with this prefix."""
COLUMNS = ("ligand", "name", "affinity_pk", "affinity_pk_sd", "reason")


@dataclass
class BoundLigand:
    """One molecule of the SDF file.

    Attributes:
        number: its position in the file, from 1.
        name: its title; empty without one.
        text: its lines as given.
        places: coordinates of its heavy atoms in Å, of shape (atoms, 3); None if it cannot be read.
        reason: why there is no prediction; empty if there may be one.
    """

    number: int
    name: str
    text: str
    places: Any = None
    reason: str = ""


def main() -> None:
    """Run the job of this folder."""
    files = read_job()["files"]
    write_used(seed=None)
    report(0.02, "Reading protein and ligands")
    protein = read_protein(Path(files["pdbFile"][0]))
    notes = list(protein.notes)
    ligands = read_ligands(Path(files["sdfFile"][0]), notes)
    check_contacts(ligands, protein)
    if all(each.reason for each in ligands):
        fail(f"No affinity can be predicted. Ligand 1: {ligands[0].reason}")
    usable = [each for each in ligands if not each.reason]
    prepare_program(usable, find_pocket(protein, usable))
    run_program()
    rows = [*make_rows(ligands, read_predictions())]
    write_table(rows)
    (OUTPUTS / "ligands.sdf").write_text("".join(each.text for each in ligands), "utf-8")
    if failed := [each for each in rows if each["reason"]]:
        notes.append(f"{len(failed)} of {len(rows)} ligands have no prediction; affinity.csv says why.")
    write_notes(notes)
    best = max((row for row in rows if not row["reason"]), key=lambda row: row["affinity_pk"])
    write_score({"affinity_pk": best["affinity_pk"], "affinity_pk_sd": best["affinity_pk_sd"]})
    report(1.0, "Done")


def read_ligands(path: Path, notes: list[str]) -> list[BoundLigand]:
    """Return the molecules of an SDF file, with the reasons why some cannot be used."""
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        fail("The ligand file is empty. Give the bound ligand's 3D structure as SDF.")
    ligands, bare, flat = [], 0, 0
    for number, block in enumerate(split_blocks(text), 1):
        ligand = BoundLigand(number, block.partition("\n")[0].strip(), block)
        supplier = Chem.SDMolSupplier()
        supplier.SetData(block, removeHs=False)
        molecule = next(iter(supplier), None) if len(supplier) else None
        ligand.reason = explain_molecule(molecule)
        if not ligand.reason:
            heavy = [atom.GetIdx() for atom in molecule.GetAtoms() if atom.GetSymbol() != "H"]
            ligand.places = molecule.GetConformer().GetPositions()[heavy]
            has_none = all(atom.GetSymbol() != "H" for atom in molecule.GetAtoms())
            bare += has_none and any(atom.GetTotalNumHs() for atom in molecule.GetAtoms())
            flat += not ligand.places[:, 2].any()
        ligands.append(ligand)
    if len(ligands) > MAX_LIGANDS:
        fail(f"The file has {len(ligands)} ligands; a job takes at most {MAX_LIGANDS}. Split it.")
    if flat:
        notes.append(
            f"{flat} of {len(ligands)} ligands have all their atoms at z = 0, as drawings have. Bound"
            " poses are needed."
        )
    if bare:
        notes.append(
            f"{bare} of {len(ligands)} ligands have no hydrogens, which the models count. They were trained"
            " on ligands with all of them: add them for a better prediction."
        )
    return ligands


def split_blocks(text: str) -> Iterator[str]:
    """Yield the text of each molecule, which ends with a line ``$$$$``."""
    for place, block in enumerate(text.split("\n$$$$")):
        own = block.partition("\n")[2] if place else block  # without the rest of the line before
        if own.strip():
            yield own.rstrip("\n") + "\n$$$$\n"


def explain_molecule(molecule: Any) -> str:
    """Return why the models cannot read the molecule; empty if they can."""
    if molecule is None:
        return "RDKit cannot read it as a molecule."
    heavy = [atom for atom in molecule.GetAtoms() if atom.GetSymbol() != "H"]
    if strange := sorted({atom.GetSymbol() for atom in heavy} - ELEMENTS):
        return f"It has {', '.join(strange)}; the models know ligands of {', '.join(sorted(ELEMENTS))} and H."
    if len(heavy) < 2:
        return "It has no bond between heavy atoms, of which the models' graph is made."
    indices = {atom.GetIdx() for atom in heavy}
    bonds = [b for b in molecule.GetBonds() if {b.GetBeginAtomIdx(), b.GetEndAtomIdx()} <= indices]
    if not bonds:
        return "It has no bond between heavy atoms, of which the models' graph is made."
    if any(str(bond.GetBondType()) not in ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC") for bond in bonds):
        return "It has a bond that is neither single, double, triple nor aromatic."
    if not molecule.GetNumConformers():
        return "It has no coordinates. Give its bound pose."
    places = molecule.GetConformer().GetPositions()
    if not all(math.isfinite(value) for place in places for value in place):
        return "Its coordinates are damaged."
    return ""


def check_contacts(ligands: Sequence[BoundLigand], protein: Protein) -> None:
    """Mark the ligands that are in contact with no protein atom, for which a prediction is meaningless."""
    import numpy

    atoms = numpy.array([atom.pos.tolist() for residue in protein.residues for atom in residue.atoms])
    for ligand in ligands:
        if ligand.reason:
            continue
        nearest = min(float(numpy.linalg.norm(atoms - place, axis=1).min()) for place in ligand.places)
        if nearest > CONTACT_A:
            ligand.reason = f"It is {nearest:.1f} Å away from the protein. Give its bound pose."


def find_pocket(protein: Protein, ligands: Sequence[BoundLigand]) -> list[ProteinResidue]:
    """Return the residues that the program may use, in chains with names of one letter."""
    import numpy

    low = numpy.min([each.places.min(axis=0) for each in ligands], axis=0) - POCKET_A
    high = numpy.max([each.places.max(axis=0) for each in ligands], axis=0) + POCKET_A
    near = [
        residue
        for residue in protein.residues
        if any(((low <= place) & (place <= high)).all() for place in map(place_of, residue.atoms))
    ]
    if sum(len(residue.atoms) for residue in near) > MAX_ATOMS:
        fail(f"More than {MAX_ATOMS:,} atoms of the protein are near the ligands. Split the ligand file.")
    names = {name: ascii_uppercase[i % 26] for i, name in enumerate(protein.chains)}
    is_long = any(len(name) != 1 for name in names)
    return [replace(each, chain=names[each.chain]) for each in near] if is_long else near


def place_of(atom: Any) -> Any:
    """Return the coordinates of an atom as an array."""
    import numpy

    return numpy.array(atom.pos.tolist())


def prepare_program(ligands: Sequence[BoundLigand], pocket: Sequence[ProteinResidue]) -> None:
    """Create the folder in which the program runs: links to its inputs, and folders for its outputs."""
    source = Path(os.environ["FOLDNOTE_WEIGHTS"]) / "program"
    for folder in ("data/processed", "output/predictions"):
        (PROGRAM / folder).mkdir(parents=True)
    modules = [path.name for path in (*source.glob("*.py"), source / "torchani_mod")]
    for name in (*modules, "data/PDB_Atom_Keys.csv", "output/trained_models"):
        (PROGRAM / name).symlink_to(source / name)
    remark = ["RESIDUES NEAR THE LIGANDS, AS AEV-PLIG READ THEM"]
    protein = write_protein(OUTPUTS / "protein", pocket, remark)
    (PROGRAM / "data/protein.pdb").symlink_to(protein.resolve())
    rows = []
    for each in ligands:
        path = PROGRAM / f"data/ligand{each.number}.sdf"
        path.write_text(each.text, "utf-8")
        rows.append([each.number, f"data/{path.name}", "data/protein.pdb"])
    with (PROGRAM / "data/job.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["unique_id", "sdf_file", "pdb_file"], *rows])


def run_program() -> None:
    """Run the authors' script; its lines go to the job's log, and some of them report progress.

    Raises:
        RuntimeError: the script failed; its lines are in the log.
    """
    arguments = {
        "--dataset_csv": "data/job.csv",
        "--data_name": "job",
        "--trained_model_name": MODELS,
        "--num_workers": os.environ["OMP_NUM_THREADS"],
        "--device": "cpu",
    }
    script = Path(__file__).with_name("program_in_threads.py")
    command = [sys.executable, "-u", str(script), "--skip_validation"]
    report(0.1, "Loading AEV-PLIG")
    with subprocess.Popen(
        [*command, *(word for pair in arguments.items() for word in pair)],
        cwd=PROGRAM,
        env={**os.environ, "PYTHONPATH": "."},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            if step := next((each for each in STEPS if line.startswith(each)), None):
                report(STEPS[step], line.strip())
    if process.returncode:
        raise RuntimeError(f"AEV-PLIG ended with status {process.returncode}; its lines are in the log")


def read_predictions() -> dict[int, list[float]]:
    """Return the prediction of each model, in pK, by the number of the ligand."""
    path = PROGRAM / "output/predictions/job_predictions.csv"
    with path.open(newline="", encoding="utf-8") as stream:
        return {
            int(row["unique_id"]): [float(row[f"preds_{model}"]) for model in range(NUMBER_OF_MODELS)]
            for row in csv.DictReader(stream)
        }


def make_rows(
    ligands: Sequence[BoundLigand], predictions: dict[int, list[float]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of affinity.csv."""
    import numpy

    for each in ligands:
        values = predictions.get(each.number, [])
        reason = each.reason or ("" if values else "AEV-PLIG left it out; its lines are in the log.")
        row = {"ligand": each.number, "name": each.name, "affinity_pk": "", "affinity_pk_sd": ""}
        if values:
            row |= {
                "affinity_pk": round(float(numpy.mean(values)), 4),
                "affinity_pk_sd": round(float(numpy.std(values, ddof=1)), 4),
            }
        models = [round(value, 4) for value in values] or [""] * NUMBER_OF_MODELS
        yield row | {"reason": reason} | {f"model_{n}": value for n, value in enumerate(models, 1)}


def write_table(rows: Sequence[dict[str, Any]]) -> None:
    """Write affinity.csv."""
    columns = [*COLUMNS, *(f"model_{number}" for number in range(1, NUMBER_OF_MODELS + 1))]
    with (OUTPUTS / "affinity.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
