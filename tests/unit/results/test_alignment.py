"""Sequences of every format become one type of object, and a list of sequences is not presented as an alignment."""

import numpy as np
import pytest
from result_archives import DATA

from foldnote.errors import UnreadableFileError
from foldnote.results.sequences.alignment import read_alignment

A3M = b"#3,2\t2,1\n>query the one\nACDEFGHI\n>near\nACDklEFGH-\n>far\n--WWWW--\n"


def test_insertions_take_no_column():
    alignment = read_alignment(A3M, "x.a3m")

    assert alignment.sequences == ("ACDEFGHI", "ACDEFGH-", "--WWWW--")
    assert (alignment.depth, alignment.length) == (3, 8)
    assert alignment.names == ("query", "near", "far")
    assert alignment.descriptions[0] == "the one"


def test_coverage_counts_the_residues_of_each_column():
    assert read_alignment(A3M, "x.a3m").coverage.tolist() == [2, 2, 3, 3, 3, 3, 2, 1]


def test_identity_is_the_share_of_shared_columns():
    assert read_alignment(A3M, "x.a3m").identity.tolist() == [1, 1, 0]


def test_a_sequence_without_residues_has_no_identity():
    assert np.isnan(read_alignment(b">q\nAC\n>h\n--\n", "x.fasta").identity[1])


def test_chains_of_a_joined_alignment_have_borders():
    assert read_alignment(A3M, "x.a3m").borders.tolist() == [3, 6]


def test_lower_case_in_fasta_is_not_an_insertion():
    assert read_alignment(b">a\nacd\n>b\nA-D*\n", "x.fasta").sequences == ("acd", "A-D")


def test_sequences_of_unequal_length_are_not_an_alignment():
    found = read_alignment(b">a score=1.5\nACD\n>b\nAC\n", "designs.fa")

    assert not found.is_aligned
    assert found.to_frame()["residues"].tolist() == [3, 2]
    with pytest.raises(UnreadableFileError, match="not an alignment"):
        _ = found.length


def test_clustal_blocks_are_joined():
    found = read_alignment((DATA / "clustal.aln").read_bytes(), "clustal.aln")

    assert found.names == ("seq1", "seq2")
    assert found.length == 48
    assert found.sequences[0].startswith("ADTRCGTARDCGTR-DRTCGRAGDADT")


@pytest.mark.parametrize(
    "head",
    ["Kalign (2.0) alignment in ClustalW format", "MSAPROBS version 0.9.7 multiple sequence alignment"],
)
def test_programs_with_a_first_line_of_their_own_write_clustal_blocks(head):
    text = f"{head}\n\n\na      AC-DE\nb      ACWDE\n       ** **\n\na      F\nb      -\n"

    assert read_alignment(text.encode(), "x.aln").sequences == ("AC-DEF", "ACWDE-")


def test_stockholm_keeps_descriptions_and_joins_blocks():
    text = b"# STOCKHOLM 1.0\n#=GS a/1-2 DE the first\na/1-2 AC\nb A.\n\na/1-2 DE\nb DE\n#=GC RF xx\n//\nc AA\n//\n"
    found = read_alignment(text, "x.sto")

    assert found.sequences == ("ACDE", "A-DE")
    assert found.descriptions == ("the first", "")


@pytest.mark.parametrize(
    "data", [b"", b"no header\nACD", b">a\nAC<script>\n", b"# STOCKHOLM 1.0\n//\n", b"\xff\xfe\x00"]
)
def test_a_file_without_sequences_is_reported(data):
    with pytest.raises(UnreadableFileError, match="x.fasta"):
        read_alignment(data, "x.fasta")


def test_designed_sequences_bring_their_figures_and_chains():
    text = b">fv, score=1.25, seed=3\nACD/EF\n>T=0.1, sample=1, score=0.75, seq_recovery=0.5\nACE/EF\n"
    found = read_alignment(text, "seqs.fa")

    assert found.borders.tolist() == [3]
    assert found.to_frame()["score"].tolist() == [1.25, 0.75]
    assert found.to_frame()["seq_recovery"].tolist()[1] == 0.5
