"""Columns of a table are mapped to settings by name or contents, never two to one."""

import pandas as pd
import pytest
from form_builders import make_tool
from hypothesis import given
from hypothesis import strategies as st

from foldnote import catalog
from foldnote.client.inputs.table_file import read_table_file
from foldnote.client.inputs.table_text import TextTable
from foldnote.errors import ArgumentError, TableWarning
from foldnote.forms.batch.cell_values import infer_values, read_cell, read_kept
from foldnote.forms.batch.column_contents import describe_column
from foldnote.forms.batch.column_mapping import (
    Purpose,
    list_header_words,
    map_columns,
    orient_columns,
    propose_mapping,
)
from foldnote.forms.batch.draft_batch import DraftBatch
from foldnote.forms.batch.mapped_table import list_specs, map_table

FV = catalog.tool("abodybuilder")
HEAVY = FV.example_job["settings"]["heavy"]
LIGHT = FV.example_job["settings"]["light"]
SMILES = ["CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "c1ccccc1O"]
DOCKING = make_tool(
    {"ligand": {"type": "string", "x-foldnote": {"role": "smiles"}}, "scheme": {"enum": ["imgt", "kabat"]}}
)
VINA = catalog.tool("vina")
KEPT, NAMED = Purpose.KEPT, Purpose.JOB_NAME


def table(**columns):
    return TextTable(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def propose(tool, **columns):
    return propose_mapping(table(**columns), list_specs(tool))


PROPOSED = {
    "names": (
        FV,
        {"id": ["a"], "VH": ["EVQ"], "VL": ["DIQ"], "KD_nM": ["1"]},
        [NAMED, "heavy", "light", KEPT],
    ),
    "contents": (FV, {"Seq1": [HEAVY], "Seq2": [LIGHT]}, ["heavy", "light"]),
    "contents in the other order": (FV, {"Seq1": [LIGHT], "Seq2": [HEAVY]}, ["light", "heavy"]),
    "titles": (FV, {"Heavy chain": [HEAVY], "LIGHT": [LIGHT]}, ["heavy", "light"]),
    "one sequence": (catalog.tool("anarci"), {"clone": ["a"], "x": [LIGHT]}, [NAMED, "sequence"]),
    "a choice": (catalog.tool("anarci"), {"x": [LIGHT], "how": ["imgt"]}, ["sequence", "scheme"]),
    "molecules": (DOCKING, {"cpd": ["1"], "m": SMILES[:1]}, [KEPT, "ligand"]),
    "molecules of files": (VINA, {"cpd": ["1"], "m": SMILES[:1]}, [KEPT, "ligandFile"]),
    "molecules of files by name": (VINA, {"compound": ["1"], "SMILES": ["x"]}, [NAMED, "ligandFile"]),
    "molecules by name": (DOCKING, {"compound": ["1"], "Canonical SMILES": ["x"]}, [NAMED, "ligand"]),
    "names that are not unique": (FV, {"clone": ["a", "a"], "VH": ["E", "Q"]}, [KEPT, "heavy"]),
    "id before name": (FV, {"name": ["x"], "id": ["a"], "VH": ["E"]}, [KEPT, NAMED, "heavy"]),
}


@pytest.mark.parametrize("what", PROPOSED)
def test_a_column_is_mapped_by_its_name_or_contents(what):
    tool, columns, wanted = PROPOSED[what]
    assert list(propose(tool, **columns).targets.values()) == wanted


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([HEAVY, HEAVY.lower(), ""], "heavy"),
        ([LIGHT], "light"),
        ([HEAVY + "GGGGSGGGGS" + LIGHT], "protein"),
        (["MKTAYIAKQRQISFVKSHFSRQ"], "protein"),
        (["ACGTACGTACGTACGTACGT"], ""),
        (SMILES, "smiles"),
        (["mAb-1", "CNC", "0.5"], ""),
        (["binds well at low salt and pH"], ""),
        (["EVQLVESGGG LVQPGGSLRL SCAAS1"], "protein"),
        (["1", "2.5"], ""),
        ([], ""),
    ],
    ids=[
        *("heavy", "light", "single-chain", "protein", "DNA", "molecules", "words"),
        *("sentence", "blocks", "numbers", "nothing"),
    ],
)
def test_contents_are_recognized(cells, kind):
    assert describe_column(cells) == kind


