"""Tables as programs write them, with various delimiters, encodings, quotes, headers and formulas, are read alike or
refused.
"""

import csv
import io
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldnote.client.inputs.table_file import read_table_bytes, read_table_file
from foldnote.client.inputs.table_text import DELIMITERS, TextTable, read_text
from foldnote.errors import ArgumentError

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIH"
LETTERS = st.characters(codec="latin-1", exclude_categories=("Cc", "Cs", "Zs", "Cf"))
CELLS = st.text(LETTERS, min_size=1, max_size=8).filter(lambda text: not text.startswith(("=", ">")))
TABLES = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=5)
)


def write(rows, delimiter=",", **more) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, **more).writerows(rows)
    return text.getvalue()


@given(
    TABLES,
    st.sampled_from(DELIMITERS),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"]),
)
@example([["é", "Ω".lower()]], ";", "utf-8")
def test_a_table_is_read_as_it_was_written(rows, delimiter, encoding):
    rows = [[cell.encode("cp1252", "ignore").decode("cp1252").strip() or "x" for cell in row] for row in rows]
    heads = [f"column {letter}" for letter in "abcd"[: len(rows[0])]]
    data = write([heads, *rows], delimiter, quoting=csv.QUOTE_ALL).encode(encoding)
    table = read_table_bytes(data, known={"columna"})
    assert table.columns == tuple(heads)
    assert [list(row) for row in table.rows] == rows


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@example(b'id,"VH\n')
@example(b"PK\x03\x04 no archive")
@example(b"=1\n")
@example("\ud7ff\u2028=cmd|x".encode("utf-16"))
def test_any_bytes_are_read_or_refused_in_a_sentence(data):
    try:
        table = read_table_bytes(data)
    except ArgumentError as error:
        assert error.message.strip()
    else:
        assert len(set(table.columns)) == len(table.columns)
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert all(any(row) for row in table.rows)


SAME = TextTable(("id", "VH"), (("a", "EVQ"), ("b", "DIQ")))


@pytest.mark.parametrize(
    "text",
    {
        "comma": "id,VH\na,EVQ\nb,DIQ\n",
        "semicolon": "id;VH\r\na;EVQ\r\nb;DIQ",
        "tab": "id\tVH\ra\tEVQ\rb\tDIQ\r",
        "bar": "id|VH\na|EVQ\nb|DIQ",
        "sep line": "sep=;\nid;VH\na;EVQ\nb;DIQ\n",
        "byte order mark": "\ufeffid,VH\na,EVQ\nb,DIQ\n",
        "empty lines": "\n\nid,VH\n\na,EVQ\n , \nb,DIQ\n\n",
        "empty column": "id,VH,\na,EVQ,\nb,DIQ,\n",
        "extra empty cells": "id,VH\na,EVQ,,\nb,DIQ\n",
        "quotes": '"id","VH"\n"a"," EVQ "\n"b","DIQ"\n',
        "spreadsheet text": 'id,VH\n="a",EVQ\n="b",DIQ\n',
    }.items(),
    ids=lambda pair: pair[0],
)
def test_spellings_of_one_table(text):
    assert read_text(text[1]) == SAME


def test_newlines_and_delimiters_in_quotes_belong_to_the_cell():
    table = read_text('id,note\na,"one\r\ntwo, ""three"""\n')
    assert table.rows == (("a", 'one\r\ntwo, "three"'),)


def test_decimal_commas_do_not_cut_a_table_of_semicolons():
    assert read_text("id;KD\na;1,5\nb;2,25\n").rows == (("a", "1,5"), ("b", "2,25"))


@pytest.mark.parametrize(
    ("text", "columns"),
    {
        "semicolons": ("id;KD\na;1,5\nb;12\n", {"KD"}),
        "exponents": ("id;KD\na;-1,5E-9\nb;\n", {"KD"}),
        "copied cells": ("id\tKD\na\t0,5\nb\t2,25\n", {"KD"}),
        "two numbers": ("id\tmutated\na\t10,25\nb\t30,45\n", set()),
        "thousands": ("id;KD\na;1,500\nb;2,250\n", set()),
        "a word": ("id;KD\na;1,5\nb;weak\n", set()),
        "a missing value and a limit": ("id;KD\na;1,5\nb;n. d.\nc;>100,5\n", {"KD"}),
        "points": ("id;KD\na;1.5\nb;2.25\n", set()),
    }.values(),
)
def test_decimal_commas_are_recognized_where_they_separate_nothing_else(text, columns):
    assert read_text(text).decimal_commas == columns


