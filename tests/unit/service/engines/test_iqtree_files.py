"""Sequences in every format reach IQ-TREE identically, and unusable ones end with a message."""

import sys
from pathlib import Path

import pytest

import foldnote.service.engines as engines

HOME = Path(engines.__file__).parent


@pytest.fixture(autouse=True)
def engine_modules(monkeypatch):
    """Import the engine's modules by their own names, as in its environment."""
    names = ("engine_protocol", "sequence_files", "alignments", "trees", "reconstruction", "run")
    for folder in ("iqtree", "protocol"):
        monkeypatch.syspath_prepend(str(HOME / folder))
    yield
    for name in names:
        sys.modules.pop(name, None)


def read(text, mode="AA"):
    """Return names and letters of the sequences, and the notes."""
    from sequence_files import read_sequences

    notes = []
    return [(each.name, each.letters) for each in read_sequences(text, mode, notes)], notes


def refuse(capsys, call, *arguments, **named):
    """Return the message with which the call ends."""
    with pytest.raises(SystemExit) as ended:
        call(*arguments, **named)
    assert ended.value.code == 2
    return capsys.readouterr().err.removeprefix("FOLDNOTE_ERROR ").strip()


WANTED = [("a", "MKLV-EFGHI"), ("b", "MKLVDEFGHI"), ("c", "MKIVDEYGHL")]


@pytest.mark.parametrize(
    "text",
    [
        ">a one\nMKLV-\nEFGHI\n>b two\nMKLVD EFGHI\n>c\nmkivd\neyghl\n",
        "\ufeff>a\r\nMKLV-EFGHI\r\n>b\r\nMKLVDEFGHI\r\n\r\n>c\r\nMKIVDEYGHL\r\n",
        "CLUSTAL W (1.83)\n\n\na MKLV-\nb MKLVD\nc MKIVD\n  **:* \n\na EFGHI 10\nb EFGHI 10\nc EYGHL 10\n  *.**:\n",
        "3 10\na  MKLV-EFGHI\nb  MKLVDEFGHI\nc  MKIVDEYGHL\n",
        " 3 10\na  MKLV-\nb  MKLVD\nc  MKIVD\n\nEFGHI\nEFGHI\nEYGHL\n",
        "3 10\na  MKLV-\n   EFGHI\nb  MKLVD\n   EFGHI\nc  MKIVD\n   EYGHL\n",
        "3 10\na         MKLV-EFGHI\nb         MKLVDEFGHI\nc         MKIVDEYGHL\n",
    ],
    ids=["fasta", "windows", "clustal", "phylip", "interleaved", "sequential", "strict"],
)
def test_every_format_gives_the_same_sequences(text):
    assert read(text)[0] == WANTED


def test_a_strict_phylip_file_may_join_names_and_letters():
    text = "3 10\nsequence_1MKLV-EFGHI\nsequence_2MKLVDEFGHI\nsequence_3MKIVDEYGHL\n"
    assert [name for name, _ in read(text)[0]] == ["sequence_1", "sequence_2", "sequence_3"]


@pytest.mark.parametrize(
    ("heads", "names", "note"),
    [
        (("Homo sapiens", "Homo erectus", "Pan"), ["Homo_sapiens", "Homo_erectus", "Pan"], "whole headers"),
        (("a", "a", "a_1"), ["a_2", "a_3", "a_1"], "numbered"),
        (("x(1)", "x[2]", ""), ["x(1)", "x[2]", "sequence_3"], ""),
    ],
)
def test_every_sequence_has_a_unique_name(heads, names, note):
    found, notes = read("".join(f">{head}\nMKLV\n" for head in heads))
    assert [name for name, _ in found] == names
    assert note in " ".join(notes)


def test_letters_that_no_model_has_are_unknown_and_counted():
    found, notes = read(">a\nMKUV?*\n>b\nMK*VOG\n>c\nMKLVDG\n")
    assert [letters for _, letters in found] == ["MKXVX-", "MKXVXG", "MKLVDG"]
    assert notes == [
        "2 residue(s) U or O are treated as unknown (X), since no model has them.",
        "1 internal stop(s) * are treated as unknown (X).",
    ]


def test_rna_is_read_as_dna():
    found, notes = read(">a\nacguN\n>b\nACGU?\n>c\nACG.T\n", "DNA")
    assert [letters for _, letters in found] == ["ACGTN", "ACGTN", "ACG-T"]
    assert notes == ["U was read as T; ancestors are written with T."]


