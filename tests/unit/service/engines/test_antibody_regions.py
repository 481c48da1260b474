"""Regions follow the published bounds of each definition."""

import pytest

from foldnote.service.engines.antibody.antibody_regions import (
    DEFINITION_OF_SCHEME,
    REGIONS,
    find_region,
    number_rows,
)


@pytest.mark.parametrize("chain", "HL")
@pytest.mark.parametrize("scheme", DEFINITION_OF_SCHEME)
def test_regions_come_in_their_order(scheme, chain):
    first = {"H": 101, "L": 501}[chain] if scheme == "wolfguy" else 1
    last = {"H": 450, "L": 850}[chain] if scheme == "wolfguy" else 149
    found = list(dict.fromkeys(find_region(scheme, chain, number) for number in range(first, last + 1)))
    assert found == list(REGIONS)


@pytest.mark.parametrize(
    ("scheme", "chain", "number", "region"),
    [
        ("imgt", "H", 26, "FR1"),
        ("imgt", "H", 27, "CDR1"),
        ("imgt", "B", 117, "CDR3"),
        ("kabat", "H", 35, "CDR1"),
        ("kabat", "L", 35, "FR2"),
        ("chothia", "H", 56, "CDR2"),
        ("chothia", "H", 57, "FR3"),
        ("martin", "H", 26, "CDR1"),
        ("aho", "H", 69, "CDR2"),
        ("aho", "L", 72, "CDR2"),
        ("aho", "A", 30, ""),
        ("wolfguy", "H", 150, "FR1"),
        ("wolfguy", "H", 151, "CDR1"),
        ("wolfguy", "L", 799, "CDR3"),
        ("wolfguy", "L", 801, "FR4"),
    ],
)
def test_bounds(scheme, chain, number, region):
    assert find_region(scheme, chain, number) == region


def test_rows_leave_gaps_out_and_count_on():
    numbering = [((111, " "), "A"), ((111, "A"), "C"), ((112, " "), "-"), ((113, " "), "D")]
    rows = number_rows(numbering, scheme="imgt", chain="H", first_index=5)
    assert [(row["index"], row["residue"], row["position"]) for row in rows] == [
        (5, "A", "111"),
        (6, "C", "111A"),
        (7, "D", "113"),
    ]
    assert {row["cdr_definition"] for row in rows} == {"imgt"}