TITLES = {
    "a title": ("Panel, plate 3;;\nid;VH;KD\n", "The line above the header line was left out: 'Panel, plate 3'."),
    "a title alone": ("Panel of Nov. 3\nid;VH;KD\n", "'Panel of Nov. 3'"),
    "comments": ("# by a, b, c, d\n# plate 3\nid;VH;KD\n", "The 2 lines above the header line were left out: '# by"),
    "groups of columns": (";Sequences;\nid;VH;KD\n", "'Sequences'"),
    "no known name": ("Platte 3\nProbe;Sequenz;Wert\n", "'Platte 3'"),
}  # fmt: skip


@pytest.mark.parametrize("what", TITLES)
def test_lines_above_the_header_are_left_out_and_reported(what):
    text, sentence = TITLES[what]
    table = read_text(f"{text}a;{VH};1,5\nb;{VH}A;2\n", {"id", "vh"})
    assert table.rows == (("a", VH, "1,5"), ("b", f"{VH}A", "2"))
    assert table.columns[0] in ("id", "Probe")
    assert sentence in table.notes[0]


@pytest.mark.parametrize(
    "text", [f"clone,chain,note\na,heavy,x\nb,VH,{VH}\n", f"a,{VH}\nid,{VH}\n"], ids=["a word", "no header"]
)
def test_a_row_with_a_known_name_is_not_a_header(text):
    table = read_text(text, {"heavy", "vh", "id"})
    assert (len(table.rows), table.rows[-1][-1]) == (2, VH)


@pytest.mark.parametrize(
    "text", [f"{VH}\n{VH}A\n", f"a,{VH}\nb,{VH}\n", "1,2\n3,4\n"], ids=["one", "two", "numbers"]
)
def test_without_a_header_the_columns_are_numbered_and_nothing_is_lost(text):
    table = read_text(text)
    assert len(table.rows) == 2
    assert table.columns[0] == "Column 1"
    assert "looks like data" in table.notes[0]


def test_repeated_names_are_distinguished():
    table = read_text("VH,VH,VH (2),\nA,B,C,D\n")
    assert table.columns == ("VH", "VH (3)", "VH (2)", "Column 4")
    assert "column 2 is called 'VH (3)'" in table.notes[0]


def test_ten_thousand_rows_are_read():
    table = read_text("id,VH\n" + "".join(f"m{number},{VH}\n" for number in range(10_000)))
    assert len(table.rows) == 10_000
    assert table.rows[-1] == ("m9999", VH)


def test_fasta_is_a_table_of_names_and_sequences():
    table = read_text(">a heavy chain\nEVQ\nLVE\n\n>b\nDIQ\n")
    assert table.columns == ("name", "sequence", "description")
    assert table.rows == (("a", "EVQLVE", "heavy chain"), ("b", "DIQ", ""))


