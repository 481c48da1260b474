"""Read a table of measured variants and list the variants that could be measured next."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from engine_protocol import fail
from numpy.typing import NDArray

LETTERS = "ACDEFGHIKLMNPQRSTVWY-"
"""A gap counts as a letter only at sites where a measured variant has one."""
GAP = len(LETTERS) - 1
VARIANT_NAMES = (
    "sequence", "variant", "mutations", "mutation", "mutant", "variants", "mutated_sequence", "combo", "aas",
    "seq", "protein_sequence", "protein",
)  # fmt: skip
FITNESS_NAMES = (
    "fitness", "activity", "score", "value", "measurement", "measured", "target", "label", "y", "yield",
    "enrichment", "dms_score",
)  # fmt: skip
WILD_TYPE = re.compile(r"_?(wt|wild[ _-]?type)", re.IGNORECASE)
MUTATION = re.compile(r"([A-Za-z])(\d+)([A-Za-z*-])")
SEPARATORS = re.compile(r"[\s:,;/+_|]+")
SHORT = 8
"""Length up to which a sequence is taken as the mutated sites only, all of which may vary."""
MAX_ENUMERATED = 3_200_000
"""20 letters at five sites, the size of the published campaign."""
MAX_SEEN = 200_000
SAMPLED = 100_000
PARENTS = 50

Codes = NDArray[np.uint8]


@dataclass
class VariantLibrary:
    """The measured variants and the sites at which variants differ.

    Attributes:
        sites: number of each site, as in the table or from 1.
        base: letters of the whole sequence; for mutations, the wild type's letters at the sites.
        codes: letters of the measured variants at the sites, shape (n, sites), as indices into ``LETTERS``.
        values: their mean measured values, shape (n,).
        replicates: number of values of each, shape (n,).
        asked: variants of the table without a value, shape (m, sites).
        is_mutations: whether the table contains mutations such as A12V, not sequences.
        names: names of the columns that were read: variant, fitness.
        notes: what was left out or averaged.
    """

    sites: list[int]
    base: str
    codes: Codes
    values: NDArray[np.float64]
    replicates: NDArray[np.int64]
    asked: Codes
    is_mutations: bool
    names: tuple[str, str]
    notes: list[str] = field(default_factory=list)

    def write(self, codes: Codes) -> str:
        """Format one variant as in the table."""
        letters = [LETTERS[code] for code in codes]
        if not self.is_mutations:
            whole = list(self.base)
            for site, letter in zip(self.sites, letters, strict=True):
                whole[site - 1] = letter
            return "".join(whole)
        return describe_changes(self.base, letters, self.sites, ":") or "WT"


def describe_changes(before: Sequence[str], after: Sequence[str], sites: Sequence[int], joint: str) -> str:
    """Return the substitutions from one variant to another, such as ``A12V:G13S``."""
    rows = zip(before, sites, after, strict=True)
    return joint.join(f"{old}{site}{new}" for old, site, new in rows if old != new)


def read_library(path: Path) -> VariantLibrary:
    """Return the variants of the table; fail if it cannot be used."""
    header, rows = read_rows(path.read_bytes().decode("utf-8-sig", "replace"))
    variant, fitness = find_columns(header, rows)
    texts = [row[variant].strip() for row in rows]
    values = [read_number(row[fitness]) for row in rows]
    names = (header[variant], header[fitness])
    notes = [f"Variants were read from the column {names[0]} and values from {names[1]}; higher is better."]
    kept = [(text, value) for text, value in zip(texts, values, strict=True) if text]
    if len(kept) < len(rows):
        notes.append(f"Rows without a variant were left out: {len(rows) - len(kept)}.")
    sites, base, codes, is_mutations, usable = parse_variants([text for text, _ in kept], names[0], notes)
    if not sites:
        fail("All variants are the same, so there is nothing to learn from them.")
    found = [value for (_, value), is_good in zip(kept, usable, strict=True) if is_good]
    return gather(sites, base, codes, np.array(found, dtype=np.float64), is_mutations, names, notes)


def read_rows(text: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table with commas, semicolons or tabs."""
    lines = [line for line in text.replace("\x00", "").splitlines() if line.strip()]
    if len(lines) < 2:
        fail("The table is empty. Give a CSV file with a header and a row for each variant.")
    delimiter = max(",;\t", key=lines[0].count)
    rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))
    header = [name.strip() for name in rows[0]]
    if len(header) < 2:
        fail(
            f"The table has one column, {header[0][:60]!r}, and needs two: the variant, such as sequence, and"
            " its measured fitness."
        )
    return header, [[*row, *[""] * len(header)][: len(header)] for row in rows[1:]]


