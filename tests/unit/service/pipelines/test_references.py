"""The files of an earlier stage that a field takes."""

import json
import zipfile

import pytest

from foldnote.service.domain.pipelines.references import (
    Reference,
    ReferenceFaultError,
    choose_members,
    read_reference,
)

MODELS = ("m_rank_002_x.pdb", "m_rank_001_y.pdb", "m_rank_010_z.pdb")


@pytest.fixture
def pack(tmp_path):
    def write(*names, **contents):
        path = tmp_path / "result.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, name)
            for name, content in contents.items():
                archive.writestr(name.replace("_json", ".json"), content)
        return path

    return write


def choose(archive, path, extensions=("pdb",), takes_many=False, choose_best=None):
    return choose_members(archive, path, extensions, takes_many=takes_many, choose_best=choose_best)


def test_an_exact_path_is_that_file(pack):
    assert choose(pack(*MODELS), MODELS[2], choose_best=True) == [MODELS[2]]


@pytest.mark.parametrize("path", ["*.pdb", "", "m_*"])
def test_the_best_of_many_has_the_smallest_rank(pack, path):
    assert choose(pack(*MODELS, "log.txt"), path, choose_best=True) == [MODELS[1]]


def test_choose_best_holds_for_fields_of_many(pack):
    assert choose(pack(*MODELS), "*.pdb", takes_many=True, choose_best=True) == [MODELS[1]]


@pytest.mark.parametrize("choose_best", [None, False])
def test_a_field_of_many_takes_all_in_their_rank(pack, choose_best):
    found = choose(pack(*MODELS), "", takes_many=True, choose_best=choose_best)
    assert found == [MODELS[1], MODELS[0], MODELS[2]]


def test_without_choosing_a_field_of_one_means_each_of_them(pack):
    assert choose(pack(*MODELS), "*.pdb", choose_best=False) == [MODELS[1], MODELS[0], MODELS[2]]


def test_a_ranking_file_decides_where_names_do_not(pack):
    order = json.dumps({"order": ["model_3", "model_1"]})
    archive = pack("model_1.pdb", "model_2.pdb", "model_3.pdb", ranking_debug_json=order)
    assert choose(archive, "*.pdb") == ["model_3.pdb"]


def test_model_10_is_not_model_1_in_a_ranking_file(pack):
    order = ["model_1", "model_2", "model_10"]
    archive = pack(*(f"{name}.pdb" for name in order), ranking_debug_json=json.dumps({"order": order}))
    assert choose(archive, "*.pdb", takes_many=True) == ["model_1.pdb", "model_2.pdb", "model_10.pdb"]


@pytest.mark.parametrize("ranking", ["[]", "{", '{"order": 3}', '{"order": [1]}'])
def test_a_damaged_ranking_file_is_ignored(pack, ranking):
    assert choose(pack("b.pdb", "a.pdb", ranking_json=ranking), "*.pdb") == ["a.pdb"]


def test_a_folder_means_its_files_of_the_kind(pack):
    archive = pack("models/b.pdb", "models/a.cif", "other/a.pdb")
    assert choose(archive, "models/") == ["models/b.pdb"]


def test_the_whole_result_is_what_the_tool_left(pack):
    archive = pack("a.csv", "manifest.json", "score.json", "job.log")
    assert choose(archive, "", extensions=(), takes_many=True) == ["a.csv"]
    assert choose(archive, "score.json", extensions=()) == ["score.json"]


@pytest.mark.parametrize("path", ["nothing.pdb", "models", "../x", "*.cif"])
def test_what_is_not_there_is_reported_with_what_is(pack, path):
    with pytest.raises(ReferenceFaultError, match="m.pdb"):
        choose(pack("m.pdb"), path)


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        ("fold/a/b.pdb", Reference("fold", "a/b.pdb")),
        ("fold/", Reference("fold", "")),
        ("fold", None),
        ("other/a.pdb", None),
        ("fold/a\nATOM", None),
    ],
)
def test_a_reference_begins_with_a_stage(value, reference):
    assert read_reference(value, ["fold"]) == reference
