"""Names and identities that foldnote 0.1 gave to submissions: if they changed, old notebooks would submit their jobs again.

The names in ``recorded_submissions.json`` never change; a new kind of submission is a new entry.
"""

import json
import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from job_settings import PDB, SETTINGS, TOOLS
from probe_engine import write_probe_engine

from foldnote.client import Client, Stage, inline
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

RECORDED = json.loads((Path(__file__).parent / "recorded_submissions.json").read_text())
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
MODEL = "unit/results/data/trastuzumab_fv_ca.pdb"
SEQUENCE = SETTINGS["sequence"]
ROWS = [{"sequence": SEQUENCE}, {"sequence": SEQUENCE, "scheme": "kabat"}]
FOLD = Stage("fold", "abodybuilder", {"heavy": SEQUENCE, "light": LIGHT})


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Return a client of a service in process, which runs what is submitted here."""
    folder = tmp_path_factory.mktemp("service")
    engines = write_probe_engine(folder / "engines", tools=TOOLS, memory_mb=16)
    (folder / MODEL).parent.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / MODEL, folder / MODEL)  # the probe's model.pdb
    config = ServiceConfig(data_dir=folder / "data", rate_limit=False, engine_paths=(engines,))
    with TestClient(create_app(config)) as http:
        key = http.app.state.service.local_key
        yield Client(base_url="http://testserver", api_key=key, http_client=http)


@pytest.fixture
def stored(client, tmp_path):
    """Upload a file of fixed name and content."""
    path = tmp_path / "target.pdb"
    path.write_text(PDB)
    return client.files.upload(path)


def submit_single(client, stored):
    return client.jobs.submit("anarci", {"sequence": SEQUENCE})


def submit_single_with_a_setting(client, stored):
    return client.jobs.submit("anarci", {"sequence": SEQUENCE, "scheme": "imgt"})


def submit_single_of_a_wished_name(client, stored):
    return client.jobs.submit("anarci", {"sequence": SEQUENCE}, job_name="wished")


def submit_inline_file(client, stored):
    return client.jobs.submit("align-pdbs", {"pdbFiles": [inline(PDB), inline(PDB + "END\n")]})


def submit_uploaded_file(client, stored):
    return client.jobs.submit("align-pdbs", {"pdbFiles": [stored, stored]})


def submit_output_of_a_job(client, stored):
    first = client.jobs.submit("abodybuilder", FOLD.settings, job_name="first.structure")
    first.finish(60)
    return client.jobs.submit("align-pdbs", {"pdbFiles": [first.file("model.pdb"), stored]})


def submit_batch(client, stored):
    return client.batches.submit("anarci", ROWS)


def submit_batch_with_names(client, stored):
    return client.batches.submit("anarci", ROWS, batch_name="both", names=["one", "two"])


def submit_batch_of_uploads(client, stored):
    return client.batches.submit("align-pdbs", [{"pdbFiles": [stored, inline(PDB)]}])


def submit_pipeline_run(client, stored):
    align = Stage("align", "align-pdbs", {"pdbFiles": [FOLD.file("*.pdb"), stored]})
    return client.pipelines.run(client.pipelines.submit("pair", [FOLD, align]))


def submit_pipeline_run_with_inputs(client, stored):
    saved = client.pipelines.submit("alone", [FOLD])
    return client.pipelines.run(saved, {"fold": {"heavy": SEQUENCE[:-1]}})


def submit_pipeline_run_by_name(client, stored):
    client.pipelines.submit("named", [FOLD])
    return client.pipelines.run("named")


def submit_screening(client, stored):
    return client.screenings.submit(stored, [inline("CCO"), inline("CCN")], tool="vina")


SUBMISSIONS = {
    name.removeprefix("submit_"): made for name, made in dict(globals()).items() if name.startswith("submit_")
}


@pytest.mark.parametrize("kind", SUBMISSIONS)
def test_a_submission_has_the_name_and_identity_of_0_1(client, stored, kind):
    job = SUBMISSIONS[kind](client, stored)
    found = [job.job_name, *sorted(client.ledger.identities(job.job_name))]
    assert found == RECORDED[kind]