def test_chains_under_the_wrong_names_are_doubted():
    found = propose(FV, VH=[LIGHT], VL=[HEAVY])
    assert found.columns == {"heavy": "VH", "light": "VL"}
    assert found.doubts["VH"] == "These look like light chains: are the columns swapped?"


NAMES = st.sampled_from(
    ["VH", "heavy", "Heavy chain", "VL", "light", "hc", "id", "name", "clone", "note", "Seq1", "x"]
)
CELLS = st.sampled_from([HEAVY, LIGHT, "a", "b", "", "1.5"])


@given(st.lists(NAMES, unique=True, min_size=1, max_size=6), st.data())
def test_no_setting_is_fed_twice_and_every_column_has_one_use(names, data):
    cells = st.lists(CELLS, min_size=3, max_size=3)
    columns = {name: data.draw(cells) for name in names}
    found = propose(FV, **columns)
    settings = [use for use in found.targets.values() if isinstance(use, str)]
    assert list(found.targets) == names
    assert len(settings) == len(set(settings))
    assert list(found.targets.values()).count(NAMED) <= 1
    for column in names:
        for target in ("heavy", "light", NAMED, KEPT):
            changed = found.with_target(column, target)
            assert changed.targets[column] == target
            assert target is KEPT or list(changed.targets.values()).count(target) == 1


def test_a_setting_taken_over_by_another_column_is_reported():
    found = propose(FV, VH=["E"], VH2=["Q"]).with_target("VH2", "heavy")
    assert found.targets == {"VH": KEPT, "VH2": "heavy"}
    assert found.notes == ("'VH2' is now 'heavy'; 'VH' is kept beside the results.",)


@pytest.mark.parametrize("columns", [{"VH": "heavy", "VL": "light"}, {"heavy": "VH", "light": "VL"}])
def test_a_mapping_in_code_is_read_in_both_directions(columns):
    assert orient_columns(columns, ["VH", "VL", "KD"], ["heavy", "light"]) == {"heavy": "VH", "light": "VL"}


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"VH": "heavy", "VL": "heavy"}, "columns VH and VL both mean the setting heavy"),
        ({"VH": "hevy"}, "no setting 'hevy'. Did you mean heavy?"),
        ({"heavy": "light"}, "can be read in two ways"),
    ],
    ids=["two for one", "misspelt", "both"],
)
def test_a_mapping_in_code_that_cannot_be_meant_is_refused(columns, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        orient_columns(columns, ["VH", "VL", "heavy", "light"], ["heavy", "light"])


def test_in_code_nothing_ambiguous_is_guessed():
    sentence = (
        r"VH and VL both fit the setting sequence. Choose one, columns=\{'VH': 'sequence', 'scheme': 'scheme'\}"
        r" or columns=\{'VL': 'sequence', 'scheme': 'scheme'\}, or submit the table once with each"
    )
    with pytest.raises(ArgumentError, match=sentence):
        map_columns(table(VH=["E"], VL=["D"], scheme=["imgt"]), list_specs(catalog.tool("anarci")))


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "", "-20"], [1, None, -20]),
        (["0.5", "1", "1e-9"], [0.5, 1.0, 1e-9]),
        (["007", "1"], ["007", "1"]),
        (["1,5"], ["1,5"]),
        (["12345678901234567890"], ["12345678901234567890"]),
        (["1e999", "2"], ["1e999", "2"]),
        (["", ""], [None, None]),
    ],
    ids=["whole", "decimal", "zeros in front", "decimal comma", "long identifier", "too large", "empty"],
)
def test_kept_columns_are_numbers_only_if_they_are_written_so(cells, values):
    assert infer_values(cells) == values


