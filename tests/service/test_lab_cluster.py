"""The configuration of docs/lab_cluster.md in use: jobs run in Slurm, data in PostgreSQL, results in a bucket."""

import tomllib
from pathlib import Path

import httpx
import pytest
import tomlkit
from chosen_store import cluster
from free_ports import free_port
from object_server import CREDENTIALS, object_server
from service_process import SETTINGS, ServiceProcess
from slurm_cluster import SlurmCluster, batch_section
from test_auth_matrix import run_admin

PAGE = Path(__file__).parents[2] / "docs" / "lab_cluster.md"
pytestmark = pytest.mark.exhaustive  # starts Slurm


def adapt(text, folder, port, bucket):
    """Return the page's file with paths and addresses of this machine, otherwise unchanged."""
    config = tomllib.loads(text)
    config["store"]["url"] = cluster().make_database()
    config["executors"] |= {"service_url": f"http://127.0.0.1:{port}", "default": "slurm", "engines": {}}
    slurm = config["executors"]["slurm"]
    for name in ("queue", "account", "engines_dir", "gpus"):
        del slurm[name]
    slurm |= {**batch_section(folder)}
    config["objects"] = {"url": f"s3://{bucket}/service", "endpoint": object_server().url}
    return tomlkit.dumps(config)


def test_a_job_of_a_member_runs_in_slurm_and_is_kept_at_postgresql(tmp_path, monkeypatch):
    port, bucket = free_port(), object_server().make_bucket()
    config = tmp_path / "home" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(adapt(PAGE.read_text().split("```toml\n")[1].split("```")[0], tmp_path, port, bucket))
    with SlurmCluster(tmp_path / "cluster") as slurm:
        service = ServiceProcess(tmp_path, "--no-rate-limit", "--port", str(port))
        service.environment = slurm.variables | CREDENTIALS | {"FOLDNOTE_STORE_URL": ""}
        service.start()
        try:
            monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path / "home"))
            run_admin(service, "add-organization", "LAB")
            key = run_admin(service, "issue-key", "ada@lab.org")["key"]
            service.client.headers["x-api-key"] = key
            job = {"jobName": "first", "type": "anarci", "settings": SETTINGS}
            assert service.client.post("/submit-job", json=job).status_code == 200
            done = service.wait("first", patience_s=120)
            place = httpx.get(service.result("first").json()).headers["Location"]
            ready = httpx.get(f"{service.url}/readyz").json()
        finally:
            service.end()
        assert (done["status"], done["email"]) == ("Complete", "ada@lab.org")
        assert ready["executors"]["slurm"]
        assert place.startswith(f"{object_server().url}/{bucket}/service/")
    assert not (tmp_path / "data" / "service.sqlite3").exists()