@pytest.mark.parametrize(
    ("text", "mode", "sentence"),
    [
        (" \n", "AA", "The file of sequences is empty"),
        ("MKLV\n", "AA", "neither FASTA"),
        (">a\nMK\n>b\nMK\n", "AA", "The file has 2 sequence(s); at least 3 are needed."),
        (">a\nMK1V\n>b\nMK\n>c\nMK\n", "AA", "'1' at position 3 of a is not a letter for an amino acid."),
        (">a\nMKLV\n>b\nMK\n>c\nMK\n", "DNA", "Set mode to AA for proteins."),
        (">a\nACGT\n>b\nACGA\n>c\nACGG\n", "AA", "Set mode to DNA"),
        (">a\nACGU\n>b\nACGA\n>c\nACGG\n", "AA", "Set mode to DNA"),
        (">a\n--\n>b\nMK\n>c\nMK\n", "AA", "The sequence a has no known letters"),
        (">a\n>b\n>c\n", "AA", "The sequence a has no known letters"),
        (">a\nMK\n>b\n-XX\n>c\nMK\n", "AA", "The sequence b has no known letters"),
        ("3 9\na MKLV\nb MKLV\nc MKLV\n", "AA", "does not contain the 3 sequences of 9 sites"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_plain_sentence(capsys, text, mode, sentence):
    assert sentence in refuse(capsys, read, text, mode)


def test_an_outgroup_must_be_one_of_the_names(capsys):
    from sequence_files import Sequence, find_outgroup

    sequences = [Sequence(name, "MK") for name in ("a", "b_1", "b_2")]
    assert find_outgroup("b_2", sequences) == 2
    assert find_outgroup("", sequences) is None
    said = refuse(capsys, find_outgroup, "b", sequences)
    assert said == "The file has no sequence b, which the outgroup names. It has: a, b_1, b_2."


@pytest.mark.parametrize(
    ("sequences", "sentence"),
    [
        (("ATGTAAGGT", "ATGAAAGGT", "ATGAAAGGT"), "s0 has an internal stop codon, TAA, at codon 2."),
        (("ATGAAAGG", "ATGAAAGG", "ATGAAAGG"), "s0 has 8 bases, 2 more than whole codons."),
        (("ATG-AAGGTT", "ATGAAAGGT-", "ATGAAAGGT-"), "not a multiple of 3"),
    ],
)
def test_codons_out_of_frame_are_refused(capsys, sequences, sentence):
    from alignments import align
    from sequence_files import Sequence

    given = [Sequence(f"s{place}", letters) for place, letters in enumerate(sequences)]
    assert sentence in refuse(capsys, align, given, "CODON", [])


def test_final_stops_broken_codons_and_empty_sites_are_left_out():
    from alignments import align
    from sequence_files import Sequence

    notes = []
    rows = ("ATG---AAAGGTTAA", "ATG---AANGGTTAG", "ATG---AAAGGC---")
    found = align([Sequence(str(place), row) for place, row in enumerate(rows)], "CODON", notes)
    assert [each.letters for each in found] == ["ATGAAAGGT", "ATG---GGT", "ATGAAAGGC"]
    assert notes[0] == "The final stop codon of 2 sequence(s) was removed."
    assert notes[1] == "1 codon(s) with a gap or an ambiguous base are treated as missing."
    assert notes[-1] == "2 site(s) at which every sequence has a gap were removed."


def test_a_tree_is_read_and_written_with_names_that_need_quotes():
    from trees import read_newick, write_newick

    tree = read_newick("((row0:0.1,row1:0.2)Node2/87.5:0.3,row2:0.4,row3:1e-06)Node1;")
    assert [(node.name, node.support, node.length) for node in tree.walk()][:3] == [
        ("Node1", None, None),
        ("Node2", 87.5, 0.3),
        ("row0", None, 0.1),
    ]
    next(node for node in tree.walk() if node.name == "row0").name = "it's (a) [name]"
    assert write_newick(tree) == (
        "(('it''s (a) [name]':0.1000000000,row1:0.2000000000)Node2/87.5:0.3000000000,"
        "row2:0.4000000000,row3:0.0000010000)Node1;\n"
    )


def test_gaps_of_ancestors_are_those_of_the_fewest_changes():
    from trees import find_gaps, read_newick

    tree = read_newick("((a:1,b:1)Node2:1,(c:1,d:1)Node3:1,e:1)Node1;")
    rows = {"a": [True, True], "b": [True, False], "c": [False] * 2, "d": [False] * 2, "e": [False] * 2}
    assert find_gaps(tree, rows) == {"Node1": [False, False], "Node2": [True, False], "Node3": [False, False]}


@pytest.mark.parametrize(
    ("replicates", "is_fast", "wanted"),
    [(1000, False, "-B 1000"), (999, False, "-b 999"), (1000, True, "-fast -b 1000"), (0, True, "-fast")],
)
def test_a_thousand_replicates_are_ultrafast_unless_the_search_is_fast(replicates, is_fast, wanted):
    from run import make_options

    options = make_options("AA", "LG", 7, replicates, 2, is_fast=is_fast)
    assert " ".join(options).endswith(f"-keep-ident -o row000002 {wanted}")


def test_part_of_a_replicate_is_refused(capsys):
    from run import check_replicates

    assert check_replicates(500.0) == 500
    assert "give a whole number" in refuse(capsys, check_replicates, 500.5)
