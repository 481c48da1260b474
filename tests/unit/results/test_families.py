"""Programs' naming schemes for files are recognized from the names, and nothing is invented."""

import json

import foreign_archives as foreign
import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem
from result_archives import DATA, FV, with_b_factors, write_zip

from foldnote.results import Structure, open_result
from foldnote.results.naming.families import PLDDT_FAMILIES, find_link, find_prediction


@pytest.fixture
def opened(tmp_path):
    return lambda members: open_result(write_zip(tmp_path / "r.zip", members))


def summarize(result):
    return [(m.name.split("/")[-1], m.rank, m.ranked_by, len(m.variants)) for m in result.models]


def test_alphafold2_is_ranked_by_its_list_and_forms_of_a_model_are_one(opened):
    result = opened(foreign.alphafold2())

    assert summarize(result) == [
        ("ranked_0.pdb", 1, "the program's list", 2),
        ("ranked_1.pdb", 2, "the program's list", 1),
    ]
    assert [m.scores["iptm+ptm"] for m in result.models] == [0.9, 0.4]
    assert result.models[0].pae.chains == ("H", "L")
    assert result.models[0].confidence.mean == pytest.approx(np.mean(foreign.PLDDT), abs=0.01)
    assert "AlphaFold 2" in result.models[1].confidence.source


def test_alphafold2s_alignments_are_read(opened):
    alignments = opened(foreign.alphafold2()).alignments

    assert {name: each.sequences for name, each in alignments.items()} == {
        "fv/msas/bfd_uniref_hits.a3m": ("ACD", "A-D"),
        "fv/msas/uniref90_hits.sto": ("ACD", "A-D"),
    }


def test_the_alphafold_database_has_confidence_and_aligned_error(opened):
    (model,) = opened(foreign.alphafold_database()).models

    assert model.confidence.mean == pytest.approx(np.mean(foreign.PLDDT), abs=0.01)
    assert model.pae.matrix.shape == (227, 227)


def test_the_copy_of_the_best_sample_is_not_a_second_model(opened):
    models = opened(foreign.alphafold3_local()).models

    assert [(m.name, m.rank, len(m.variants)) for m in models] == [
        ("fv/seed-1_sample-1/model.cif", 1, 1),
        ("fv/seed-1_sample-0/model.cif", 2, 0),
    ]
    assert {m.prediction for m in models} == {"fv"}
    assert models[0].pae.matrix[3, 5] == np.float32(foreign.PAE[3, 5])
    assert models[0].chain_scores["chain_ptm"].tolist()[0] == 0.8


def test_the_newer_names_of_samples_are_understood(opened):
    models = opened(foreign.alphafold3_newer()).models

    assert [(m.name.split("/")[1], m.rank, len(m.variants)) for m in models] == [
        ("seed-2_sample-0", 1, 1),
        ("seed-1_sample-0", 2, 0),
    ]


def test_what_a_run_leaves_around_its_predictions_is_not_taken_for_results(opened):
    result = opened(foreign.boltz_working_folder())

    assert result.manifest is None
    assert [m.rank for m in result.models] == [1, 2]
    assert dict(result.models[0].chain_scores) == {}


@pytest.mark.parametrize(
    ("archive", "by", "best", "count"),
    [
        (foreign.protenix, "ranking_score", "fv/seed_102/predictions/fv_sample_0.cif", 4),
        (foreign.openfold3, "sample_ranking_score", "fv/seed_43/fv_seed_43_sample_1_model.cif", 3),
    ],
)
def test_samples_of_several_seeds_are_one_prediction(opened, archive, by, best, count):
    models = opened(archive()).models

    assert {(m.prediction, m.ranked_by) for m in models} == {("fv", by)}
    assert (models[0].name, len(models)) == (best, count)
    assert all(m.pae.chains == ("H", "L") and m.confidence is not None for m in models)
    assert models[0].chain_scores["chain_ptm"].tolist() == [0.8, 0.7]


