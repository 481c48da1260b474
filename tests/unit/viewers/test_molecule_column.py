"""Drawings of molecules in the rows of a batch's table."""

import re
import zipfile

import pandas as pd
import pytest
from table_data import unpack

from foldnote.models import Job, JobStatus
from foldnote.results import open_result
from foldnote.viewers import default_view
from foldnote.viewers.card.batch_card import LiveTable
from foldnote.viewers.display.batch_rows import BatchRow, make_row, tabulate_rows
from foldnote.viewers.display.bundles import rows_bundle
from foldnote.viewers.scene.drawings.thumbnails import HEIGHT, WIDTH, draw_thumbnail, draw_thumbnails
from foldnote.viewers.tables.molecule_column import draw_column, find_molecule_column

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def rows_of(*molecules):
    return [
        BatchRow(f"m-{number}", "Complete", settings={"ligandFile": smiles})
        for number, smiles in enumerate(molecules)
    ]


def test_a_drawing_has_lines_and_letters_inside_of_its_area():
    drawn = draw_thumbnail(ASPIRIN)
    assert sorted(letter[4] for letter in drawn["letters"]) == ["H", "O", "O", "O", "O"]
    numbers = [float(each) for _, path in drawn["lines"] for each in re.findall(r"\d+", path)]
    assert 0 <= min(numbers) <= max(numbers) <= max(WIDTH, HEIGHT)
    assert {ink for ink, _ in drawn["lines"]} == {"#000000", "#FF0000"}


def test_a_wedge_is_an_area():
    drawn = [draw_thumbnail(smiles) for smiles in ("C[C@@H](N)O", "C[C@H](N)O", "CC(N)O")]
    assert sorted(len(each["areas"]) for each in drawn) == [
        0,
        0,
        1,
    ]  # the other one is a hashed wedge, made of lines


@pytest.mark.parametrize("smiles", ["C1CC", "", "C" * 61, "no SMILES"])
def test_what_cannot_be_recognised_is_not_drawn(smiles):
    assert draw_thumbnail(smiles) is None


def test_drawing_stops_in_time_and_continues_at_the_next_call():
    molecules = [f"{'C' * size}O" for size in range(41, 45)]
    assert draw_thumbnails(molecules, time_limit_s=-1) == {}
    assert list(draw_thumbnails([*molecules, molecules[0]])) == molecules


@pytest.mark.parametrize(
    ("name", "values", "is_found"),
    [
        ("SMILES", ["CCO", None], True),
        ("settings.ligandFile", ["CCO", "wrong(", ASPIRIN], True),
        ("settings.ligandFile", ["a.sdf", "b.sdf"], False),
        ("ligand efficiency", [0.3, 0.4], False),
        ("chain", ["C", "N"], False),
        ("compound", [None, None], False),
    ],
)
def test_molecules_are_recognized_by_name_and_contents_of_a_column(name, values, is_found):
    frame = pd.DataFrame({"name": ["a", "b", "c"][: len(values)], name: values})
    assert find_molecule_column(frame) == (name if is_found else None)


def test_the_table_of_a_batch_has_a_drawing_for_each_molecule():
    data = unpack(rows_bundle(rows_of("CCO", ASPIRIN, "C1CC"), "panel")["text/html"])
    assert data["pictures"]["column"] == "settings.ligandFile"
    assert list(data["pictures"]["drawn"]) == ["CCO", ASPIRIN]


def test_a_table_without_molecules_has_no_drawings():
    rows = [BatchRow("a", "Complete", settings={"sequence": "EVQL"})]
    assert unpack(rows_bundle(rows, "panel")["text/html"])["pictures"] is None
    assert draw_column(pd.DataFrame()) is None


def test_the_live_table_sends_drawings_apart_from_values_and_once():
    table = LiveTable("panel", "", [])
    sent = []
    table.observe(lambda change: sent.append(change["name"]), ["_data", "_pictures"])
    table.show(rows_of("CCO", "CCN"))
    table.show([*rows_of("CCO"), BatchRow("m-1", "Failed", settings={"ligandFile": "CCN"})])
    assert sent == ["_data", "_pictures", "_data"]
    table.close()


def test_the_only_molecule_of_a_list_is_also_drawn_from_the_table_of_an_archive(tmp_path):
    place = tmp_path / "adm.zip"
    with zipfile.ZipFile(place, "w") as archive:
        rows = 'adm-1,Complete,"[""CCO""]"\nadm-2,Complete,"[""CCN"", ""CCC""]"\n'
        archive.writestr("results.csv", f"jobName,status,settings.smilesStrings\n{rows}")
        for job in ("adm-1", "adm-2"):
            archive.writestr(f"{job}/score.json", "{}")
    (shown, *_) = default_view(open_result(place, "adm"))
    data = unpack(shown["text/html"])
    assert "CCO" in data["values"][-1]
    assert list(data["pictures"]["drawn"]) == ["CCO"]


def test_a_smiles_that_became_a_file_is_shown_without_its_line_end():
    settings = {"ligandFile": f"{ASPIRIN}\n", "smilesStrings": ["CCO"], "several": ["CCO", "CCN"]}
    job = Job(job_name="m", type="vina", status=JobStatus.COMPLETE, settings=settings)
    row = make_row("m", job, {})
    assert row.settings == {"ligandFile": ASPIRIN, "smilesStrings": "CCO"}
    assert tabulate_rows([row, *rows_of("CCO")])["settings.ligandFile"].tolist() == [ASPIRIN, "CCO"]
