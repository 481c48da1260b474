"""Provenance of a result, from the real service to the files of an RO-Crate."""

import builtins
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from job_settings import PDB, SETTINGS
from rocrate.rocrate import ROCrate

from foldnote.client import Stage, inline
from foldnote.errors import ArchiveError, ConfigurationError
from foldnote.results import open_result
from foldnote.results.provenance.crate import PROFILE
from foldnote.results.provenance.crate_steps import WORKFLOW


@pytest.fixture
def result(client, settings, name):
    job = client.jobs.submit("anarci", settings, job_name=f"{name}.output-2.score").wait(60)
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


def read_echo(client, settings, job_name):
    """Return the result of a probe job, and the job.json that the probe received."""
    result = client.jobs.submit("anarci", settings, job_name=job_name).wait(60).result()
    return result, json.loads(result.read("job.json"))


def test_seed_and_settings_are_those_that_the_program_received(client, settings, name, tmp_path):
    result, received = read_echo(client, settings, f"{name}.echo")
    about = result.provenance()
    assert (about["seed"], about["seedNote"]) == (received["seed"], None)
    assert about["settings"] == received["settings"]
    crate = ROCrate(result.save_crate(tmp_path / "crate"))
    step = next(action for action in crate.get_by_type("CreateAction") if action.id != "#run")
    assert [each["value"] for each in step["object"] if each["name"] == "seed"] == [received["seed"]]


def test_a_program_that_reports_no_seed_has_none_in_the_record(client, settings, name):
    result, received = read_echo(client, settings, f"{name}.echo.silent")
    assert result.manifest.seed is None
    assert "does not report which seed" in result.provenance()["seedNote"]
    assert result.manifest.data["job"]["seedOffered"] == received["seed"] > 0


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


def test_the_crate_has_what_the_workflow_run_profile_requires(result, tmp_path):
    crate = ROCrate(
        result.save_crate(tmp_path / "crate", licence="https://creativecommons.org/licenses/by/4.0/")
    )
    root = crate.root_dataset
    assert PROFILE in {profile.id for profile in root["conformsTo"]}
    assert all(root.get(name) for name in ("name", "description", "datePublished", "license"))
    workflow = root["mainEntity"]
    assert {"File", "SoftwareSourceCode", "ComputationalWorkflow"} <= set(workflow.type)
    assert workflow["programmingLanguage"].type == "ComputerLanguage"
    run, step = crate.get_by_type("CreateAction")
    assert {run, step} <= set(root["mentions"])
    assert run["instrument"] == workflow
    assert (step["instrument"].type, step["instrument"]["name"]) == (
        "SoftwareApplication",
        "Probe of the tests",
    )
    assert run["startTime"] <= run["endTime"]
    assert {each["encodingFormat"] for each in run["result"]} == {"text/plain", "application/json"}
    settings = {each["name"]: each["value"] for each in step["object"] if each.type == "PropertyValue"}
    assert settings["scheme"] == "imgt"
    assert {each.id for each in step["result"]} >= {"file-0.txt", "settings.json"}


@pytest.mark.parametrize(
    ("account", "author"),
    [("ada@lab.org", "ada@lab.org"), ("local@foldnote.invalid", "User of the computer (not named)")],
)
def test_the_author_of_a_crate_is_an_existing_account(result, tmp_path, account, author):
    origin = {**result.origin, "job": {**result.origin["job"], "email": account}}
    made = open_result(result.save_to(tmp_path / "r"), origin=origin).save_crate(tmp_path / "crate")
    assert ROCrate(made).root_dataset["author"]["name"] == author


