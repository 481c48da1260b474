"""POST /virtual-screening: a batch of a docking tool, ranked by a score."""

import csv
import io
import sys
import zipfile

import httpx
import pytest
from service_process import PDB

from foldnote import catalog
from foldnote.service.domain.batch_archives import make_ranking
from foldnote.service.engines import load_engines
from foldnote.service.store.jobs.batches import Subjob

SCRIPT = """
import json, pathlib
job = json.load(open("job.json"))
text = pathlib.Path(job["files"]["ligandFile"][0]).read_text()
pathlib.Path("outputs/pose.txt").write_text(text)
pathlib.Path("score.json").write_text(json.dumps({"affinity": -float(text.count("C"))}))
"""
FILE = {"type": "string", "format": "binary"}
DOCKER = {
    "type": "test-dock",
    "schema": {
        "type": "object",
        "properties": {"receptorFile": FILE, "ligandFile": FILE, "boxSize": {"type": "number", "minimum": 1}},
        "required": ["receptorFile", "ligandFile"],
    },
    "command": [sys.executable, "-c", SCRIPT],
}


@pytest.fixture(scope="module")
def docking(tmp_path_factory):
    from service_process import ServiceProcess

    folder = tmp_path_factory.mktemp("screen")
    service = ServiceProcess(folder, "--no-rate-limit", "--allow-deploy-model").start()
    yield service
    service.end()


def screen(service, name, **more):
    body = {
        "batchName": name,
        "receptor": PDB,
        "ligands": ["C\n", "CCC\n", "CC\n"],
        "tool": "test-dock",
    } | more
    return service.client.post("/virtual-screening", json=body)


def read_ranking(service, name):
    archive = zipfile.ZipFile(io.BytesIO(httpx.get(service.wait(name, patience_s=180)["resultUrl"]).content))
    return list(csv.reader(io.StringIO(archive.read("ranking.csv").decode())))


def test_without_a_docking_tool_that_runs_those_that_dock_are_named(make_service, monkeypatch, tmp_path):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "none"))
    refused = screen(make_service("--no-rate-limit"), "s", tool=None)
    assert (refused.status_code, refused.json()["code"]) == (400, "tool_unavailable")
    assert "af2dock, vina" in refused.json()["error"]


@pytest.mark.engine
@pytest.mark.extra_engine  # docking takes half a minute; an example of the docs covers a part of it
@pytest.mark.skipif(
    not load_engines()["vina"].state().installed, reason="needs: foldnote engines install vina"
)
def test_molecules_are_docked_and_ranked_by_autodock_vina(docking, name):
    receptor = catalog.tool("vina").example_job["settings"]["receptorFile"]
    more = {"boxCenter": [-1, 2, 0], "boxSize": [16, 16, 16], "exhaustiveness": 1, "numPoses": 1}
    ligands = ["C", "CC(=O)Oc1ccccc1C(=O)O", "CCO\n"]
    answer = screen(docking, name, receptor=receptor, ligands=ligands, settings=more, tool=None)
    assert (answer.status_code, answer.json()["type"]) == (200, "vina")
    head, *rows = read_ranking(docking, name)
    assert head == ["rank", "jobName", "affinity"]
    assert [row[1] for row in rows] == [f"{name}-{number}" for number in (2, 3, 1)]
    assert [float(row[2]) for row in rows] == sorted(float(row[2]) for row in rows)
    assert docking.job(f"{name}-1")["settings"]["ligandFile"] == "C\n"


def test_ligands_are_docked_and_ranked(docking, name):
    docking.client.post("/deploy-model", json=DOCKER)
    answer = screen(docking, name, settings={"boxSize": 20})
    assert answer.status_code == 200, answer.text
    names = [f"{name}-{number}" for number in (1, 2, 3)]
    assert (answer.json()["type"], answer.json()["jobNames"]) == ("test-dock", names)
    assert read_ranking(docking, name) == [
        ["rank", "jobName", "affinity"],
        ["1", names[1], "-3.0"],
        ["2", names[2], "-2.0"],
        ["3", names[0], "-1.0"],
    ]


@pytest.mark.parametrize(
    ("change", "field", "row"),
    [
        ({"ligands": []}, "ligands", None),
        ({"ligands": ["C\n", "nowhere.sdf"]}, "ligandFile", 1),
        ({"receptor": "nowhere.pdb"}, "receptorFile", 0),
        ({"settings": {"colour": 1}}, "colour", 0),
        ({"tool": "anarci"}, "tool", None),
        ({"tool": "nope"}, "tool", None),
        ({"batchName": "a/b"}, "batchName", None),
    ],
)
def test_a_wrong_screening_keeps_nothing(docking, name, change, field, row):
    docking.client.post("/deploy-model", json=DOCKER)
    answer = screen(docking, name, **change)
    assert (answer.status_code, answer.json()["field"], answer.json().get("row")) == (400, field, row)


def test_jobs_without_the_score_are_not_ranked():
    rows = [
        Subjob(name, "Complete", None, "{}", score, "x") for name, score in (("a", None), ("b", '{"e": 1}'))
    ]
    assert make_ranking(rows, "e") == "rank,jobName,e\n1,b,1\n"
