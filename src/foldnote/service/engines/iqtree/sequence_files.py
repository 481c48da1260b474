"""Read FASTA, Clustal and PHYLIP, and clean the sequences: letters, gaps, names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import NoReturn

from engine_protocol import fail

FEWEST = 3
GAPS = "-.~"
AMINO_ACIDS = frozenset("ACDEFGHIKLMNPQRSTVWYBZJX")
NUCLEOTIDES = frozenset("ACGTRYSWKMBDHVN")
PLAIN_NUCLEOTIDES = frozenset("ACGTUN-")
RARE = "UO"
"""Selenocysteine and pyrrolysine, which no model has."""
MAX_NAMED = 5


@dataclass(frozen=True)
class Sequence:
    """One sequence: its name, which is unique in the file, and its letters with ``-`` for a gap."""

    name: str
    letters: str

    @property
    def ungapped(self) -> str:
        """The letters alone."""
        return self.letters.replace("-", "")


def read_sequences(text: str, mode: str, notes: list[str]) -> list[Sequence]:
    """Read sequences with clean letters and unique names; changes are added to the notes."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if not lines:
        fail("The file of sequences is empty. Give at least 3 sequences as FASTA, Clustal or PHYLIP.")
    if lines[0].startswith(">"):
        records = read_fasta(lines)
    elif lines[0][:20].upper().startswith(("CLUSTAL", "MUSCLE")):
        records = read_clustal(lines[1:])
    elif re.match(r"\s*\d+\s+\d+(\s|$)", lines[0]):
        records = read_phylip(lines)
    else:
        fail(
            "The file is neither FASTA (its first line begins with >) nor Clustal (it begins with CLUSTAL)"
            " nor PHYLIP (it begins with the numbers of sequences and sites)."
        )
    if len(records) < FEWEST:
        fail(f"The file has {len(records)} sequence(s); at least {FEWEST} are needed.")
    names = make_names([head for head, _ in records], notes)
    letters = clean_letters([letters for _, letters in records], names, mode, notes)
    return [Sequence(name, each) for name, each in zip(names, letters, strict=True)]


def read_fasta(lines: list[str]) -> list[tuple[str, str]]:
    """Read headers and letters."""
    records: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith(">"):
            records.append((line[1:].strip(), []))
        elif not line.startswith(";"):
            records[-1][1].append(line)
    return [(head, "".join("".join(parts).split())) for head, parts in records]


def read_clustal(lines: list[str]) -> list[tuple[str, str]]:
    """Read names and letters; join blocks of one name, and skip lines of conservation."""
    parts: dict[str, list[str]] = {}
    for line in lines:
        words = line.split()
        if not line[0].isspace() and len(words) >= 2:
            parts.setdefault(words[0], []).append(words[1])
    return [(name, "".join(letters)) for name, letters in parts.items()]


def read_phylip(lines: list[str]) -> list[tuple[str, str]]:
    """Read names and letters of a relaxed, a strict, an interleaved or a sequential file."""
    count, sites = (int(word) for word in lines[0].split()[:2])
    body = lines[1:]
    readings = (
        read(body, count, sites, is_strict=is_strict)
        for read in (read_interleaved, read_sequential)
        for is_strict in (False, True)
    )
    fitting = (each for each in readings if each and all(len(letters) == sites for _, letters in each))
    records = next(fitting, [])
    if not records:
        fail(
            f"The PHYLIP file does not contain the {count} sequences of {sites} sites that its first line"
            " declares. Check these two numbers, or give FASTA."
        )
    return records


def split_phylip(line: str, *, is_strict: bool) -> tuple[str, str]:
    """Split a line into name and letters: ten columns of name, or all before the first space."""
    name, letters = (line[:10], line[10:]) if is_strict else ([*line.split(None, 1), "", ""])[:2]
    return name.strip(), "".join(letters.split())


def read_interleaved(lines: list[str], count: int, sites: int, *, is_strict: bool) -> list[tuple[str, str]]:
    """Read blocks of ``count`` lines, the first with the names; empty if the lines do not match."""
    del sites
    if count < 1 or len(lines) % count:
        return []
    records = [split_phylip(line, is_strict=is_strict) for line in lines[:count]]
    names = {name for name, _ in records}
    for place, line in enumerate(lines[count:]):
        name, letters = records[place % count]
        words = line.split()
        joined = words[1:] if len(words) > 1 and words[0] in names else words
        records[place % count] = (name, letters + "".join(joined))
    return records


