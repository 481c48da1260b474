"""Build the solvated complex and the solvated ligand with tleap, neutral and with salt."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from engine_protocol import fail
from ligands import NAME, PreparedLigand, build, keep_parameters, parametrize, read_ligands
from receptors import ANCHORS, ReceptorProtein, read_protein
from scipy.spatial import cKDTree
from systems import FORCE_FIELDS, WATERS, Solute, fill_box, read_positions, read_system, write_solvent

HOST = "HST"
"""Residue name of a host molecule."""
PROTEINS = {"ff14SB": "leaprc.protein.ff14SB", "ff19SB": "leaprc.protein.ff19SB"}
MAX_HOST_ATOMS = 110
"""Maximum heavy atoms of a host."""
MAX_ATOMS = 300_000
"""Maximum atoms of a complex with its water."""
ION_TO_SOLUTE, ION_TO_ION = 0.5, 0.5
"""Minimum distance in nm of an ion that replaces a water."""
IONS = {1: "Na+", -1: "Cl-"}
WATERS_AT_ONE_MOLAR = 55.4
"""Waters for each ion of a kind."""
CLASH, CONTACT = 0.1, 0.6
"""Distances in nm between ligand and receptor: below the first they overlap, beyond the second nothing is
bound."""
KEPT_WATER = 0.2
"""Distance in nm from the ligand below which a water of the receptor's file is removed."""


class SmallMolecules(Protocol):
    """The force field of ligands, cofactors and hosts."""

    suffixes: ClassVar[Sequence[str]]
    """Names of a molecule's files."""

    @property
    def commands(self) -> Sequence[str]:
        """Commands for tleap before the molecules are loaded."""
        ...

    def load(self, stem: str) -> Sequence[str]:
        """Return the commands that load the parameters of a molecule's files."""
        ...

    def parametrize(
        self, ligand: PreparedLigand, folder: Path, report: Callable[[str], None], residue: str = NAME
    ) -> None:
        """Write a molecule's files, called ``lig``, for tleap; ``lig.mol2`` contains the coordinates."""
        ...

    def keep(self, folder: Path, number: str, ligand: PreparedLigand) -> None:
        """Copy the parameters to the results, with the number before the ligand's name."""
        ...

    def complete(self, solute: Solute, molecules: Mapping[str, Path]) -> None:
        """Add to a built system what tleap cannot express; ``molecules`` are folders by residue."""
        ...


@dataclass(frozen=True)
class Gaff:
    """The general Amber force field with AM1-BCC charges."""

    name: str
    """``gaff`` or ``gaff2``."""
    suffixes: ClassVar[Sequence[str]] = (".mol2", ".frcmod")

    @property
    def commands(self) -> Sequence[str]:
        """The force field's file."""
        return [f"source {FORCE_FIELDS[self.name]}"]

    def load(self, stem: str) -> Sequence[str]:
        """Return commands that load the parameters missing in the force field itself."""
        return [f"loadamberparams {stem}.frcmod"]

    def parametrize(
        self, ligand: PreparedLigand, folder: Path, report: Callable[[str], None], residue: str = NAME
    ) -> None:
        """See the protocol."""
        parametrize(ligand, folder, self.name, report, residue)

    def keep(self, folder: Path, number: str, ligand: PreparedLigand) -> None:
        """See the protocol."""
        keep_parameters(folder, number, ligand)

    def complete(self, solute: Solute, molecules: Mapping[str, Path]) -> None:
        """Do nothing: tleap has added everything."""


@dataclass
class Receptor:
    """The molecule to which the ligands are bound: a protein, or one host molecule."""

    protein: ReceptorProtein | None = None
    molecules: dict[str, PreparedLigand] = field(default_factory=dict)
    """The host, or cofactors of the protein, by the names of their residues."""

    def positions(self) -> np.ndarray:
        """Return positions of its atoms in nm; for a protein without hydrogens."""
        own = [self.protein.positions()] if self.protein else []
        return np.vstack([*own, *map(place_ligand, self.molecules.values())])


def read_receptor(path: Path, seed: int, notes: list[str]) -> Receptor:
    """Read a protein (PDB) or a host molecule (SDF), depending on the file."""
    text = path.read_text("utf-8", "replace")
    if "V2000" not in text and "V3000" not in text:
        return Receptor(protein=read_protein(text, notes, "receptorFile"))
    hosts = read_ligands(path, seed, notes, are_placed=True, most=MAX_HOST_ATOMS)
    if len(hosts) > 1:
        fail(f"receptorFile has {len(hosts)} molecules. Give one host, and the ligands under ligandsSDF.")
    return Receptor(molecules={HOST: hosts[0]})


def check_pose(ligand: PreparedLigand, receptor: Receptor) -> None:
    """Fail if a ligand overlaps with its receptor, or is far from it."""
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
    """Return the coordinates of a ligand in nm."""
    return np.array(ligand.molecule.GetConformer().GetPositions()) / 10


