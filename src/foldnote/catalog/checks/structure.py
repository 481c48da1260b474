"""Checks of settings that refer to a structure: chain ids, residue numbers, structure ids, CDR indices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from foldnote.catalog.checks.row import CheckContext, CheckRow, Finding, matches, shorten
from foldnote.catalog.contents import (
    is_inline,
    list_pdb_chains,
    list_pdb_residues,
    read_lines,
    read_residue_number,
)
from foldnote.catalog.sequences import clean_sequence
from foldnote.text import count

_CHAIN_ID = re.compile(r"[A-Za-z0-9]{1,4}", re.ASCII)
_RESIDUE_OF_CHAIN = re.compile(r"([A-Za-z0-9]{1,4}):-?\d+[A-Za-z]?(?:-\S*)?", re.ASCII)
_RESIDUE = re.compile(r"-?\d{1,5}[A-Za-z]?", re.ASCII)
_RANGE = re.compile(rf"({_RESIDUE.pattern})-({_RESIDUE.pattern})", re.ASCII)
_RESIDUE_LIST = re.compile(r"[A-Za-z0-9 ,:\-]*", re.ASCII)
_STRUCTURE_ID = re.compile(r"[A-Za-z0-9]{4}", re.ASCII)
_CHAIN_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_CONTIG_BREAK = re.compile(r"/0(?=[\s,/]|$)")
_CONTIG_PART = re.compile(r"(?:([A-Za-z]):?)?(\d{1,6})(?:-([A-Za-z]?)(\d{1,6}))?", re.ASCII)
_SHOWN_CHAINS = 62
"""The number of one-character chain ids."""
_CDR_INDICES = frozenset("01234567")
_CDR_MEANING = "is not a CDR index: 0 to 3 are CDR1A to CDR3A, 4 to 7 are CDR1B to CDR3B"


def check_chain_id(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check a chain id, against the structure if its contents are given."""
    if not value.strip():
        if context.required:
            yield context.find("This is empty. Give the id of a chain, for example A.", "empty")
        return
    fault = _find_chain_fault(value, context, _known_chains(context.other))
    if fault:
        yield context.find(fault, "bad_chain")


def check_chain_ids(value: Sequence[str], context: CheckContext) -> Iterator[Finding]:
    """Check chain ids or pairs such as 'H L', each chain at most once."""
    if not value and context.required:
        yield context.find("This is empty. Give the id of at least one chain.", "empty")
    known, seen = _known_chains(context.other), set[str]()
    for number, entry in enumerate(value):
        ids = entry.split()
        fault = next((fault for one in ids if (fault := _find_chain_fault(one, context, known))), None)
        if not ids or len(ids) > 2:
            fault = f"{shorten(entry)} is neither a chain id such as H nor a pair such as 'H L'."
        repeated = seen.intersection(ids)
        if not fault and repeated:
            fault = f"Chain {sorted(repeated)[0]} is given twice. Name each chain once."
        seen.update(ids)
        if fault:
            yield context.find(fault, "bad_chain", number)


def check_chain_pair(value: Sequence[str], context: CheckContext) -> Iterator[Finding]:
    """Check that the chains are a heavy and a light one if the condition ``pairWhen`` holds."""
    condition = context.notes.get("pairWhen")
    if not condition or not matches(condition, context.settings):
        return
    entries = [entry.split() for entry in value]
    is_pair = len(entries) == 2 and all(len(ids) == 1 for ids in entries)
    if not is_pair and not (entries and all(len(ids) == 2 for ids in entries)):
        conditions = " and ".join(condition)
        message = f"With {conditions}, give the chains as a pair 'H L', heavy before light."
        yield context.find(message, "chain_pair_needed")


def check_chains_given(value: bool, context: CheckContext) -> Iterator[Finding]:
    """Check that the chains are given if a switch that applies to them is on."""
    if value and context.other is None:
        message = f"This needs {context.other_name}: give the chains as a pair 'H L', heavy before light."
        yield context.find(message, "chain_pair_needed")


def check_residue_map(value: Mapping[str, str], context: CheckContext) -> Iterator[Finding]:
    """Check a mapping of chain ids to residue numbers and ranges separated by spaces."""
    known = _known_chains(context.other)
    for chain, residues in value.items():
        fault = _find_chain_fault(chain, context, known)
        wrong = next((wrong for word in residues.split() if (wrong := _find_residue_fault(word))), None)
        if fault:
            yield context.find(fault, "bad_chain", chain)
        elif wrong:
            yield context.find(wrong, "bad_residue", chain)
        elif not residues.strip():
            message = f"No residues are given for chain {chain}. Give their numbers, or leave the chain out."
            yield context.find(message, "empty", chain)


def _find_residue_fault(word: str) -> str:
    """Explain why this is neither a residue number nor a range of them; empty if it is."""
    found = _RANGE.fullmatch(word)
    if found and read_residue_number(found[1]) > read_residue_number(found[2]):
        return f"{shorten(word)} is in descending order: write the smaller number first."
    if found or _RESIDUE.fullmatch(word):
        return ""
    return (
        f"{shorten(word)} is not a residue number. Separate numbers by spaces, with a hyphen for a range:"
        " 26-33 52A."
    )


