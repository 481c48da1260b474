"""Tools that can use a job's result, derived from schemas, so that any catalog's tools are included."""

import pytest

from foldnote import catalog
from foldnote.catalog.continuations import find_continuations
from foldnote.client.inputs.file_values import JobFile
from foldnote.forms.view.continuation import ContinuationChooser, describe, fill_values, write_cell
from foldnote.models import Tool

TOOLS = catalog.tools()
ANTIBODY = {"heavy": "EVQL", "light": "DIQM"}


def go_on(paths=(), source="abodybuilder", settings=ANTIBODY, tools=None):
    found = find_continuations(tools or TOOLS.values(), paths, TOOLS.get(source), settings)
    return {each.tool.type: each for each in found}


def test_a_structure_feeds_docking_and_design_the_best_file_first():
    found = go_on(["fv.pdb", "model-2.pdb", "manifest.json", "job.log"])
    assert dict(found["proteinmpnn"].files) == {"pdbFile": ("fv.pdb",)}
    assert (dict(found["vina"].files), found["vina"].missing) == (
        {"receptorFile": ("fv.pdb",)},
        ("Ligand",),
    )
    assert found["align-pdbs"].files["pdbFiles"] == ("fv.pdb", "model-2.pdb")
    assert dict(found["af2dock"].files) == {"receptorFile": ("fv.pdb",)}
    assert "abodybuilder" not in found
    assert "admet" not in found


def test_a_new_protein_continues_to_sequence_design():
    paths = ["design_1.cif", "design_2.cif", "design.json", "designs.csv", "input.pdb.gz"]
    found = go_on(paths, source="rfdiffusion3", settings={"contig": "80-120"})
    assert dict(found["proteinmpnn"].files) == {"pdbFile": ("design_1.cif",)}
    assert dict(found["ligandmpnn"].files) == {"pdbFile": ("design_1.cif",)}
    assert not any("input.pdb.gz" in each for one in found.values() for each in one.files.values())


def test_chains_feed_the_fields_of_the_same_chain():
    found = go_on()
    assert dict(found["abb4"].sequences) == {"heavy": "heavy", "light": "light"}
    assert dict(found["antibody-annotation"].sequences) == {"heavySequence": "heavy"}
    assert "anarci" not in found
    one = go_on(source="anarci", settings={"sequence": "EVQL"})
    assert dict(one["alphafold"].sequences) == {"sequence": "sequence"}
    assert "abodybuilder" not in one


def test_sequences_and_poses_in_files_feed_what_names_their_extension():
    assert dict(go_on(["designs.fasta"])["sequence-properties"].files) == {"fastaFile": ("designs.fasta",)}
    docked = go_on(["receptor.pdb", "poses.SDF"], source="vina", settings={})
    assert dict(docked["aev-plig"].files) == {"pdbFile": ("receptor.pdb",), "sdfFile": ("poses.SDF",)}
    assert docked["aev-plig"].missing == ()
    assert next(iter(docked.values())).missing == ()


def test_a_tool_of_another_catalog_takes_part():
    field = {"type": "string", "title": "Target", "x-foldnote": {"role": "file", "extensions": ["cif"]}}
    schema = {"type": "object", "properties": {"target": field}, "required": ["target"]}
    theirs = TOOLS["vina"].model_copy(update={"type": "their-tool", "settings_schema": schema})
    assert dict(go_on(["a.pdb", "b.cif"], tools=[theirs])["their-tool"].files) == {"target": ("b.cif",)}
    bare = Tool.model_validate({"type": "bare", "name": "bare", "schema": {"type": "object"}})
    assert go_on(["a.pdb"], tools=[bare]) == {}


def test_the_cell_has_files_and_sequences_by_reference():
    found = go_on(["fv.pdb", "two.pdb"])
    assert write_cell("fv-1", found["vina"]) == (
        "fn.form(\n    'vina',\n    receptorFile=fn.job('fv-1').file('fv.pdb'),\n)"
    )
    both = "[fn.job('fv-1').file('fv.pdb'), fn.job('fv-1').file('two.pdb')]"
    assert f"    pdbFiles={both},\n" in write_cell("fv-1", found["align-pdbs"])
    lines = write_cell("fv-1", found["abb4"], "lab").splitlines()
    assert lines[2] == "    heavy=fn.job('fv-1', profile='lab').settings['heavy'],"
    assert lines[-2] == "    profile='lab',"
    values = fill_values("fv-1", ANTIBODY, found["align-pdbs"])
    assert values == {"pdbFiles": ["fv-1/fv.pdb", "fv-1/two.pdb"]}
    assert isinstance(values["pdbFiles"][0], JobFile)
    assert fill_values("fv-1", ANTIBODY, found["abb4"]) == ANTIBODY


@pytest.mark.parametrize("paths", [["fv.pdb"], []], ids=["tools", "none"])
def test_the_list_below_a_card_opens_the_form_of_the_chosen_tool(paths):
    found = list(go_on(paths, settings={}).values())
    opened = []
    chooser = ContinuationChooser(
        found, lambda chosen: opened.append(chosen) or ContinuationChooser([], print)
    )
    if not found:
        assert "No tool of the service takes" in chooser.children[0].value
        return
    vina = next(each for each in found if each.tool.type == "vina")
    assert describe(vina) in [label for label, _ in chooser.choice.options]
    assert "(you add: Ligand)" in describe(vina)
    chooser.choice.value = vina
    assert opened == [vina]
