"""File fields: sources of files, what is said about a file, and what is refused."""

import asyncio
import re
from datetime import UTC, datetime
from html import unescape
from importlib.resources import files
from pathlib import Path

import gemmi
import ipywidgets as widgets
import pandas as pd
import pytest
from engine_folder import write_probe_engine
from form_builders import label_of, make_form, make_tool
from page import Page, send
from starlette.testclient import TestClient

from foldnote import catalog
from foldnote.client import Client
from foldnote.errors import FoldnoteError
from foldnote.forms import Form
from foldnote.forms.files.contents import UploadedFile, remember
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

FV = str(files("foldnote.catalog").joinpath("examples/trastuzumab-fv.pdb"))
PDB = {"type": "string", "x-foldnote": {"role": "file", "extensions": ["pdb"], "check": ["file"]}}
TABLE = {
    "type": "string",
    "x-foldnote": {"role": "file", "extensions": ["tsv"], "columns": ["organism", "mhc"]},
}
URL = "http://service.test"


def said(form, name="f"):
    return unescape(label_of(form, name))


@pytest.fixture
def client(tmp_path):
    """Return a client of a service that runs jobs."""
    engines = write_probe_engine(tmp_path / "engines", ("abodybuilder",))
    config = ServiceConfig(tmp_path / "data", rate_limit=False, engine_paths=(engines,), public_url=URL)
    app = create_app(config)
    with (
        TestClient(app, base_url=URL) as http_client,
        Client(base_url=URL, api_key=app.state.service.local_key, http_client=http_client) as made,
    ):
        yield made


def test_the_contents_of_a_local_structure_are_described():
    form = make_form({"f": PDB}, f=FV)
    assert "file on this computer" in said(form)
    assert "2 chains: H 120, L 107 residues" in said(form)
    assert form.problems == ()


def test_a_file_that_is_not_a_structure_is_refused_whatever_its_name(tmp_path):
    path = tmp_path / "target.pdb"
    path.write_text("this is no structure\n")
    form = make_form({"f": PDB}, f=str(path))
    assert "target.pdb is not a PDB structure: it has no ATOM records." in said(form)
    assert "Paste" not in said(form)


def test_a_table_of_this_computer_must_have_its_columns(tmp_path):
    path = tmp_path / "targets.tsv"
    path.write_text("organism\tpeptide\nhuman\tSLYNTVATL\n")
    form = make_form({"f": TABLE}, f=str(path))
    assert "targets.tsv lacks these columns: mhc. Required columns: organism, mhc." in said(form)
    path.write_text("organism\tmhc\nhuman\tA0201\n# changed")
    form.refresh()
    assert "2 columns: organism, mhc" in said(form)


def test_an_upload_is_named_with_its_size():
    form = make_form({"f": PDB})
    form.offer_uploads((UploadedFile.of("set/target.pdb", 204_000), UploadedFile.of("x.csv", None)))
    form.set(f="set/target.pdb")
    assert "upload set/target.pdb, 204 kB" in said(form)


def test_objects_of_python_become_files():
    form = make_form({"f": PDB, "t": TABLE})
    form.set(f=Path(FV))
    assert form.value["f"] == FV
    form.set(f=gemmi.read_structure(FV), t=pd.DataFrame({"organism": ["human"], "mhc": ["A0201"]}))
    assert "ATOM" in form.value["f"]
    assert "pasted text" in said(form)
    assert "2 chains: H 120, L 107 residues" in said(form)
    assert form.value["t"] == "organism\tmhc\nhuman\tA0201\n"
    with pytest.raises(FoldnoteError, match="not object"):
        form.set(f=object())


