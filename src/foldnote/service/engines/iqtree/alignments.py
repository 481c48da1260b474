"""Align sequences of different lengths with Kalign, and check codons.

Codons are aligned as the amino acids that they encode in the standard genetic code, so that no gap falls
within a codon.
"""

from __future__ import annotations

from engine_protocol import fail
from sequence_files import Sequence

BASES = "TCAG"
AMINO_ACIDS_OF_CODONS = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
"""NCBI's table 1, in the order TTT, TTC, TTA, TTG, TCT …"""
CODE = {
    a + b + c: AMINO_ACIDS_OF_CODONS[16 * i + 4 * j + k]
    for i, a in enumerate(BASES)
    for j, b in enumerate(BASES)
    for k, c in enumerate(BASES)
}
MISSING = "---"


def align(sequences: list[Sequence], mode: str, notes: list[str]) -> list[Sequence]:
    """Return the sequences at the same length, aligned by Kalign if their lengths differ.

    In mode CODON, refuse a sequence that is out of frame or has an internal stop codon.
    """
    is_aligned = len({len(each.letters) for each in sequences}) == 1
    if mode == "CODON":
        sequences = check_codons(sequences, notes, is_aligned=is_aligned)
    if not is_aligned:
        sequences = align_codons(sequences) if mode == "CODON" else align_letters(sequences, mode)
        notes.append(describe_alignment(sequences, mode))
    elif not any("-" in each.letters for each in sequences):
        notes.append("All sequences have the same length and no gaps; they were treated as aligned.")
    else:
        notes.append("All sequences have the same length, gaps included; they were treated as aligned.")
    return drop_empty_sites(sequences, 3 if mode == "CODON" else 1, notes)


def describe_alignment(sequences: list[Sequence], mode: str) -> str:
    """Describe what was aligned, with which program, and the length of the alignment."""
    import kalign

    sites = len(sequences[0].letters)
    size = f"as amino acids ({sites // 3} codons)" if mode == "CODON" else f"({sites} sites)"
    return (
        f"The sequences had different lengths and were aligned by Kalign {kalign.__version__} {size};"
        " gaps in the file were removed first."
    )


def align_letters(sequences: list[Sequence], mode: str) -> list[Sequence]:
    """Return the sequences aligned as amino acids or nucleotides."""
    kind = "protein" if mode == "AA" else "dna"
    rows = run_kalign([each.ungapped for each in sequences], kind)
    return [Sequence(each.name, row) for each, row in zip(sequences, rows, strict=True)]


def run_kalign(sequences: list[str], kind: str) -> list[str]:
    """Return the rows of the alignment, in the order of the sequences.

    Raises:
        RuntimeError: the rows are not the sequences with gaps.
    """
    import kalign

    rows = [str(row).upper() for row in kalign.align(sequences, seq_type=kind, n_threads=1)]
    if [row.replace("-", "") for row in rows] != sequences:
        raise RuntimeError("Kalign returned sequences that differ from its input.")
    return rows


def align_codons(sequences: list[Sequence]) -> list[Sequence]:
    """Return the codons aligned like their amino acids."""
    codons = [split_codons(each.ungapped) for each in sequences]
    rows = run_kalign(["".join(map(translate, each)) for each in codons], "protein")
    aligned = []
    for each, row, triplets in zip(sequences, rows, codons, strict=True):
        rest = iter(triplets)
        letters = "".join(MISSING if letter == "-" else next(rest) for letter in row)
        aligned.append(Sequence(each.name, letters))
    return aligned


def split_codons(letters: str) -> list[str]:
    """Return the triplets of letters."""
    return [letters[index : index + 3] for index in range(0, len(letters), 3)]


def translate(codon: str) -> str:
    """Return the amino acid of a codon: ``*`` for a stop, X if letters are ambiguous or missing."""
    return CODE.get(codon, "X")


def check_codons(sequences: list[Sequence], notes: list[str], *, is_aligned: bool) -> list[Sequence]:
    """Return the sequences without final stops, in whole codons; refuse sequences that are out of frame."""
    for each in sequences:
        if rest := len(each.ungapped) % 3:
            fail(
                f"{each.name} has {len(each.ungapped)} bases, {rest} more than whole codons. Give coding"
                " sequences in frame, or set mode to DNA."
            )
    if is_aligned and len(sequences[0].letters) % 3:
        fail("The alignment's length is not a multiple of 3. Align whole codons, or set mode to DNA.")
    checked, ended, broken = [], 0, 0
    for each in sequences:
        codons = split_codons(each.letters if is_aligned else each.ungapped)
        indices = [index for index, codon in enumerate(codons) if codon != MISSING]
        if indices and translate(codons[indices[-1]]) == "*":
            codons[indices.pop()] = MISSING
            ended += 1
        stop = next((index for index in indices if translate(codons[index]) == "*"), None)
        if stop is not None:
            fail(
                f"{each.name} has an internal stop codon, {codons[stop]}, at codon {stop + 1}."
                " Give coding sequences in frame; the standard genetic code is used."
            )
        if is_aligned:
            broken += sum(any(letter not in BASES for letter in codons[index]) for index in indices)
            codons = [codon if set(codon) <= set(BASES) else MISSING for codon in codons]
        checked.append(Sequence(each.name, "".join(codons)))
    if ended:
        notes.append(f"The final stop codon of {ended} sequence(s) was removed.")
    if broken:
        notes.append(f"{broken} codon(s) with a gap or an ambiguous base are treated as missing.")
    return checked


def drop_empty_sites(sequences: list[Sequence], width: int, notes: list[str]) -> list[Sequence]:
    """Return the alignment without the sites at which no sequence has a letter."""
    rows = [each.letters for each in sequences]
    for each in sequences:
        if not each.ungapped:
            fail(f"The sequence {each.name} has only gaps. Remove it.")
    starts = range(0, len(rows[0]), width)
    kept = [at for at in starts if any(row[at : at + width].strip("-") for row in rows)]
    if dropped := len(starts) - len(kept):
        notes.append(f"{dropped} site(s) at which every sequence has a gap were removed.")
    return [Sequence(each.name, "".join(each.letters[at : at + width] for at in kept)) for each in sequences]
