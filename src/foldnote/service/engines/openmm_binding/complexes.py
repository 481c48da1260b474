"""Build the solvated complex and the solvated ligand with tleap, neutral and with salt."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from engine_protocol import fail
from ligands import PreparedLigand, build, read_ligands
from receptors import ANCHORS, ReceptorProtein, read_protein
from scipy.spatial import cKDTree
from systems import FORCE_FIELDS, WATERS, Solute, fill_box, read_positions, read_system, write_solvent

HOST = "HST"
"""Residue of a host molecule."""
PROTEINS = {"ff14SB": "leaprc.protein.ff14SB", "ff19SB": "leaprc.protein.ff19SB"}
MAX_HOST_ATOMS = 110
"""Atoms without hydrogens."""
MAX_ATOMS = 300_000
"""Of a complex with its water."""
ION_TO_SOLUTE, ION_TO_ION = 0.5, 0.5
"""nm, at least, where an ion takes a water's place."""
IONS = {1: "Na+", -1: "Cl-"}
WATERS_AT_ONE_MOLAR = 55.4
"""Waters for each ion of a kind."""
CLASH, CONTACT = 0.1, 0.6
"""nm between a ligand and its receptor: below the first they overlap, beyond the second nothing is bound."""
KEPT_WATER = 0.2
"""nm from a water of the receptor's file to the ligand, below which it is left out."""


@dataclass
class Receptor:
    """What the ligands are bound to: one of both is there."""

    protein: ReceptorProtein | None = None
    host: PreparedLigand | None = None

    def positions(self) -> np.ndarray:
        """Of its atoms in nm; of a protein those but hydrogens."""
        if self.protein:
            return self.protein.positions()
        assert self.host
        return np.array(self.host.molecule.GetConformer().GetPositions()) / 10


def read_receptor(path: Path, seed: int, notes: list[str]) -> Receptor:
    """Read a protein (PDB) or a host molecule (SDF), whichever the file is."""
    text = path.read_text("utf-8", "replace")
    if "V2000" not in text and "V3000" not in text:
        return Receptor(protein=read_protein(text, notes))
    hosts = read_ligands(path, seed, notes, are_placed=True, most=MAX_HOST_ATOMS)
    if len(hosts) > 1:
        fail(f"receptorFile has {len(hosts)} molecules. Give one host, and the ligands under ligandsSDF.")
    return Receptor(host=hosts[0])


def check_pose(ligand: PreparedLigand, receptor: Receptor) -> None:
    """End with a sentence where a ligand is in its receptor's atoms, or away from it."""
    nearest = cKDTree(receptor.positions()).query(place_ligand(ligand))[0].min()
    if nearest < CLASH:
        fail(
            f"Molecule {ligand.name!r} overlaps with the receptor: two atoms are {10 * nearest:.1f} Å apart."
        )
    if nearest > CONTACT:
        fail(
            f"Molecule {ligand.name!r} is {10 * nearest:.0f} Å away from the receptor. Give it where it is"
            " bound, in the receptor's coordinates, as docking writes it."
        )


def place_ligand(ligand: PreparedLigand) -> np.ndarray:
    """Coordinates of a ligand in nm."""
    return np.array(ligand.molecule.GetConformer().GetPositions()) / 10


@dataclass
class BuiltComplex:
    """A complex in water, and which atoms of it may be anchors."""

    solute: Solute
    receptor: tuple[int, ...]
    """All atoms of the receptor."""
    anchors: tuple[int, ...]
    """Those that may hold the ligand."""
    heavy: tuple[int, ...]
    """Of the ligand, all but hydrogens."""
    titles: dict[int, str]
    """Of these, what they are called in the files."""


def build_complex(
    folder: Path,
    host: Path | None,
    receptor: Receptor,
    settings: dict,
    seed: int,
    report: Callable[[str], None],
) -> BuiltComplex:
    """Build receptor and ligand in water, from ``lig.mol2`` and ``lig.frcmod`` in the folder.

    Args:
        folder: of the ligand's parameters; gets ``complex.prmtop``.
        host: likewise of a host molecule; None for a protein.
        receptor: as read.
        settings: the job's.
        seed: of the places of ions.
        report: is told what is done.
    """
    ligand = read_positions(folder / "lig.mol2")
    lines, kept = [], np.zeros((0, 3))
    if receptor.protein:
        receptor.protein.write(folder / "receptor.pdb")
        force_field = PROTEINS[settings["proteinForceField"]]
        lines += [f"source {force_field}", "p = loadpdb receptor.pdb"]
        lines += [f"bond p.{one + 1}.SG p.{two + 1}.SG" for one, two in receptor.protein.bridges]
        if receptor.protein.waters:
            waters = np.array(receptor.protein.waters)
            kept = waters[cKDTree(ligand).query(waters)[0] > KEPT_WATER]
    else:
        assert host
        for name in ("lig.mol2", "lig.frcmod"):
            shutil.copy(host / name, folder / f"host{Path(name).suffix}")
        lines += ["loadamberparams host.frcmod", "p = loadmol2 host.mol2"]
    text = build(folder, [*head(settings), *lines, "charge p"], report)
    charge = read_charge(text)
    bound = np.vstack([receptor.positions(), ligand])
    solute = solvate(
        folder, "complex", settings, [*lines, *load_ligand()], "p x", (bound, kept), charge, seed, report
    )
    return list_anchors(solute, receptor)