def test_a_file_from_the_browser_lies_beside_the_notebook_and_in_no_widget(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    form = make_form({"f": PDB})
    field = form.fields["f"]
    for content in (b"ATOM one\n", b"ATOM one\n", b"ATOM two\n"):
        Page(field.widget).press("choose…")
        box = Page(field.chooser.widget).find(widgets.FileUpload, "Upload from your computer")
        box.value = (
            {
                "name": "../t.pdb",
                "type": "",
                "size": 9,
                "content": content,
                "last_modified": datetime.now(UTC),
            },
        )
        assert box.value == ()
        assert field.chooser is None
    assert sorted(path.read_bytes() for path in (tmp_path / "uploads").iterdir()) == [
        b"ATOM one\n",
        b"ATOM two\n",
    ]
    assert (tmp_path / "uploads" / "t.pdb").read_bytes() == b"ATOM one\n"
    assert form.value["f"].startswith("uploads/t-")


def test_a_file_beside_the_notebook_is_chosen_from_a_list(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "uploads").mkdir()
    for name in ("b.pdb", "x.csv", "uploads/a.pdb"):
        (tmp_path / name).write_text("ATOM\n")
    (tmp_path / "gone.pdb").symlink_to("nowhere.pdb")
    form = make_form({"f": PDB})
    Page(form.fields["f"].widget).press("choose…")
    here = Page(form.fields["f"].widget).find(widgets.Dropdown, "Files beside the notebook")
    assert [text for text, _ in here.options] == [
        *("choose one of 2 files…", "b.pdb · 5 B", "uploads/a.pdb · 5 B")
    ]
    here.index = 2
    assert form.value == {"f": "uploads/a.pdb"}
    assert "file on this computer, 5 B" in said(form)


def test_an_upload_of_the_right_kind_is_chosen_from_a_list():
    form = make_form({"f": PDB})
    form.offer_uploads((UploadedFile.of("foldnote-0123456789ab/a.pdb", 1200), UploadedFile.of("x.csv", 10)))
    field = form.fields["f"]
    Page(field.widget).press("choose…")
    uploads = Page(field.widget).find(widgets.Dropdown, "Uploads at the service")
    assert [text for text, _ in uploads.options] == [
        "choose one of 1 upload…",
        "a.pdb · 1.2 kB",
    ]
    uploads.index = 1
    assert form.value == {"f": "foldnote-0123456789ab/a.pdb"}


def test_a_file_of_an_earlier_job_is_chosen_from_its_outputs(client):
    settings = {"heavy": "EVQLVESGGGLVQPGG", "light": "DIQMTQSPSSLSASVG"}
    client.jobs.submit(catalog.tool("abodybuilder"), settings, job_name="made-before")
    client.jobs.wait(["made-before"])
    anything = {"type": "string", "x-foldnote": {"role": "file"}}
    form = Form(make_tool({"f": anything}), client)
    field = form.fields["f"]
    Page(field.widget).press("choose…")
    assert any(
        'data-job="made-before"' in str(getattr(part, "value", "")) for part in Page(field.widget).shown
    )
    listed = asyncio.run(field.chooser.list_files("made-before"))
    path = re.search(r'data-path="([^"]+[.]json)"', listed)[1]
    message = {"kind": "jobFile", "field": field.mark, "job": "made-before", "path": path}
    send(form, message)
    assert field.chooser is None
    assert form.value["f"].startswith("made-before/")
    assert "of the job made-before, " in said(form)


def test_chains_of_a_job_file_that_was_chosen_are_offered():
    remember("made-before/model.pdb", Path(FV).read_text())
    chain = {"type": "string", "x-foldnote": {"role": "chain", "of": "f"}}
    form = make_form({"f": PDB, "chain": chain}, f="made-before/model.pdb", chain="Z")
    assert "2 chains: H 120, L 107 residues" in said(form)
    assert "model.pdb has no chain 'Z'" in said(form, "chain")


def test_every_file_of_a_list_is_looked_into(tmp_path):
    (tmp_path / "bad.pdb").write_text("no structure\n")
    notes = {"role": "file", "extensions": ["pdb"], "check": ["files"]}
    form = make_form({"f": {"type": "array", "items": {"type": "string"}, "x-foldnote": notes}})
    form.set(f=[Path(FV), str(tmp_path / "bad.pdb"), gemmi.read_structure(FV)])
    assert form.value["f"][0] == FV
    assert "Line 2: bad.pdb is not a PDB structure: it has no ATOM records." in said(form)
    assert "3 files" in said(form)
