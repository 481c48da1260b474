"""Tables beside structures are read in their programs' layouts, and describe only what they are about."""

import foreign_archives as foreign
import numpy as np
import pytest
import scored_archives as scored
from result_archives import write_zip

from foldnote.results import find_metric, open_result


@pytest.fixture
def opened(tmp_path):
    return lambda members: open_result(write_zip(tmp_path / "result.zip", members))


def test_the_last_step_of_a_docking_run_is_its_result_and_its_table_ranks_it(opened):
    models = opened(scored.haddock3()).models

    assert [(m.prediction, m.rank, m.name.rpartition("/")[2]) for m in models] == [
        ("cluster_1", 1, "cluster_1_model_2.pdb.gz"),
        ("cluster_1", 2, "cluster_1_model_1.pdb.gz"),
        ("cluster_2", 1, "cluster_2_model_1.pdb.gz"),
    ]
    assert models[0].ranked_by == "caprieval_rank"
    assert models[0].scores["irmsd"] == 3.0
    assert models[0].confidence is None


def test_remarks_before_a_table_are_left_out(opened):
    table = opened(scored.haddock3()).tables["run1/7_caprieval/capri_clt.tsv"]

    assert table.to_dict("list") == {"cluster_rank": [1, 2], "cluster_id": [16, 3], "n": [10, 4]}


def test_a_score_file_names_its_models_and_a_lower_energy_is_better(opened):
    result = opened(scored.rosetta())

    assert list(result.tables["score.sc"]["total_score"]) == [-120.5, -150.25]
    assert [(m.name, m.ranked_by) for m in result.models] == [
        ("fv_0002.pdb", "total_score"),
        ("fv_0001.pdb", "total_score"),
    ]


def test_a_score_file_of_json_lines_is_a_table(opened):
    lines = '{"decoy":"fv_0001","total_score":-1.5}\n{"decoy":"fv_0002","total_score":-2.5}\n'

    assert list(opened({"score.sc": lines}).tables["score.sc"]["total_score"]) == [-1.5, -2.5]


def test_several_rows_about_one_model_are_not_its_scores(opened):
    result = opened(scored.ipsae())

    assert list(result.tables["fv_model_0_10_10.txt"]["ipSAE"]) == [0.448952, 0.866498, 0.866498]
    assert list(result.tables["fv_model_0_10_10_byres.txt"]["ScoredChain"]) == ["L"]
    assert [dict(model.scores) for model in result.models] == [{}]


def test_the_table_of_a_mutation_scan_begins_after_its_remarks(opened):
    table = opened(scored.foldx()).tables["Dif_fv.fxout"]

    assert table.to_dict("records") == [{"Pdb": "fv_1.pdb", "total energy": 1.25, "Backbone Hbond": -0.5}]


def test_intermediate_designs_are_not_models(opened):
    models = opened(scored.boltzgen()).models

    assert [m.name.rpartition("/")[2] for m in models] == ["rank1_fv_3.cif", "rank2_fv_7.cif"]


def test_designs_for_a_ligand_carry_the_confidence_of_their_headers(opened):
    frame = opened(scored.ligandmpnn()).alignments["seqs/fv.fa"].to_frame()

    assert frame["overall_confidence"][1] == 0.4794
    assert np.isnan(frame["overall_confidence"][0])
    assert frame["ligand_confidence"][1] == 0.5111
    assert frame["seq_rec"][1] == 0.5269


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("aln.m8", ["query", "target", "fident", "alnlen", "evalue", "bits"]),
        ("fv_env/pdb70.m8", ["query", "evalue", "bits", "column_13"]),
        ("named.m8", ["query", "target", "fident", "alntmscore"]),
    ],
)
def test_hits_of_a_search_have_names(opened, name, columns):
    table = opened(scored.searches()).tables[name]

    assert set(columns) <= set(table.columns)
    assert table["query"][0] == "q1"


def test_what_begins_as_a_language_models_fold_has_a_confidence(opened):
    (model,) = opened(scored.esmfold()).models

    assert model.confidence.mean == pytest.approx(np.mean(foreign.PLDDT), abs=0.01)


def test_a_submission_to_an_assessment_has_none(opened):
    assert opened(scored.casp()).models[0].confidence is None


def test_confidence_under_its_older_name_is_found_in_arrays(opened):
    (model,) = opened(scored.rosettafold2()).models

    assert model.confidence.mean == pytest.approx(np.mean(foreign.PLDDT), abs=0.1)
    assert model.pae.matrix.shape == (foreign.LENGTH, foreign.LENGTH)


def test_the_refined_model_is_used(opened):
    result = opened(scored.immunebuilder())

    assert [m.name for m in result.models] == ["final_model.pdb"]
    assert len(result.structures) == 5
    assert result.structure.name == "final_model.pdb"
    assert result.models[0].confidence is None


def test_jobs_of_a_batch_in_one_folder_each_have_their_ranks_scores_and_errors(opened):
    models = opened(scored.colabfold_batch()).models

    assert [(m.prediction, m.rank) for m in models] == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]
    assert all(m.scores["iptm"] == pytest.approx(0.9 if m.rank == 1 else 1.0) for m in models)
    assert all(len(m.pae) == foreign.LENGTH and m.prediction in m.pae.source for m in models)
    assert all(m.confidence is not None for m in models)


def test_older_names_are_known_and_errors_are_those_of_the_model(opened):
    first, second = opened(scored.older_colabfold()).models

    assert (first.rank, second.rank, first.scores["ptm"]) == (1, 2, 0.7)
    assert first.pae is not None
    assert second.pae is None
    assert second.confidence.mean < first.confidence.mean


def test_a_list_may_give_figures_in_its_own_order(opened):
    first, second = opened(scored.alphalink()).models

    assert (first.scores["iptm+ptm"], second.scores["iptm+ptm"]) == (0.055, 0.054)
    assert len(first.variants) == 1
    assert "model_4" in first.pae.source
    assert first.confidence is not None


def test_a_file_of_errors_without_atoms_is_not_a_structure(opened):
    result = opened(scored.modelcif_with_a_file_of_its_errors())

    assert [each.name for each in result.structures] == ["ranked_0.pdb"]
    assert result.check() == ()


@pytest.mark.parametrize(
    ("name", "label", "is_higher"),
    [
        ("ipSAE", "ipSAE", True),
        ("LIS", "LIS", True),
        ("irmsd", "interface RMSD", False),
        ("fnat", "fnat", True),
        ("total_score", "Rosetta energy", False),
        ("Average_i_pTM", "ipTM", True),
        ("Average_dG", "interface energy", False),
        ("r_i_glide_gscore", "GlideScore", False),
        ("SCORE.INTER", "docking score", False),
        ("overall_confidence", "mean confidence of the design", True),
        ("ligand_confidence", "mean confidence near the ligand", True),
    ],
)
def test_a_figure_of_such_a_table_has_its_direction(name, label, is_higher):
    metric = find_metric(name)

    assert (metric.label, metric.higher_is_better) == (label, is_higher)
