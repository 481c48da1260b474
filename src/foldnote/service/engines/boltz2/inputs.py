"""Translates the settings of a job into the input file of Boltz, and refuses what Boltz could not read."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path
from typing import Any

from a3m import read_alignment, write_rows
from engine_protocol import AMINO_ACIDS, clean_sequence, fail

POLYMERS = {
    "proteins": ("protein", AMINO_ACIDS + "X"),
    "dna": ("dna", "ACGTN"),
    "rna": ("rna", "ACGUN"),
}
"""Of each setting with chains of residues Boltz's word for them and their letters."""
ALIGNED_LETTERS = frozenset(AMINO_ACIDS + "XBZUOJ-")
"""Letters of an alignment that Boltz has tokens for, and the gap."""
MOST_TOKENS = 2000
"""Residues and atoms of ligands together: memory grows with their square, and time faster."""
MOST_AFFINITY_ATOMS = 128
"""Heavy atoms of a ligand whose affinity is predicted: a limit of Boltz."""
LONGEST_ATOM_NAME = 4


@dataclass(frozen=True)
class InputChain:
    """One chain of the complex."""

    id: str
    kind: str
    """``protein``, ``dna``, ``rna`` or ``ligand``."""
    content: str
    """The sequence, SMILES or code of the component."""
    form: str
    """Boltz's name of that: ``sequence``, ``smiles`` or ``ccd``."""
    tokens: int
    """Residues, or heavy atoms of a ligand."""
    alignment: str = "empty"
    """Path of the alignment as Boltz takes it."""


@dataclass
class Complex:
    """What is predicted."""

    chains: list[InputChain] = field(default_factory=list)
    constraints: list[dict[str, Any]] = field(default_factory=list)
    binder: str = ""
    """Chain of the ligand whose affinity is predicted; empty for none."""
    notes: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the input of Boltz: YAML, of which JSON is a part."""
        content: dict[str, Any] = {"version": 1, "sequences": [_describe(each) for each in self.chains]}
        if self.constraints:
            content["constraints"] = self.constraints
        if self.binder:
            content["properties"] = [{"affinity": {"binder": self.binder}}]
        path.write_text(json.dumps(content, indent=1), "utf-8")


def read_complex(job: Mapping[str, Any], components: Path) -> Complex:
    """The complex of a job; ends with a sentence for the user where it cannot be predicted.

    Args:
        job: as job.json has it.
        components: folder with the chemical components that Boltz knows, a ``.pkl`` each.
    """
    settings, files = job["settings"], job["files"]
    names = _name_chains()
    made = Complex()
    for setting, (kind, letters) in POLYMERS.items():
        for sequence in _read_sequences(setting, settings.get(setting) or "", letters):
            made.chains.append(InputChain(next(names), kind, sequence, "sequence", len(sequence)))
    for number, smiles in enumerate(settings.get("ligands") or (), start=1):
        made.chains.append(InputChain(next(names), "ligand", smiles, "smiles", _count_atoms(smiles, number)))
    for code in settings.get("ligandCodes") or ():
        made.chains.append(_read_component(next(names), code.strip().upper(), components))
    _refuse_size(made.chains)
    made.chains = _add_alignments(made, [Path(each) for each in files.get("alignments") or ()])
    _add_pocket(made, settings)
    if settings.get("affinity"):
        made.binder = _choose_binder(made.chains).id
    return made


def _name_chains() -> Iterator[str]:
    for length in count(1):
        yield from map("".join, product(string.ascii_uppercase, repeat=length))


def _read_sequences(setting: str, text: str, letters: str) -> Iterator[str]:
    if not text.strip():
        return
    for sequence in map(clean_sequence, text.split(":")):
        if not sequence:
            fail(f"{setting} has an empty chain. Separate chains by one ':' each, and end with a letter.")
        if strange := sorted(set(sequence) - set(letters)):
            told = ", ".join(map(repr, strange[:20]))
            fail(f"{setting} has {told}; the letters {letters} are taken.")
        if setting == "proteins" and set(sequence) == {"X"}:
            fail("A chain of proteins has only X, of which nothing can be predicted.")
        yield sequence


def _count_atoms(smiles: str, number: int) -> int:
    """Heavy atoms of a molecule that Boltz can read and name."""
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None or not molecule.GetNumAtoms():
        fail(f"Ligand {number} is not a molecule that RDKit reads: {smiles!r}.")
    if len(Chem.GetMolFrags(molecule)) > 1:
        fail(f"Ligand {number} has separate parts ('.' in its SMILES): give each as a ligand of its own.")
    whole = Chem.AddHs(molecule)
    pairs = zip(whole.GetAtoms(), Chem.CanonicalRankAtoms(whole), strict=True)
    if max(len(f"{atom.GetSymbol()}{rank + 1}") for atom, rank in pairs) > LONGEST_ATOM_NAME:
        fail(
            f"Ligand {number} has {whole.GetNumAtoms()} atoms with its hydrogens, too many for Boltz, whose"
            f" names of atoms have at most {LONGEST_ATOM_NAME} characters."
        )
    return molecule.GetNumHeavyAtoms()


def _read_component(chain: str, code: str, components: Path) -> InputChain:
    path = components / f"{code}.pkl"
    if not code.isalnum() or not path.is_file():
        fail(
            f"{code!r} is not a chemical component that Boltz knows. Give codes of the PDB such as ATP, HEM"
            " or ZN, or the molecule's SMILES as a ligand."
        )
    import pickle

    molecule = pickle.loads(path.read_bytes())  # noqa: S301 - the authors' file, whose hash was checked
    return InputChain(chain, "ligand", code, "ccd", molecule.GetNumHeavyAtoms())


def _refuse_size(chains: Sequence[InputChain]) -> None:
    if not chains:
        fail("The job has no chain. Give proteins, dna or rna.")
    if (tokens := sum(each.tokens for each in chains)) > MOST_TOKENS:
        fail(
            f"The complex has {tokens} residues and ligand atoms; this engine takes {MOST_TOKENS} at most,"
            " since memory grows with their square. Leave out chains or disordered ends."
        )


def _add_alignments(made: Complex, paths: Sequence[Path]) -> list[InputChain]:
    """The chains with the alignments whose first row is their sequence."""
    proteins = {each.content for each in made.chains if each.kind == "protein"}
    found: dict[str, str] = {}
    for number, path in enumerate(paths, start=1):
        rows = read_alignment(path, f"alignment {number}", ALIGNED_LETTERS)
        query, target = rows[0][1], Path(f"alignment_{number}.a3m")
        write_rows(rows, target)
        if query not in proteins:
            fail(
                f"The first sequence of alignment {number} is that of no protein of this job. An A3M file"
                " begins with the sequence itself, without gaps."
            )
        if query in found:
            fail(f"Alignment {number} is of the same protein as an earlier one. Give one for each sequence.")
        found[query] = str(target)
    if without := sum(each not in found for each in proteins):
        made.notes.append(
            f"{without} of {len(proteins)} protein sequences had no alignment and were predicted from the"
            " sequence alone, which is much less accurate for natural proteins."
        )
    return [
        InputChain(each.id, each.kind, each.content, each.form, each.tokens, found[each.content])
        if each.kind == "protein" and each.content in found
        else each
        for each in made.chains
    ]


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
        content["msa"] = chain.alignment
    return {chain.kind: content}
