"""The explorer's selection is read, set and observed in Python; residues that do not exist are refused."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from result_archives import write_ensemble

import foldnote as fn
from foldnote.cell_outputs import WIDGET_MIME
from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results import Pae, Structure
from foldnote.viewers import compose
from foldnote.viewers.explorer.explorer import Explorer, explore

DATA = Path(__file__).parents[1] / "results" / "data"
FV = (DATA / "trastuzumab_fv_ca.pdb").read_text()


@pytest.fixture
def explorer():
    return explore(Structure("fv.pdb", "pdb", FV))


def test_the_explorer_of_a_result_has_its_name_and_the_cdrs_of_its_numbering(tmp_path):
    with zipfile.ZipFile(tmp_path / "panel.zip", "w") as archive:
        archive.writestr("fv.pdb", FV)
        archive.write(DATA / "numbering.csv", "numbering.csv")
    page = fn.explore(fn.open_result(tmp_path / "panel.zip"))._repr_mimebundle_()["text/html"]
    assert "panel" in page
    assert "SRWGGDGFYAMDY" in page


def test_the_explorer_of_a_result_with_a_damaged_numbering_opens_and_says_so(tmp_path):
    with zipfile.ZipFile(tmp_path / "panel.zip", "w") as archive:
        archive.writestr("fv.pdb", FV)
        archive.writestr("numbering.csv", "chain,position\nH,1\n")
    explorer = fn.explore(fn.open_result(tmp_path / "panel.zip"))
    note = "The CDRs are not marked: numbering.csv lacks the column 'index', required for a numbering."
    assert (
        f'<p class="fnv-warn">{note.replace(chr(39), "&#x27;")}</p>'
        in explorer.get_state()["_view_data"]["html"]
    )
    assert note in explorer._repr_mimebundle_()["text/plain"]


def test_the_explorer_of_several_models_shows_the_first_and_says_so():
    structure = Structure(
        "nmr.cif",
        "mmcif",
        Structure("nmr.pdb", "pdb", write_ensemble(3)).to_gemmi().make_mmcif_document().as_string(),
    )
    page = explore(structure)._repr_mimebundle_()["text/html"]

    assert "Only the first of 3 models is shown" in page


def test_a_choice_is_observed_and_reported_as_a_table_and_in_words(explorer):
    seen = []
    explorer.observe(lambda change: seen.append(change.new), "selection")
    explorer.select("H", [5, "6", "7", 9])
    assert seen == [[("H", "5"), ("H", "6"), ("H", "7"), ("H", "9")]]
    assert explorer.selected["letter"].tolist() == ["V", "E", "S", "G"]
    assert explorer.text == "H:5-7,9"
    assert explorer.selected["plddt"].isna().all(), "the structure has no confidence"


def test_a_whole_chain_is_chosen(explorer):
    explorer.select("L")
    assert len(explorer.selected) == 107
    explorer.selection = []
    assert explorer.text == ""


@pytest.mark.parametrize("wrong", [[("Z", "1")], [("H", "9999")]])
def test_a_residue_that_is_not_there_is_refused_and_nothing_changes(explorer, wrong):
    explorer.select("H", [5])
    with pytest.raises(ArgumentError, match="has no residue"):
        explorer.selection = wrong
    assert explorer.selection == [("H", "5")]


def test_a_chain_that_is_not_there_is_refused(explorer):
    with pytest.raises(ArgumentError, match="no chain 'Q'"):
        explorer.select("Q")


def test_the_error_map_knows_its_residues():
    scene = compose(Structure("fv.pdb", "pdb", FV))
    keys = [(c.name, n) for c in scene.models[0].chains for n in c.numbers]
    tokens = pd.DataFrame([(*key, "ALA", "") for key in keys], columns=["chain", "number", "residue", "atom"])
    pae = Pae(np.zeros((len(keys), len(keys)), dtype=np.float32), tokens, "pae.json")
    drawn = Explorer(scene, pae).get_state()["_pae"]
    assert drawn["owners"] == list(range(len(keys)))
    assert drawn["borders"] == [120]
    unknown = Pae(np.zeros((3, 3), dtype=np.float32), None, "x")
    assert Explorer(scene, unknown).get_state()["_pae"] == {}


def test_a_path_is_explored(tmp_path):
    place = tmp_path / "fv.pdb"
    place.write_text(FV)
    explorer = fn.explore(place)
    explorer.selection = [("H", "1"), ("L", "107")]
    assert explorer.text == "H:1 L:107"


def test_an_archive_is_refused_with_the_call_that_opens_it(tmp_path):
    place = tmp_path / "panel.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("fv.pdb", FV)
    with pytest.raises(UnreadableFileError) as refused:
        fn.explore(place)
    call = f"fn.open_result({str(place)!r})"
    assert f"panel.zip is an archive, not a structure file. Open it with {call}" in str(refused.value)
    assert fn.explore(fn.open_result(place)).selection == []


def test_an_explorer_without_its_kernel_is_the_scene(explorer):
    bundle = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert WIDGET_MIME in bundle
    assert "fv.pdb" in bundle["text/plain"]
    assert "<script" in bundle["text/html"]
    assert "object at 0x" not in bundle["text/plain"]


def test_an_explorer_is_saved_as_a_page_that_loads_nothing_and_as_nothing_else(explorer, tmp_path):
    explorer.select("H", [5])
    text = explorer.save(tmp_path / "new" / "explorer.html", title="<Fv>").read_text()
    assert "<h1>&lt;Fv&gt;</h1>" in text
    assert '"selection":[["H","5"]]' in text
    assert "http://" not in text.split('id="fne-state">')[1].split("</script>")[0]
    with pytest.raises(ArgumentError, match="saved as .html"):
        explorer.save(tmp_path / "explorer.png")