def _expand(text: str, numbers: Sequence[str]) -> Iterator[str]:
    """Yield the residues that ``text`` names, ranges in the order of ``numbers``."""
    for word in text.split():
        found = _RANGE.fullmatch(word)
        if found is None:
            yield word
        elif found[1] not in numbers or found[2] not in numbers:
            yield from found.groups()
        else:
            yield from numbers[numbers.index(found[1]) : numbers.index(found[2]) + 1]


def check_turning_residues(value: Mapping[str, str], context: CheckContext) -> Iterator[Finding]:
    """Check that side chains can turn, by the note ``turning``, if the contents of a PDB are given."""
    rule, text = context.notes.get("turning") or {}, context.other
    known = list_pdb_residues(text) if isinstance(text, str) and is_inline(text) else {}
    chains: dict[str, list[str]] = {}
    for chain, number in known:
        chains.setdefault(chain, []).append(number)
    asked = [
        (chain, number)
        for chain, numbers in value.items()
        if chain in chains  # check_residue_map reports unknown chains
        for number in _expand(numbers, chains[chain])
    ]
    missing = next((key for key in asked if key not in known), None)
    if missing is not None:
        message = f"{context.other_name} has no residue {shorten(':'.join(missing))}."
        yield context.find(message, "no_residue", missing[0])
        return
    residues = [(f"{known[key]} {':'.join(key)}", known[key]) for key in dict.fromkeys(asked)]
    fault = find_turning_fault(residues, rule)
    if fault:
        yield context.find(fault, "cannot_turn")


def find_turning_fault(residues: Sequence[tuple[str, str]], rule: Mapping[str, Any]) -> str:
    """Explain why side chains cannot be searched, as a sentence; empty if they can, or it is not known.

    Args:
        residues: for each residue, its label in messages and its three-letter name.
        rule: the note ``turning``: ``bonds`` that turn in the side chain of each residue name, and how many
            may turn together at ``most``.
    """
    bonds, most = rule.get("bonds") or {}, rule.get("most")
    held = next((label for label, name in residues if bonds.get(name) == 0), None)
    if held is not None:
        return f"{held} cannot be flexible: it has no side chain that can turn. Leave it out."
    total = count_turning_bonds((name for _, name in residues), rule)
    if most is not None and total > most:
        return (
            f"{total} bonds of these side chains would turn. At most {most} turn together, with the ligand's."
            " Choose fewer residues."
        )
    return ""


def count_turning_bonds(names: Iterable[str], rule: Mapping[str, Any]) -> int:
    """Count the rotatable side-chain bonds of residues, given by three-letter names, by ``turning``."""
    bonds: Mapping[str, int] = rule.get("bonds") or {}
    return sum(bonds.get(name, 0) for name in names)


