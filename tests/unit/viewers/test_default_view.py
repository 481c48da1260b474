"""Results of tools without a layout: every model by rank, without intermediate files."""

import foreign_archives as foreign
import pytest
import scored_archives as scored
from result_archives import write_zip

from foldnote.results import open_result
from foldnote.viewers import bundle, default_view


@pytest.fixture
def shown(tmp_path):
    """Return the text of a default view, part by part."""
    return lambda members: [
        part["text/plain"] for part in default_view(open_result(write_zip(tmp_path / "r.zip", members)))
    ]


def test_the_scores_of_models_are_shown_beside_their_ranks(shown):
    table = shown(foreign.boltz())[-1]

    assert table.startswith("Scores of every model")
    assert "rank" in table
    assert table.index("0.9") < table.index("0.8")


def test_tables_of_a_search_for_related_sequences_are_left_out(shown):
    parts = shown(scored.searches())

    assert [part.split()[0] for part in parts] == ["aln.m8", "named.m8"]


def test_designed_sequences_are_a_table_with_their_figures(shown):
    (table,) = shown(foreign.proteinmpnn())

    assert table.startswith("seqs/fv.fa")
    assert "seq_recovery" in table
    assert "0.61" in table
    assert "DIQMT" in table


def test_designs_for_a_ligand_are_shown_beside_their_backbone(shown):
    structure, table = shown(scored.ligandmpnn())

    assert "Chain H" in structure
    assert "overall_confidence" in table
    assert "0.4794" in table


def test_a_plot_is_as_wide_as_its_drawing(tmp_path):
    parts = default_view(open_result(write_zip(tmp_path / "r.zip", foreign.boltz())))
    plots = next(
        part["text/html"] for part in parts if part["text/html"].startswith('<div class="fnv-plots">')
    )

    assert 'style="width: 560px"' in plots
    assert 'style="width: 450px"' in plots


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("md.xtc", "md.xtc is a trajectory"), ("readme.txt", "foldnote cannot display any of these")],
)
def test_a_result_that_cannot_be_displayed_says_why(tmp_path, name, sentence):
    (tmp_path / name).write_bytes(b"0")

    assert bundle(open_result(tmp_path / name))["text/plain"].startswith(sentence)
