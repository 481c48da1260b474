"""The object ``foldnote`` beside the settings: consent for one job, a precomputed alignment, a label."""

import io
import json
import warnings
import zipfile

import pytest
from fastapi.testclient import TestClient
from probe_engine import write_probe_engine

from foldnote import catalog, settings
from foldnote.client import Client, Stage, inline
from foldnote.client.local.identity import identify
from foldnote.errors import BadRequestError, BatchSettingsError, NotSentWarning, SettingsError
from foldnote.models.extensions import ALIGNMENT_PATH
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

A3M = ">query\nMKTAYIAKQR\n>other\nMKTAYLAKQR\n"
AGREED = {"external": ["msa-server"]}
ALL_TAKE = ["label", "retries", "onFailure", "reuse"]
DECLARED = """
extensions = ["alignment", "external:msa-server"]
[[refusals]]
settings = { useMSA = true }
unless = ["alignment", "external:msa-server"]
unless_set = ["FOLDNOTE_TEST_MSA_SERVER"]
unless_configured = ["uniref"]
field = "useMSA"
sentence = "Give an alignment, set useMSA to false, or agree to the public server."
[[options]]
name = "uniref"
kind = "database"
is_needed = false
help = "a copy of UniRef30"
"""


@pytest.fixture(scope="module")
def http(tmp_path_factory):
    """Start a service whose engine for alphafold would request its alignment from a server."""
    folder = tmp_path_factory.mktemp("beside")
    engines = write_probe_engine(folder / "engines", tools=("alphafold", "afcluster", "vina"), memory_mb=16)
    declared = engines / "probe" / "engine.toml"
    declared.write_text(declared.read_text().replace("[environment]", f"{DECLARED}[environment]", 1))
    write_probe_engine(folder / "engines", tools=("abodybuilder",), name="plain", memory_mb=16)
    config = ServiceConfig(data_dir=folder / "data", rate_limit=False, engine_paths=(engines,))
    with TestClient(create_app(config)) as client:
        client.headers["x-api-key"] = client.app.state.service.local_key
        yield client


@pytest.fixture
def client(http):
    return Client(base_url="http://testserver", api_key=http.headers["x-api-key"], http_client=http)


def submit(http, name, foldnote=None, **settings):
    body = {"jobName": name, "type": "alphafold", "settings": {"sequence": "MKTAYIAKQR"} | settings}
    return http.post("/submit-job", json=body | ({} if foldnote is None else {"foldnote": foldnote}))


def job_file(client, name):
    """Return job.json as the engine of the job ``name`` read it, and the names in its result."""
    content = client.jobs.get(name).wait(timeout_s=30).download().read_bytes()
    archive = zipfile.ZipFile(io.BytesIO(content))
    return json.loads(archive.read("job.json")), json.loads(archive.read("manifest.json"))


def test_the_default_job_is_refused_before_it_is_queued(http):
    answer = submit(http, "unasked")
    assert answer.status_code == 400
    assert answer.json() == {
        "error": "Give an alignment, set useMSA to false, or agree to the public server.",
        "code": "not_agreed",
        "field": "useMSA",
    }
    assert http.get("/jobs", params={"jobName": "unasked"}).status_code == 404


@pytest.mark.parametrize("foldnote", [None, {}, {"external": []}, {"label": "x"}, {"alignment": None}])
def test_nothing_but_consent_is_consent(http, foldnote):
    assert submit(http, "no-consent", foldnote).json()["code"] == "not_agreed"


@pytest.mark.parametrize(
    ("name", "foldnote", "settings"),
    [("agreed", AGREED, {}), ("own", {"alignment": A3M}, {}), ("single", None, {"useMSA": False})],
)
def test_each_way_on_is_taken(http, name, foldnote, settings):
    assert submit(http, name, foldnote, **settings).status_code == 200