def check_residue_list(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that residue numbers consist of digits, insertion codes, spaces, commas, hyphens and colons."""
    if not _RESIDUE_LIST.fullmatch(value):
        message = f"{shorten(value)} is not a list of residue numbers. Separate numbers by spaces: 26 27 52A."
        yield context.find(message, "bad_residue")


def check_contig(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check the parts of a contig: lengths, and residues of chains; they must exist in a given structure."""
    known = _known_chains(context.other)
    for chain in _CONTIG_BREAK.split(value) if value.strip() else ():
        parts = [word for word in re.split(r"[\s,/]+", chain) if word]
        if not parts:
            message = "A chain has no parts. Put /0 between two chains only: 60-80,/0,A1-90."
            yield context.find(message, "empty")
            return
        for part in parts:
            fault = _find_part_fault(part, context, known)
            if fault:
                yield context.find(fault, "bad_contig")
                return


def check_structure_ids(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check structure ids of four letters or digits, separated by spaces."""
    yield from _check_words(
        value, context, _STRUCTURE_ID.fullmatch, "is not a structure id: four letters and digits such as 1oga"
    )


def check_cdr_indices(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check CDR indices from 0 to 7, separated by spaces, each at most once."""
    yield from _check_words(
        value,
        context,
        _CDR_INDICES.__contains__,
        _CDR_MEANING,
    )
    words = value.split()
    if len(set(words)) < len(words):
        yield context.find("An index is given twice. Name each CDR once.", "repeated")


def check_chains_match(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that a template has as many chains as the target sequence."""
    if not is_inline(value) or not isinstance(context.other, str):
        return
    chains = context.other_notes.get("chains") or {}
    expected = clean_sequence(context.other).count(str(chains.get("separator") or ":")) + 1
    found = len(list_pdb_chains(value, with_ligands=False))
    if found and found != expected:
        message = (
            f"The template has {count(found, 'chain')}, {context.other_name} has {expected}."
            " It must have the same number of chains as the target."
        )
        yield context.find(message, "chain_count_differs")


def check_crosslinks(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check lines of residue, chain, residue, chain, FDR; residues and chains must exist in the sequence."""
    if not is_inline(value):
        return
    given = clean_sequence(context.other) if isinstance(context.other, str) else None
    chains = () if given is None else given.split(":", len(_CHAIN_NAMES))
    for number, line in enumerate(read_lines(value), 1):
        fault = _find_crosslink_fault(line.split(None, 5), chains)
        if line.strip() and fault:
            yield context.find(f"Line {number}: {fault}", "bad_crosslink")
            return


def _check_words(
    value: str, context: CheckContext, is_valid: Callable[[str], object], wrong: str
) -> Iterator[Finding]:
    words = value.split()
    if not words:
        yield context.find("This is empty. Give at least one, separated by spaces.", "empty")
    for word in words:
        if not is_valid(word):
            yield context.find(f"{shorten(word)} {wrong}. Separate them by spaces.", "bad_word")
            return


def _find_chain_fault(chain: str, context: CheckContext, known: Mapping[str, None]) -> str | None:
    if found := _RESIDUE_OF_CHAIN.fullmatch(chain):
        return f"{shorten(chain)} names a residue. Give its chain alone: {found[1]}."
    if not _CHAIN_ID.fullmatch(chain):
        return f"{shorten(chain)} is not a chain id. Write one letter or digit, such as H (at most four)."
    if known and chain not in known:
        listed = ", ".join(islice(known, _SHOWN_CHAINS)) + (", …" if len(known) > _SHOWN_CHAINS else "")
        return f"{context.other_name} has no chain {shorten(chain)}. It has: {listed}."
    return None


def _find_part_fault(part: str, context: CheckContext, known: Mapping[str, None]) -> str | None:
    found = _CONTIG_PART.fullmatch(part)
    if not found:
        return (
            f"{shorten(part)} is neither a length such as 60-80 nor residues such as A5-45."
            " Separate parts by commas, and chains by /0."
        )
    chain, first, last_chain, last = found.groups()
    if (last_chain and last_chain != chain) or int(last or first) < int(first):
        return f"{shorten(part)} is not a range within one chain, start before end, such as A5-45."
    if chain is None:
        return None
    if context.other is None:
        return f"{shorten(part)} refers to a structure, but {context.other_name} is not given."
    return _find_chain_fault(chain, context, known)


def _known_chains(structure: object) -> dict[str, None]:
    """Return the chains common to all given structures, in order; empty if the contents are not given."""
    files = structure if isinstance(structure, list) else [structure]
    texts = [text for text in files if isinstance(text, str) and is_inline(text)]
    if not texts or len(texts) < len(files):
        return {}
    first, *rest = (dict.fromkeys(list_pdb_chains(text)) for text in texts)
    return {chain: None for chain in first if all(chain in chains for chains in rest)}


def _find_crosslink_fault(words: Sequence[str], chains: Sequence[str]) -> str | None:
    if len(words) != 5:
        return "write residue index, chain, residue index, chain, FDR, separated by white space."
    for residue, chain in (words[0:2], words[2:4]):
        fault = _find_site_fault(residue, chain, chains)
        if fault:
            return fault
    return None if _is_fraction(words[4]) else f"the FDR {shorten(words[4])} is not a number from 0 to 1."


def _find_site_fault(residue: str, chain: str, chains: Sequence[str]) -> str | None:
    if not (residue.isascii() and residue.isdigit()) or int(residue[:9]) < 1:
        return f"{shorten(residue)} is not a residue index; residues are counted from 1."
    names = dict(zip(_CHAIN_NAMES, chains, strict=False))
    if names and chain not in names:
        return f"there is no chain {shorten(chain)}; the chains are {', '.join(names)}."
    if names and int(residue[:9]) > len(names[chain]):
        return f"chain {chain} has {len(names[chain])} residues, so there is no residue {residue[:9]}."
    return None


def _is_fraction(text: str) -> bool:
    try:
        return 0.0 <= float(text) <= 1.0
    except ValueError:
        return False


ROWS: Final = (
    CheckRow("chain-id", check_chain_id, "one chain id that the structure has"),
    CheckRow("chain-ids", check_chain_ids, "chain ids or pairs such as 'H L', each named once", "texts"),
    CheckRow("chain-pair", check_chain_pair, "chains as a pair 'H L' under a condition", "texts"),
    CheckRow("chains-given", check_chains_given, "a switch that needs its chains", "switch"),
    CheckRow(
        "residue-map", check_residue_map, "residue numbers and ranges separated by spaces, by chain id", "map"
    ),
    CheckRow("turning-residues", check_turning_residues, "side chains that can turn, not too many", "map"),
    CheckRow("residue-list", check_residue_list, "residue numbers"),
    CheckRow("contig", check_contig, "lengths and residues of a structure, chains separated by /0"),
    CheckRow("structure-ids", check_structure_ids, "ids of four letters and digits, separated by spaces"),
    CheckRow("cdr-indices", check_cdr_indices, "indices 0 to 7, separated by spaces, each once"),
    CheckRow("same-chain-count", check_chains_match, "as many chains as the sequence"),
    CheckRow("crosslink-lines", check_crosslinks, "residue, chain, residue, chain, FDR in each line"),
)