@dataclass
class BuiltComplex:
    """A complex in water, with the atoms that may be anchors."""

    solute: Solute
    receptor: tuple[int, ...]
    """All atoms of the receptor."""
    anchors: tuple[int, ...]
    """Atoms that may hold the ligand."""
    heavy: tuple[int, ...]
    """Heavy atoms of the ligand."""
    titles: dict[int, str]
    """Names of these atoms in the files."""


def build_complex(
    folder: Path,
    others: Mapping[str, Path],
    receptor: Receptor,
    settings: Mapping[str, Any],
    force_field: SmallMolecules,
    seed: int,
    report: Callable[[str], None],
) -> BuiltComplex:
    """Build receptor and ligand in water, from ``lig.mol2`` and ``lig.frcmod`` in the folder.

    Args:
        folder: folder of the ligand's parameters; ``complex.prmtop`` is written to it.
        others: folders of the parameters of a host or of cofactors, by residue.
        receptor: the receptor as read.
        settings: the job's.
        force_field: force field of the small molecules.
        seed: seed for the positions of ions.
        report: called with a message.
    """
    ligand = read_positions(folder / "lig.mol2")
    lines, parts, kept = [], [], np.zeros((0, 3))
    if receptor.protein:
        receptor.protein.write(folder / "receptor.pdb")
        source = PROTEINS[settings["proteinForceField"]]
        lines += [f"source {source}", "p = loadpdb receptor.pdb"]
        lines += [f"bond p.{one + 1}.SG p.{two + 1}.SG" for one, two in receptor.protein.bridges]
        parts.append("p")
        if receptor.protein.waters:
            waters = np.array(receptor.protein.waters)
            near = np.vstack([ligand, *map(place_ligand, receptor.molecules.values())])
            kept = waters[cKDTree(near).query(waters)[0] > KEPT_WATER]
    for residue, place in others.items():
        for suffix in force_field.suffixes:
            shutil.copy(place / f"lig{suffix}", folder / f"{residue}{suffix}")
        lines += [*force_field.load(residue), f"m{len(parts)} = loadmol2 {residue}.mol2"]
        parts.append(f"m{len(parts)}")
    text = build(
        folder, [*head(settings, force_field), *lines, *(f"charge {each}" for each in parts)], report
    )
    charge = read_charge(text)
    bound = np.vstack([receptor.positions(), ligand])
    solute = solvate(
        folder,
        "complex",
        settings,
        [*head(settings, force_field), *lines, *load_ligand(force_field)],
        " ".join([*parts, "x"]),  # one combination: tleap loses the CMAP terms of ff19SB in a second one
        (bound, kept),
        charge,
        seed,
        report,
    )
    force_field.complete(solute, {NAME: folder, **others})
    return list_anchors(solute, receptor)


def build_ligand(
    folder: Path,
    settings: Mapping[str, Any],
    force_field: SmallMolecules,
    seed: int,
    report: Callable[[str], None],
) -> Solute:
    """Build the ligand alone in water with the same salt, from the files in its folder."""
    ligand = read_positions(folder / "lig.mol2")
    lines, nothing = [*head(settings, force_field), *load_ligand(force_field)], np.zeros((0, 3))
    solute = solvate(folder, "solvent", settings, lines, "x", (ligand, nothing), 0, seed, report)
    force_field.complete(solute, {NAME: folder})
    return solute


def head(settings: Mapping[str, Any], force_field: SmallMolecules) -> list[str]:
    """Return the commands that load the force fields of the small molecules and of the water."""
    return [*force_field.commands, *WATERS[settings["solventModel"]]]


def load_ligand(force_field: SmallMolecules) -> list[str]:
    """Return commands that load the ligand as x."""
    return [*force_field.load("lig"), "x = loadmol2 lig.mol2"]


def solvate(
    folder: Path,
    stem: str,
    settings: Mapping[str, Any],
    lines: Sequence[str],
    units: str,
    places: tuple[np.ndarray, np.ndarray],
    charge: int,
    seed: int,
    report: Callable[[str], None],
) -> Solute:
    """Put the ``units`` that ``lines`` load into a neutral box with salt.

    Args:
        places: coordinates in nm of the solute, and of kept waters, oxygens only.
        charge: charge of the solute, in e.
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
    """Replace waters by ions: those that neutralise the solute, and pairs of salt.

    Returns:
        The remaining waters, and names and positions of the ions.
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
    """Return the sum of the charges in e that tleap printed for its commands ``charge``."""
    written = [line for line in text.splitlines() if "unperturbed charge:" in line.lower()]
    if not written:
        print(text)
        fail(
            "tleap could not build the receptor; the log has its message. Check names and atoms of its"
            " residues."
        )
    return round(sum(float(line.rpartition(":")[2]) for line in written))


def list_anchors(solute: Solute, receptor: Receptor) -> BuiltComplex:
    """Return the complex with the atoms that may be anchors, and their names."""
    atoms = list(solute.topology.atoms())
    first = solute.ligand[0]
    titles = {}
    for index in (*range(first), *solute.ligand):
        atom = atoms[index]
        if atom.element is None or atom.element.symbol == "H":
            continue
        if index < first and receptor.protein:
            if atom.residue.index >= len(receptor.protein.residues):
                continue  # a cofactor
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