def test_kept_numbers_with_decimal_commas_are_numbers_in_the_form_and_in_code(tmp_path):
    (tmp_path / "plate.csv").write_text("id;sequence;KD\na;EVQL;0,5\nb;EVQLV;12\n")
    specs, text = list_specs(catalog.tool("anarci")), read_table_file(tmp_path / "plate.csv", {"sequence"})
    batch = DraftBatch()
    assert "The column 'KD' has decimal commas." in batch.add_table(text, specs)
    assert [row["KD"] for row in batch.to_rows(batch.list_settings(specs), specs).inputs] == [0.5, 12]
    rows = map_table(catalog.tool("anarci"), tmp_path / "plate.csv").expand()
    assert [row["KD"] for row in rows.inputs] == [0.5, 12]


MEASURED = {
    "missing": (["1.5", "n. d.", "", "N/A", "-"], [1.5, None, None, None, None], None),
    "whole": (["1", "nd", "20"], [1, None, 20], None),
    "limits": ([">100", "2,5", "n. d.", "", "< 0,1"], [">100", "2,5", "n. d.", None, "< 0,1"],
               [100.0, 2.5, None, None, 0.1]),
    "limits alone": (["≥5", "~7"], ["≥5", "~7"], [5, 7]),
    "words": (["weak", "n. d.", "1"], ["weak", "n. d.", "1"], None),
    "marks alone": (["n/a", "-"], ["n/a", "-"], None),
    "a name": ([">sp|P1", "2"], [">sp|P1", "2"], None),
}  # fmt: skip


@pytest.mark.parametrize(("cells", "values", "numbers"), MEASURED.values(), ids=MEASURED)
def test_missing_marks_and_limits_do_not_make_measured_values_text_alone(cells, values, numbers):
    column = read_kept("KD", cells, has_decimal_commas=any("," in cell for cell in cells))
    assert (column.values, column.numbers) == (values, numbers)
    assert bool(column.note) is (values != cells or numbers is not None)


def test_what_is_assumed_of_measured_values_is_reported_in_the_form_and_in_code(tmp_path):
    rows = ("a,EVQL,0.5,>100", "b,EVQLV,n. d.,12", "c,EVQLVE,n. d.,7")
    (tmp_path / "plate.csv").write_text("id,sequence,KD,IC50\n" + "\n".join(rows))
    missing = "In the column 'KD', 2 cells with 'n. d.' count as missing."
    limits = (
        "The column 'IC50' has limits such as '>100', and stays text; 'IC50 (number)' has its numbers without"
        " them, to sort and plot by."
    )
    tool = catalog.tool("anarci")
    specs, batch = list_specs(tool), DraftBatch()
    assert batch.add_table(read_table_file(tmp_path / "plate.csv", {"sequence"}), specs)[-2:] == (
        missing,
        limits,
    )
    with pytest.warns(TableWarning) as warned:
        mapped = map_table(tool, tmp_path / "plate.csv").expand()
    assert [str(each.message) for each in warned] == [f"plate.csv: {note}" for note in (missing, limits)]
    for found in (mapped, batch.to_rows(batch.list_settings(specs), specs)):
        assert [name for name in found.kept if name != "id"] == ["KD", "IC50", "IC50 (number)"]
        assert [row["IC50 (number)"] for row in found.inputs] == [100, 12, 7]
        assert [row["KD"] for row in found.inputs] == [0.5, None, None]


@pytest.mark.parametrize(
    ("text", "value"),
    [("0,5", 0.5), ("1,5", 1.5), ("1,500", "1,500"), ("+1.5", 1.5), ("2", 2), (".5e1", 5.0), ("1_000", "1_000"), ("nan", "nan"), ("1e999", "1e999"),
     ("9" * 5000, "9" * 5000)],
    ids=["comma", "one and a half", "thousands", "sign", "whole", "bare point", "underscore", "not a number", "too large", "many digits"],
)  # fmt: skip
def test_a_cell_of_a_number_is_one_only_if_json_has_it(text, value):
    spec = next(each for each in list_specs(make_tool({"steps": {"type": "number"}})))
    assert read_cell(spec, text) == value


