"""The batch of a form as a spreadsheet: mapping columns, editing rows, sweeps, code."""

import re

import ipywidgets as widgets
import pandas as pd
import pytest
from form_builders import make_tool
from page import Page, classes_of, send

from foldnote import catalog
from foldnote.errors import ArgumentError
from foldnote.forms import Form

FV = catalog.tool("abodybuilder")
HEAVY = FV.example_job["settings"]["heavy"]
LIGHT = FV.example_job["settings"]["light"]
CSV = f"Clone;Seq1;Seq2;KD_nM\nmAb 1;{HEAVY};{LIGHT};0.5\nmAb 2;{HEAVY}1;{LIGHT};12\n".encode()
DESIGN = make_tool(
    {
        "chain": {"type": "string", "x-foldnote": {"role": "sequence"}},
        "temperature": {"type": "number", "maximum": 1, "default": 0.1},
        "weights": {"enum": ["general", "soluble"], "default": "general"},
    },
    ("chain",),
)


def make_batch(tool=FV, data=CSV, name="plate.csv", **values):
    form = Form(tool, None, values=values)
    assert form.batch_table.add_file(data, name)
    return form


def choice(form, column):
    """Return the drop-down list of a column."""
    boxes = [box for box in Page(form.widget).shown if isinstance(box, widgets.Dropdown)]
    return next(box for box in boxes if f">{column}<" in box.description)


def marks(form):
    """Return the marks of the rows, and the messages that are their names."""
    table = next(part for part in Page(form.widget).shown if "foldnote-table" in classes_of(part))
    return re.findall(r'aria-label="(?:Row \d+: )?([^"]*)"[^>]*>([✓!✕])', table.value)


def test_columns_are_proposed_in_drop_down_lists_and_can_be_changed():
    form = make_batch()
    assert choice(form, "Seq1").label == "Heavy chain"
    assert choice(form, "Clone").label == "the job's name"
    assert choice(form, "KD_nM").label == "kept with results"
    choice(form, "KD_nM").label = "the job's name"
    assert choice(form, "Clone").label == "kept with results"
    assert "'Clone' is kept beside the results" in Page(form.widget).text.replace("&#x27;", "'")
    assert form.batch_table.job_names() == ["0.5", "12"]


def test_a_table_of_code_is_added_with_its_columns_and_names():
    form = Form(DESIGN, None)
    frame = pd.DataFrame({"Clone": ["AB-1", "AB-2"], "Seq1": [HEAVY, LIGHT], "id": [7, 8], "T": [0.5, None]})
    form.batch_table.add_table(frame, {"Seq1": "chain", "T": "temperature"}, "Clone")
    assert form.batch_table.job_names() == ["AB-1", "AB-2"]
    assert form.batch_table.rows == [{"chain": HEAVY, "temperature": 0.5}, {"chain": LIGHT}]
    assert choice(form, "id").label == "kept with results"


def test_rows_of_code_and_files_are_added_as_those_of_the_page(tmp_path):
    (tmp_path / "plate.csv").write_bytes(CSV)
    form = Form(FV, None)
    form.batch_table.add_table(str(tmp_path / "plate.csv"))
    assert choice(form, "Seq1").label == "Heavy chain"
    assert form.batch_table.job_names() == ["mAb-1", "mAb-2"]
    form.batch_table.add_table(
        [
            {
                "heavy": HEAVY,
                "light": LIGHT,
            }
        ],
        {"light": "light", "heavy": "heavy"},
    )
    assert [row.get("heavy") for row in form.batch_table.rows][2:] == [HEAVY]


@pytest.mark.parametrize(
    ("table", "columns", "names", "sentence"),
    [
        ([{"heavy": HEAVY}], {"VH": "heavy"}, None, "no column 'VH'"),
        ([{"heavy": HEAVY}], {"heavy": "nothing"}, None, "no setting 'nothing'"),
        ([{"heavy": HEAVY}], None, "id", "no column 'id'"),
        ([], None, None, "at least one row"),
        (7, None, None, "at least one row"),
        ("none.csv", None, None, "cannot be read"),
    ],
)
def test_a_table_of_code_that_cannot_be_added_is_refused_and_adds_nothing(table, columns, names, sentence):
    form = Form(FV, None)
    with pytest.raises(ArgumentError, match=sentence):
        form.batch_table.add_table(table, columns, names)
    assert not form.batch_table.rows


