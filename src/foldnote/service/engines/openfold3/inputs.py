"""Translate the settings of a job into the query of OpenFold 3, and refuse what it cannot predict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from complex_chains import InputChain, add_alignments, read_chains
from engine_protocol import fail

NAME = "prediction"
ALIGNMENT_FILE = "colabfold_main.a3m"
"""OpenFold 3 recognises alignments by their file names, and ignores others. This name is for alignments whose
rows are not paired with those of other chains; it reads 16384 of them."""
FEWEST_TOKENS = 2
"""Minimum residues and ligand atoms; with fewer its network fails."""
LIGAND_FORMS = {"smiles": "smiles", "ccd": "ccd_codes"}


@dataclass
class FoldingQuery:
    """The complex to predict."""

    chains: list[InputChain]
    notes: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the query of OpenFold 3."""
        query = {"chains": [_describe(each) for each in self.chains]}
        path.write_text(json.dumps({"queries": {NAME: query}}, indent=1), "utf-8")


def read_complex(job: Mapping[str, Any]) -> FoldingQuery:
    """Return the complex of the job in job.json; fail if it cannot be predicted."""
    made = FoldingQuery(read_chains(job["settings"], _count_atoms, _count_component_atoms))
    if all(each.kind == "ligand" for each in made.chains):
        fail("The job has no chain of residues. Give proteins, dna or rna.")
    if sum(each.tokens for each in made.chains) < FEWEST_TOKENS:
        fail(
            "The job is one residue, of which OpenFold 3 predicts nothing. Give a longer chain, or a ligand."
        )
    _refuse_like_texts(made.chains)
    alignments = job["files"].get("alignments") or ()
    made.chains = add_alignments(made.chains, alignments, _place_alignment, made.notes)
    return made


def _place_alignment(number: int) -> Path:
    """Return a separate folder for each alignment, by which OpenFold 3 tells them apart."""
    return Path(f"alignment_{number}", ALIGNMENT_FILE)


def _count_atoms(molecule: Any, number: int) -> int:
    if any(not atom.GetAtomicNum() for atom in molecule.GetAtoms()):
        fail(f"Ligand {number} has an atom of no element ('*' in its SMILES). Give a whole molecule.")
    atoms: int = molecule.GetNumHeavyAtoms()
    if atoms < molecule.GetNumAtoms():
        fail(f"Ligand {number} has hydrogen as an atom of its own, which OpenFold 3 leaves out.")
    return atoms


def _count_component_atoms(code: str) -> int:
    from biotite.structure import info

    try:
        elements = info.residue(code).element
    except KeyError:
        elements = ()
    atoms = sum(element not in ("H", "D") for element in elements)
    if not atoms:
        fail(
            f"{code!r} is not a chemical component that OpenFold 3 knows. Give codes of the PDB such as ATP,"
            " HEM or ZN, or the molecule's SMILES as a ligand."
        )
    return atoms


def _refuse_like_texts(chains: Sequence[InputChain]) -> None:
    """Fail if molecules of different kinds have the same text, by which alone OpenFold 3 tells them apart."""
    kinds: dict[str, InputChain] = {}
    for chain in chains:
        first = kinds.setdefault(chain.content, chain)
        if (first.kind, first.form) != (chain.kind, chain.form):
            fail(
                f"Chain {first.id} ({first.kind}) and chain {chain.id} ({chain.kind}) are both written"
                f" {chain.content!r}, and OpenFold 3 would take them for copies of one molecule. Leave one"
                " out, or make it longer by a letter."
            )


def _describe(chain: InputChain) -> dict[str, Any]:
    content: dict[str, Any] = {"molecule_type": chain.kind, "chain_ids": [chain.id]}
    if chain.kind == "ligand":
        value = chain.content if chain.form == "smiles" else [chain.content]
        return {**content, LIGAND_FORMS[chain.form]: value}
    if chain.alignment:
        content["main_msa_file_paths"] = [chain.alignment]
    return {**content, "sequence": chain.content}
