"""Read PDB files line by line for adapters: the residues of the first model, and their B-factors.

It runs with the service's Python and uses only the standard library.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine_protocol import fail

LETTERS = {
    "ALA": "A", "ARG": "R", "ASN": "N", "ASP": "D", "CYS": "C", "GLN": "Q", "GLU": "E", "GLY": "G",
    "HIS": "H", "ILE": "I", "LEU": "L", "LYS": "K", "MET": "M", "PHE": "F", "PRO": "P", "SER": "S",
    "THR": "T", "TRP": "W", "TYR": "Y", "VAL": "V",
}  # fmt: skip
"""The 20 standard residues."""


def read_residues(text: str, atoms: Sequence[str] = ("CA",)) -> dict[str, dict[str, str]]:
    """Return the letters of the first model's standard residues, by chain, and number with insertion code.

    A residue counts if it has all of ``atoms``.
    """
    found: dict[tuple[str, str], set[str]] = {}
    letters: dict[tuple[str, str], str] = {}
    for line in text.splitlines():
        if line.startswith("ENDMDL"):
            break
        name = line[17:20].strip().upper()
        if line.startswith(("ATOM", "HETATM")) and name in LETTERS:
            where = line[21:22].strip(), line[22:27].strip()
            letters.setdefault(where, LETTERS[name])
            found.setdefault(where, set()).add(line[12:16].strip())
    chains: dict[str, dict[str, str]] = {}
    for (chain, number), letter in letters.items():
        if found[chain, number] >= set(atoms):
            chains.setdefault(chain, {})[number] = letter
    return chains


def mean_plddt(text: str) -> str:
    """Return the mean of the Cα atoms' B-factors with two decimals; empty if there are none."""
    lines = (line for line in text.splitlines() if line.startswith("ATOM") and line[12:16].strip() == "CA")
    values = [float(line[60:66]) for line in lines]
    return f"{sum(values) / len(values):.2f}" if values else ""


def read_protein(path: Path, what: str) -> str:
    """Return the text of a PDB file with plain line ends; fail if it has no protein."""
    text = path.read_text("utf-8", "replace")
    if not read_residues(text):
        fail(f"{what} has no residues of a protein with their Cα atoms.")
    return "\n".join(text.splitlines()) + "\n"