def test_a_rank_in_a_folder_name_counts_and_its_copy_is_not_a_second_model(opened):
    models = opened(foreign.helixfold3()).models

    assert [(m.name, m.rank, len(m.variants)) for m in models] == [
        ("fv/fv-rank1/predicted_structure.cif", 1, 3),
        ("fv/fv-rank2/predicted_structure.cif", 2, 3),
    ]
    assert models[0].confidence.mean == pytest.approx(np.mean(foreign.PLDDT), abs=0.01)


def test_a_program_is_known_by_the_timings_beside_its_structures(opened):
    (model,) = opened(foreign.openfold()).models

    assert "OpenFold" in model.confidence.source


def test_a_program_is_known_by_the_file_of_the_same_name(opened):
    fv, other = opened(foreign.rosettafold_all_atom()).models

    assert "RoseTTAFold All-Atom" in fv.confidence.source
    assert fv.confidence.mean == pytest.approx(np.mean(foreign.PLDDT), abs=0.6), (
        "two decimal places between 0 and 1"
    )
    assert other.confidence is None


def test_intermediate_steps_are_not_models(opened):
    result = opened(foreign.rfdiffusion())

    assert [m.name for m in result.models] == ["design_0.pdb", "design_1.pdb"]
    assert len(result.structures) == 6
    assert result.check() == ()


def test_the_final_choice_of_a_designer_is_ranked_and_has_its_figures(opened):
    result = opened(foreign.bindcraft())

    assert [(m.name, m.rank) for m in result.models] == [
        ("Accepted/Ranked/1_t_l88_s1_mpnn2_model1.pdb", 1),
        ("Accepted/Ranked/2_t_l88_s1_mpnn4_model1.pdb", 2),
        ("Accepted/Ranked/3_t_l70_s9_mpnn1_model1.pdb", 3),
    ]
    assert result.model_table["Average_i_pTM"].tolist() == [0.8, 0.7, 0.6]
    assert result.structure.name == "Accepted/Ranked/1_t_l88_s1_mpnn2_model1.pdb"


def test_designs_that_are_not_ranked_yet_have_the_figures_of_their_names_and_are_ranked_by_them(opened):
    table = opened(foreign.bindcraft_before_ranking()).model_table

    assert table[["prediction", "rank", "model", "Average_i_pTM"]].values.tolist() == [
        ["Accepted", 1, "Accepted/t_l88_s1_mpnn4_model2.pdb", 0.8],
        ["Accepted", 2, "Accepted/t_l70_s9_mpnn1_model1.pdb", 0.7],
        ["Accepted", 3, "Accepted/t_l88_s1_mpnn2_model1.pdb", 0.6],
    ]


@pytest.mark.parametrize("names", [("A", "B", "C"), ("B", "A", "X9")])
def test_scores_by_names_and_pairs_of_chains_are_arrays_in_one_order(opened, names):
    a, b, c = names
    scores = {
        "ptm": 0.5,
        "chain_pair_iptm": {f"({b}, {c})": 0.3, f"({a}, {b})": 0.1, f"({a}, {c})": 0.2},
        "bespoke_iptm": {f"({a},{b})": 0.4, f"({a},{c})": None, f"({b},{c})": 0.6},
        "chain_ptm": {a: 0.9, b: 0.8, c: None},
        "chain_info": {"length": 5, "count": 2},
    }
    (model,) = opened(
        {"x_model_0.cif": foreign.cif(), "confidences_x_model_0.json": json.dumps(scores)}
    ).models
    found = {key: np.nan_to_num(value, nan=-1).tolist() for key, value in model.chain_scores.items()}

    assert found == {
        "chain_ptm": [0.9, 0.8, -1],
        "chain_pair_iptm": [[-1, 0.1, 0.2], [0.1, -1, 0.3], [0.2, 0.3, -1]],
        "bespoke_iptm": [[-1, 0.4, -1], [0.4, -1, 0.6], [-1, 0.6, -1]],
    }


