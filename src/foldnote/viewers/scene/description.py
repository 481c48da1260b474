"""Describe a structure in words, as the text alternative of its picture.

Confidence is given only if the structure has one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from foldnote.results import Region, Structure
from foldnote.results.sequences.antibody_numbering import name_scheme
from foldnote.text import count
from foldnote.viewers.scene.model import SceneChain

Facts = tuple[tuple[str, str], ...]


def describe(
    structure: Structure,
    chains: Sequence[SceneChain],
    cdrs: Sequence[tuple[Region, tuple[str, ...]]] = (),
) -> Facts:
    """Return (term, description) pairs, the most important first.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    facts = [(chain.label, f"{chain.kind}, {count(chain.length, 'residue')}") for chain in chains]
    facts += [(region.label, f"{region.sequence}, residues {span(numbers)}") for region, numbers in cdrs]
    facts.append(("Secondary structure", _describe_secondary(structure)))
    facts.append(("Ligands and ions", list_counts(ligand.name for ligand in structure.ligands) or "none"))
    if structure.waters:
        facts.append(("Water", f"{count(structure.waters, 'molecule')}, not drawn"))
    if structure.models > 1:
        facts.append(("Models", f"{structure.models}; the first is described"))
    facts.append(("Biological assemblies", _describe_assemblies(structure)))
    facts.append(("Confidence", _describe_confidence(structure)))
    return tuple(fact for fact in facts if fact[1])


def find_marking(cdrs: Sequence[Region]) -> str:
    """Return the heading of the CDRs in the legend: their definition and numbering; empty without CDRs."""
    if not cdrs:
        return ""
    definition, scheme = name_scheme(cdrs[0].definition), name_scheme(cdrs[0].scheme)
    return f"CDRs by the {definition} definition, {scheme} numbering"


def span(numbers: Sequence[str]) -> str:
    """Format the first and last of residue numbers, such as ``27–38``; a single number unchanged."""
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"


def _describe_secondary(structure: Structure) -> str:
    shares = structure.secondary
    if not shares:
        return ""
    parts = [f"{kind} {share:.0%}" for kind, share in shares.items()]
    return ", ".join(parts) + f" of protein residues ({structure.secondary_method})"


def _describe_assemblies(structure: Structure) -> str:
    """Describe the assemblies that differ from the file's content, with the call that shows one."""
    assemblies = structure.assemblies
    if not any(assembly.copies > 1 for assembly in assemblies):
        return ""
    names = ", ".join(
        f"{assembly.name} ({assembly.description})" if assembly.description else assembly.name
        for assembly in assemblies[:8]
    )
    multiple = next(assembly.name for assembly in assemblies if assembly.copies > 1)
    return f"{names}; fn.view(…, assembly={multiple!r}) shows one"


def _describe_confidence(structure: Structure) -> str:
    mean, errors = structure.mean_plddt, structure.predicted_error
    if mean is not None:
        return f"mean pLDDT {mean:.1f} of 100"
    if errors is not None:
        return f"predicted error, mean {errors['error'].mean():.2f} Å (lower is better); no pLDDT"
    return "none in this result"


def list_counts(names: Iterable[str]) -> str:
    """Format names with their counts, such as ``ZN ×3, ATP``; at most eight."""
    counts = Counter(names)
    listed = [name if number == 1 else f"{name} ×{number}" for name, number in counts.most_common(8)]
    further = len(counts) - len(listed)
    return ", ".join(listed) + (f" and {further} more" if further > 0 else "")
