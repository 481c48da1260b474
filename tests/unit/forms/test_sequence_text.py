"""Sequences in the forms in which users paste them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.forms.biology.sequence_text import read_sequence

LETTERS = st.text("ACDEFGHIKLMNPQRSTVWY", min_size=1, max_size=80)


def test_white_space_and_case_are_forgiven_and_reported():
    read = read_sequence(" evq lve\n sgg\t")
    assert read.chains == ("EVQLVESGG",)
    assert read.notes == ("converted to upper case",)


def test_a_fasta_header_is_removed_with_a_note():
    read = read_sequence(">1N8Z_H heavy\nEVQ\nLVE\n")
    assert (read.chains, read.names) == (("EVQLVE",), ("1N8Z_H heavy",))
    assert read.notes == ("FASTA header “1N8Z_H heavy” removed",)


def test_several_records_are_chains():
    read = read_sequence(">a\nEVQ\n>b\nDIQ\n\n>c\n", ":")
    assert read.chains == ("EVQ", "DIQ", "")
    assert read.notes == ("3 FASTA records read as chains",)


def test_line_numbers_of_databank_files_go():
    assert read_sequence("  1 evqlvesggg lvqpggslrl\n 21 scaas\n").chains == ("EVQLVESGGGLVQPGGSLRLSCAAS",)


@pytest.mark.parametrize(
    "text",
    [
        "1 EVQLVESGGG 11 LVQPGGSLRL\n21 SCAAS",
        "EVQLVESGGG 10 LVQPGGSLRL 20\nSCAAS 25",
        "        10         20     \nEVQLVESGGG LVQPGGSLRL\n    25\nSCAAS\n",
        "1\nEVQLVESGGGLVQPGGSLRL\r\n21\r\nSCAAS",
    ],
)
def test_standalone_position_numbers_are_removed(text):
    read = read_sequence(text)
    assert read.chains == ("EVQLVESGGGLVQPGGSLRLSCAAS",)
    assert read.notes == ("position numbers removed",)


@pytest.mark.parametrize(
    "text",
    [
        "ORIGIN      \n        1 evqlvesggg lvqpggslrl\n       21 scaas\n//\n",
        "        1 evqlvesggg lvqpggslrl\n       21 scaas\n//",
        "SQ   SEQUENCE   25 AA;  2486 MW;  3B1A79B9D7E4B1D2 CRC64;\n     EVQLVESGGG LVQPGGSLRL SCAAS\n//\n",
    ],
)
def test_the_lines_around_the_sequence_of_an_entry_are_removed(text):
    read = read_sequence(text)
    assert read.chains == ("EVQLVESGGGLVQPGGSLRLSCAAS",)
    assert "lines around the sequence removed" in read.notes


def test_slashes_within_a_sequence_and_a_peptide_named_like_a_line_stay():
    assert read_sequence("EVQ//LVE").chains == ("EVQ//LVE",)
    assert read_sequence("ORIGIN").chains == ("ORIGIN",)


def test_a_number_alone_is_not_taken_for_an_empty_sequence():
    assert read_sequence("120\n").chains == ("120",)


def test_other_digits_and_signs_stay_to_be_pointed_at():
    assert read_sequence("EVQ1LVE*").chains == ("EVQ1LVE*",)


def test_chains_are_separated_only_where_the_field_takes_chains():
    assert read_sequence("EVQ:DIQ").chains == ("EVQ:DIQ",)
    assert read_sequence("EVQ:\nDIQ:", ":").chains == ("EVQ", "DIQ", "")


def test_an_empty_text_has_no_chain():
    assert read_sequence(" \n").chains == ()


@given(st.lists(LETTERS, min_size=1, max_size=5), st.integers(1, 20))
def test_wrapped_fasta_gives_the_same_chains_as_the_joined_text(chains, width):
    fasta = "".join(
        f">chain {number}\r\n"
        + "".join(f"{chain[start : start + width]}\r\n" for start in range(0, len(chain), width))
        for number, chain in enumerate(chains)
    )
    assert (
        read_sequence(fasta, ":").chains
        == read_sequence(":".join(chains).lower(), ":").chains
        == tuple(chains)
    )