def test_databases_of_the_lab_are_a_way_on(http, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_TEST_MSA_SERVER", "http://msa.lab.test")
    assert submit(http, "of-the-lab").status_code == 200


def test_databases_on_the_services_machine_are_a_way_on_while_they_are_there(http, tmp_path):
    (tmp_path / "uniref30_2302_db.dbtype").write_bytes(b"")
    config = settings.config_dir() / "config.toml"
    config.write_text(f'[engines.probe]\nuniref = "{tmp_path}/uniref30_2302_db"\n')
    try:
        assert submit(http, "own-databases").status_code == 200
        (tmp_path / "uniref30_2302_db.dbtype").unlink()
        answer = submit(http, "gone")
        assert (answer.status_code, "there is no uniref30_2302_db.dbtype" in answer.text) == (400, True), (
            answer.text
        )
    finally:
        config.unlink()
    assert submit(http, "without").json()["code"] == "not_agreed"


@pytest.mark.parametrize(
    ("foldnote", "field", "words"),
    [
        (
            {"externl": []},
            "foldnote.externl",
            "external, alignment, label, retries, onFailure, reuse and webhook",
        ),
        ({"external": "msa-server"}, "foldnote.external", "must be an array"),
        ({"external": [1]}, "foldnote.external.0", "must be text"),
        ({"external": ["elsewhere"]}, "foldnote.external", "It may for msa-server"),
        ({"alignment": 1}, "foldnote.alignment", "must be text"),
        ({"alignment": "absent.a3m"}, "foldnote.alignment", "neither an upload nor a file"),
        ({"label": "x" * 201}, "foldnote.label", "at most 200"),
        ([], "foldnote", "must be an object"),
    ],
)
def test_what_is_wrong_beside_the_settings_is_named(http, foldnote, field, words):
    answer = submit(http, "wrong", foldnote)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert words in answer.json()["error"]
    body = {"type": "alphafold", "settings": {"sequence": "MKV"}, "foldnote": foldnote}
    verdict = http.post("/validate-job", json=body).json()
    assert (verdict["valid"], verdict["field"]) == (False, field)


def test_a_tool_takes_only_what_its_engine_declares(http):
    body = {
        "jobName": "x",
        "type": "abodybuilder",
        "settings": catalog.tool("abodybuilder").example_job["settings"],
    }
    for foldnote, field in ((AGREED, "foldnote.external"), ({"alignment": A3M}, "foldnote.alignment")):
        answer = http.post("/submit-job", json=body | {"foldnote": foldnote})
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
            400,
            "not_taken",
            field,
        )
    assert http.post("/submit-job", json=body | {"foldnote": {"label": "first"}}).status_code == 200
    assert http.get("/jobs", params={"jobName": "x"}).json()["foldnote"] == {"label": "first"}


def test_the_catalog_names_what_a_tool_takes(http):
    taken = {row["type"]: row["extensions"] for row in http.get("/tools").json()}
    assert taken["alphafold"] == ["alignment", "external:msa-server", *ALL_TAKE]
    assert taken["abodybuilder"] == taken["abfe"] == ALL_TAKE


def test_the_engine_the_record_and_the_manifest_have_it(http, client):
    given = {"external": ["msa-server", "msa-server"], "alignment": A3M, "label": "try 2"}
    assert submit(http, "told.echo", given).status_code == 200
    job, manifest = job_file(client, "told.echo")
    assert job["extensions"] == manifest["extensions"] == {"external": ["msa-server"], "label": "try 2"}
    assert job["files"] == {ALIGNMENT_PATH: ["inputs/foldnote.alignment/alignment.a3m"]}
    assert [each["field"] for each in manifest["inputs"]] == [ALIGNMENT_PATH]
    record = http.get("/jobs", params={"jobName": "told.echo"}).json()
    assert record["foldnote"] == {"external": ["msa-server"], "alignment": A3M, "label": "try 2"}
    assert client.jobs.get("told.echo").record.extensions == record["foldnote"]


