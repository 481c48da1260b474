"""Read ligands and give them GAFF parameters and AM1-BCC charges with AmberTools.

antechamber, sqm, parmchk2 and tleap are run as separate programs; none of their code is imported.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_protocol import fail

ELEMENTS = frozenset({"H", "C", "N", "O", "F", "P", "S", "Cl", "Br", "I"})
"""Elements for which GAFF, OpenFF's force fields and AM1-BCC have parameters."""
MAX_LIGAND_ATOMS = 70
"""Maximum heavy atoms; the semi-empirical calculation of a larger molecule takes hours."""
MAX_LIGANDS = 50
MAX_EXCESS = 0.05
"""Charge in e above what rounding leaves."""
NAME = "LIG"
OUTPUTS = Path("outputs")
POLL_S = 0.05
REPORT_S = 2.0


@dataclass
class PreparedLigand:
    """A molecule with hydrogens and coordinates."""

    name: str
    """Name from the file, or such as ``ligand 3``."""
    molecule: Any

    @property
    def smiles(self) -> str:
        """SMILES without hydrogens."""
        from rdkit import Chem

        return str(Chem.MolToSmiles(Chem.RemoveHs(self.molecule)))


def read_ligands(
    path: Path,
    seed: int,
    notes: list[str],
    *,
    are_placed: bool = False,
    may_be_charged: bool = False,
    most: int = MAX_LIGAND_ATOMS,
) -> list[PreparedLigand]:
    """Read every molecule of an SDF file, or of a file with a SMILES on each line.

    Args:
        seed: seed for the coordinates of those that have none.
        notes: receives sentences on what was added.
        are_placed: whether they must have coordinates, which a file of SMILES lacks.
        may_be_charged: whether charged molecules are accepted, which are not switched off.
        most: maximum heavy atoms of a molecule.
    """
    from rdkit import RDLogger

    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    text = path.read_text("utf-8", "replace")
    is_file = "V2000" in text or "V3000" in text
    if are_placed and not is_file:
        fail("The file is not an SDF file. Give one with the coordinates of the molecule where it is bound.")
    rows = list(read_records(text)) if is_file else list(read_lines(text))
    if not rows:
        fail("The file has no molecule. Give an SDF file, or SMILES, one on each line.")
    if len(rows) > MAX_LIGANDS:
        fail(f"The file has {len(rows)} molecules; a job takes at most {MAX_LIGANDS}. Submit a batch.")
    ligands: list[PreparedLigand] = []
    for number, (given, molecule) in enumerate(rows, start=1):
        name = given or f"ligand {number}"
        if any(name == each.name for each in ligands):
            name = f"{name} (molecule {number})"
            notes.append(f"Molecule {number} has the name of an earlier one; it is called {name!r} here.")
        if are_placed and molecule is not None and not has_place(molecule):
            fail(f"Molecule {name!r} has no 3D coordinates. Give it where it is bound, as docking writes it.")
        ligands.append(PreparedLigand(name, prepare(name, molecule, seed, notes, may_be_charged, most)))
    return ligands


def read_records(text: str) -> Any:
    """Yield names and molecules of an SDF file; None for an unreadable one."""
    from rdkit import Chem

    supplier = Chem.SDMolSupplier()
    supplier.SetData(text.replace("\r\n", "\n"), removeHs=False)
    for molecule in supplier:
        yield (molecule.GetProp("_Name").strip() if molecule and molecule.HasProp("_Name") else ""), molecule


def read_lines(text: str) -> Any:
    """Yield names and molecules of lines with a SMILES and, after white space, an optional name."""
    from rdkit import Chem

    for line in text.splitlines():
        if words := line.split(maxsplit=1):
            molecule = Chem.MolFromSmiles(words[0]) if len(words[0]) < 2000 else None
            if molecule is None:
                fail(f"The line {words[0][:80]!r} is not a valid SMILES, or too long. Correct the file.")
            yield (words[1].strip() if len(words) > 1 else words[0]), molecule


