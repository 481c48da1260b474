"""Translate the settings of a job into the input file of Boltz, and refuse what Boltz cannot read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from complex_chains import InputChain, add_alignments, read_chains
from engine_protocol import fail

MOST_AFFINITY_ATOMS = 128
"""Heavy atoms of a ligand whose affinity is predicted: a limit of Boltz."""
LONGEST_ATOM_NAME = 4


@dataclass
class Complex:
    """The complex to predict."""

    chains: list[InputChain] = field(default_factory=list)
    constraints: list[dict[str, Any]] = field(default_factory=list)
    binder: str = ""
    """Chain of the ligand whose affinity is predicted; empty for none."""
    notes: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the input of Boltz: YAML, of which JSON is a subset."""
        content: dict[str, Any] = {"version": 1, "sequences": [_describe(each) for each in self.chains]}
        if self.constraints:
            content["constraints"] = self.constraints
        if self.binder:
            content["properties"] = [{"affinity": {"binder": self.binder}}]
        path.write_text(json.dumps(content, indent=1), "utf-8")


def read_complex(job: Mapping[str, Any], components: Path) -> Complex:
    """Return the complex of a job; fail if it cannot be predicted.

    Args:
        job: content of job.json.
        components: folder with the chemical components that Boltz knows, one ``.pkl`` file each.
    """
    settings = job["settings"]
    made = Complex(read_chains(settings, _count_atoms, lambda code: _count_component_atoms(code, components)))
    alignments = job["files"].get("alignments") or ()
    made.chains = add_alignments(made.chains, alignments, lambda n: Path(f"alignment_{n}.a3m"), made.notes)
    _add_pocket(made, settings)
    if settings.get("affinity"):
        made.binder = _choose_binder(made.chains).id
    return made


def _count_atoms(molecule: Any, number: int) -> int:
    """Count the heavy atoms of a molecule whose atoms Boltz can name."""
    from rdkit import Chem

    whole = Chem.AddHs(molecule)
    pairs = zip(whole.GetAtoms(), Chem.CanonicalRankAtoms(whole), strict=True)
    if max(len(f"{atom.GetSymbol()}{rank + 1}") for atom, rank in pairs) > LONGEST_ATOM_NAME:
        fail(
            f"Ligand {number} has {whole.GetNumAtoms()} atoms with its hydrogens, too many for Boltz, whose"
            f" names of atoms have at most {LONGEST_ATOM_NAME} characters."
        )
    atoms: int = molecule.GetNumHeavyAtoms()
    return atoms


def _count_component_atoms(code: str, components: Path) -> int:
    path = components / f"{code}.pkl"
    if not code.isalnum() or not path.is_file():
        fail(
            f"{code!r} is not a chemical component that Boltz knows. Give codes of the PDB such as ATP, HEM"
            " or ZN, or the molecule's SMILES as a ligand."
        )
    import pickle

    atoms: int = pickle.loads(path.read_bytes()).GetNumHeavyAtoms()  # noqa: S301 - the authors' file, whose hash was checked
    return atoms


def _add_pocket(made: Complex, settings: Mapping[str, Any]) -> None:
    contacts = list(_read_contacts(made.chains, settings.get("pocketResidues") or {}))
    if not contacts:
        return
    ligands = [each for each in made.chains if each.kind == "ligand"]
    if not ligands:
        fail("pocketResidues says where the first ligand binds, and the job has no ligand.")
    distance = float(settings.get("pocketDistance", 6))
    pocket = {"binder": ligands[0].id, "contacts": contacts, "max_distance": distance}
    made.constraints.append({"pocket": pocket})
    made.notes.append(
        f"The ligand {ligands[0].content} (chain {ligands[0].id}) was guided to within {distance:g} Å of"
        f" {len(contacts)} residues of the pocket, without force: look whether it lies there."
    )


def _read_contacts(chains: Sequence[InputChain], residues: Mapping[str, str]) -> Iterator[list[Any]]:
    polymers = {each.id: each for each in chains if each.kind != "ligand"}
    for name, numbers in residues.items():
        chain = polymers.get(name)
        if chain is None:
            fail(f"pocketResidues: there is no chain {name!r}; the chains are {', '.join(polymers)}.")
        for word in numbers.replace(",", " ").split():
            begin, _, end = word.partition("-")
            if not all(each.isascii() and each.isdigit() for each in (begin, end or begin)):
                fail(f"pocketResidues: {word!r} is not the number of a residue, counted from 1.")
            for number in range(int(begin), int(end or begin) + 1):
                if not 1 <= number <= chain.tokens:
                    fail(f"pocketResidues: chain {name} has residues 1 to {chain.tokens}, not {number}.")
                yield [name, number]


def _choose_binder(chains: Sequence[InputChain]) -> InputChain:
    ligands = [each for each in chains if each.kind == "ligand"]
    if not ligands:
        fail("affinity is of a ligand, and the job has none. Give it as a SMILES or code.")
    chosen = ligands[0]
    if not any(each.kind == "protein" for each in chains):
        fail("affinity is that of a ligand for a protein, and the job has no protein.")
    if sum((each.form, each.content) == (chosen.form, chosen.content) for each in ligands) > 1:
        fail("affinity is of the first ligand, which is there more than once; Boltz takes it once.")
    if chosen.tokens > MOST_AFFINITY_ATOMS:
        fail(f"affinity: the ligand has {chosen.tokens} heavy atoms; Boltz takes {MOST_AFFINITY_ATOMS}.")
    return chosen


def _describe(chain: InputChain) -> dict[str, Any]:
    content: dict[str, Any] = {"id": chain.id, chain.form: chain.content}
    if chain.kind == "protein":
        content["msa"] = chain.alignment or "empty"
    return {chain.kind: content}
