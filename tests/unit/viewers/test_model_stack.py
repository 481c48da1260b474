"""Several models of a result in one scene: one at a time with name and score, or superposed."""

import json

from result_archives import FV, with_b_factors, write_ensemble, write_zip

from foldnote.results import Structure, open_result
from foldnote.viewers import bundle, compose_result
from foldnote.viewers.render.styles import list_hidden
from foldnote.viewers.scene.model_stack import compose_ensemble


def ranked(folder, number=3):
    members = {}
    for place in range(1, number + 1):
        members[f"fv_model_{place}.pdb"] = FV if place == 1 else write_ensemble(place).split("MODEL")[place]
        members[f"confidence_fv_model_{place}.json"] = json.dumps({"ptm": 0.9 - 0.1 * place})
    return open_result(write_zip(folder / "ranked.zip", members))


def test_ranked_models_are_steps_with_name_and_score(tmp_path):
    scene = compose_result(ranked(tmp_path))

    assert scene.is_stack
    assert not scene.is_played
    assert list_hidden(scene) == [1, 2]
    assert [step.label for step in scene.steps] == [
        "Rank 1 · fv_model_1.pdb · pTM 0.8", "Rank 2 · fv_model_2.pdb · pTM 0.7", "Rank 3 · fv_model_3.pdb · pTM 0.6",
    ]  # fmt: skip
    assert dict(scene.steps[1].facts)["To rank 1"].startswith("RMSD 0.")


def test_the_others_are_drawn_where_they_superpose(tmp_path):
    scene = compose_result(ranked(tmp_path))
    places = [
        [float(line[30:38]) for line in model.text.splitlines() if line.startswith("ATOM")]
        for model in scene.models
    ]

    assert abs(sum(places[0]) / 227 - sum(places[1]) / 227) < 0.01


def test_the_legend_describes_one_model(tmp_path):
    html = bundle(ranked(tmp_path))["text/html"]

    assert html.count("<span>Chain H <") == 1


def test_an_ensemble_steps_plays_and_is_coloured_by_rmsf():
    structure = Structure("nmr.pdb", "pdb", write_ensemble())
    scene = compose_ensemble(structure)

    assert scene.is_played
    assert [step.label for step in scene.steps] == [f"Model {number}" for number in range(1, 6)]
    assert scene.color == "rmsf"
    assert dict(scene.facts)["RMSF"].startswith("mean 1.14 Å, largest 1.75 Å at ")
    assert "RMSF over 5 models, superposed on their mean" in structure._repr_mimebundle_()["text/plain"]


def test_models_that_cannot_be_superposed_leave_the_first(tmp_path):
    lines = FV.splitlines()
    text = "\n".join(["MODEL        1", *lines[:-1], "ENDMDL", "MODEL        2", lines[0], "ENDMDL", "END"])
    scene = compose_ensemble(Structure("odd.pdb", "pdb", text))

    assert scene.steps == ()
    assert "Only the first of 2 models is shown." in scene.notes[0]


def test_a_single_model_is_as_before():
    structure = Structure("fv.pdb", "pdb", with_b_factors([50.0] * 227))

    assert compose_ensemble(structure).steps == ()
