"""Read the receptor: a protein as PDB, which tleap completes, or one host molecule as SDF.

Protonation follows the names of the residues (HID, HIE, HIP, ASH, GLH, LYN, CYM); hydrogens of the file are
replaced. Residues unknown to the force field are refused by name: a wrong guess gives a wrong free energy.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from engine_protocol import fail

STANDARD = frozenset(
    {"ALA", "ARG", "ASN", "ASP", "CYS", "GLN", "GLU", "GLY", "HIS", "ILE", "LEU", "LYS", "MET", "PHE", "PRO"}
    | {"SER", "THR", "TRP", "TYR", "VAL", "ASH", "CYM", "CYX", "GLH", "HID", "HIE", "HIP", "LYN"}
)
CAPS = {"ACE": "ACE", "NME": "NME", "NHE": "NHE", "NMA": "NME", "NH2": "NHE"}
"""Blocked ends, with the force field's names."""
WATERS = frozenset({"HOH", "WAT", "TIP3", "DOD", "SOL"})
BACKBONE = ("N", "CA", "C")
ANCHORS = frozenset(BACKBONE)
"""Atoms of a protein that may be anchors."""
CHAIN_NAMES = string.ascii_letters.swapcase() + string.digits
MAX_RESIDUES = 1500
MAX_NAMED = 6
LONGEST_BOND = 0.2
"""Maximum distance in nm from the C of a residue to the N of the next one."""
LONGEST_BRIDGE = 0.25
"""Maximum distance in nm between the sulfurs of a disulfide."""
FURTHEST = 999.0
"""Maximum coordinate in nm that fits a PDB file."""


@dataclass
class ReceptorResidue:
    """A residue with its heavy atoms, as in the file."""

    chain: str
    """Chain name as in the file, possibly a space."""
    number: str
    """Number with the insertion code."""
    name: str
    atoms: dict[str, np.ndarray] = field(default_factory=dict)
    """Coordinates in nm, by name."""
    chain_id: str = ""
    """The chain's name in results; a chain without a name never gets that of another one."""

    @property
    def title(self) -> str:
        """Name of the residue in a sentence."""
        return (
            f"{self.name} {self.chain}:{self.number}" if self.chain.strip() else f"{self.name} {self.number}"
        )


@dataclass
class ReceptorProtein:
    """The protein for tleap."""

    residues: list[ReceptorResidue]
    waters: list[np.ndarray]
    """Positions in nm of the oxygens of the file's waters."""
    bridges: list[tuple[int, int]] = field(default_factory=list)
    """Indices of residues with a disulfide."""

    def positions(self) -> np.ndarray:
        """Return positions in nm of all heavy atoms except those of waters."""
        return np.array([place for each in self.residues for place in each.atoms.values()])

    def write(self, path: Path) -> None:
        """Write a PDB file with residues numbered from 1, without hydrogens."""
        count = 0
        with path.open("w") as stream:
            for number, residue in enumerate(self.residues, start=1):
                for name, position in residue.atoms.items():
                    count += 1
                    x, y, z = 10 * position
                    label = name if len(name) > 3 else f" {name}"
                    stream.write(
                        f"ATOM  {count % 100_000:5} {label:<4} {residue.name:<3} A{number:4}    "
                        f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00\n"
                    )
                if number == len(self.residues) or self.residues[number].chain != residue.chain:
                    stream.write("TER\n")
            stream.write("END\n")


