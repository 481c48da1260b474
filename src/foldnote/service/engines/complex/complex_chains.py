"""The chains of a complex to predict from sequences and molecules, as given in the settings of a job.

It runs inside the environments of engines that have RDKit. Anything that cannot be predicted ends the run
with a sentence for the user.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from pathlib import Path
from typing import Any

from a3m import read_alignment, write_rows
from engine_protocol import AMINO_ACIDS, clean_sequence, fail, write_table

POLYMERS = {
    "proteins": ("protein", AMINO_ACIDS + "X"),
    "dna": ("dna", "ACGTN"),
    "rna": ("rna", "ACGUN"),
}
"""Kind and letters of the chains of residues in each setting."""
ALIGNED_LETTERS = frozenset(AMINO_ACIDS + "XBZUOJ-")
"""Letters of the rows of an alignment."""
MOST_TOKENS = 2000
"""Maximum residues and ligand atoms together: memory grows with their square, and time faster."""


@dataclass(frozen=True)
class InputChain:
    """One chain of the complex."""

    id: str
    kind: str
    """``protein``, ``dna``, ``rna`` or ``ligand``."""
    content: str
    """The sequence, SMILES or code of the component."""
    form: str
    """Form of the text: ``sequence``, ``smiles`` or ``ccd``."""
    tokens: int
    """Residues, or heavy atoms of a ligand."""
    alignment: str = ""
    """Path of the checked alignment; empty for none."""


def read_chains(
    settings: Mapping[str, Any],
    measure_molecule: Callable[[Any, int], int],
    measure_component: Callable[[str], int],
) -> list[InputChain]:
    """Return the chains in the order of the settings, named A, B, …, Z, AA, AB, ….

    Args:
        settings: settings of the job.
        measure_molecule: returns the heavy atoms of an RDKit molecule, the n-th ligand, from 1.
        measure_component: returns those of the chemical component with a code.
    """
    names = _name_chains()
    chains = [
        InputChain(next(names), kind, sequence, "sequence", len(sequence))
        for setting, (kind, letters) in POLYMERS.items()
        for sequence in _read_sequences(setting, settings.get(setting) or "", letters)
    ]
    for number, smiles in enumerate(settings.get("ligands") or (), start=1):
        tokens = measure_molecule(_read_molecule(smiles, number), number)
        chains.append(InputChain(next(names), "ligand", smiles, "smiles", tokens))
    for code in (each.strip().upper() for each in settings.get("ligandCodes") or ()):
        chains.append(InputChain(next(names), "ligand", code, "ccd", measure_component(code)))
    _refuse_size(chains)
    return chains


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


def _read_molecule(smiles: str, number: int) -> Any:
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None or not molecule.GetNumAtoms():
        fail(f"Ligand {number} is not a molecule that RDKit reads: {smiles!r}.")
    if len(Chem.GetMolFrags(molecule)) > 1:
        fail(f"Ligand {number} has separate parts ('.' in its SMILES): give each as a ligand of its own.")
    return molecule


def _refuse_size(chains: Sequence[InputChain]) -> None:
    if not chains:
        fail("The job has no chain. Give proteins, dna or rna.")
    if (tokens := sum(each.tokens for each in chains)) > MOST_TOKENS:
        fail(
            f"The complex has {tokens} residues and ligand atoms; this engine takes {MOST_TOKENS} at most,"
            " since memory grows with their square. Leave out chains or disordered ends."
        )


def add_alignments(
    chains: Sequence[InputChain], paths: Sequence[str], place: Callable[[int], Path], notes: list[str]
) -> list[InputChain]:
    """Return the chains with the alignments whose first row is their sequence.

    Args:
        chains: chains of the complex.
        paths: the user's alignments.
        place: path for the checked n-th alignment, from 1; its folder is created.
        notes: a sentence is added where proteins have no alignment.
    """
    proteins = {each.content for each in chains if each.kind == "protein"}
    found: dict[str, str] = {}
    for number, path in enumerate(paths, start=1):
        rows = read_alignment(Path(path), f"alignment {number}", ALIGNED_LETTERS)
        query, target = rows[0][1], place(number)
        if query not in proteins:
            fail(
                f"The first sequence of alignment {number} is that of no protein of this job. An A3M file"
                " begins with the sequence itself, without gaps."
            )
        if query in found:
            fail(f"Alignment {number} is of the same protein as an earlier one. Give one for each sequence.")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_rows(rows, target)
        found[query] = str(target)
    if without := sum(each not in found for each in proteins):
        notes.append(
            f"{without} of {len(proteins)} protein sequences had no alignment and were predicted from the"
            " sequence alone, which is much less accurate for natural proteins."
        )
    return [
        replace(each, alignment=found.get(each.content, "") if each.kind == "protein" else "")
        for each in chains
    ]


def write_chains(chains: Iterable[InputChain]) -> None:
    """Write chains.csv: the sequence, molecule or component of each chain."""
    write_table(
        "chains.csv",
        [
            {"chain": each.id, "kind": each.kind, "tokens": each.tokens, each.form: each.content}
            for each in chains
        ],
        ("chain", "kind", "tokens", "sequence", "smiles", "ccd"),
    )
