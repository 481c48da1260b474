"""``foldnote engines check`` compares an engine with published figures, and records the outcome."""

import io
import json
import re
from pathlib import Path

import pytest

from foldnote import catalog
from foldnote.cli import main
from foldnote.errors import EngineError
from foldnote.service.engines import load_engines
from foldnote.service.engines.command import list_tools, run_check
from foldnote.service.engines.install import install
from foldnote.service.engines.published_case import Figure, read_case
from foldnote.service.engines.weights.store import MARKER, Offer

PROGRAM = """
import json
from pathlib import Path

job = json.loads(Path("job.json").read_text())
Path("outputs/table.csv").write_text("name,value\\nfirst,1.5\\nsecond,2.25\\n")
Path("outputs/filled.fasta").write_text(">a\\nACDEFG\\n")
Path("score.json").write_text(json.dumps({"residues": len(job["settings"]["sequence"]), "scheme": job["settings"]["scheme"]}))
Path("used.json").write_text(json.dumps({"seed": None, "settings": {}, "ignored": {}}))
"""
CASE = """
title = "Three letters"
source = "a paper"
tool = "anarci"
settings = { sequence = "ACD" }

[[figures]]
what = "second value"
file = "table.csv"
where = { name = "second" }
column = "value"
expected = 2.2
tolerance = 0.1

[[figures]]
what = "residues"
file = "score.json"
column = "residues"
expected = 3

[[figures]]
what = "filled sequence"
file = "filled.fasta"
expected = "CDEF"
"""
WEIGHTS = """
[[weights]]
name = "Tiny weights"
file = "model.pt"
url = "https://example.org/model.pt"
licence = "MIT"
source = "Its authors (2026)"
about_mb = 1
"""


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """Return an engine that runs with this machine's own Python, whose program and case a test may change."""
    folder = tmp_path / "engines" / "tiny"
    folder.mkdir(parents=True)
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(folder.parent))
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "environments"))
    monkeypatch.setenv("FOLDNOTE_WEIGHTS_DIR", str(tmp_path / "weights"))
    write(folder)
    (folder / "run.py").write_text(PROGRAM)
    (folder / "case.toml").write_text(CASE)
    return folder


def write(folder, weights="", version="1"):
    (folder / "engine.toml").write_text(
        f'name = "tiny"\nmethod = "Tiny"\nkind = "genuine"\nversion = "{version}"\ntools = ["anarci"]\n'
        f'outputs = ["table.csv: values"]\n[environment]\nkind = "host"\n{weights}'
    )


def check(name="tiny"):
    stream = io.StringIO()
    status = run_check([name], lambda tool: catalog.default_settings(catalog.tool(tool)), stream=stream)
    return status, stream.getvalue()


def note():
    (row,) = [row for row in list_tools([], load_engines()) if row.engine == "tiny"]
    return row.weights_note


def test_each_value_is_shown_beside_the_published_one(engine):
    status, said = check()
    assert status == 0
    assert "second value     published 2.2 ± 0.1, found 2.25: as published" in said
    assert "residues         published 3, found 3: as published" in said
    assert "3 of 3 figures of the published case are reached." in said


def test_as_json_the_verdict_is_one_document_and_the_figures_go_to_stderr(engine, capsys):
    assert main(["engines", "check", "tiny", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == [{"engine": "tiny", "as_published": True}]
    assert "residues         published 3, found 3: as published" in said.err
    assert main(["engines", "remove", "tiny", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"engine": "tiny", "removed": True}]


def test_a_figure_that_differs_or_is_missing_fails_the_check_and_is_named(engine):
    (engine / "case.toml").write_text(
        CASE.replace("tolerance = 0.1", "tolerance = 0.01").replace("CDEF", "CDEG")
    )
    status, said = check()
    assert status == 1
    assert "found 2.25: DIFFERS" in said
    assert "found not in the result: DIFFERS" in said
    assert "1 of 3 figures" in said


def test_what_was_said_of_unchecked_weights_gives_way_to_the_check_until_they_change(engine, tmp_path):
    write(engine, WEIGHTS)
    offered = tmp_path / "offered"
    offered.mkdir()
    (offered / "model.pt").write_bytes(b"published")
    install(load_engines()["tiny"], lambda event: None, offer=Offer(offered))
    assert "not yet checked with the published weights" in note()
    assert check()[0] == 0
    assert re.fullmatch(
        r"Checked here with the published weights on 2\d{3}-\d\d-\d\d: 3 of 3 figures of the published case are"
        r" reached\.",
        note(),
    )
    write(engine, WEIGHTS, version="2")
    assert "not yet checked with the published weights" in note()


def test_stand_in_weights_are_not_checked(engine, tmp_path):
    write(engine, WEIGHTS)
    offered = tmp_path / "offered"
    offered.mkdir()
    (offered / "model.pt").write_bytes(b"random")
    (offered / MARKER).write_text("random numbers")
    install(load_engines()["tiny"], lambda event: None, offer=Offer(offered, is_stand_in=True))
    with pytest.raises(EngineError, match="stand-in weights, whose figures mean nothing"):
        check()
    assert "not yet checked with the published weights" in note()


def test_a_run_that_fails_says_why_and_keeps_its_log(engine):
    (engine / "run.py").write_text(
        "import sys\nprint('so far')\nsys.exit('FOLDNOTE_ERROR It cannot be done.')"
    )
    with pytest.raises(EngineError, match="failed on its published case") as caught:
        check()
    log = Path(re.search(r"The log is in (\S+)\.$", caught.value.message)[1])
    assert "so far" in log.read_text()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "has no published case"),
        ("title = 1 2", "cannot be used"),
        ('title = "a"\nsource = "b"\ntool = "anarci"\nfigures = []', "it has no figures"),
        ('title = "a"\nsource = "b"\ntool = "anarci"', "cannot be used"),
        (f"{CASE}colour = 'red'\n", "colour"),
    ],
    ids=["none", "no TOML", "no figures", "figures missing", "unknown key"],
)
def test_an_engine_without_a_usable_case_says_so(engine, content, reason):
    (engine / "case.toml").unlink()
    if content is not None:
        (engine / "case.toml").write_text(content)
    with pytest.raises(EngineError, match=reason):
        check()


@pytest.mark.parametrize("found", [None, "", "nan", "word", "1e999", 2.31])
def test_a_value_that_is_not_near_the_published_one_does_not_pass(found):
    assert not Figure("value", 2.2, "table.csv", "value", 0.1).is_reached(found)


def test_every_bundled_case_names_its_tool_settings_and_files():
    cases = [(engine, case) for engine in load_engines().values() if (case := read_case(engine.folder))]
    assert {"ablang", "antifold", "biopython", "igfold", "macrel", "propka"} <= {
        engine.name for engine, _ in cases
    }
    for engine, case in cases:
        assert case.tool in engine.tools
        assert set(case.settings) | set(case.files) <= set(
            catalog.tool(case.tool).settings_schema["properties"]
        )
        assert all((engine.folder / file).is_file() for file in case.files.values())
        written = " ".join(engine.outputs[case.tool])
        assert all(figure.file in written for figure in case.figures)
        assert json.dumps(case.source)