def read_number(text: str) -> float:
    """Return the value of a cell, with a point or a comma; NaN if it is not finite."""
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def find_columns(header: list[str], rows: list[list[str]]) -> tuple[int, int]:
    """Find the columns of variants and of fitness: by their names, else by their content."""
    plain = [re.sub(r"[\s-]+", "_", name.lower()) for name in header]
    numeric = [place for place in range(len(header)) if holds_numbers([row[place] for row in rows])]
    worded = [place for place in range(len(header)) if holds_variants([row[place] for row in rows])]
    variant = choose_column(plain, worded, VARIANT_NAMES)
    fitness = choose_column(plain, [place for place in numeric if place != variant], FITNESS_NAMES)
    listed = ", ".join(header)[:300]
    if variant is None:
        fail(
            "No single column of variants was found. Call the column of protein sequences or mutations"
            f" (A12V:G13S) sequence. The columns are {listed}."
        )
    if fitness is None:
        fail(
            f"No single column of numbers was found. Call the measured one fitness. The columns are {listed}."
        )
    return variant, fitness


def choose_column(names: list[str], places: list[int], known: Sequence[str]) -> int | None:
    """Return the first column with a known name, else the only one."""
    for name in known:
        found = next((place for place in places if names[place] == name), None)
        if found is not None:
            return found
    return places[0] if len(places) == 1 else None


def holds_numbers(cells: list[str]) -> bool:
    """Return whether most non-empty cells are numbers."""
    filled = [cell for cell in cells if cell.strip()]
    return 2 * sum(not math.isnan(read_number(cell)) for cell in filled) > len(filled)


