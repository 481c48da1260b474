"""Give small molecules a force field of the Open Force Field Initiative, in a form that tleap reads.

OpenFF's toolkit assigns the parameters of each atom, bond, angle and torsion. Every atom gets its own type,
so that ``lig.frcmod`` contains all of them except the torsions, which tleap cannot express: those are added
to the built system. Charges are AM1-BCC from AmberTools' sqm, or from OpenFF's NAGL, a neural network trained
on such charges.
"""

from __future__ import annotations

import json
import os
import shutil
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import openmm
from engine_protocol import fail
from ligands import NAME, OUTPUTS, PreparedLigand, keep_parameters, read_mol2_charges, run_program, slug
from systems import Solute

NAGL_MODEL = "openff-gnn-am1bcc-1.0.0.pt"
SCALES_14 = {"vdW": 0.5, "Electrostatics": 0.8333333333}
"""Scale factors of interactions between atoms three bonds apart; Amber's programs use the same ones."""
TORSIONS = "torsions.json"
LETTERS, SIGNS = string.ascii_lowercase, string.digits + string.ascii_letters
"""The two characters of a type's name, which give 1,612 names."""
IMPROPER_ORDERS = ((0, 2, 3), (2, 3, 0), (3, 0, 2))
"""The three orders around the central atom, which is the second of four; each has a third of the constant."""


@dataclass(frozen=True)
class Smirnoff:
    """A force field of OpenFF, with charges by one of two methods."""

    name: str
    """Name such as ``openff-2.2.1``."""
    charges: str
    """``am1bcc`` or ``nagl``."""
    suffixes: ClassVar = (".mol2", ".frcmod", ".types")
    taken: dict[str, int] = field(default_factory=dict)
    """Numbers of the types of cofactors, by residue; those of the next molecule start after them."""

    @property
    def commands(self) -> Sequence[str]:
        """None: each molecule's files contain all that it needs."""
        return []

    def load(self, stem: str) -> Sequence[str]:
        """Return the commands that load the parameters of a molecule's files."""
        return [f"source {stem}.types", f"loadamberparams {stem}.frcmod"]

    @cached_property
    def force_field(self) -> Any:
        """The force field as an object of OpenFF's toolkit."""
        from openff.toolkit import ForceField

        made = ForceField(f"{self.name}.offxml")
        for handler, scale in SCALES_14.items():
            if abs(made.get_parameter_handler(handler).scale14 - scale) > 1e-6:
                fail(f"{self.name} scales {handler} of atoms three bonds apart in a way that Amber has not.")
        return made

    def parametrize(
        self, ligand: PreparedLigand, folder: Path, report: Callable[[str], None], residue: str = NAME
    ) -> None:
        """Write ``lig.mol2`` and ``lig.frcmod`` for tleap, and ``torsions.json``."""
        folder.mkdir(parents=True, exist_ok=True)
        report(f"Charges of {ligand.name} by {self.charges}")
        molecule = take_molecule(ligand)
        charges = self._find_charges(ligand, molecule, folder, report)
        report(f"Parameters of {ligand.name} by {self.name}")
        try:
            (labels,) = self.force_field.label_molecules(molecule.to_topology())
        except Exception as exc:  # the toolkit has an exception class for each kind of parameter
            print(exc)
            fail(f"{self.name} lacks parameters for {ligand.name!r}; the log names them.")
        types = self._name_types(residue, len(charges))
        (folder / "lig.types").write_text(write_types(ligand.molecule, types))
        (folder / "lig.frcmod").write_text("\n".join(write_frcmod(ligand.molecule, types, labels)))
        (folder / "lig.mol2").write_text("\n".join(write_mol2(ligand.molecule, types, charges, residue)))
        (folder / TORSIONS).write_text(json.dumps(list(list_torsions(labels))))

    def keep(self, folder: Path, number: str, ligand: PreparedLigand) -> None:
        """Copy charges and parameters to the results, with the number before the ligand's name."""
        keep_parameters(folder, number, ligand)
        shutil.copy(folder / TORSIONS, OUTPUTS / "parameters" / f"{number}-{slug(ligand.name)}-{TORSIONS}")

    def complete(self, solute: Solute, molecules: Mapping[str, Path]) -> None:
        """Add the torsions of all molecules, constrain their bonds to hydrogen, and apply OpenFF's cutoff.

        Args:
            solute: as built by tleap.
            molecules: folders by residue.
        """
        torsions = take_force(solute.system, openmm.PeriodicTorsionForce)
        for residue in solute.topology.residues():
            if residue.name not in molecules:
                continue
            atoms = list(residue.atoms())
            for places, *term in json.loads((molecules[residue.name] / TORSIONS).read_text()):
                torsions.addTorsion(*(atoms[place].index for place in places), *term)
            hydrogens = {
                atom.index for atom in atoms if atom.element is not None and atom.element.symbol == "H"
            }
            keep_lengths(solute.system, hydrogens)
        self._cut_smoothly(take_force(solute.system, openmm.NonbondedForce))

    def _cut_smoothly(self, force: openmm.NonbondedForce) -> None:
        """Switch the Lennard-Jones interactions of a box off towards the cutoff of the force field."""
        if not force.usesPeriodicBoundaryConditions():
            return
        sterics = self.force_field.get_parameter_handler("vdW")
        cutoff, width = (each.m_as("nanometer") for each in (sterics.cutoff, sterics.switch_width))
        force.setCutoffDistance(cutoff)
        force.setUseSwitchingFunction(width > 0)
        force.setSwitchingDistance(cutoff - width)

    def _name_types(self, residue: str, count: int) -> list[str]:
        """Return types that no other molecule of a system has; there is one ligand at a time."""
        first = sum(number for name, number in self.taken.items() if name != residue)
        if residue != NAME:
            self.taken[residue] = count
        if first + count > len(LETTERS) * len(SIGNS):
            fail("The cofactors have too many atoms together.")
        places = (divmod(place, len(SIGNS)) for place in range(first, first + count))
        return [LETTERS[letter] + SIGNS[sign] for letter, sign in places]

    def _find_charges(
        self, ligand: PreparedLigand, molecule: Any, folder: Path, report: Callable[[str], None]
    ) -> list[float]:
        """Return partial charges in e that sum to the molecule's charge."""
        from rdkit import Chem

        whole = Chem.GetFormalCharge(ligand.molecule)
        found = (
            ask_nagl(ligand, molecule) if self.charges == "nagl" else run_sqm(ligand, whole, folder, report)
        )
        excess = (sum(found) - whole) / len(found)
        return [each - excess for each in found]