def has_place(molecule: Any) -> bool:
    """Return whether a molecule has three-dimensional coordinates."""
    return molecule.GetNumConformers() > 0 and bool(molecule.GetConformer().Is3D())


def prepare(
    name: str,
    molecule: Any,
    seed: int,
    notes: list[str],
    may_be_charged: bool = False,
    most: int = MAX_LIGAND_ATOMS,
) -> Any:
    """Check a molecule and add missing hydrogens and coordinates."""
    from rdkit import Chem

    if molecule is None or molecule.GetNumAtoms() == 0:
        fail(f"Molecule {name!r} cannot be read. Check its atoms, bonds and charges.")
    check(name, molecule, may_be_charged, most)
    is_placed = has_place(molecule)
    lacking = sum(atom.GetTotalNumHs() for atom in molecule.GetAtoms())
    molecule = Chem.AddHs(molecule, addCoords=is_placed)
    if is_placed and lacking:
        notes.append(f"{lacking} hydrogens that {name!r} lacked were added.")
    return molecule if is_placed else embed(name, molecule, seed, notes)


def check(name: str, molecule: Any, may_be_charged: bool, most: int) -> None:
    """Fail if a molecule cannot be calculated."""
    from rdkit import Chem

    if len(Chem.GetMolFrags(molecule)) > 1:
        fail(f"Molecule {name!r} has several parts that are not bonded. Give one molecule, without its salt.")
    strange = sorted({atom.GetSymbol() for atom in molecule.GetAtoms()} - ELEMENTS)
    if strange:
        fail(f"Molecule {name!r} has {', '.join(strange)}, for which the force field has no parameters.")
    if (charge := Chem.GetFormalCharge(molecule)) and not may_be_charged:
        fail(
            f"Molecule {name!r} has a charge of {charge:+d} e. Only neutral molecules are taken:"
            " decoupling a charge in a periodic box needs a correction for the box's size, which this engine"
            " does not have. Give the neutral form if that is the one you mean; for a charged one use a"
            " program that has the correction, as a command of your own."
        )
    if sum(atom.GetNumRadicalElectrons() for atom in molecule.GetAtoms()):
        fail(f"Molecule {name!r} is a radical; the force field describes closed shells only.")
    if molecule.GetNumHeavyAtoms() > most:
        fail(
            f"Molecule {name!r} has {molecule.GetNumHeavyAtoms()} atoms without hydrogens;"
            f" at most {most} are taken."
        )


def embed(name: str, molecule: Any, seed: int, notes: list[str]) -> Any:
    """Give coordinates by ETKDG version 3, relaxed with MMFF94 if that has parameters."""
    from rdkit import Chem
    from rdkit.Chem import AllChem

    free = [
        place for place, mark in Chem.FindMolChiralCenters(molecule, includeUnassigned=True) if mark == "?"
    ]
    if free:
        notes.append(f"{name!r} leaves {len(free)} stereocentres open; one stereoisomer was taken.")
    rules = AllChem.ETKDGv3()
    rules.randomSeed = seed
    if AllChem.EmbedMolecule(molecule, rules) != 0:
        rules.useRandomCoords = True
        if AllChem.EmbedMolecule(molecule, rules) != 0:
            fail(f"No 3D shape could be made for {name!r}. Give it as an SDF file with coordinates.")
    if AllChem.MMFFHasAllMoleculeParams(molecule):
        AllChem.MMFFOptimizeMolecule(molecule, maxIters=1000)
    return molecule