def test_designed_sequences_carry_the_figures_of_their_headers(opened):
    designs = opened(foreign.proteinmpnn()).alignments["seqs/fv.fa"]

    assert designs.chain_lengths == (5, 5)
    assert designs.to_frame()["score"].tolist() == [1.1705, 0.72, 0.61]
    assert designs.to_frame()["seq_recovery"].tolist()[1:] == [0.5736, 0.5736]


def test_confidence_and_error_in_npz_files_are_found_beside_b_factors_of_zero(opened):
    best, second = opened(foreign.boltz()).models

    assert best.confidence.mean == pytest.approx(np.mean(foreign.PLDDT), abs=0.01)
    assert best.confidence.source.endswith("plddt_fv_model_0.npz")
    assert best.confidence.atoms is None
    assert best.pae.borders.tolist() == [120]
    assert second.scores["confidence_score"] == 0.8


def test_an_affinity_belongs_to_the_best_model(opened):
    best, second = opened(foreign.boltz()).models

    assert best.scores["affinity_pred_value"] == -1.2
    assert "affinity_pred_value" not in second.scores


def test_the_figure_ranks_where_names_do_not(opened):
    assert summarize(opened(foreign.chai())) == [
        ("pred.model_idx_1.cif", 1, "aggregate_score", 0),
        ("pred.model_idx_0.cif", 2, "aggregate_score", 0),
    ]


def test_ranked_files_carry_their_confidence_in_the_name(opened):
    result = opened(foreign.diffdock())

    assert [(p.rank, p.scores["confidence"]) for p in result.poses] == [(1, -0.53), (2, -1.9), (3, -3.25)]
    assert {(p.ligand, p.ranked_by) for p in result.poses} == {("complex_0", "file name")}


def test_records_of_one_file_stay_in_the_programs_order(opened):
    table = opened(foreign.gnina()).pose_table

    assert table["rank"].tolist() == [1, 2]
    assert table["minimizedAffinity"].tolist() == [-7.5, -8.5]
    assert table["CNNscore"].tolist() == [0.9, 0.4]


def test_vinas_poses_carry_their_affinity(opened):
    members = {"receptor.pdb": FV, "out.pdbqt": (DATA / "vina_poses.pdbqt").read_bytes()}
    poses = opened(members).poses

    assert [pose.scores["affinity"] for pose in poses] == [-13.234, -11.293, -11.281]
    assert poses[0].molecule.formula == "C29H32N7O"
    assert poses[0].molecule.heavy_atoms == 37


def write_screen(*records):
    """Return an SDF of (title, SMILES, affinity), one conformer each."""
    text = ""
    for title, smiles, affinity in records:
        molecule = Chem.MolFromSmiles(smiles)
        AllChem.Compute2DCoords(molecule)
        molecule.SetProp("_Name", title)
        text += f"{Chem.MolToMolBlock(molecule)}>  <minimizedAffinity>\n{affinity}\n\n$$$$\n"
    return text


def test_ligands_in_one_file_are_ranked_each_by_itself(opened):
    records = [("zinc-2", "CCO", -3.0), ("zinc-2", "CCO", -2.5), ("zinc-1", "c1ccccc1", -5.0)]
    poses = opened({"receptor.pdb": FV, "screen.sdf": write_screen(*records)}).poses
    assert [(p.ligand, p.rank, p.molecule.index) for p in poses] == [
        ("zinc-2", 1, 0),
        ("zinc-2", 2, 1),
        ("zinc-1", 1, 2),
    ]


@pytest.mark.parametrize(
    "records",
    [
        [("pose 1", "CCO", -3.0), ("pose 2", "CCO", -2.5)],
        [("pose 1", "CC(=O)O", -3.0), ("pose 2", "CC(=O)[O-]", -2.5)],
        [("", "CCO", -3.0), ("", "CCN", -2.5)],
    ],
    ids=["one molecule", "protonation states", "no titles"],
)
def test_the_poses_of_one_ligand_are_ranked_together_whatever_their_titles(records, opened):
    poses = opened({"receptor.pdb": FV, "screen.sdf": write_screen(*records)}).poses
    assert [(p.ligand, p.rank) for p in poses] == [("screen", 1), ("screen", 2)]


