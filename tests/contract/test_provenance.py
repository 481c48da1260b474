"""Where a result comes from, from the real service to the files of an RO-Crate."""

import builtins
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from job_settings import PDB
from rocrate.rocrate import ROCrate

from foldnote.client import inline
from foldnote.errors import ArchiveError, ConfigurationError
from foldnote.results import open_result
from foldnote.results.crate import PROFILE


@pytest.fixture
def result(client, settings, name):
    job = client.jobs.submit("anarci", settings, job_name=f"{name}.output-2.score")
    job.finish(60)
    return open_result(job.download(), origin=job.origin())


def test_provenance_says_what_ran_where_when_and_from_what(result, settings):
    about = result.provenance()
    assert about["job"]["tool"] == "anarci"
    assert about["job"]["started"] <= about["job"]["ended"]
    assert about["settings"]["sequence"] == settings["sequence"]
    assert about["settingsAre"] == "normalized"
    assert (about["method"]["name"], about["method"]["isSubstitute"]) == ("Probe of the tests", True)
    assert isinstance(about["seed"], int)
    assert about["service"]["address"] == "http://testserver"
    assert about["client"]["name"] == "foldnote"
    assert json.loads(json.dumps(about)) == about


def test_every_output_has_the_hash_of_its_bytes_and_the_services_agrees(result):
    rows = {row["name"]: row for row in result.provenance()["outputs"]}
    assert {"file-0.txt", "file-1.txt", "settings.json", "manifest.json"} <= rows.keys()
    for name, row in rows.items():
        assert row["sha256"] == hashlib.sha256(result.read(name)).hexdigest()
    assert rows["file-0.txt"]["matchesManifest"] is True
    archive = result.provenance()["archive"]
    assert archive["sha256"] == hashlib.sha256(result.archive.path.read_bytes()).hexdigest()


def test_input_files_are_hashed(client, name):
    other = PDB + "END\n"
    stored = client.files.upload(PDB.encode(), f"{name}.pdb")
    job = client.jobs.submit("align-pdbs", {"pdbFiles": [stored, inline(other)]}, job_name=name)
    digests = {hashlib.sha256(text.encode()).hexdigest() for text in (PDB, other)}
    assert {row["sha256"] for row in job.origin()["inputs"]} == digests
    job.finish(60)
    inputs = open_result(job.download(), origin=job.origin()).provenance()["inputs"]
    assert {row["sha256"] for row in inputs} == digests
    assert {row["field"] for row in inputs} == {"pdbFiles"}


def test_a_result_without_a_manifest_claims_no_method(tmp_path):
    (tmp_path / "model.pdb").write_text(PDB)
    origin = {"job": {"jobName": "a", "type": "alphafold", "settings": {"x": 1}, "status": "Complete"}}
    about = open_result(tmp_path / "model.pdb", origin=origin).provenance()
    assert (about["settings"], about["settingsAre"]) == ({"x": 1}, "as submitted")
    assert about["method"]["name"] is None
    assert about["method"]["isSubstitute"] is None
    assert about["outputs"][0]["sha256"] == hashlib.sha256(PDB.encode()).hexdigest()


def test_a_changed_file_does_not_match_its_manifest(result, tmp_path):
    folder = result.save_to(tmp_path / "r")
    (folder / "file-0.txt").write_text("changed")
    rows = {row["name"]: row for row in open_result(folder).provenance()["outputs"]}
    assert (rows["file-0.txt"]["matchesManifest"], rows["file-1.txt"]["matchesManifest"]) == (False, True)


def test_the_crate_has_what_the_process_run_profile_requires(result, tmp_path):
    crate = ROCrate(
        result.save_crate(tmp_path / "crate", licence="https://creativecommons.org/licenses/by/4.0/")
    )
    root = crate.root_dataset
    assert root["conformsTo"].id == PROFILE
    assert all(root.get(name) for name in ("name", "description", "datePublished", "license"))
    (action,) = crate.get_by_type("CreateAction")
    assert action in root["mentions"]
    assert action["instrument"].type == "SoftwareApplication"
    assert action["instrument"]["name"] == "Probe of the tests"
    assert action["startTime"] <= action["endTime"]
    assert {each["encodingFormat"] for each in action["result"]} == {"text/plain", "application/json"}
    settings = {each["name"]: each["value"] for each in action["object"] if each.type == "PropertyValue"}
    assert settings["scheme"] == "imgt"
    assert {each.id for each in action["result"]} >= {"file-0.txt", "settings.json"}


def test_the_hashes_in_the_crate_are_those_of_its_files(result, tmp_path):
    place = result.save_crate(tmp_path / "crate")
    (action,) = ROCrate(place).get_by_type("CreateAction")
    for file in action["result"]:
        assert hashlib.sha256((place / file.id).read_bytes()).hexdigest() == file["sha256"]
    assert json.loads((place / "provenance.json").read_text()) == result.provenance()


def test_a_crate_is_a_zip_when_its_name_says_so(result, tmp_path):
    place = result.save_crate(tmp_path / "crate.zip")
    with zipfile.ZipFile(place) as archive:
        assert {"ro-crate-metadata.json", "file-0.txt", "provenance.json"} <= set(archive.namelist())


def test_a_crate_is_not_written_over_anything(result, tmp_path):
    with pytest.raises(ArchiveError, match="exists already"):
        result.save_crate(tmp_path)


def test_without_the_library_the_cure_is_told(result, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("rocrate"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigurationError, match=r"pip install 'foldnote\[crate\]'"):
        result.save_crate(tmp_path / "crate")
    assert not Path(tmp_path / "crate").exists()


def test_files_are_unpacked_by_pattern(result, tmp_path):
    result.save_to(tmp_path, ["file-*", "*.pdb"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file-0.txt", "file-1.txt"]
    assert result.match(["*.json"]) == ("manifest.json", "score.json", "settings.json")


def test_a_result_that_a_job_opens_knows_where_it_comes_from(client, settings, name):
    result = client.jobs.submit("anarci", settings, job_name=name).wait(60).result()
    assert result.provenance()["service"]["address"] == "http://testserver"
    assert result.provenance()["job"]["jobName"] == name