def test_a_job_without_it_has_no_trace_of_it(http, client):
    submit(http, "bare.echo", useMSA=False)
    job, manifest = job_file(client, "bare.echo")
    assert job["extensions"] == {}
    assert "extensions" not in manifest
    assert "foldnote" not in http.get("/jobs", params={"jobName": "bare.echo"}).json()


def test_settings_are_still_of_the_interface_only(http):
    answer = submit(http, "inside", AGREED, external=["msa-server"])
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")


def test_validation_says_what_a_submission_would_answer(http):
    body = {"type": "alphafold", "settings": {"sequence": "MKTAYIAKQR"}}
    verdict = http.post("/validate-job", json=body).json()
    assert (verdict["valid"], verdict["field"]) == (False, "useMSA")
    agreed = http.post("/validate-job", json=body | {"foldnote": AGREED}).json()
    assert agreed["valid"]
    assert agreed["normalized"]["foldnote"] == AGREED
    rows = body | {"settings": [body["settings"], body["settings"] | {"useMSA": False}]}
    assert [row["valid"] for row in http.post("/validate-job", json=rows).json()["results"]] == [False, True]
    both = http.post("/validate-job", json=rows | {"foldnote": AGREED}).json()
    assert both["valid_count"] == 2


def test_a_batch_has_it_for_every_row(http):
    rows = [{"sequence": "MKTAYIAKQR"}, {"sequence": "MKTAYIAKQK"}]
    body = {"batchName": "many", "type": "alphafold", "settings": rows}
    refused = http.post(
        "/submit-batch", json=body | {"settings": [rows[0] | {"useMSA": False}, rows[1]]}
    ).json()
    assert (refused["code"], refused["field"], refused["row"]) == ("not_agreed", "useMSA", 1)
    assert http.post("/submit-batch", json=body | {"foldnote": AGREED}).status_code == 200
    for name in ("many", "many-1", "many-2"):
        assert http.get("/jobs", params={"jobName": name}).json()["foldnote"] == AGREED
    listed = {"batchName": "listed", "tool": "alphafold", "jobs": [{"settings": rows[0]}], "foldnote": AGREED}
    assert http.post("/submit-batch", json=listed).status_code == 200


def test_a_stage_has_its_own_and_may_take_the_alignment_of_an_earlier_one(http, client):
    cluster = {
        "name": "align.output-1",
        "type": "alphafold",
        "settings": {"sequence": "MKV", "useMSA": False},
    }
    fold = {"name": "fold.echo", "type": "alphafold", "settings": {"sequence": "MKV"}}
    body = {"pipelineName": "p", "stages": [cluster, fold]}
    run = {"pipelineName": "p", "jobName": "run", "inputs": {}}
    assert http.post("/submit-pipeline", json=body).status_code == 200
    refused = http.post("/run-pipeline", json=run).json()
    assert (refused["code"], refused["field"]) == ("not_agreed", "stages.1.settings.useMSA")
    fold["foldnote"] = {"alignment": "align.output-1/file-0.txt", "label": "from the first"}
    assert http.post("/submit-pipeline", json=body).status_code == 200
    assert http.post("/run-pipeline", json=run).status_code == 200
    job, _ = job_file(client, "run-fold.echo")
    assert job["extensions"] == {"label": "from the first"}
    assert job["files"] == {ALIGNMENT_PATH: ["inputs/foldnote.alignment/file-0.txt"]}
    fold["foldnote"] = {"external": ["elsewhere"]}
    assert http.post("/submit-pipeline", json=body).json()["field"] == "stages.1.foldnote.external"


def test_the_client_sends_it_and_finds_the_same_job_again(client):
    settings = {"sequence": "MKTAYIAKQRQI"}
    with pytest.raises(BadRequestError, match="agree to the public server"):
        client.jobs.submit("alphafold", settings)
    job = client.jobs.submit("alphafold", settings, extensions=AGREED)
    again = client.jobs.submit("alphafold", settings, extensions=AGREED)
    own = client.jobs.submit("alphafold", settings, extensions={"alignment": inline(A3M)})
    assert job.job_name == again.job_name != own.job_name
    assert client.jobs.get(own.job_name).record.extensions == {"alignment": A3M}
    assert client.jobs.validate("alphafold", settings, extensions=AGREED).valid
    assert not client.jobs.validate("alphafold", settings).valid


