"""A result is listed at once, and its files are read on demand."""

import io
import json

import numpy as np
import pytest
from result_archives import FV, write_fv_result, write_zip

from foldnote.errors import UnreadableFileError
from foldnote.results import open_result
from foldnote.results.sequences.antibody_numbering import read_numbering


@pytest.fixture
def result(tmp_path):
    return open_result(write_fv_result(tmp_path / "fv.zip"))


def test_the_plain_repr_counts(result):
    assert repr(result) == "<Result fv.zip: 8 files, 2 structures, 2 tables>"


def test_structures_put_the_shallow_one_first_and_unpack_gz(result):
    assert [structure.name for structure in result.structures] == ["antibody.pdb", "nested/copy.pdb.gz"]
    assert result.structures[1].text == result.structures[0].text


def test_tables_are_csv_tsv_and_records(result):
    assert list(result.tables) == ["numbering.csv", "table.tsv", "records.json"]
    assert result.tables["table.tsv"]["value"].tolist() == [1, 2.5]
    assert result.tables["records.json"]["x"].tolist() == [1, 2]


def test_a_table_is_a_copy(result):
    frame = result.tables["table.tsv"]
    frame.loc[0, "value"] = 99

    assert result.tables["table.tsv"]["value"].tolist() == [1, 2.5]


def test_scores_have_no_value_where_the_file_says_nan(result):
    assert dict(result.scores) == {"residues": 227, "energy": None}


def test_the_manifest_says_what_was_run(result):
    manifest = result.manifest

    assert (manifest.job_name, manifest.method, manifest.seed) == ("fv-1", "ABodyBuilder2", 7)
    assert manifest.duration_s == 42.5
    assert manifest.notes == ("One model; no ensemble error.",)
    assert not manifest.is_substitute


def test_a_substitute_is_reported(tmp_path):
    content = json.dumps({"engine": {"method": "ProteinMPNN", "kind": "substitute", "note": "not AbMPNN"}})
    manifest = open_result(write_zip(tmp_path / "r.zip", {"manifest.json": content})).manifest

    assert manifest.is_substitute
    assert manifest.notes == ("not AbMPNN",)


def test_numbering_keeps_positions_as_text(result):
    assert result.numbering["position"].map(type).eq(str).all()
    assert result.numbering["index"].dtype == "int64"


def test_regions_carry_sequence_and_definition(result):
    cdr = next(region for region in result.regions if region.label == "CDR-H3")

    assert (cdr.sequence, cdr.scheme, cdr.definition) == ("SRWGGDGFYAMDY", "imgt", "imgt")
    assert cdr.positions[0] == "105"


@pytest.mark.parametrize("spelling", ["FW", "FR"])
def test_frameworks_are_named_fr(spelling):
    header = b"chain,index,residue,position,region,scheme,cdr_definition\n"
    row = f"H,1,E,1,{spelling}1,imgt,imgt\n".encode()
    assert list(read_numbering(header + row, "numbering.csv")["region"]) == ["FR1"]


def test_a_numbering_without_its_columns_is_refused():
    with pytest.raises(UnreadableFileError, match="region"):
        read_numbering(b"chain,index,residue,position\nH,1,E,1\n", "numbering.csv")


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ("1.5", "has the index 1.5, which is not a whole number"),
        ("x", "cannot be read"),
        ("inf", "inf"),
        ("", "numbering"),
    ],
)
def test_an_index_that_is_not_a_whole_number_is_refused(index, sentence):
    text = f"chain,index,residue,position,region,scheme,cdr_definition\nH,{index},E,1,FR1,imgt,imgt\n"
    with pytest.raises(UnreadableFileError, match=sentence):
        read_numbering(text.encode(), "numbering.csv")


def test_a_result_without_anything_is_still_a_result(tmp_path):
    result = open_result(write_zip(tmp_path / "r.zip", {"readme.txt": "hello"}))

    assert result.structure is None
    assert result.manifest is None
    assert result.numbering is None
    assert dict(result.scores) == {}
    assert result.check() == ()


def test_single_figures_of_npz_files_are_scores(tmp_path):
    stream = io.BytesIO()
    np.savez(stream, ptm=np.array([0.5], dtype="float32"), iptm=np.array(0.25), matrix=np.zeros((9, 9)))
    result = open_result(write_zip(tmp_path / "r.zip", {"scores.npz": stream.getvalue()}))

    assert dict(result.scores) == {"ptm": 0.5, "iptm": 0.25}


def test_a_pickle_in_an_npz_is_not_loaded(tmp_path):
    stream = io.BytesIO()
    np.savez(stream, ptm=np.array([{"a": 1}], dtype=object))
    result = open_result(write_zip(tmp_path / "r.zip", {"scores.npz": stream.getvalue()}))

    assert result.score_table.empty
    assert result.check() == ()


def test_an_unreadable_first_structure_gives_way_to_the_next(tmp_path):
    result = open_result(
        write_zip(tmp_path / "r.zip", {"a.cif": "data_x\nloop_\n_atom_site.id\n", "b.pdb": FV})
    )

    assert result.structure.name == "b.pdb"
    assert result.problems[0].name == "a.cif"
