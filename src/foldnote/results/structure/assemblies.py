"""Biological assemblies of a structure, as its file describes them.

A file describes them in ``REMARK 350`` (PDB) or ``_pdbx_struct_assembly_gen`` (mmCIF) as operations on
chains, which gemmi carries out.
"""

from __future__ import annotations

from dataclasses import dataclass

import gemmi

from foldnote.errors import ArgumentError

MAX_ATOMS = 1_000_000
"""Larger assemblies, such as those of whole capsids, are not made."""


@dataclass(frozen=True)
class Assembly:
    """A biological assembly that a file describes.

    Attributes:
        name: its name in the file, usually a number.
        description: its oligomeric state in the file's words, such as ``tetrameric``; may be empty.
        source: who determined it: ``author``, ``software``, ``author and software`` or "".
        copies: number of operations; chains are copied by each that applies to them.
    """

    name: str
    description: str
    source: str
    copies: int


def list_assemblies(structure: gemmi.Structure) -> tuple[Assembly, ...]:
    """The assemblies in the file's order; empty if it describes none."""
    return tuple(
        Assembly(
            one.name,
            one.oligomeric_details.lower(),
            " and ".join(
                word
                for word, is_source in (
                    ("author", one.author_determined),
                    ("software", one.software_determined),
                )
                if is_source
            ),
            sum(len(part.operators) for part in one.generators),
        )
        for one in structure.assemblies
    )


def make_assembly(structure: gemmi.Structure, name: str, file: str) -> gemmi.Structure:
    """Make an assembly from the first model.

    The first copy of each chain keeps its name, the others have names such as ``A-2``.

    Args:
        structure: the parsed file.
        name: name of the assembly.
        file: the file's name, for messages.

    Raises:
        ArgumentError: there is no such assembly, or it has more than a million atoms.
    """
    found = next((one for one in structure.assemblies if one.name == name), None)
    if found is None:
        raise ArgumentError(_explain_unknown(structure, name, file))
    copies = sum(len(part.operators) for part in found.generators)
    if copies * structure[0].count_atom_sites() > MAX_ATOMS:
        raise ArgumentError(
            f"Assembly {name} of {file} may have more than {MAX_ATOMS:,} atoms ({copies} operations), which"
            " is too many to draw. Leave assembly= out."
        )
    made = gemmi.Structure()
    made.name, made.cell, made.spacegroup_hm = structure.name, structure.cell, structure.spacegroup_hm
    made.info, made.resolution = structure.info, structure.resolution
    made.add_model(gemmi.make_assembly(found, structure[0], gemmi.HowToNameCopiedChain.AddNumber))
    _rename_chains(made[0], [chain.name for chain in structure[0]])
    made.entities = structure.entities
    made.assign_subchains(force=True)
    made.ensure_entities()
    return made


def join_models(structure: gemmi.Structure) -> gemmi.Structure:
    """One model of all models: chains of the first keep their names, those of model 2 are ``A-2`` and so on.

    Files of biological assemblies (``.pdb1``) have each copy as a model.
    """
    made = gemmi.Structure()
    made.name, made.cell, made.spacegroup_hm = structure.name, structure.cell, structure.spacegroup_hm
    made.info, made.resolution = structure.info, structure.resolution
    made.add_model(structure[0].clone())
    for number, model in enumerate(structure, 1):
        for chain in model if number > 1 else ():
            copy = chain.clone()
            copy.name = f"{chain.name}-{number}"
            made[0].add_chain(copy)
    made.entities = structure.entities
    made.assign_subchains(force=True)
    made.ensure_entities()
    return made


def _rename_chains(model: gemmi.Model, originals: list[str]) -> None:
    """Name copies ``A``, ``A-2``, … where gemmi wrote ``A1``, ``A2``, …; ambiguous names stay."""
    renamed: dict[str, str] = {}
    for chain in model:
        own = [one for one in originals if chain.name.startswith(one) and chain.name[len(one) :].isdigit()]
        if len(own) == 1:
            number = chain.name[len(own[0]) :]
            renamed[chain.name] = own[0] if number == "1" else f"{own[0]}-{number}"
    for chain in model:
        chain.name = renamed.get(chain.name, chain.name)


def _explain_unknown(structure: gemmi.Structure, name: str, file: str) -> str:
    known = [
        f"{one.name} ({one.description})" if one.description else one.name
        for one in list_assemblies(structure)
    ]
    if not known:
        return (
            f"{file} describes no biological assembly (REMARK 350 or _pdbx_struct_assembly_gen). Leave"
            " assembly= out."
        )
    return f"{file} has no assembly {name!r}. It has {', '.join(known)}."