def read_sequential(lines: list[str], count: int, sites: int, *, is_strict: bool) -> list[tuple[str, str]]:
    """Read one sequence after another, each over as many lines as its sites need; empty if that fails."""
    records: list[tuple[str, str]] = []
    rest = iter(lines)
    for line in rest:
        name, letters = split_phylip(line, is_strict=is_strict)
        while len(letters) < sites and (more := next(rest, None)) is not None:
            letters += "".join(more.split())
        records.append((name, letters))
    return records if len(records) == count else []


def make_names(heads: list[str], notes: list[str]) -> list[str]:
    """Make a name for each header: its first word, or all of it if first words repeat, else with a number."""
    words = [(head.split(None, 1) or [""])[0] or f"sequence_{place}" for place, head in enumerate(heads, 1)]
    repeated = {word for word, times in Counter(words).items() if times > 1}
    if not repeated:
        return words
    wholes = ["_".join(head.split()) or word for head, word in zip(heads, words, strict=True)]
    if len(set(wholes)) == len(wholes):
        notes.append(
            "The first words of the headers are not unique, so the whole headers are the names,"
            " with _ for spaces."
        )
        return wholes
    taken, names = set(words), []
    for word in words:
        name, number = word, 0
        while word in repeated and name in taken:
            number += 1
            name = f"{word}_{number}"
        taken.add(name)
        names.append(name)
    notes.append(f"Repeated names were numbered: {shorten_list(sorted(repeated))}.")
    return names


def clean_letters(raw: list[str], names: list[str], mode: str, notes: list[str]) -> list[str]:
    """Return capitals, ``-`` for gaps, T for U, and the kind's unknown letter; fail for other letters."""
    capitals = [re.sub(f"[{re.escape(GAPS)}]", "-", letters.upper()) for letters in raw]
    unknown = "-X?" if mode == "AA" else "-NX?"
    for name, letters in zip(names, capitals, strict=True):
        if not letters.strip(unknown):
            fail(f"The sequence {name} has no known letters. Remove it.")
    if mode == "AA" and all(set(letters) <= PLAIN_NUCLEOTIDES for letters in capitals):
        fail(
            "The sequences look like nucleotides: they have no letters but A, C, G, T, U and N. Set mode to"
            " DNA, or to CODON for coding sequences in frame."
        )
    cleaned = clean_protein(capitals, notes) if mode == "AA" else clean_nucleotides(capitals, notes)
    allowed = AMINO_ACIDS if mode == "AA" else NUCLEOTIDES
    for name, letters in zip(names, cleaned, strict=True):
        wrong = sorted(set(letters) - allowed - {"-"})
        if wrong:
            refuse_letters(name, wrong, letters, mode)
    return cleaned


def refuse_letters(name: str, wrong: list[str], letters: str, mode: str) -> NoReturn:
    """Fail with the letter, its position and, for a protein in another mode, what to do."""
    kind = "an amino acid" if mode == "AA" else "a nucleotide"
    hint = " Set mode to AA for proteins." if mode != "AA" and set(letters) <= AMINO_ACIDS | {"-"} else ""
    place = letters.index(wrong[0]) + 1
    fail(f"{wrong[0]!r} at position {place} of {name} is not a letter for {kind}.{hint}")


def clean_protein(sequences: list[str], notes: list[str]) -> list[str]:
    """Replace ``?`` and residues that no model has by X; a stop at the end becomes a gap."""
    rare = sum(each.count(letter) for each in sequences for letter in RARE)
    if rare:
        notes.append(f"{rare} residue(s) U or O are treated as unknown (X), since no model has them.")
    ended = [re.sub(r"\*(?=-*$)", "-", each) for each in sequences]
    if stops := sum(each.count("*") for each in ended):
        notes.append(f"{stops} internal stop(s) * are treated as unknown (X).")
    return [re.sub(r"[?*UO]", "X", each) for each in ended]


def clean_nucleotides(sequences: list[str], notes: list[str]) -> list[str]:
    """Replace U by T, and ``?`` and X by N."""
    if any("U" in each for each in sequences):
        notes.append("U was read as T; ancestors are written with T.")
    return [re.sub(r"[?X]", "N", each.replace("U", "T")) for each in sequences]


def find_outgroup(wanted: str | None, sequences: list[Sequence]) -> int | None:
    """Return the index of the outgroup among the sequences; None without one."""
    if not wanted:
        return None
    names = [each.name for each in sequences]
    if wanted not in names:
        fail(f"The file has no sequence {wanted}, which the outgroup names. It has: {shorten_list(names)}.")
    return names.index(wanted)


def shorten_list(names: list[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