REFUSED = {
    "nothing": (b"", "header line"),
    "a header only": (b"id,VH\n", "one line per job"),
    "too many cells": (b"id,VH\na,b\nc,d,e\n", "Row 2 has 3 cells, but there are 2 columns"),
    "an open quote": (b'id,VH\na,"EVQ\nb,DIQ\n', "quotation mark may be missing"),
    "a formula": (b"id,VH\na,EVQ\nb,=B2&C2\n", "Row 2, column 'VH' has the formula =B2&C2, not its value"),
    "an old workbook": (b"\xd0\xcf\x11\xe0rest", "old or password-protected Excel workbook"),
    "a compressed file": (b"\x1f\x8brest", "compressed. Unpack it"),
    "an image": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary contents"),
    "half a letter": ("id,VH\na,b".encode("utf-16")[:-1], "not valid UTF-16"),
    "an archive": (b"PK\x03\x04", "damaged"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_a_table_is_refused_with_the_way_on(what):
    data, sentence = REFUSED[what]
    with pytest.raises(ArgumentError, match=".*") as caught:
        read_table_bytes(data, "plate.csv")
    assert sentence in caught.value.message
    assert "plate.csv" in caught.value.message


def test_latin_1_is_read_and_said():
    table = read_table_bytes("id,Käfig\na,Größe\n".encode("latin-1"), "plate.csv")
    assert (table.columns[1], table.rows[0][1]) == ("Käfig", "Größe")
    assert "not UTF-8" in table.notes[0]


@pytest.fixture
def workbook():
    """Return an openpyxl workbook with two sheets, and its bytes when saved."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads workbooks; it is an extra")
    book = openpyxl.Workbook()
    book.active.title = "plate"
    book.create_sheet("notes")

    def save() -> bytes:
        data = io.BytesIO()
        book.save(data)
        return data.getvalue()

    return book.active, save


def test_a_workbook_is_a_table(workbook, tmp_path):
    sheet, save = workbook
    for row in (["id", "VH", "KD", "good"], ["a", VH, 1.0, True], [None] * 4, [7, VH, 0.25, None]):
        sheet.append(row)
    (tmp_path / "x.xlsx").write_bytes(save())
    table = read_table_file(tmp_path / "x.xlsx")
    assert table.rows == (("a", VH, "1", "true"), ("7", VH, "0.25", ""))
    assert table.notes == ("The sheet 'plate' was read, not 'notes'.",)


def test_a_sheet_with_known_names_is_read_rather_than_the_one_that_was_open(workbook):
    sheet, save = workbook
    sheet.append(["Measured on plate 3"])
    plate = sheet.parent["notes"]
    plate.merge_cells("A1:C1")
    plate["A1"] = "Antibody panel (2026-11)"
    for row in ([None] * 3, ["Clone", "VH", "KD (nM)"], ["a", VH, "0,5"], [None] * 3, ["b", VH, "12"]):
        plate.append(row)
    table = read_table_bytes(save(), "x.xlsx", {"clone", "vh"})
    assert table.rows == (("a", VH, "0,5"), ("b", VH, "12"))
    assert (table.columns, table.decimal_commas) == (("Clone", "VH", "KD (nM)"), {"KD (nM)"})
    assert table.notes[0] == "The sheet 'notes' was read, not 'plate'."
    assert "'Antibody panel (2026-11)'" in table.notes[1]


def test_the_sheet_that_was_open_is_read_if_no_other_has_known_names(workbook):
    sheet, save = workbook
    sheet.append(["Probe", "Wert"])
    sheet.append(["a", 1])
    assert read_table_bytes(save(), "x.xlsx", {"vh"}).columns == ("Probe", "Wert")


def test_a_sheet_without_a_table_is_skipped_for_one_with_a_table(workbook):
    sheet, save = workbook
    sheet.append(["Only a title"])
    sheet.parent["notes"].append(["Probe", "Wert"])
    sheet.parent["notes"].append(["a", 1])
    assert read_table_bytes(save(), "x.xlsx", {"vh"}).columns == ("Probe", "Wert")


def test_the_sheet_that_is_named_is_read(workbook):
    sheet, save = workbook
    for each, name in ((sheet, "a"), (sheet.parent["notes"], "b")):
        each.append(["id", "VH"])
        each.append([name, VH])
    for wanted in ("notes", " Notes "):
        table = read_table_bytes(save(), "x.xlsx", {"vh"}, wanted)
        assert (table.rows, table.notes, table.sheet) == ((("b", VH),), (), "notes")


def test_an_unknown_sheet_is_refused_with_those_that_there_are(workbook):
    with pytest.raises(
        ArgumentError, match=r"x\.xlsx has no sheet 'Notizen'. Its sheets are: 'plate', 'notes'"
    ):
        read_table_bytes(workbook[1](), "x.xlsx", sheet="Notizen")
    with pytest.raises(ArgumentError, match=r"x\.csv is not a workbook"):
        read_table_bytes(b"id,VH\na,EVQ\n", "x.csv", sheet="notes")


def test_a_formula_of_a_workbook_without_a_value_is_refused_by_its_cell(workbook):
    sheet, save = workbook
    sheet.append(["id", "VH"])
    sheet.append(["a", "=A2&A2"])
    with pytest.raises(ArgumentError, match="cell B2 has the formula =A2&A2 without a value"):
        read_table_bytes(save(), "x.xlsx")


def test_without_openpyxl_one_sentence_says_what_to_install(workbook, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ArgumentError, match=r"pip install 'foldnote\[excel\]'"):
        read_table_bytes(workbook[1](), "x.xlsx")