def test_the_same_poses_in_two_formats_are_counted_once(opened):
    members = foreign.gnina() | {"docked.pdbqt": (DATA / "vina_poses.pdbqt").read_bytes()}

    assert {pose.molecule.format for pose in opened(members).poses} == {"sdf"}


def test_a_score_table_that_names_structures_ranks_them(opened):
    members = {
        "designs/a.pdb": FV,
        "designs/b.pdb": FV,
        "designs/scores.csv": "description,iptm,seed\na.pdb,0.2,1\nout/b.pdb,0.8,2\n",
    }
    table = opened(members).model_table

    assert dict(zip(table["model"], table["iptm"], strict=True)) == {
        "designs/a.pdb": 0.2,
        "designs/b.pdb": 0.8,
    }


def test_predictions_in_one_archive_are_ranked_apart(opened):
    members = {f"{job}_rank_00{rank}_model_1.pdb": FV for job in ("x", "y") for rank in (1, 2)}

    assert [(m.prediction, m.rank) for m in opened(members).models] == [
        ("x", 1),
        ("x", 2),
        ("y", 1),
        ("y", 2),
    ]


def test_models_without_a_ranking_say_so(opened):
    models = opened({"design_10.pdb": FV, "design_2.pdb": FV}).models

    assert [(m.name, m.ranked_by) for m in models] == [("design_2.pdb", ""), ("design_10.pdb", "")]


@pytest.mark.parametrize("values", [[0.0] * 227, [50.0] * 227, [1.0] * 227])
def test_equal_b_factors_are_not_confidence_values_whatever_the_names_say(opened, values):
    name = "x_unrelaxed_rank_001_alphafold2_ptm_model_1_seed_000.pdb"

    assert opened({name: with_b_factors(values)}).models[0].confidence is None


def test_a_score_file_that_contradicts_the_b_factors_proves_nothing(opened):
    members = {
        "x_rank_001.pdb": foreign.model(),
        "x_scores_rank_001.json": json.dumps({"plddt": foreign.PLDDT[::-1]}),
    }

    assert opened(members).models[0].confidence is None


def test_an_error_matrix_of_another_size_has_no_borders(opened):
    pae = foreign.PAE[:50, :50].tolist()
    members = {"x_rank_001.pdb": FV, "x_scores_rank_001.json": json.dumps({"pae": pae, "ptm": 0.5})}
    found = opened(members).models[0].pae

    assert (len(found), found.chains, found.borders.tolist()) == (50, (), [])


@pytest.mark.parametrize(
    "pae", [[], [[]], [[1, 2]], [["a", "b"], [1, 2]], [[-1.0, 1], [1, 1]], [[None, None]] * 2]
)
def test_an_invalid_error_matrix_is_none(opened, pae):
    members = {"x.pdb": FV, "x_scores.json": json.dumps({"pae": pae, "ptm": 0.5})}

    assert opened(members).models[0].pae is None


def test_names_of_one_model_become_equal():
    links = {
        find_link(name)
        for name in (
            "x_model_0.cif",
            "confidence_x_model_0.json",
            "pae_x_model_0.npz",
            "x_full_data_0.json",
            "X_0.PDB.gz",
        )
    }

    assert len(links) == 1


@pytest.mark.parametrize(
    ("name", "prediction"),
    [
        ("p/dna_1_model_0.cif", "dna_1"),
        ("job_unrelaxed_rank_001_alphafold2_ptm_model_3_seed_000.pdb", "job"),
        ("out/seed-1_sample-0/model.cif", "out"),
        ("pred.model_idx_0.cif", ""),
        ("design_12.pdb", "design"),
        ("design12.pdb", "design"),
        ("NMR7.pdb", "NMR"),
        ("P12345.pdb", "P12345"),
        ("MGYP000911143359.pdb", "MGYP000911143359"),
        ("P12345_2.pdb", "P12345"),
    ],
)
def test_the_prediction_is_what_names_share(name, prediction):
    assert find_prediction(name) == prediction