def build_ligand(folder: Path, settings: dict, seed: int, report: Callable[[str], None]) -> Solute:
    """Build the ligand alone in water with the same salt, from the files in its folder."""
    ligand = read_positions(folder / "lig.mol2")
    nothing = np.zeros((0, 3))
    return solvate(folder, "solvent", settings, load_ligand(), "x", (ligand, nothing), 0, seed, report)


def head(settings: dict) -> list[str]:
    """Commands that load the force fields of the small molecules and of the water."""
    loaded = FORCE_FIELDS[settings["forcefieldSmallMolecule"]], WATERS[settings["solventModel"]]
    return [f"source {each}" for each in loaded]


def load_ligand() -> list[str]:
    """Commands that load the ligand as x."""
    return ["loadamberparams lig.frcmod", "x = loadmol2 lig.mol2"]


def solvate(
    folder: Path,
    stem: str,
    settings: dict,
    lines: Sequence[str],
    units: str,
    places: tuple[np.ndarray, np.ndarray],
    charge: int,
    seed: int,
    report: Callable[[str], None],
) -> Solute:
    """Put what ``lines`` load as ``units`` into a neutral box with salt.

    Args:
        places: coordinates in nm of the solute, and of waters that are kept, oxygens only.
        charge: of the solute, in e.
    """
    solute, kept = places
    waters, box = fill_box(np.vstack([solute, kept]), settings["solventPadding"])
    if 3 * len(waters) > MAX_ATOMS:
        fail(
            f"The box would have {3 * len(waters):,} atoms; at most {MAX_ATOMS:,} are taken."
            " Cut the receptor, or lower solventPadding."
        )
    waters, ions = place_ions(waters, solute, charge, settings["ionConcentration"], seed)
    write_solvent(waters, ions, folder / f"{stem}-solvent.pdb")
    more = []
    if len(kept):
        write_oxygens(kept, folder / "kept.pdb")
        units, more = f"{units} k", ["k = loadpdb kept.pdb"]
    text = build(
        folder,
        [
            *head(settings),
            *lines,
            *more,
            f"w = loadpdb {stem}-solvent.pdb",
            f"y = combine {{{units} w}}",
            f"set y box {{{' '.join(f'{10 * edge:.4f}' for edge in box)}}}",
            f"saveamberparm y {stem}.prmtop {stem}.inpcrd",
        ],
        report,
    )
    written = folder / f"{stem}.inpcrd"
    if not written.exists() or not written.stat().st_size:
        print(text)
        fail(
            "tleap could not build the system in water; the log has its message. Check names and atoms of the"
            " receptor's residues, and the ligand's bonds."
        )
    return read_system(folder / stem, settings["timestep"], is_periodic=True)


def place_ions(
    waters: np.ndarray, solute: np.ndarray, charge: int, concentration: float, seed: int
) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    """Put ions into the places of waters: those that neutralise the solute, and pairs of salt.

    Returns:
        The waters that are left, and names and places of the ions.
    """
    pairs = round(concentration * len(waters) / WATERS_AT_ONE_MOLAR)
    kinds = [IONS[-1]] * (pairs + max(0, charge)) + [IONS[1]] * (pairs + max(0, -charge))
    far = cKDTree(solute).query(waters[:, 0])[0] > ION_TO_SOLUTE
    order = np.random.default_rng(seed).permutation(np.flatnonzero(far))
    taken: list[int] = []
    for place in order:
        if len(taken) == len(kinds):
            break
        if all(np.linalg.norm(waters[place, 0] - waters[each, 0]) > ION_TO_ION for each in taken):
            taken.append(int(place))
    if len(taken) < len(kinds):
        fail(f"The box has no room for {len(kinds)} ions. Raise solventPadding, or lower ionConcentration.")
    left = np.delete(waters, taken, axis=0)
    return left, [(kind, waters[place, 0]) for kind, place in zip(kinds, taken, strict=True)]


def write_oxygens(oxygens: np.ndarray, path: Path) -> None:
    """Write waters without hydrogens, which tleap adds."""
    with path.open("w") as stream:
        for number, position in enumerate(oxygens, start=1):
            x, y, z = 10 * position
            place = f"K{number % 10_000:4}    {x:8.3f}{y:8.3f}{z:8.3f}"
            stream.write(f"HETATM{number % 100_000:5} O    WAT {place}\nTER\n")


def read_charge(text: str) -> int:
    """The charge in e that tleap wrote for its command ``charge``."""
    written = [line for line in text.splitlines() if "unperturbed charge:" in line.lower()]
    if not written:
        print(text)
        fail(
            "tleap could not build the receptor; the log has its message. Check names and atoms of its"
            " residues."
        )
    return round(float(written[0].rpartition(":")[2]))


def list_anchors(solute: Solute, receptor: Receptor) -> BuiltComplex:
    """Which atoms of the complex may be anchors, and what they are called."""
    atoms = list(solute.topology.atoms())
    first = solute.ligand[0]
    titles = {}
    for index in (*range(first), *solute.ligand):
        atom = atoms[index]
        if atom.element is None or atom.element.symbol == "H":
            continue
        if index < first and receptor.protein:
            if atom.name not in ANCHORS or atom.residue.name in ("ACE", "NME", "NHE"):
                continue
            own = receptor.protein.residues[atom.residue.index]
            titles[index] = f"{own.chain_id}:{own.number}:{atom.name}"
        else:
            titles[index] = str(index - (first if index >= first else 0) + 1)
    return BuiltComplex(
        solute,
        tuple(range(first)),
        tuple(index for index in titles if index < first),
        tuple(index for index in titles if index >= first),
        titles,
    )