def take_molecule(ligand: PreparedLigand) -> Any:
    """Return the molecule as an object of OpenFF's toolkit, with the same order of atoms."""
    from openff.toolkit import Molecule

    try:
        return Molecule.from_rdkit(ligand.molecule, allow_undefined_stereo=True, hydrogens_are_explicit=True)
    except Exception as exc:  # the toolkit raises its own and RDKit's exceptions
        print(exc)
        fail(f"OpenFF's toolkit cannot read {ligand.name!r}; the log says why. Check its bonds and charges.")


def ask_nagl(ligand: PreparedLigand, molecule: Any) -> list[float]:
    """Return charges by the neural network."""
    from openff.toolkit.utils.nagl_wrapper import NAGLToolkitWrapper

    try:
        molecule.assign_partial_charges(NAGL_MODEL, toolkit_registry=NAGLToolkitWrapper())
    except Exception as exc:  # including those of the network's table of known elements
        print(exc)
        fail(f"NAGL has no charges for {ligand.name!r}; the log says why. Choose am1bcc.")
    return [float(each) for each in molecule.partial_charges.m]


def run_sqm(ligand: PreparedLigand, whole: int, folder: Path, report: Callable[[str], None]) -> list[float]:
    """Return AM1-BCC charges of the molecule at its coordinates."""
    from rdkit import Chem

    Chem.MolToMolFile(ligand.molecule, os.fspath(folder / "lig.mol"), kekulize=True)
    options = ["-i", "lig.mol", "-fi", "mdl", "-o", "raw.mol2", "-fo", "mol2", "-c", "bcc", "-at", "sybyl"]
    run_program("antechamber", [*options, "-nc", str(whole), "-pf", "y", "-dr", "no"], folder, report)
    if not (folder / "raw.mol2").exists():
        fail(
            f"AmberTools found no AM1-BCC charges for {ligand.name!r}. Check its bonds and hydrogens, and"
            " that its coordinates are sensible, or choose nagl."
        )
    return read_mol2_charges(folder / "raw.mol2")


def take_force(system: openmm.System, kind: Any) -> Any:
    """Return the system's only force of this kind."""
    (force,) = [each for each in system.getForces() if isinstance(each, kind)]
    return force