def make_rows(**columns):
    rows = DraftBatch()
    rows.add_table(table(**columns), list_specs(FV))
    return rows


def test_rows_are_edited_duplicated_and_removed_singly():
    specs = {spec.name: spec for spec in list_specs(FV)}
    rows = make_rows(id=["a", "b"], VH=["EVQ", "QVQ"], KD=["1", "2"])
    rows.duplicate(0)
    rows.edit(1, specs["heavy"], "EVQL")
    rows.edit(1, specs["light"], "DIQ")
    rows.remove(2)
    assert rows.list_settings(specs.values()) == [{"heavy": "EVQ"}, {"heavy": "EVQL", "light": "DIQ"}]
    assert rows.list_names() == ["a", "a-2"]
    assert [row["KD"] for row in rows.to_rows([{}, {}], specs.values()).inputs] == [1, 1]


def test_a_sweep_multiplies_the_rows_and_numbers_their_names():
    rows = make_rows(id=["a", "b"], VH=["EVQ", "QVQ"])
    rows.sweep("light", ["DIQ", "EIV", "SYE"])
    assert len(rows) == 6
    assert rows.list_names() == ["a-1", "a-2", "a-3", "b-1", "b-2", "b-3"]
    sent = rows.to_rows(rows.list_settings(list_specs(FV)), list_specs(FV))
    assert sent.inputs[1] == {"id": "a", "VH": "EVQ", "light": "EIV"}
    assert sent.kept == ("id",)
    with pytest.raises(ArgumentError, match="The column 'VH' gives 'heavy' already"):
        rows.sweep("heavy", ["EVQ"])


def test_a_second_table_continues_the_columns_that_mean_the_same():
    rows = make_rows(VH=["EVQ"])
    notes = rows.add_table(table(HC=["QVQ"], lot=["7"]), list_specs(FV))
    assert notes == ("The column 'HC' continues 'VH', which means the same.",)
    assert rows.list_settings(list_specs(FV)) == [{"heavy": "EVQ"}, {"heavy": "QVQ"}]


def test_words_of_the_tool_are_words_of_a_header():
    assert {"heavychain", "vh", "id"} <= list_header_words(list_specs(FV))


@pytest.mark.parametrize("kind", ["table", "file"])
def test_smiles_become_the_contents_of_a_ligands_file(kind, tmp_path):
    frame = pd.DataFrame({"name": ["a", "b"], "SMILES": SMILES[:2], "pIC50": [4.1, 5.2]})
    frame.to_csv(tmp_path / "m.csv", index=False)
    found = map_table(VINA, frame if kind == "table" else tmp_path / "m.csv", assigned=("receptorFile",))
    rows = pd.DataFrame(found.table)
    assert (found.columns, found.names) == ({"ligandFile": "SMILES"}, "name")
    assert list(rows["SMILES"]) == [f"{smiles}\n" for smiles in SMILES[:2]]
    assert list(frame["SMILES"]) == SMILES[:2]
    assert [row["SMILES"] for row in found.expand().inputs] == SMILES[:2]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A: 99-102 118", {"A": "99-102 118"}),
        ("A: 99; B=5 52A ", {"A": "99", "B": "5 52A"}),
        ('{"A": "99"}', {"A": "99"}),
        ("99 102", "99 102"),
        ("A: 99; 102", "A: 99; 102"),
    ],
)
def test_flexible_residues_in_a_cell_are_written_as_in_the_form(text, value):
    spec = next(each for each in list_specs(VINA) if each.name == "flexibleResidues")
    assert read_cell(spec, text) == value


