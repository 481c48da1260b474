"""Move a service's data from SQLite to PostgreSQL, and by a backup from there to either."""

import pytest
from chaos import rows
from chosen_store import cluster
from service_process import SETTINGS, ServiceProcess

from foldnote.service import admin


def manage(service: ServiceProcess, url: str, *arguments: object) -> int:
    """Run `foldnote admin` for a service whose database has this address; empty for SQLite."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDNOTE_STORE_URL", url)
        return admin.main(["--data-dir", str(service.folder / "data"), *map(str, arguments)])


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """Start a service with SQLite; return it with its jobs as listed then."""
    service = ServiceProcess(tmp_path_factory.mktemp("moved"), "--no-rate-limit").start()
    service.client.put("/upload/a.pdb", content=b"x")
    service.run("first.output-1")
    service.run("second.fail")
    body = {"batchName": "many", "type": "anarci", "settings": [SETTINGS] * 2}
    assert service.client.post("/submit-batch", json=body).status_code == 200
    service.wait("many")
    service.submit("going.hold.output-1")
    service.wait("going.hold.output-1", ("Running",))
    before = listing(service)
    service.end()
    service.environment["FOLDNOTE_STORE_URL"] = url = cluster().make_database()
    assert manage(service, url, "move-to-postgresql") == 0
    service.start()
    service.release("going.hold.output-1")
    yield service, before
    service.end()


def listing(service: ServiceProcess) -> list[tuple[str, str]]:
    jobs = service.client.get("/jobs", params={"includeSubjobs": "true"}).json()["jobs"]
    return [(job["jobName"], job["created"]) for job in jobs]


def content_of(service: ServiceProcess, name: str) -> bytes:
    return service.client.get(service.result(name, noAsync=True).json()).content


def test_jobs_files_and_running_attempts_move_to_postgresql(moved):
    service, before = moved
    assert listing(service) == before
    assert content_of(service, "first.output-1").startswith(b"PK")
    assert service.client.get("/files").json()["total"] == 1
    assert service.wait("going.hold.output-1")["status"] == "Complete"
    assert rows(service, "SELECT max(attempt) FROM jobs") == [(1,)]
    service.run("next.output-1")
    assert [name for name, _ in listing(service)] == ["next.output-1", *(name for name, _ in before)]


def test_a_database_with_data_is_not_overwritten(moved, make_service, capsys):
    service, _ = moved
    other = make_service()
    other.end()
    assert manage(other, service.store_url(), "move-to-postgresql") == 2
    assert "already has a service's data" in capsys.readouterr().err
    other.start()


@pytest.mark.parametrize("has_address", [True, False])
def test_nothing_is_restored_over_the_folder_of_replicas(moved, tmp_path, capsys, has_address):
    service, _ = moved
    url = cluster().make_database() if has_address else ""
    assert manage(service, url, "restore", tmp_path, "--replace") == 2
    assert "is used by replicas" in capsys.readouterr().err


@pytest.mark.cluster
@pytest.mark.parametrize("is_back", [True, False], ids=["to SQLite", "to PostgreSQL"])
def test_a_backup_of_replicas_is_restored(moved, make_service, tmp_path, is_back):
    service, _ = moved
    service.wait("going.hold.output-1")
    before, content = listing(service), content_of(service, "first.output-1")
    assert manage(service, service.store_url(), "backup", tmp_path / "backup") == 0
    again = make_service("--no-rate-limit", is_started=False)
    again.environment["FOLDNOTE_STORE_URL"] = url = "" if is_back else cluster().make_database()
    assert manage(again, url, "restore", tmp_path / "backup") == 0
    again.start()
    assert again.key == service.key
    assert listing(again) == before
    assert content_of(again, "first.output-1") == content
    again.run("next2.output-1")