def parametrize(
    ligand: PreparedLigand,
    folder: Path,
    force_field: str,
    report: Callable[[str], None],
    residue: str = NAME,
) -> Path:
    """Write ``lig.mol2`` with atom types and charges and ``lig.frcmod`` with further parameters.

    The charges of AM1-BCC are rounded and sum to a few thousandths of e, which are spread over all atoms.
    ``residue`` is the name of the molecule's residue.
    """
    from rdkit import Chem

    folder.mkdir(parents=True, exist_ok=True)
    Chem.MolToMolFile(ligand.molecule, os.fspath(folder / "lig.mol"), kekulize=True)
    report(f"AM1-BCC charges of {ligand.name}")
    options = [
        "-i",
        "lig.mol",
        "-fi",
        "mdl",
        "-o",
        "raw.mol2",
        "-fo",
        "mol2",
        "-c",
        "bcc",
        "-at",
        force_field,
    ]
    run_program(
        "antechamber", [*options, "-rn", residue, "-nc", "0", "-pf", "y", "-dr", "no"], folder, report
    )
    if not (folder / "raw.mol2").exists():
        fail(
            f"AmberTools found no AM1-BCC charges or atom types for {ligand.name!r}."
            " Check its bonds and hydrogens, and that its coordinates are sensible."
        )
    neutralize(folder / "raw.mol2", folder / "lig.mol2")
    run_program(
        "parmchk2", ["-i", "lig.mol2", "-f", "mol2", "-o", "lig.frcmod", "-s", force_field], folder, report
    )
    written = folder / "lig.frcmod"
    if not written.exists() or "ATTN, need revision" in written.read_text():
        fail(
            f"The force field {force_field} lacks parameters for {ligand.name!r}, and none that are similar"
            " were found."
        )
    return folder


def keep_parameters(place: Path, number: str, ligand: PreparedLigand) -> None:
    """Copy charges, atom types and further parameters to the result, with a number before the name."""
    target = OUTPUTS / "parameters"
    target.mkdir(parents=True, exist_ok=True)
    for name in ("lig.mol2", "lig.frcmod"):
        shutil.copy(place / name, target / f"{number}-{slug(ligand.name)}{Path(name).suffix}")


def neutralize(source: Path, target: Path) -> None:
    """Copy a mol2 file with charges that sum to zero."""
    head, mark, rest = source.read_text().partition("@<TRIPOS>ATOM\n")
    body, bonds, tail = rest.partition("@<TRIPOS>BOND")
    lines = body.splitlines()
    total = sum(read_mol2_charges(source))
    if abs(total) > MAX_EXCESS:
        fail(f"The AM1-BCC charges sum to {total:.3f} e, not 0. Check the molecule's bonds and hydrogens.")
    excess = total / len(lines)
    made = [f"{line[: line.rindex(line.split()[8])]}{float(line.split()[8]) - excess:.6f}" for line in lines]
    target.write_text(head + mark + "\n".join(made) + "\n" + bonds + tail)


def read_mol2_charges(path: Path) -> list[float]:
    """Return the partial charges in e of the atoms of a mol2 file."""
    body = path.read_text().partition("@<TRIPOS>ATOM\n")[2].partition("@<TRIPOS>BOND")[0]
    return [float(line.split()[8]) for line in body.splitlines()]


def build(folder: Path, commands: Sequence[str], report: Callable[[str], None]) -> str:
    """Run tleap with the commands in the folder; return its output."""
    (folder / "leap.in").write_text("\n".join([*commands, "quit", ""]))
    return run_program("tleap", ["-f", "leap.in"], folder, report)


def run_program(name: str, arguments: Sequence[str], folder: Path, report: Callable[[str], None]) -> str:
    """Run a program of AmberTools in the folder; return its output, which also goes to the log."""
    program = Path(sys.executable).parent / name
    log = folder / f"{name}.log"
    started_at = last_reported = time.monotonic()
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    with log.open("w") as stream:
        running = subprocess.Popen(
            [os.fspath(program), *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
        while running.poll() is None:
            time.sleep(POLL_S)
            if time.monotonic() - last_reported > REPORT_S:
                last_reported = time.monotonic()
                report(f"{name}, for {last_reported - started_at:.0f} s")
    text = log.read_text("utf-8", "replace")
    sys.stdout.write(text if len(text) < 20_000 else text[-20_000:])
    return text


def slug(text: str) -> str:
    """Return a file name for a ligand's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:40] or "ligand"