def test_a_column_that_is_swapped_is_doubted_at_its_list_and_its_rows():
    form = make_batch(data=f"VH,VL\n{LIGHT},{HEAVY}\n".encode())
    assert "look like light chains" in choice(form, "VH").description
    assert marks(form)[0][1] == "!"


def test_a_kept_text_of_several_lines_is_shown_as_it_is():
    form = make_batch(data=f'VH,VL,note\n{HEAVY},{LIGHT},"two\r\nlines"\n'.encode())
    words = Page(form.widget).text
    assert "two lines" in words
    assert "pasted text" not in words


@pytest.fixture
def workbook(tmp_path):
    """Return the path of a workbook with two sheets of antibodies, the first of which was active."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads workbooks; it is an extra")
    book = openpyxl.Workbook()
    for sheet, name in ((book.active, "old"), (book.create_sheet("Plate 2"), "new")):
        sheet.title = sheet.title.replace("Sheet", "Plate 1")
        sheet.append(["Clone", "VH", "VL"])
        sheet.append([name, HEAVY, LIGHT])
    book.create_sheet("empty")
    book.save(tmp_path / "plates.xlsx")
    return tmp_path / "plates.xlsx"


def test_the_sheet_of_a_workbook_is_chosen_in_a_list(workbook):
    form = make_batch(data=workbook.read_bytes(), name="plates.xlsx")
    sheets = Page(form.widget).find(widgets.Dropdown, "Sheet of the workbook")
    assert (sheets.value, form.batch_table.job_names()) == ("Plate 1", ["old"])
    sheets.value = "Plate 2"
    assert form.batch_table.job_names() == ["new"]
    assert "sheet='Plate 2'," in form.batch_table.write_code()
    sheets.value = "empty"
    assert (sheets.value, sheets.index, form.batch_table.job_names()) == ("Plate 2", 1, ["new"])
    assert "A table needs a header line" in Page(form.widget).text


def test_a_sheet_cannot_be_changed_below_rows_that_were_changed(workbook):
    form = make_batch(data=workbook.read_bytes(), name="plates.xlsx")
    send(form, {"kind": "row", "act": "duplicate", "row": 1})
    assert "Sheet of the workbook" not in Page(form.widget).text
    assert "Sheet of the workbook" not in Page(make_batch().widget).text


def test_a_sheet_is_named_in_code(workbook):
    form = Form(FV, None)
    form.batch_table.add_table(workbook, sheet="Plate 2")
    assert form.batch_table.job_names() == ["new"]
    with pytest.raises(ArgumentError, match="A sheet can be chosen only in an Excel workbook"):
        form.batch_table.add_table([{"heavy": HEAVY}], sheet="Plate 2")
    with pytest.raises(
        ArgumentError, match="has no sheet 'Plate 3'. Its sheets are: 'Plate 1', 'Plate 2', 'empty'"
    ):
        form.batch_table.add_table(workbook, sheet="Plate 3")


def test_the_row_that_opened_the_batch_gives_way_to_a_table():
    form = Form(FV, None, values={"heavy": HEAVY, "light": LIGHT})
    form.batch_table.add_current()
    assert form.batch_table.add_file(CSV, "plate.csv")
    assert form.batch_table.job_names() == ["mAb-1", "mAb-2"]
    assert "2 rows added in place of the row with the form" in Page(form.widget).text


@pytest.mark.parametrize("act", ["edit", "duplicate", "add"])
def test_a_row_of_the_form_that_was_worked_on_stays_above_a_table(act):
    form = Form(FV, None, values={"heavy": HEAVY, "light": LIGHT})
    form.batch_table.add_current()
    if act == "edit":
        send(form, {"kind": "row", "act": "edit", "row": 1})
        field = next(
            part for part in Page(form.widget).shown if getattr(part, "placeholder", "") == "as in the form"
        )
        field.value = f"{HEAVY}S"
        Page(form.widget).press("Save row")
    elif act == "duplicate":
        send(form, {"kind": "row", "act": "duplicate", "row": 1})
    else:
        form.batch_table.add_current()
    before = len(form.batch_table.rows)
    assert form.batch_table.add_file(CSV, "plate.csv")
    assert len(form.batch_table.rows) == before + 2


def test_long_names_are_cut_in_their_middle():
    name = "pembrolizumab-CDRH3-library-variant"
    lines = "".join(f"{name}-{number:03},{HEAVY},{LIGHT}\n" for number in range(2))
    table = make_batch(data=f"name,heavy,light\n{lines}".encode())
    html = next(part for part in Page(table.widget).shown if "foldnote-table" in classes_of(part)).value
    assert re.findall(r">(pembro[^<]*)<", html) == [f"pembrolizumab-C…rary-variant-00{end}" for end in "01"]


def test_a_verdict_is_a_mark_with_a_sentence():
    form = make_batch()
    assert [mark for _, mark in marks(form)] == ["✓", "✕"]
    assert marks(form)[1][0].startswith("heavy: ")
    send(form, {"kind": "row", "act": "duplicate", "row": 1})
    assert marks(form)[1] == ("The same settings as row 1: the job would be run twice.", "!")


@pytest.mark.parametrize("cell", ["CC(=O)[O-].[Na+]", "CCO"])
def test_a_row_with_a_salt_among_its_molecules_is_marked(cell):
    form = Form(catalog.tool("boltz2"), values={"proteins": HEAVY})
    form.batch_table.add_file(f"name,ligands\na,CC\nb,{cell}\n".encode(), "ligands.csv")
    last = marks(form)[1]
    assert last[1] == ("!" if "." in cell else "✓")
    assert ("parts that are not bonded: leave out" in last[0]) == ("." in cell)


def test_a_row_is_corrected_in_its_own_fields():
    form = make_batch()
    send(form, {"kind": "row", "act": "edit", "row": 2})
    field = next(part for part in Page(form.widget).shown if getattr(part, "value", "") == f"{HEAVY}1")
    field.value = f"{HEAVY}S"
    Page(form.widget).press("Save row")
    assert form.batch_table.verdicts() == ["", ""]
    assert form.batch_table.settings()[1] == {"heavy": f"{HEAVY}S", "light": LIGHT}
    assert "Row 2 was changed." in Page(form.widget).text


@pytest.mark.parametrize("row", [0, 3, -1])
def test_a_row_that_is_not_there_is_reported_by_its_number(row):
    form = make_batch()
    send(form, {"kind": "row", "act": "remove", "row": row})
    assert len(form.batch_table.rows) == 2
    assert f"There is no row {row}; the rows are 1 to 2." in Page(form.widget).text


def test_many_rows_are_shown_by_pages_and_the_wrong_ones_alone():
    rows = "".join(f"{HEAVY}{'1' if number == 99 else ''},{LIGHT}{'A' * number}\n" for number in range(120))
    form = make_batch(data=f"VH,VL\n{rows}".encode())
    assert len(marks(form)) == 50
    send(form, {"kind": "row", "act": "next"} | {"row": 0})
    assert "51 to 100 of 120 rows" in Page(form.widget).text
    send(form, {"kind": "row", "act": "wrong", "row": 0})
    assert [mark for _, mark in marks(form)] == ["✕"]


def sweep(form, title, **values):
    setting = next(
        box for box in Page(form.widget).shown if "no sweep" in getattr(box, "_options_labels", ())
    )
    setting.label = title
    box = next(part for part in Page(form.widget).shown if "Values" in str(getattr(part, "description", "")))
    for name, value in values.items():
        setattr(box, name, value)


def test_a_sweep_tells_the_product_before_it_makes_it():
    form = make_batch(DESIGN, b"id,chain\na,EVQ\nb,DIQ\n", "x.csv")
    sweep(form, "Temperature", value="0.1, 0.2; 0.3")
    assert "2 rows × 3 values of Temperature (0.1, 0.2, 0.3) = 6 jobs" in Page(form.widget).text
    assert len(form.batch_table.rows) == 2
    Page(form.widget).press("Make 6 rows")
    assert [row["temperature"] for row in form.batch_table.rows] == [0.1, 0.2, 0.3] * 2
    assert form.batch_table.job_names()[:2] == ["a-1", "a-2"]
    sweep(form, "Weights", label=("general", "soluble"))
    Page(form.widget).press("Make 12 rows")
    assert len({tuple(row.items()) for row in form.batch_table.rows}) == 12


def test_values_that_cannot_be_swept_over_are_refused_before():
    form = make_batch(DESIGN, b"chain\nEVQ\n", "x.csv")
    sweep(form, "Temperature", value="0.1, 7")
    assert "too large" in Page(form.widget).text
    with pytest.raises(AssertionError, match="no Button 'Make'"):
        Page(form.widget).press("Make")


def test_a_form_alone_can_be_swept():
    form = Form(DESIGN, None, values={"chain": "EVQ"})
    form.batch_table.add_text("chain\nEVQ\n")
    form.batch_table.change("remove", 1)
    sweep(form, "Weights", label=("general", "soluble"))
    Page(form.widget).press("Make 2 rows")
    assert [row["weights"] for row in form.batch_table.rows] == ["general", "soluble"]


def test_the_code_names_the_file_as_long_as_its_rows_are_unchanged():
    form = make_batch(DESIGN, b"Clone,c\na,EVQLVESGGGLVQPGG\n", "my plate.csv", temperature=0.5)
    sweep(form, "Weights", label=("general", "soluble"))
    Page(form.widget).press("Make 2 rows")
    code = form.batch_table.write_code()
    assert "'my plate.csv',\n    columns={'c': 'chain'},\n    names='Clone'," in code
    assert "sweep={'weights': ['general', 'soluble']},\n    temperature=0.5," in code
    form.batch_table.change("remove", 1)
    assert (
        "rows = [\n    {'jobName': 'a-2', 'chain': 'EVQLVESGGGLVQPGG', 'weights': 'soluble', 'Clone': 'a'},"
        in (form.batch_table.write_code())
    )


def test_what_happens_after_a_failure_is_chosen_where_the_service_offers_it():
    form = make_batch(DESIGN.model_copy(update={"extensions": ("retries", "onFailure")}), b"c\nEVQLVESGG\n")
    Page(form.widget).find(widgets.Dropdown, "When a job has failed").label = "start no more jobs"
    Page(form.widget).find(widgets.Dropdown, "A job that fails").label = "retry 2×"
    assert form.batch_table.policy == {"on_failure": "stop", "retries": 2}
    assert "    on_failure='stop',\n    retries=2," in form.batch_table.write_code()


def test_the_default_after_a_failure_is_not_written():
    form = make_batch(DESIGN.model_copy(update={"extensions": ("retries", "onFailure")}), b"c\nEVQLVESGG\n")
    assert form.batch_table.policy == {}
    assert "on_failure" not in form.batch_table.write_code()


OFFERED = DESIGN.model_copy(update={"extensions": ("retries", "onFailure")})
ROWS = [{"chain": "EVQLVESGG"}, {"chain": "DIQMTQSPS"}]


def test_code_chooses_what_the_batch_does_beside_its_rows():
    form = Form(OFFERED, None)
    sweep = {"temperature": [0.1, 0.5], "weights": ["soluble"]}
    form.batch_table.add_table(ROWS, sweep=sweep, on_failure="stop", retries=4)
    assert form.batch_table.policy == {"on_failure": "stop", "retries": 4}
    assert Page(form.widget).find(widgets.Dropdown, "A job that fails").label == "retry 4×"
    assert [row["temperature"] for row in form.batch_table.rows] == [0.1, 0.5, 0.1, 0.5]
    assert {row["weights"] for row in form.batch_table.rows} == {"soluble"}
    form.batch_table.add_table(ROWS)
    assert form.batch_table.policy == {"on_failure": "stop", "retries": 4}
    form.batch_table.add_table(ROWS, on_failure="continue", retries=0)
    assert form.batch_table.policy == {}


def test_what_code_chooses_is_kept_until_the_service_has_said_what_it_offers():
    form = Form(DESIGN, None)
    form.batch_table.add_table(ROWS, retries=2)
    assert form.batch_table.policy == {}
    form.take_tool(OFFERED)
    assert form.batch_table.policy == {"retries": 2}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"sweep": {"speed": [1]}},
            "'speed' cannot be swept in a form. These can: chain, temperature, weights",
        ),
        ({"sweep": {"temperature": [0.1, 0.2, 0.1]}}, "The sweep of 'temperature' has the value 0.1 twice"),
        ({"sweep": {"temperature": []}}, "A sweep needs a list of values for 'temperature'"),
        ({"sweep": {"weights": "soluble"}}, "A sweep needs a list of values for 'weights'"),
        ({"retries": 11}, "retries must be a whole number from 0 to 10, not 11"),
        ({"retries": True}, "retries must be a whole number"),
        ({"on_failure": "halt"}, "on_failure must be 'continue' or 'stop', not 'halt'"),
    ],
)
def test_a_sweep_or_policy_of_code_that_is_none_adds_no_row(given, sentence):
    form = Form(OFFERED, None)
    with pytest.raises(ArgumentError, match=re.escape(sentence)):
        form.batch_table.add_table(ROWS, **given)
    assert form.batch_table.rows == []
    form.batch_table.add_table([{**row, "temperature": 0.2} for row in ROWS])
    with pytest.raises(ArgumentError, match="The column 'temperature' gives 'temperature' already"):
        form.batch_table.add_table(ROWS, sweep={"temperature": [0.1]})
    assert len(form.batch_table.rows) == 2