def read_protein(text: str, notes: list[str], setting: str) -> ReceptorProtein:
    """Read the first model of a setting's PDB file and check that the force field can describe it."""
    protein = ReceptorProtein([], [])
    strange: set[str] = set()
    places: dict[tuple[str, str], ReceptorResidue] = {}
    has_hydrogens = False
    for line in take_first_model(text.splitlines()):
        name, residue = line[12:16].strip(), line[17:20].strip()
        element = line[76:78].strip().upper() or name.lstrip("0123456789")[:1].upper()
        if residue in WATERS:
            if name in ("O", "OW", "OH2"):
                protein.waters.append(read_position(line, setting))
            continue
        if residue not in STANDARD and residue not in CAPS:
            strange.add(residue or "a residue without a name")
            continue
        if element in ("H", "D"):
            has_hydrogens = True
            continue
        key = line[21], line[22:27].strip()
        own = places.get(key)
        if own is None:
            own = places[key] = ReceptorResidue(*key, CAPS.get(residue, residue))
            protein.residues.append(own)
        if line[16] not in " A1" and name in own.atoms:
            continue
        if name in own.atoms:
            fail(
                f"{setting} has the atom {name} of {own.title} twice. Give each residue a number of its"
                " own, and leave one of two alternate locations."
            )
        own.atoms["C" if own.name == "NME" and name == "CH3" else name] = read_position(line, setting)
    if strange:
        listed = ", ".join(sorted(strange)[:MAX_NAMED])
        fail(
            f"{setting} has {listed}, for which there are no parameters: only the 20 amino acids, their"
            " protonation states by Amber's names, ACE, NME and NHE at the ends, and water are taken."
            " Remove ligands, ions and cofactors, and replace modified residues."
        )
    check_protein(protein, setting)
    name_chains(protein.residues, notes)
    if has_hydrogens:
        notes.append("Hydrogens of the receptor's file were replaced; names such as HID say the protonation.")
    if any(each.name == "HIS" for each in protein.residues):
        notes.append(
            "Residues called HIS have their hydrogen on Nε (HIE); call them HID or HIP where it is not."
        )
    return protein


def name_chains(residues: Iterable[ReceptorResidue], notes: list[str]) -> None:
    """Give a chain without a name the first letter that no other chain has."""
    residues = list(residues)
    taken = {each.chain.strip() for each in residues}
    free = next(each for each in CHAIN_NAMES if each not in taken)
    for each in residues:
        each.chain_id = each.chain.strip() or free
    if "" in taken and len(taken) > 1:
        notes.append(f"The receptor's chain without a name is called {free} in the results.")


def take_first_model(lines: Iterable[str]) -> Iterable[str]:
    """Yield the atom lines of the first model."""
    for line in lines:
        if line.startswith("ENDMDL"):
            return
        if line.startswith(("ATOM", "HETATM")):
            yield line.ljust(80)


def read_position(line: str, setting: str) -> np.ndarray:
    """Return the coordinates of a line in nm."""
    try:
        place = np.array([float(line[start : start + 8]) / 10 for start in (30, 38, 46)])
    except ValueError:
        place = np.full(3, math.nan)
    if not np.isfinite(place).all() or np.abs(place).max() > FURTHEST:
        fail(f"{setting} has coordinates that are not numbers: {line[:54].rstrip()!r}.")
    return place


def check_protein(protein: ReceptorProtein, setting: str) -> None:
    """Fail if tleap would build something other than the file describes."""
    residues = protein.residues
    if not any(each.name not in CAPS.values() for each in residues):
        fail(f"{setting} has no protein. Give a PDB file with amino acids.")
    if len(residues) > MAX_RESIDUES:
        fail(f"{setting} has {len(residues)} residues; at most {MAX_RESIDUES} are taken. Cut the protein.")
    for each in residues:
        if lacking := [
            name for name in BACKBONE if name not in each.atoms and each.name not in CAPS.values()
        ]:
            fail(f"{each.title} in {setting} lacks {', '.join(lacking)}. Complete its backbone.")
    for one, two in pairwise(residues):
        is_joined = "C" in one.atoms and "N" in two.atoms and one.name not in ("NME", "NHE")
        if one.chain != two.chain or two.name == "ACE" or not is_joined:
            continue
        if np.linalg.norm(one.atoms["C"] - two.atoms["N"]) > LONGEST_BOND:
            fail(
                f"{setting} has a gap between {one.title} and {two.title}. Model the missing residues, or"
                " give the parts chains of their own, with NME and ACE at the ends."
            )
    sulfurs = [
        place for place, each in enumerate(residues) if each.name in ("CYS", "CYX") and "SG" in each.atoms
    ]
    for number, one in enumerate(sulfurs):
        for two in sulfurs[number + 1 :]:
            if np.linalg.norm(residues[one].atoms["SG"] - residues[two].atoms["SG"]) < LONGEST_BRIDGE:
                protein.bridges.append((one, two))
                residues[one].name = residues[two].name = "CYX"