def test_predictions_of_several_accessions_are_not_models_of_one(opened):
    """As OmegaFold and ESMFold write them, a file for each sequence."""
    models = opened({"P12345.pdb": foreign.model(), "P12399.pdb": foreign.model(-5)}).models

    assert [(each.prediction, each.rank) for each in models] == [("P12345", 1), ("P12399", 1)]


def test_every_family_says_what_it_is():
    assert all(family.label and family.structure for family in PLDDT_FAMILIES)


def test_figures_in_lists_of_one_are_figures(opened):
    scores = {"ptm": [0.5], "iptm": [0.25], "per_chain_pair_iptm": [[[0.1, 0.2], [0.3, 0.4]]]}
    (model,) = opened({"pred.rank_0.cif": foreign.cif(), "scores.rank_0.json": json.dumps(scores)}).models

    assert (model.scores["ptm"], model.scores["iptm"]) == (0.5, 0.25)
    assert model.chain_scores["per_chain_pair_iptm"].shape == (2, 2)


@pytest.mark.parametrize(("mean", "is_found"), [(np.mean(foreign.PLDDT) / 100, True), (0.3, False)])
def test_b_factors_whose_mean_is_the_reported_mean_are_a_confidence(opened, mean, is_found):
    scores = json.dumps({"confidence_score": 0.5, "complex_plddt": float(mean)})
    (model,) = opened({"x_model_0.pdb": foreign.model(), "confidence_x_model_0.json": scores}).models

    assert (model.confidence is not None) is is_found


def test_a_single_model_takes_the_results_scores(opened):
    (model,) = opened({"prediction.pdb": FV, "score.json": '{"ptm": 0.5, "note": "text"}'}).models

    assert dict(model.scores) == {"ptm": 0.5}


def test_jobs_of_a_batch_are_predictions_of_their_own(opened):
    members = {f"batch/job-{number}/antibody.pdb": FV for number in (1, 2)}

    assert [(m.prediction, m.rank) for m in opened(members).models] == [
        ("batch/job-1/antibody", 1),
        ("batch/job-2/antibody", 1),
    ]


def test_a_file_that_is_named_as_a_known_program_names_it_has_its_confidence(tmp_path):
    path = tmp_path / "x_unrelaxed_rank_001_alphafold2_ptm_model_3_seed_000.pdb"
    path.write_text(foreign.model())

    assert Structure.open(path).mean_plddt == pytest.approx(np.mean(foreign.PLDDT), abs=0.01)


def test_a_score_table_is_about_the_structures_beside_it(opened):
    members = {f"job-{n}/a.pdb": FV for n in (1, 2)} | {
        f"job-{n}/scores.csv": f"file,iptm\na.pdb,0.{n}\n" for n in (1, 2)
    }

    assert [model.scores["iptm"] for model in opened(members).models] == [0.1, 0.2]


def test_a_name_that_fits_several_structures_says_nothing(opened):
    members = {f"job-{n}/a.pdb": FV for n in (1, 2)} | {
        "scores.csv": "file,iptm\na.pdb,0.1\njob-2/a.pdb,0.2\n"
    }

    assert [dict(model.scores) for model in opened(members).models] == [{}, {"iptm": 0.2}]


def test_the_files_own_chains_count_where_they_contradict_the_structure(opened):
    tokens = {"token_chain_ids": ["X"] * 100 + ["Y"] * 127, "token_res_ids": list(range(227))}
    members = {
        "x_model_0.cif": foreign.cif(),
        "x_full_data_0.json": json.dumps({"pae": foreign.PAE.tolist()} | tokens),
    }
    (model,) = opened(members).models

    assert (model.pae.chains, model.pae.borders.tolist()) == (("X", "Y"), [100])
