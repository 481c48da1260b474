"""Samples of AlphaFold 3 are ranked by the program's own scores, and copies are recognized by their atoms.

The scores are those of public runs; the atoms are made up.
"""

import json

import gemmi
import pytest
from result_archives import FV, write_zip

from foldnote.results import open_result

Q13148_Q92900 = (
    0.348635302369528,
    0.3620929999122181,
    0.30784393401381327,
    0.2880941858601679,
    0.3595892252040207,
)
Q9BUL8_Q13033 = (
    0.6759420012998778,
    0.7028062390482265,
    0.24971681969038229,
    0.6661171086348432,
    0.6264226380909126,
)


def moved(by, stamp="12:00:00"):
    """Return an mmCIF whose atoms are moved by ``by`` Å; ``stamp`` is the time in its header."""
    structure = gemmi.read_pdb_string(FV)
    structure[0].transform_pos_and_adp(gemmi.Transform(gemmi.Mat33(), gemmi.Vec3(by, 0, 0)))
    structure.setup_entities()
    return structure.make_mmcif_document().as_string() + f"_ma_model_list.model_group_name '{stamp}'\n"


def alphafold3(scores, *, folder="", top="fv_model.cif", seed=19698302, table="ranking_scores.csv"):
    """Write a job's folder: samples with rounded scores, the table of exact ones, and the best sample again."""
    best = max(range(len(scores)), key=scores.__getitem__)
    rows = "".join(f"{seed},{sample},{score}\n" for sample, score in enumerate(scores))
    members = {f"{folder}{table}": f"seed,sample,ranking_score\n{rows}"} if table else {}
    for sample, score in enumerate(scores):
        stem = f"{folder}seed-{seed}_sample-{sample}/"
        members[f"{stem}model.cif"] = moved(sample)
        members[f"{stem}summary_confidences.json"] = summarize(score)
    members[f"{folder}{top}"] = moved(best, "12:00:07")
    members[folder + top.replace("model.cif", "summary_confidences.json")] = summarize(scores[best])
    return members


def summarize(score):
    return json.dumps({"ptm": 0.54, "iptm": 0.15, "ranking_score": round(score, 2)})


@pytest.fixture
def opened(tmp_path):
    return lambda members: open_result(write_zip(tmp_path / "r.zip", members))


def list_samples(models):
    return [int(model.name.split("sample-")[1].split("/")[0]) for model in models]


@pytest.mark.parametrize("folder", ["", "job/"])
@pytest.mark.parametrize("top", ["fv_model.cif", "ranked_0_model.cif"])
@pytest.mark.parametrize(
    ("scores", "order"), [(Q13148_Q92900, [1, 4, 0, 2, 3]), (Q9BUL8_Q13033, [1, 0, 3, 4, 2])]
)
def test_samples_keep_the_programs_order_and_none_is_lost(opened, scores, order, top, folder):
    models = opened(alphafold3(scores, top=top, folder=folder)).models

    assert list_samples(models) == order
    assert [model.scores["ranking_score"] for model in models] == sorted(scores, reverse=True)
    assert {(model.ranked_by, model.prediction) for model in models} == {
        ("ranking_score", models[0].prediction)
    }


def test_the_copy_at_the_top_is_a_form_of_the_sample_with_the_same_atoms(opened):
    models = opened(alphafold3(Q13148_Q92900)).models

    assert [[form.name for form in model.variants] for model in models] == [["fv_model.cif"], [], [], [], []]
    assert models[0].scores["ranking_score"] == Q13148_Q92900[1]


def test_equal_rounded_figures_of_other_atoms_make_no_copy(opened):
    members = alphafold3((0.362, 0.358, 0.1))
    members["fv_model.cif"] = moved(50)

    assert len(opened(members).models) == 4


@pytest.mark.parametrize("scores", [(0.358, 0.362, 0.1), (0.1, 0.358, 0.362)])
def test_without_the_table_the_copy_at_the_top_is_the_best(opened, scores):
    models = opened(alphafold3(scores, table="")).models

    assert list_samples(models)[0] == max(range(3), key=scores.__getitem__)


def test_without_any_score_the_copy_at_the_top_is_the_best_and_says_so(opened):
    members = {
        name: text for name, text in alphafold3((0.1, 0.3, 0.2), table="").items() if "summary" not in name
    }
    models = opened(members).models

    assert (list_samples(models), models[0].ranked_by) == ([1, 0, 2], "the program's choice")


def test_a_copy_of_a_sample_that_is_not_there_has_its_score(opened):
    members = {n: text for n, text in alphafold3(Q13148_Q92900).items() if "sample-1" not in n}
    models = opened(members).models

    assert [model.name for model in models][:2] == ["fv_model.cif", "seed-19698302_sample-4/model.cif"]
    assert models[0].scores["ranking_score"] == Q13148_Q92900[1]
    assert {model.prediction for model in models} == {"fv"}


def test_jobs_side_by_side_are_ranked_apart_even_where_their_folders_are_named_like_seeds(opened):
    members = alphafold3((0.1, 0.2), folder="multi_seed_1/", seed=1)
    models = opened(members | alphafold3((0.4, 0.3), folder="multi_seed_2/", seed=1)).models

    assert [(model.prediction, model.rank) for model in models] == [
        ("multi_seed_1", 1),
        ("multi_seed_1", 2),
        ("multi_seed_2", 1),
        ("multi_seed_2", 2),
    ]
    assert list_samples(models) == [1, 0, 0, 1]


def test_a_table_of_samples_that_is_damaged_leaves_the_rounded_order(opened):
    members = alphafold3((0.1, 0.3, 0.2)) | {"ranking_scores.csv": "seed,sample,ranking_score\nx,y,z\n"}

    assert list_samples(opened(members).models) == [1, 2, 0]


def test_ranks_of_some_files_do_not_outweigh_the_scores_of_all(opened):
    stems = {"fv_model_1": 0.5, "fv_model_2": 0.9, "fv_rank_5": 0.7}
    members = {f"{stem}.cif": moved(place) for place, stem in enumerate(stems)}
    members |= {f"{stem}_scores.json": json.dumps({"iptm": value}) for stem, value in stems.items()}

    assert opened(members).model_table["iptm"].tolist() == [0.9, 0.7, 0.5]