def holds_variants(cells: list[str]) -> bool:
    """Return whether most non-empty cells are sequences or mutations."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    good = sum(
        split_mutations(cell) is not None or re.fullmatch(r"[A-Za-z*-]+", cell) is not None for cell in filled
    )
    return 2 * good > len(filled)


def split_mutations(text: str) -> list[tuple[str, int, str]] | None:
    """Return the mutations of ``A12V:G13S``, none of ``WT``; None for any other text."""
    if WILD_TYPE.fullmatch(text):
        return []
    found = [MUTATION.fullmatch(part) for part in SEPARATORS.split(text.strip())]
    if not all(found):
        return None
    return [(each[1].upper(), int(each[2]), each[3].upper()) for each in found if each]


def parse_variants(
    texts: list[str], column: str, notes: list[str]
) -> tuple[list[int], str, Codes, bool, list[bool]]:
    """Return sites, base, letters, whether they are mutations, and which texts can be used."""
    if not texts:
        fail(f"The column {column} is empty.")
    parsed = [split_mutations(text) for text in texts]
    if 2 * sum(each is not None and bool(each) for each in parsed) > len(texts):
        return parse_mutations(parsed, texts, notes)
    return parse_sequences([text.upper() for text in texts], notes)


def parse_mutations(
    parsed: list[list[tuple[str, int, str]] | None], texts: list[str], notes: list[str]
) -> tuple[list[int], str, Codes, bool, list[bool]]:
    """Parse variants that are given by their mutations."""
    wild: dict[int, str] = {}
    for text, each in zip(texts, parsed, strict=True):
        for old, site, _ in each or []:
            if wild.setdefault(site, old) != old:
                fail(
                    f"{text} says that residue {site} is {old}, and another row says {wild[site]}."
                    " Correct one of them."
                )
    usable = [each is not None and are_usable(each) for each in parsed]
    note_unusable(usable, notes)
    sites = sorted(wild)
    rows = []
    for each, good in zip(parsed, usable, strict=True):
        if good:
            changed = {site: new for _, site, new in each or []}
            rows.append([LETTERS.index(changed.get(site, wild[site])) for site in sites])
    codes = np.array(rows, dtype=np.uint8).reshape(len(rows), len(sites))
    return sites, "".join(wild[site] for site in sites), codes, True, usable


def are_usable(mutations: list[tuple[str, int, str]]) -> bool:
    """Return whether all letters are known and no residue is changed twice."""
    has_letters = all(old in LETTERS and new in LETTERS for old, _, new in mutations)
    return has_letters and len({site for _, site, _ in mutations}) == len(mutations)


def parse_sequences(texts: list[str], notes: list[str]) -> tuple[list[int], str, Codes, bool, list[bool]]:
    """Parse variants that are given by their sequences, all of one length."""
    usable = [all(letter in LETTERS for letter in text) for text in texts]
    note_unusable(usable, notes)
    good = [text for text, is_good in zip(texts, usable, strict=True) if is_good]
    if not good:
        fail("No variant is a protein sequence of the 20 amino acids.")
    length = len(good[0])
    other = next((text for text in good if len(text) != length), None)
    if other is not None:
        fail(
            f"The variants differ in length: {shorten(good[0])} has {length} letters and {shorten(other)} has"
            f" {len(other)}. Give sequences of one length, with - for a deletion."
        )
    whole = np.array([[LETTERS.index(letter) for letter in text] for text in good], dtype=np.uint8)
    varies = (whole != whole[0]).any(axis=0) | (length <= SHORT)
    sites = [int(place) + 1 for place in np.flatnonzero(varies)]
    return sites, good[0], whole[:, varies], False, usable


def shorten(text: str) -> str:
    """Shorten a sequence to fit into a sentence."""
    return text if len(text) <= 20 else f"{text[:17]}…"


def note_unusable(usable: list[bool], notes: list[str]) -> None:
    """Note how many variants were left out."""
    if count := usable.count(False):
        notes.append(f"Rows whose variant has stops or unknown letters, or is none, were left out: {count}.")


def gather(
    sites: list[int],
    base: str,
    codes: Codes,
    values: NDArray[np.float64],
    is_mutations: bool,
    names: tuple[str, str],
    notes: list[str],
) -> VariantLibrary:
    """Average the values of equal variants, and separate those without a value."""
    known = ~np.isnan(values)
    distinct, owner = np.unique(codes, axis=0, return_inverse=True)
    owner = owner.ravel()
    replicates = np.bincount(owner[known], minlength=len(distinct))
    sums = np.bincount(owner[known], weights=values[known], minlength=len(distinct))
    has_value = replicates > 0
    if missing := int((~known).sum()):
        notes.append(f"Rows without a finite value count as variants that were not measured: {missing}.")
    repeated = int((replicates > 1).sum())
    if repeated:
        means = sums[owner[known]] / replicates[owner[known]]
        spare = int(known.sum() - has_value.sum())
        spread = math.sqrt(float(((values[known] - means) ** 2).sum()) / spare)
        notes.append(
            f"Variants that were measured more than once, with their values averaged: {repeated}. The values"
            f" of one variant have a standard deviation of {spread:.3g}."
        )
    return VariantLibrary(
        sites,
        base,
        distinct[has_value],
        sums[has_value] / replicates[has_value],
        replicates[has_value],
        distinct[~has_value],
        is_mutations,
        names,
        notes,
    )


def list_candidates(library: VariantLibrary, random: np.random.Generator) -> tuple[Codes, str]:
    """Return variants that were not measured, shape (m, sites), and a description of the selection."""
    together = np.concatenate([library.codes, library.asked])
    everything = [np.arange(GAP + has_gap, dtype=np.uint8) for has_gap in (together == GAP).any(axis=0)]
    seen = [np.unique(column) for column in together.T]
    if count_combinations(everything) <= MAX_ENUMERATED:
        found, words = combine(everything), "all combinations of the 20 amino acids at the sites"
    elif count_combinations(seen) <= MAX_SEEN:
        found, words = combine(seen), "all combinations of the letters that the table has at each site"
    else:
        found = sample(library, seen, random)
        words = (
            f"single substitutions of the {PARENTS} best measured variants and random recombinations of them,"
            " with letters that the table has at each site; other variants were not looked at"
        )
    measured = {row.tobytes() for row in library.codes}
    is_new = np.fromiter((row.tobytes() not in measured for row in found), dtype=bool, count=len(found))
    return found[is_new], words


def count_combinations(choices: Sequence[NDArray[np.uint8]]) -> int:
    """Return the number of combinations."""
    return math.prod(len(each) for each in choices)


def combine(choices: Sequence[NDArray[np.uint8]]) -> Codes:
    """Return all combinations, shape (m, sites)."""
    grids = np.meshgrid(*choices, indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1).astype(np.uint8)


def sample(library: VariantLibrary, seen: Sequence[NDArray[np.uint8]], random: np.random.Generator) -> Codes:
    """Return single substitutions and recombinations of the best measured variants."""
    parents = library.codes[np.argsort(-library.values, kind="stable")[:PARENTS]]
    singles = []
    for parent, (site, letters) in itertools.product(parents, enumerate(seen)):
        for letter in letters[letters != parent[site]]:
            child = parent.copy()
            child[site] = letter
            singles.append(child)
        if len(singles) > SAMPLED:
            break
    pairs = random.integers(len(parents), size=(SAMPLED, 2))
    takes_second = random.random((SAMPLED, len(seen))) < 0.5
    children = np.where(takes_second, parents[pairs[:, 1]], parents[pairs[:, 0]]).astype(np.uint8)
    own = np.array(singles[:SAMPLED], dtype=np.uint8).reshape(-1, len(seen))
    return np.unique(np.concatenate([own, children, library.asked]), axis=0)
