"""Titles, sizes and values as people read them."""

import pytest

from foldnote.forms.wording import in_one_line, join_words, number_text, size, title_from_name


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("numSamples", "Number of samples"),
        ("proteinPDB", "Protein PDB"),
        ("pLDDT_min", "pLDDT min"),
        ("useMSA", "Use MSA"),
        ("KdColumn", "Kd column"),
        ("omitAAs", "Omit AAs"),
        ("a3mFile", "A3M file"),
        ("pdbFiles", "PDB files"),
        ("mpnn_weight", "Mpnn weight"),
        ("heavy", "Heavy"),
        ("_", "_"),
    ],
)
def test_titles_from_names(name, title):
    assert title_from_name(name) == title


@pytest.mark.parametrize(
    ("bytes_", "text"),
    [(1, "1 byte"), (999, "999 bytes"), (204_000, "204 kB"), (3_400_000, "3.4 MB"), (2e9, "2 GB")],
)
def test_sizes(bytes_, text):
    assert size(int(bytes_)) == text


def test_pasted_text_is_named_by_its_size_not_shown():
    assert in_one_line("ATOM\n" * 100) == "pasted text, 500 bytes"


def test_long_values_are_cut():
    assert in_one_line("A" * 500, 20) == "A" * 19 + "…"


def test_numbers_are_written_as_typed():
    assert [number_text(value) for value in (5, 5.0, 0.1, 1e-7)] == ["5", "5.0", "0.1", "1e-07"]


def test_lists_of_words():
    assert join_words([".pdb"]) == ".pdb"
    assert join_words([".pdb", ".cif", ".gz"]) == ".pdb, .cif or .gz"