def test_only_what_is_sent_beside_them_changes_an_identity(client):
    job = client.jobs.submit("abodybuilder", catalog.tool("abodybuilder").example_job["settings"])
    normalized = catalog.check(catalog.tool("abodybuilder"), job.settings).normalized
    assert job.job_name.endswith(identify("abodybuilder", normalized)[:8])
    with pytest.warns(NotSentWarning, match="Not sent with abodybuilder: external:msa-server, alignment"):
        same = client.jobs.submit(
            "abodybuilder", job.settings, extensions=AGREED | {"alignment": inline(A3M), "label": None}
        )
    assert same.job_name == job.job_name


def test_another_catalog_gets_none_of_it(client):
    """A tool of another service's catalog that declares none of it is submitted without it."""
    with pytest.warns(NotSentWarning, match="external:msa-server, label"):
        job = client.jobs.submit(
            catalog.tool("alphafold"),
            {"sequence": "MKTAYIAKQ", "useMSA": False},
            extensions=AGREED | {"label": "a"},
        )
    assert client.jobs.get(job.job_name).record.extensions is None


@pytest.mark.parametrize(
    ("extensions", "field"),
    [
        ({"extrnal": []}, "foldnote.extrnal"),
        ({"external": "msa-server"}, "foldnote.external"),
        ({"label": 5}, "foldnote.label"),
    ],
)
def test_the_client_refuses_what_no_service_could_read(client, extensions, field):
    with pytest.raises(SettingsError) as refused:
        client.jobs.submit("alphafold", {"sequence": "MKV"}, extensions=extensions)
    assert [problem.field for problem in refused.value.problems] == [field]


def test_an_alignment_that_is_a_local_file_must_be_confirmed(client, tmp_path):
    path = tmp_path / "own.a3m"
    path.write_text(A3M)
    with pytest.raises(SettingsError, match=r"fn\.upload"):
        client.jobs.submit("alphafold", {"sequence": "MKV"}, extensions={"alignment": str(path)})
    job = client.jobs.submit(
        "alphafold", {"sequence": "MKVL"}, extensions={"alignment": client.files.upload(path)}
    )
    assert client.jobs.get(job.job_name).record.extensions == {"alignment": "own.a3m"}


def test_a_batch_of_the_client_and_its_retry_keep_it(client):
    rows = [{"sequence": "MKTAYIA"}, {"sequence": "MKTAYIQ"}]
    with pytest.raises(BatchSettingsError):
        client.batches.submit("alphafold", rows)
    batch = client.batches.submit("alphafold", rows, names=["ok-1", "bad.fail"], extensions=AGREED)
    again = client.batches.submit("alphafold", rows, names=["ok-1", "bad.fail"], extensions=AGREED)
    assert again.job_name == batch.job_name
    batch.wait(timeout_s=30)
    retried = batch.retry()
    assert client.jobs.get(retried.job_name).record.extensions == AGREED


def test_a_stage_of_the_client_sends_it(client):
    stage = Stage("fold", "alphafold", {"sequence": "MKV"}, AGREED)
    run = client.pipelines.run(client.pipelines.submit("agreed", [stage]))
    (job,) = run.stages()
    assert client.jobs.get(job.job_name).record.extensions == AGREED
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Stage("fold", "alphafold", {"sequence": "MKV"}).to_wire().keys() == {
            "name",
            "type",
            "settings",
        }


def test_deleting_a_job_also_deletes_its_label_and_alignment(http, client):
    submit(http, "gone", {"label": "secret", "alignment": A3M})
    client.jobs.get("gone").wait(timeout_s=30)
    assert "secret" in http.get("/jobs").text
    assert http.request("DELETE", "/delete-job", json={"jobName": "gone"}).status_code == 200
    assert "secret" not in http.get("/jobs").text
