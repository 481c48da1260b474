"""Decide from the settings which residues of which chains are designed."""

from __future__ import annotations

from typing import Any

from backbones import UNKNOWN, Backbone, BackboneResidue, name_some
from engine_protocol import fail

PARTS = {"FW": "fr", "CDR": "cdr"}
CDRS = [f"CDR{letter}{number}" for letter in "HL" for number in (1, 2, 3)]


def choose_positions(settings: dict[str, Any], found: Backbone) -> tuple[dict[str, set[int]], dict[str, Any]]:
    """Return the indices of the designed residues by chain, and computed settings."""
    listed = read_listed("designedResidues", settings, found)
    given = [name.split() for name in settings.get("designedChains") or []]
    names = [name for entry in given for name in entry]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        fail(f"Chain {repeated[0]} is given twice in designedChains.")
    for name in [*names, *listed]:
        if name not in found.chains:
            fail(f"The structure has no protein chain {name}. It has {', '.join(found.chains)}.")
    if names and (outside := sorted(set(listed) - set(names))):
        fail(f"designedResidues names chain {outside[0]}, which is not among designedChains.")
    computed: dict[str, Any] = {}
    if settings.get("detectCDRs"):
        regions = list(settings.get("regions") or CDRS)
        chosen = find_regions(read_pairs(given), regions, found)
        computed["regions"] = regions
        for chain, indices in listed.items():
            chosen[chain] = chosen.get(chain, set()) | indices
        if listed:
            found.notes.append("The residues of designedResidues are designed beside those of the regions.")
    elif settings.get("regions"):
        fail("regions are designed only with detectCDRs. Turn it on, or leave regions out.")
    else:
        names = names or list(listed or found.chains)
        chosen = {name: listed.get(name, set(range(len(found.chains[name])))) for name in names}
        computed["designedChains"] = names
    fixed = read_listed("fixedResidues", settings, found)
    chosen = {
        chain: {
            index for index in indices - fixed.get(chain, set()) if found.chains[chain][index].is_designable
        }
        for chain, indices in chosen.items()
    }
    chosen = {chain: indices for chain, indices in chosen.items() if indices}
    if not chosen:
        fail(
            "None of the chosen residues can be designed: they are fixed, lack backbone atoms or are no amino"
            " acid."
        )
    return chosen, computed


def tie_chains(found: Backbone, chosen: dict[str, set[int]]) -> list[dict[str, list[int]]]:
    """Return, for each number shared by designed residues of several chains, positions (from 1) by chain."""
    groups: dict[str, dict[str, list[int]]] = {}
    for chain in sorted(chosen):
        for index in sorted(chosen[chain]):
            groups.setdefault(found.chains[chain][index].number, {})[chain] = [index + 1]
    ties = [group for group in groups.values() if len(group) > 1]
    if not ties:
        fail(
            "With sameSequence, residues of different chains that have the same number get the same amino"
            " acid, and no two designed residues have. Design several chains that are numbered alike."
        )
    if alone := len(groups) - len(ties):
        found.notes.append(f"{alone} designed residues have no residue of their number in another chain.")
    return ties


def read_listed(setting: str, settings: dict[str, Any], found: Backbone) -> dict[str, set[int]]:
    """Return indices of the residues in ``setting``, by chain; ``105-107`` is a range in file order."""
    listed: dict[str, set[int]] = {}
    for chain, text in (settings.get(setting) or {}).items():
        if chain not in found.chains:
            fail(f"The structure has no protein chain {chain}. It has {', '.join(found.chains)}.")
        numbers = {each.number: index for index, each in enumerate(found.chains[chain]) if each.number}
        indices: set[int] = set()
        for word in text.replace(",", " ").split():
            indices |= read_word(word, chain, numbers)
        if not indices:
            fail(f"{setting} names no residue of chain {chain}.")
        kept = [
            f"{chain}{found.chains[chain][index].number}"
            for index in sorted(indices)
            if not found.chains[chain][index].is_designable
        ]
        if kept and setting == "designedResidues":
            found.notes.append(f"Asked for and not designed: {name_some(kept)}.")
        listed[chain] = indices
    return listed


