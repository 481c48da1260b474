"""Biological assemblies of a structure, as its file describes them.

A file describes them in ``REMARK 350`` (PDB) or ``_pdbx_struct_assembly_gen`` (mmCIF) as operations on
chains, which gemmi reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gemmi

from foldnote.errors import ArgumentError

MAX_ATOMS = 1_000_000
"""Maximum number of atoms of an assembly that is built; whole capsids have more."""


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


Operation = tuple[float, ...]
"""Rows of a rotation matrix, each followed by its translation in Å: twelve numbers."""


@dataclass(frozen=True)
class AssemblyPart:
    """The part of one chain that an assembly contains, and its positions.

    Attributes:
        chain: the author's chain name.
        numbers: residue numbers with insertion code; None for the whole chain.
        copies: (number, operation) of each copy, those without a motion first. The first copy of a chain has
            its name, the second of chain ``A`` is ``A-2``.
    """

    chain: str
    numbers: tuple[str, ...] | None
    copies: tuple[tuple[int, Operation], ...]


IDENTITY: Operation = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)


def list_parts(structure: gemmi.Structure, name: str) -> tuple[AssemblyPart, ...]:
    """List the parts of an assembly.

    Args:
        structure: the parsed file.
        name: name of one of its assemblies.
    """
    assembly = next(one for one in structure.assemblies if one.name == name)
    operations: dict[tuple[str, tuple[str, ...] | None], list[Operation]] = {}
    for generator in assembly.generators:
        own = [_read_operation(operator.transform) for operator in generator.operators]
        for chain, numbers in _list_members(structure[0], generator):
            operations.setdefault((chain, numbers), []).extend(own)
    order: dict[str, list[Operation]] = {}
    for (chain, _), own in operations.items():
        operators = order.setdefault(chain, [])
        operators.extend(one for one in own if one not in operators)
        operators.sort(key=lambda one: one != IDENTITY)
    return tuple(
        AssemblyPart(
            chain,
            numbers,
            tuple((number, one) for number, one in enumerate(order[chain], 1) if one in own),
        )
        for (chain, numbers), own in operations.items()
    )


def _read_operation(transform: gemmi.Transform) -> Operation:
    rows = zip(transform.mat.tolist(), transform.vec.tolist(), strict=True)
    return tuple(round(value, 6) + 0.0 for row, shift in rows for value in (*row, shift))


def _list_members(
    model: gemmi.Model, generator: gemmi.Assembly.Gen
) -> list[tuple[str, tuple[str, ...] | None]]:
    """Return the chains of a generator, with residue numbers if it uses only a part of a chain."""
    whole, subchains = set(generator.chains), set(generator.subchains)
    members: list[tuple[str, tuple[str, ...] | None]] = []
    for chain in model:
        own = [residue for residue in chain if chain.name in whole or residue.subchain in subchains]
        if len(own) == len(chain):
            members.append((chain.name, None))
        elif own:
            members.append((chain.name, tuple(dict.fromkeys(str(residue.seqid) for residue in own))))
    return members


def list_assemblies(structure: gemmi.Structure) -> tuple[Assembly, ...]:
    """Return the assemblies in the file's order; empty if it describes none."""
    return tuple(
        Assembly(
            assembly.name,
            assembly.oligomeric_details.lower(),
            " and ".join(
                source
                for source, is_source in (
                    ("author", assembly.author_determined),
                    ("software", assembly.software_determined),
                )
                if is_source
            ),
            sum(len(part.operators) for part in assembly.generators),
        )
        for assembly in structure.assemblies
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
    assembly = next((listed for listed in structure.assemblies if listed.name == name), None)
    if assembly is None:
        raise ArgumentError(_explain_unknown(structure, name, file))
    copies = sum(len(part.operators) for part in assembly.generators)
    if copies * structure[0].count_atom_sites() > MAX_ATOMS:
        raise ArgumentError(
            f"Assembly {name} of {file} may have more than {MAX_ATOMS:,} atoms ({copies} operations), which"
            " is too many to draw. Leave assembly= out."
        )
    result = gemmi.Structure()
    result.name, result.cell, result.spacegroup_hm = structure.name, structure.cell, structure.spacegroup_hm
    result.info, result.resolution = structure.info, structure.resolution
    result.add_model(_copy_chains(structure[0], list_parts(structure, name)))
    result.entities = structure.entities
    result.assign_subchains(force=True)
    result.ensure_entities()
    return result


def _copy_chains(model: gemmi.Model, parts: Sequence[AssemblyPart]) -> gemmi.Model:
    """Return a model of the copies: first those with the chains' own names, then the second ones."""
    model_copy = gemmi.Model(1)
    copies: dict[tuple[int, str], gemmi.Chain] = {}
    for part in parts:
        for number, operation in part.copies:
            name = part.chain if number == 1 else f"{part.chain}-{number}"
            copied = copies.setdefault((number, part.chain), gemmi.Chain(name))
            for residue in _move(list_residues(model, part), operation):
                copied.add_residue(residue)
    for key in sorted(copies, key=lambda key: key[0]):
        model_copy.add_chain(copies[key])
    return model_copy


def list_residues(model: gemmi.Model, part: AssemblyPart) -> list[gemmi.Residue]:
    """Return the residues of a model that a part of an assembly uses."""
    numbers = None if part.numbers is None else set(part.numbers)
    return [
        residue
        for chain in model
        if chain.name == part.chain
        for residue in chain
        if numbers is None or str(residue.seqid) in numbers
    ]


def _move(residues: Sequence[gemmi.Residue], operation: Operation) -> gemmi.Chain:
    """Return the copies of residues, with their displacement parameters, after an operation."""
    model = gemmi.Model(1)
    chain = gemmi.Chain("A")
    for residue in residues:
        chain.add_residue(residue)
    model.add_chain(chain)
    rows = [list(operation[row : row + 3]) for row in (0, 4, 8)]
    model.transform_pos_and_adp(gemmi.Transform(gemmi.Mat33(rows), gemmi.Vec3(*operation[3::4])))
    return model[0]


def join_models(structure: gemmi.Structure) -> gemmi.Structure:
    """Join all models to one: chains of the first keep their names, those of model 2 are ``A-2`` and so on.

    Files of biological assemblies (``.pdb1``) contain each copy as a model.
    """
    joined = gemmi.Structure()
    joined.name, joined.cell, joined.spacegroup_hm = structure.name, structure.cell, structure.spacegroup_hm
    joined.info, joined.resolution = structure.info, structure.resolution
    joined.add_model(structure[0].clone())
    for number, model in enumerate(structure, 1):
        for chain in model if number > 1 else ():
            copy = chain.clone()
            copy.name = f"{chain.name}-{number}"
            joined[0].add_chain(copy)
    joined.entities = structure.entities
    joined.assign_subchains(force=True)
    joined.ensure_entities()
    return joined


def _explain_unknown(structure: gemmi.Structure, name: str, file: str) -> str:
    names = [
        f"{assembly.name} ({assembly.description})" if assembly.description else assembly.name
        for assembly in list_assemblies(structure)
    ]
    if not names:
        return (
            f"{file} describes no biological assembly (REMARK 350 or _pdbx_struct_assembly_gen). Leave"
            " assembly= out."
        )
    return f"{file} has no assembly {name!r}. It has {', '.join(names)}."
