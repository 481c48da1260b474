"""Values of a file field, with both APIs and the real service."""

import copy
from datetime import UTC, datetime

import pytest
from job_settings import PDB, SETTINGS

from foldnote.client import Client, Stage, inline, uploaded
from foldnote.client.inputs.file_values import ServiceUpload, find_elsewhere
from foldnote.errors import BadRequestError, FoldnoteError, SettingsError
from foldnote.io import hash_bytes
from foldnote.models import JobStatus, RuntimeInfo
from foldnote.models.runtime_file import write_runtime
from foldnote.settings import EMBEDDED, runtime_dir


@pytest.fixture
def here(tmp_path, monkeypatch, name):
    """Create a file in the working folder, whose name is its path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{name}.pdb").write_text(PDB)
    return f"{name}.pdb"


async def test_an_upload_is_used_as_it_is(api, settle, here):
    stored = await settle(api.files.upload(here))
    job = await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [stored, stored]}))
    assert job.settings == {"pdbFiles": [here, here]}
    assert (await settle(job.finish(60))).status is JobStatus.COMPLETE


async def test_a_text_that_is_also_a_local_file_must_be_confirmed(api, settle, here):
    await settle(api.files.upload(here))
    with pytest.raises(SettingsError) as caught:
        await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [here, here]}))
    assert f"fn.upload('{here}')" in caught.value.message
    assert f"fn.uploaded('{here}')" in caught.value.message
    assert caught.value.problems[0].field == "pdbFiles"


async def test_an_upload_is_named_in_spite_of_a_file_here(api, settle, here):
    stored = await settle(api.files.upload(here))
    first = await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [stored, stored]}))
    second = await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [uploaded(here), uploaded(here)]}))
    assert first.job_name == second.job_name


@pytest.mark.parametrize("is_batch", [False, True])
def test_an_upload_at_another_service_is_named_with_what_to_do(client, http, key, here, is_batch):
    elsewhere = Client(base_url="http://other.example", api_key=key, http_client=http).files.upload(here)
    stored = client.files.upload(here)
    settings = {"pdbFiles": [stored, copy.deepcopy(elsewhere)]}
    with pytest.raises(SettingsError) as caught:
        client.batches.submit("align-pdbs", [settings]) if is_batch else client.jobs.submit(
            "align-pdbs", settings
        )
    assert f"{here!r} was uploaded to another service (http://other.example)" in str(caught.value)
    assert "the one that runs the job (http://testserver), with the same profile: fn.upload(" in str(
        caught.value
    )
    assert "pdbFiles" in str(caught.value)


@pytest.fixture
def elsewhere(http, key, here):
    """Return an upload at a service with another address."""
    return Client(base_url="http://other.example", api_key=key, http_client=http).files.upload(here)


def _run_with_inputs(client, saved, stored):
    client.pipelines.submit(saved, [Stage("align", "align-pdbs", {"pdbFiles": [inline(PDB), inline(PDB)]})])
    client.pipelines.run(saved, {"align": {"pdbFiles": [stored, inline(PDB)]}})


@pytest.mark.parametrize(
    ("field", "submit"),
    [
        (
            "stages[0].settings.pdbFiles",
            lambda client, name, stored: client.pipelines.submit(
                name, [Stage("align", "align-pdbs", {"pdbFiles": [stored, inline(PDB)]})]
            ),
        ),
        ("inputs.align.pdbFiles", _run_with_inputs),
        ("receptor", lambda client, _, stored: client.screenings.submit(stored, ["CCO"])),
        ("ligands[1]", lambda client, _, stored: client.screenings.submit(inline(PDB), ["CCO", stored])),
        (
            "foldnote.alignment",
            lambda client, _, stored: client.jobs.submit(
                "abodybuilder", SETTINGS, extensions={"alignment": stored}
            ),
        ),
    ],
    ids=["pipeline", "run", "receptor", "ligand", "alignment"],
)
def test_no_upload_at_another_service_is_sent_with_anything(client, name, elsewhere, field, submit):
    with pytest.raises(SettingsError) as caught:
        submit(client, name, elsewhere)
    assert [each.field for each in caught.value.problems if each.code == "other_service"] == [field]
    assert "was uploaded to another service (http://other.example)" in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_embedded_service_is_one_service_by_name_and_address(host, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path))
    url, started = "http://127.0.0.1:41234", datetime.now(UTC)
    write_runtime(runtime_dir(), RuntimeInfo(url=url, key="k", pid=1, version="0", started=started))
    address = f"http://{host}:41234"
    for holder, asked in ((EMBEDDED, address), (address, EMBEDDED)):
        assert find_elsewhere({"pdbFile": ServiceUpload("a.pdb", holder)}, asked) == []
    other = ServiceUpload("a.pdb", "http://127.0.0.1:41235")
    assert [each.code for each in find_elsewhere({"pdbFile": other}, EMBEDDED)] == ["other_service"]


async def test_contents_are_given_inline(api, settle):
    job = await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [inline(PDB), inline(PDB + "END\n")]}))
    assert (await settle(job.finish(60))).status is JobStatus.COMPLETE


async def test_a_file_of_a_job_is_used(api, settle, name):
    job = await settle(
        api.jobs.submit("align-pdbs", {"pdbFiles": [inline(PDB), inline(PDB)]}, job_name=f"{name}.output-1")
    )
    await settle(job.finish(60))
    value = job.file("file-0.txt")
    assert value == f"{name}.output-1/file-0.txt"


async def read_ligand_hash(settle, job):
    """Return the SHA-256 of the molecule file that the engine received."""
    assert (await settle(job.finish(60))).status is JobStatus.COMPLETE
    result = await settle(job.result())
    inputs = result.manifest.data["inputs"]
    return next(row["sha256"] for row in inputs if row["field"] == "ligandFile")


@pytest.mark.parametrize("smiles", ["CC(=O)Oc1ccccc1C(=O)O", "C/C=C/C", "OCC.N", "CC(=O)O acetic acid"])
async def test_a_smiles_is_taken_as_a_molecule(api, settle, smiles):
    job = await settle(api.jobs.submit("vina", {"receptorFile": inline(PDB), "ligandFile": smiles}))
    assert await read_ligand_hash(settle, job) == hash_bytes(f"{smiles}\n".encode())
    assert job.settings["ligandFile"] == smiles


async def test_an_upload_precedes_a_smiles(api, settle):
    glycol = b"OCCO ethylene glycol\n"
    stored = await settle(api.files.upload(glycol, "CCO"))
    job = await settle(api.jobs.submit("vina", {"receptorFile": inline(PDB), "ligandFile": str(stored)}))
    assert await read_ligand_hash(settle, job) == hash_bytes(glycol)


async def test_a_text_that_is_neither_file_nor_smiles_is_reported_with_all_that_was_tried(api, settle):
    with pytest.raises(BadRequestError) as caught:
        await settle(api.jobs.submit("vina", {"receptorFile": inline(PDB), "ligandFile": "CC(=O"}))
    assert "neither an upload, nor a file of one of your jobs, nor a SMILES" in caught.value.message
    assert "unmatched parenthesis at position 3" in caught.value.message
    assert "Upload the file with fn.upload()" in caught.value.message


async def test_advice_about_a_missing_file_names_calls_and_no_routes(api, settle):
    with pytest.raises(BadRequestError) as caught:
        await settle(api.jobs.submit("vina", {"receptorFile": "absent.pdb", "ligandFile": "CCO"}))
    assert "fn.upload()" in caught.value.message
    assert "fn.inline()" in caught.value.message
    assert "PUT" not in caught.value.message


async def test_advice_of_a_verdict_names_calls_and_no_routes(api, settle):
    settings = {"receptorFile": "absent.pdb", "ligandFile": "CCO"}
    one = await settle(api.jobs.validate("vina", settings))
    batch = await settle(api.jobs.validate("vina", [settings]))
    for verdict in (one, batch.results[0]):
        assert "fn.upload()" in verdict.error
        assert "PUT" not in verdict.error


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../other/x.pdb", "a\nb"])
async def test_a_path_outside_a_result_is_refused(api, settle, settings, path):
    job = await settle(api.jobs.submit("anarci", settings))
    with pytest.raises(FoldnoteError, match="not a path inside"):
        job.file(path)


def test_what_each_kind_refuses():
    with pytest.raises(FoldnoteError, match="inline"):
        uploaded("ATOM\nATOM\n")
    with pytest.raises(FoldnoteError, match="empty"):
        inline("  \n")
    assert inline("MKV") == "MKV\n"


async def test_text_fields_are_not_files(api, settle, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = {"sequence": "EVQLVESGGGLVQPGGSLRLSCAAS", "scheme": "imgt"}
    (tmp_path / settings["sequence"]).write_text("x")
    assert await settle(api.jobs.submit("anarci", settings))