def keep_lengths(system: openmm.System, hydrogens: set[int]) -> None:
    """Constrain bonds to hydrogen, which tleap recognises only by the names of Amber's types."""
    bonds = take_force(system, openmm.HarmonicBondForce)
    for place in range(bonds.getNumBonds()):
        one, two, length, _ = bonds.getBondParameters(place)
        if one in hydrogens or two in hydrogens:
            system.addConstraint(one, two, length)
            bonds.setBondParameters(place, one, two, length, 0.0)


def write_frcmod(molecule: Any, types: Sequence[str], labels: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines of Amber's format, in kcal/mol, Å and degrees; torsions have no energy."""
    unit = "kilocalories_per_mole"
    yield "OpenFF, each atom with a type of its own; torsions are in the other file\nMASS"
    for atom, kind in zip(molecule.GetAtoms(), types, strict=True):
        yield f"{kind} {atom.GetMass():.6f} 0.0"
    yield "\nBOND"
    for (one, two), each in labels["Bonds"].items():
        constant = each.k.m_as(f"{unit} / angstrom**2") / 2
        yield f"{types[one]}-{types[two]} {constant:.8f} {each.length.m_as('angstrom'):.8f}"
    yield "\nANGLE"
    for atoms, each in labels["Angles"].items():
        constant = each.k.m_as(f"{unit} / radian**2") / 2
        yield f"{'-'.join(types[atom] for atom in atoms)} {constant:.8f} {each.angle.m_as('degree'):.8f}"
    yield "\nDIHE"
    for one, two in labels["Bonds"]:
        yield f"X -{types[one]}-{types[two]}-X  1 0.0 0.0 1.0"
    yield "\nIMPROPER\n\nNONBON"
    for (atom,), each in labels["vdW"].items():
        radius = each.rmin_half.m_as("angstrom")
        yield f"{types[atom]} {radius:.8f} {each.epsilon.m_as(unit):.10f}"
    yield "\n"


def write_types(molecule: Any, types: Sequence[str]) -> str:
    """Return a command that tells tleap the elements, which it passes on to OpenMM."""
    rows = (
        f'{{ "{kind}" "{atom.GetSymbol()}" "sp3" }}'
        for atom, kind in zip(molecule.GetAtoms(), types, strict=True)
    )
    return "addAtomTypes {\n" + "\n".join(rows) + "\n}\n"


def write_mol2(molecule: Any, types: Sequence[str], charges: Sequence[float], residue: str) -> Iterator[str]:
    """Yield the lines of a molecule with one residue."""
    places = molecule.GetConformer().GetPositions()
    yield f"@<TRIPOS>MOLECULE\n{residue}\n{len(types)} {molecule.GetNumBonds()} 1 0 0\nSMALL\nUSER_CHARGES\n"
    yield "@<TRIPOS>ATOM"
    for number, (atom, kind, place, charge) in enumerate(
        zip(molecule.GetAtoms(), types, places, charges, strict=True), start=1
    ):
        x, y, z = place
        name = f"{atom.GetSymbol()}{number}"
        yield f"{number} {name} {x:.5f} {y:.5f} {z:.5f} {kind} 1 {residue} {charge:.8f}"
    yield "@<TRIPOS>BOND"
    for number, bond in enumerate(molecule.GetBonds(), start=1):
        yield f"{number} {bond.GetBeginAtomIdx() + 1} {bond.GetEndAtomIdx() + 1} 1"
    yield f"@<TRIPOS>SUBSTRUCTURE\n1 {residue} 1 TEMP 0 **** **** 0 ROOT\n"


def list_torsions(labels: Mapping[str, Any]) -> Iterator[tuple[list[int], int, float, float]]:
    """Yield every term of the proper and improper torsions: atoms, periodicity, phase in rad, kJ/mol."""
    for atoms, each in labels["ProperTorsions"].items():
        for term, (periodicity, phase, constant) in enumerate(
            zip(each.periodicity, each.phase, each.k, strict=True)
        ):
            share = float(each.idivf[term]) if each.idivf else 1.0
            yield list(atoms), periodicity, phase.m_as("radian"), read_constant(constant) / share
    for atoms, each in labels["ImproperTorsions"].items():
        for periodicity, phase, constant in zip(each.periodicity, each.phase, each.k, strict=True):
            for order in IMPROPER_ORDERS:
                around = [atoms[1], *(atoms[place] for place in order)]
                yield (
                    around,
                    periodicity,
                    phase.m_as("radian"),
                    read_constant(constant) / len(IMPROPER_ORDERS),
                )


def read_constant(constant: Any) -> float:
    """Return a force constant in kJ/mol."""
    return float(constant.m_as("kilojoules_per_mole"))