@pytest.mark.parametrize("kind", ["table", "file"])
def test_each_ligand_has_its_own_flexible_residues(kind, tmp_path):
    flexible = ["A: 99-102", "A: 118", None]
    frame = pd.DataFrame({"id": ["a", "b", "c"], "SMILES": SMILES, "Flexible residues": flexible})
    frame.to_csv(tmp_path / "m.csv", index=False, sep=";")
    table = frame if kind == "table" else tmp_path / "m.csv"
    rows = map_table(VINA, table, assigned=("receptorFile",)).expand().settings
    assert [row.get("flexibleResidues") for row in rows] == [{"A": "99-102"}, {"A": "118"}, None]


ADMET = catalog.tool("admet")
ANARCI = catalog.tool("anarci")


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"id": ["a", "b", "c"], "SMILES": SMILES}),
        [{"smilesStrings": text} for text in SMILES],
        ({"smilesStrings": text} for text in SMILES),
        pd.DataFrame({"smilesStrings": [[text] for text in SMILES]}),
    ],
    ids=["frame", "records", "generator", "frame of lists"],
)
def test_text_in_a_table_of_code_is_read_as_in_a_file(given):
    assert map_table(ADMET, given).expand().settings == [{"smilesStrings": [text]} for text in SMILES]


def test_numbers_in_text_become_numbers_and_an_empty_text_is_a_missing_cell():
    tool = make_tool({"count": {"type": "integer"}, "name": {"type": "string"}})
    frame = pd.DataFrame({"count": ["3", "", None], "name": ["a", "b", "c"]})
    assert map_table(tool, frame).expand().settings == [
        {"count": 3, "name": "a"},
        {"name": "b"},
        {"name": "c"},
    ]


def test_a_frame_is_not_changed_when_its_text_is_read():
    frame = pd.DataFrame({"smilesStrings": SMILES})
    map_table(ADMET, frame)
    assert list(frame["smilesStrings"]) == SMILES


def test_a_table_without_any_known_column_is_refused_with_its_columns():
    frame = pd.DataFrame({"bar": [1, 2], "foo": ["hello", "bye"]})
    with pytest.raises(ArgumentError, match=r"'bar', 'foo'.*columns=\{'bar': 'smilesStrings'\}"):
        map_table(ADMET, frame)


def test_mappings_keep_other_columns_like_a_frame():
    records = [{"sequence": "EVQ", "clone": "mAb1", "KD_nM": 2.5}, {"sequence": "QVQ", "clone": "mAb2"}]
    rows, framed = (map_table(ANARCI, each).expand() for each in (records, pd.DataFrame(records)))
    assert rows.settings == framed.settings == [{"sequence": "EVQ"}, {"sequence": "QVQ"}]
    assert rows.kept == framed.kept == ("clone", "KD_nM")
    assert rows.inputs == records


def test_a_misspelt_setting_in_a_mapping_is_refused():
    with pytest.raises(ArgumentError, match="'schem' is not a setting of this tool. Did you mean scheme"):
        map_table(ANARCI, [{"sequence": "EVQ", "schem": "imgt"}])


def test_a_table_of_names_alone_will_do_where_the_settings_are_given_for_all_rows():
    frame = pd.DataFrame({"id": ["a", "b"]})
    assert map_table(ADMET, frame, assigned={"smilesStrings"}).expand(None, {"smilesStrings": ["C"]}).names


def test_how_the_file_of_a_table_was_read_is_reported_in_warnings(tmp_path):
    path = tmp_path / "screen.csv"
    path.write_text("Screen of May\nid,smilesStrings,smilesStrings\na,C,CC\n")
    with pytest.warns(TableWarning) as warned:
        map_table(ADMET, path, {"smilesStrings": "smilesStrings"})
    assert [str(each.message) for each in warned] == [
        "screen.csv: The line above the header line was left out: 'Screen of May'.",
        "screen.csv: Several columns are named 'smilesStrings'; column 3 is called 'smilesStrings (2)' here.",
    ]