def test_every_word_of_the_crate_that_ro_crate_lacks_is_explained_in_it(result, tmp_path):
    place = result.save_crate(tmp_path / "crate", licence="Ask first.")
    said = json.loads((place / "ro-crate-metadata.json").read_text())
    assert said["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    assert said["@context"][1] == {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
    assert ROCrate(place).root_dataset["license"]["name"] == "Ask first."


def test_every_parameter_of_the_workflow_has_its_value_and_its_value_says_so(result, tmp_path):
    crate = ROCrate(result.save_crate(tmp_path / "crate"))
    parameters = {each["name"]: each for each in crate.root_dataset["mainEntity"]["input"]}
    assert {"sequence", "scheme", "seed"} <= parameters.keys()
    for parameter in parameters.values():
        assert parameter["additionalType"] in ("Text", "Integer", "Float", "Boolean")
        assert parameter["workExample"]["exampleOfWork"] == parameter


def test_the_crate_of_a_batch_has_a_step_for_each_job(client, settings, name, tmp_path):
    rows = [dict(settings, scheme=scheme) for scheme in ("imgt", "kabat")]
    batch = client.batches.submit("anarci", rows, batch_name=name).wait(60)
    result = batch.result()
    assert result.provenance()["method"]["name"] is None, (
        "an archive of several jobs names none of their methods"
    )
    crate = ROCrate(result.save_crate(tmp_path / "crate"))
    steps = crate.root_dataset["mainEntity"]["step"]
    assert {step["name"] for step in steps} == {f"{name}-1", f"{name}-2"}
    runs = [action for action in crate.get_by_type("CreateAction") if action.id != "#run"]
    for run in runs:
        files = {each.id for each in run["result"]}
        assert len({file.partition("/")[0] for file in files}) == 1
    values = {each["value"] for run in runs for each in run["object"] if each["name"] == "scheme"}
    assert values == {"imgt", "kabat"}


def test_the_crate_of_a_pipeline_says_which_stage_took_whose_files(client, name, tmp_path):
    fold = Stage(
        "fold.output-2", "abodybuilder", {"heavy": SETTINGS["sequence"], "light": SETTINGS["sequence"]}
    )
    align = Stage("align", "align-pdbs", {"pdbFiles": [fold.file("file-1.txt"), inline(PDB)]})
    run = client.pipelines.run(client.pipelines.submit(name, [fold, align])).wait(60)
    place = run.result().save_crate(tmp_path / "crate")
    first, second = json.loads((place / WORKFLOW).read_text())["steps"]
    assert (first["tool"], second["tool"]) == ("abodybuilder", "align-pdbs")
    assert (first["after"], second["after"]) == ([], [first["name"]])


def test_the_hashes_in_the_crate_are_those_of_its_files(result, tmp_path):
    place = result.save_crate(tmp_path / "crate")
    run = ROCrate(place).dereference("#run")
    for file in run["result"]:
        assert hashlib.sha256((place / file.id).read_bytes()).hexdigest() == file["sha256"]
    assert json.loads((place / "provenance.json").read_text()) == result.provenance()


def test_a_person_reads_first_what_ran_and_where_the_rest_stands(result, tmp_path):
    place = result.save_crate(tmp_path / "crate", licence="Ask first.")
    text = (place / "README.md").read_text()
    assert text.startswith("# Result of the job ")
    assert "Probe of the tests" in text
    assert "Ask first." in text
    about = ROCrate(place).dereference("README.md")
    assert (about["about"].id, about["encodingFormat"]) == ("./", "text/markdown")


def test_a_readme_of_the_result_s_own_stays(tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "README.md").write_text("Mine.")
    place = open_result(tmp_path / "r").save_crate(tmp_path / "crate")
    assert (place / "README.md").read_text() == "Mine."


def test_a_crate_is_a_zip_when_its_name_says_so(result, tmp_path):
    place = result.save_crate(tmp_path / "crate.zip")
    with zipfile.ZipFile(place) as archive:
        assert {"ro-crate-metadata.json", "file-0.txt", "provenance.json"} <= set(archive.namelist())


def test_an_interruption_leaves_neither_half_a_file_nor_half_a_crate(result, tmp_path, monkeypatch):
    read, begun = zipfile.ZipExtFile.read, []

    def interrupted(stream, size=-1):
        if stream in begun:
            raise KeyboardInterrupt
        begun.append(stream)
        return read(stream, 10)

    def interrupted_crate(crate, place):
        Path(place).mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipExtFile, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        result.save_to(tmp_path / "files")
    assert begun
    assert list((tmp_path / "files").iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setattr(ROCrate, "write", interrupted_crate)
    with pytest.raises(KeyboardInterrupt):
        result.save_crate(tmp_path / "crate")
    assert not (tmp_path / "crate").exists()


def test_a_crate_is_not_written_over_anything(result, tmp_path):
    with pytest.raises(ArchiveError, match="already exists"):
        result.save_crate(tmp_path)


def test_without_the_library_the_message_says_what_to_install(result, tmp_path, monkeypatch):
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
