"""Residues are paired by number if chains share a numbering, else by sequence; unrelated chains are not paired."""

import numpy as np
import pytest
from result_archives import open_fold

from foldnote.results.comparison.pairing import pair_by_number, pair_by_sequence, pair_chains
from foldnote.results.comparison.traces import CentralAtoms, read_traces


def chain(fold, name):
    return next(trace for trace in read_traces(open_fold(fold)) if trace.chain == name)


def make(letters, numbers=None, kind="protein"):
    numbers = tuple(map(str, numbers or range(1, len(letters) + 1)))
    return CentralAtoms("A", kind, letters, numbers, np.zeros((len(letters), 3)))


def numbers_of(pairing):
    rows = zip(pairing.rows, pairing.mobile_rows, strict=True)
    return [(pairing.fixed.numbers[i], pairing.mobile.numbers[j]) for i, j in rows]


def methods(pairing):
    return [segment.method for segment in pairing.segments]


LYSOZYME = chain("1akiA", "A").letters


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("6y1l_imgt", "H"), ("8ee8_imgt", "D")),
        (("8ee8_imgt", "D"), ("c143_imgt", "H")),
        (("6y1l_imgt", "L"), ("8ee8_imgt", "C")),
        (("1ncb_kabat", "H"), ("1igy_kabat", "B")),
        (("1ncb_kabat", "L"), ("1igy_kabat", "A")),
    ],
)
def test_variable_domains_of_one_scheme_are_paired_by_number_with_insertion_code(first, second):
    fixed, mobile = chain(*first), chain(*second)
    found = pair_chains(fixed, mobile)

    assert methods(found) == ["residue numbers"]
    assert all(a == b for a, b in numbers_of(found))
    assert len(found.rows) == len(set(fixed.numbers) & set(mobile.numbers))


def test_heavy_and_light_domains_share_imgt_numbers_but_not_kabat_numbers():
    assert methods(pair_chains(chain("6y1l_imgt", "H"), chain("6y1l_imgt", "L"))) == ["residue numbers"]
    assert methods(pair_chains(chain("1ncb_kabat", "H"), chain("1ncb_kabat", "L"))) == ["sequence"]


def test_domains_of_two_schemes_are_paired_by_sequence():
    found = pair_chains(chain("6y1l_imgt", "H"), chain("1ncb_kabat", "H"))

    assert methods(found) == ["sequence"]
    assert ("23", "22") in numbers_of(found)
    assert ("104", "92") in numbers_of(found)


def test_insertions_of_kabat_and_chothia_in_cdr_h1_are_not_mixed():
    kabat = chain("1ncb_kabat", "H")
    place = kabat.numbers.index("35")
    inserted = kabat.letters[: place + 1] + "S" + kabat.letters[place + 1 :]
    before, after = kabat.numbers[: place + 1], kabat.numbers[place + 1 :]
    chothia = (*before[:-4], "31A", *before[-4:])
    found = pair_chains(make(inserted, (*before, "35A", *after)), make(inserted, (*chothia, *after)))

    assert methods(found) == ["sequence"]
    assert found.equal == len(inserted)


def test_what_follows_the_variable_domain_is_paired_by_sequence_where_its_numbers_differ():
    variable, constant = chain("6y1l_imgt", "H"), LYSOZYME
    letters = variable.letters + constant
    fixed = make(letters, (*variable.numbers, *range(129, 258)))
    mobile = make(letters, (*variable.numbers, *range(1001, 1130)))

    assert methods(pair_chains(fixed, mobile)) == ["residue numbers", "sequence"]
    assert pair_chains(fixed, mobile).equal == len(letters)


def test_one_numbering_pairs_across_missing_residues():
    fixed = make(LYSOZYME[:40] + LYSOZYME[60:], [*range(1, 41), *range(61, 130)])
    mobile = make(LYSOZYME[:50] + LYSOZYME[55:], [*range(1, 51), *range(56, 130)])
    found = pair_chains(fixed, mobile)

    assert methods(found) == ["residue numbers"]
    assert (len(found.rows), found.equal) == (109, 109)


def test_a_chain_numbered_from_elsewhere_is_paired_by_sequence():
    found = pair_chains(make(LYSOZYME), make(LYSOZYME, range(301, 430)))

    assert methods(found) == ["sequence"]
    assert found.rows == found.mobile_rows == list(range(129))


@pytest.mark.parametrize("place", [5, 60, 122])
def test_numbers_that_a_deletion_shifts_are_not_trusted(place):
    found = pair_chains(make(LYSOZYME), make(LYSOZYME[:place] + LYSOZYME[place + 1 :]))

    assert methods(found) == ["sequence"]
    assert found.equal >= 127


def test_a_designed_backbone_without_sequence_is_paired_by_number():
    assert methods(pair_chains(make("G" * 129), make(LYSOZYME))) == ["residue numbers"]


def test_a_redesigned_sequence_on_the_same_numbers_is_paired_by_number():
    redesigned = "".join("A" if i % 4 else letter for i, letter in enumerate(LYSOZYME))

    assert methods(pair_chains(make(LYSOZYME), make(redesigned))) == ["residue numbers"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("1akiA", "3lzmA"), ("3kcsA", "1gl4A"), ("3lzmA", "1qgiA"), ("1o1zA", "3enlA"), ("1gl4B", "1ncbL")],
)
def test_unrelated_sequences_are_not_paired(first, second):
    (fixed,), (mobile,) = read_traces(open_fold(first)), read_traces(open_fold(second))

    assert pair_chains(fixed, mobile) is None
    assert pair_by_sequence(fixed, mobile) is None


def test_numbers_are_used_on_demand_however_the_sequences_differ():
    found = pair_by_number(make(LYSOZYME), make("W" * 100, range(50, 150)))

    assert numbers_of(found) == [(str(n), str(n)) for n in range(50, 130)]


def test_repeated_numbers_pair_nothing():
    assert pair_by_number(make("ACDEF", [1, 2, 2, 3, 4]), make("ACDEF")) is None


def test_every_residue_letter_can_be_aligned():
    odd = LYSOZYME + "BZJOUX"

    assert pair_by_sequence(make(odd), make("A" + odd)).equal == len(odd)


@pytest.mark.parametrize(("length", "other"), [(5, 11), (12, 16), (20, 60), (75, 120)])
def test_unrelated_nucleic_acids_are_not_paired(length, other):
    """With enough gaps, most of a short chain matches parts of a long one."""
    draw = np.random.default_rng(length)
    for _ in range(60):
        first, second = ("".join(draw.choice(list("ACGT"), size)) for size in (length, other))
        assert (
            pair_chains(make(first, kind="nucleic"), make(second, range(500, 500 + other), "nucleic")) is None
        )


def test_related_nucleic_acids_are_paired_also_dna_with_rna():
    draw = np.random.default_rng(1)
    letters = draw.choice(list("ACGU"), 76)
    changed = letters.copy()
    changed[5::7] = draw.choice(list("ACGU"), len(changed[5::7]))
    mobile = "".join(np.delete(changed, [30, 31])).replace("U", "T")
    pairing = pair_chains(make("".join(letters), kind="nucleic"), make(mobile, range(100, 174), "nucleic"))
    expected = {(str(row + 1), str(row + 100 - 2 * (row > 31))) for row in range(76) if row not in (30, 31)}
    assert len(expected & set(numbers_of(pairing))) > 70
    assert methods(pairing) == ["sequence"]


def test_short_equal_nucleic_acids_are_paired():
    first, second = make("ACGTT", kind="nucleic"), make("ACGTT", range(20, 25), "nucleic")
    assert len(pair_chains(first, second).rows) == 5