def read_word(word: str, chain: str, numbers: dict[str, int]) -> set[int]:
    """Return the index of one number, or of all residues in the file from one to another."""
    if word in numbers:
        return {numbers[word]}
    first, _, last = word[1:].partition("-")
    first = word[0] + first
    if first not in numbers or last not in numbers or numbers[first] > numbers[last]:
        fail(
            f"Chain {chain} has no residue {word}. Numbers are those of the file, with the insertion letter."
        )
    return set(range(numbers[first], numbers[last] + 1))


def read_pairs(given: list[list[str]]) -> list[tuple[str, str]]:
    """Return the heavy and light chain of each antibody."""
    if len(given) == 2 and all(len(entry) == 1 for entry in given):
        given = [[given[0][0], given[1][0]]]
    pairs = [(entry[0], entry[1]) for entry in given if len(entry) == 2]
    if not pairs or len(pairs) < len(given):
        fail("With detectCDRs, give designedChains as a pair 'H L', heavy before light.")
    return pairs


def find_regions(pairs: list[tuple[str, str]], regions: list[str], found: Backbone) -> dict[str, set[int]]:
    """Return the indices of the residues of the regions, by chain."""
    import immunum

    chosen: dict[str, set[int]] = {}
    for pair in pairs:
        for letter, chain, kinds in zip("HL", pair, (["H"], ["K", "L"]), strict=True):
            bounds = find_bounds(immunum, chain, kinds, found.chains[chain], letter)
            wanted = [name for name in regions if name[-2] == letter]
            for name in wanted:
                indices = bounds[PARTS[name[:-2]] + name[-1]]
                if not indices:
                    found.notes.append(f"Chain {chain} has no residues in {name}.")
                chosen.setdefault(chain, set()).update(indices)
    if not any(chosen.values()):
        fail(f"The chains have no residues in {', '.join(regions)}.")
    found.notes.append(
        "CDRs and frameworks are those of IMGT's definition (Lefranc et al. 2003), numbered by immunum."
    )
    return chosen


def find_bounds(
    immunum: Any, chain: str, kinds: list[str], residues: list[BackboneResidue], letter: str
) -> dict[str, list[int]]:
    """Return the indices of the residues of each framework and CDR of a chain."""
    present = [index for index, each in enumerate(residues) if each.number]
    sequence = "".join(residues[index].letter for index in present)
    kind = "heavy" if letter == "H" else "light"
    try:
        numbered = immunum.Annotator(chains=["H", "K", "L"], scheme="imgt").number(sequence)
        parts = immunum.Annotator(chains=kinds, scheme="imgt").segment(sequence)
    except (RuntimeError, ValueError) as exc:
        fail(f"Chain {chain} cannot be numbered as a {kind} chain: {' '.join(str(exc).split())[:200]}")
    if numbered.error or parts.error:
        reason = numbered.error or parts.error
        fail(f"Chain {chain} is not recognised as a {kind} chain of an antibody: {reason}.")
    if numbered.chain not in kinds:
        fail(f"Chain {chain} is not a {kind} chain. Name the heavy chain before the light one.")
    start = len(parts.prefix)
    bounds: dict[str, list[int]] = {}
    for name in ("fr1", "cdr1", "fr2", "cdr2", "fr3", "cdr3", "fr4"):
        text = getattr(parts, name) or ""
        if sequence[start : start + len(text)] != text:
            fail(f"The regions of chain {chain} cannot be told apart. Name the residues in designedResidues.")
        bounds[name] = present[start : start + len(text)]
        start += len(text)
    return bounds


def join_sequence(residues: list[BackboneResidue], letters: dict[int, str] | None = None) -> str:
    """Return the chain in one-letter code without missing residues; ``letters`` replaces some by index."""
    changed = letters or {}
    return "".join(
        changed.get(index, each.letter or UNKNOWN) for index, each in enumerate(residues) if each.number
    )
