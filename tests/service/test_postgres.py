"""PostgreSQL as the store: queries, addresses, and two replicas of the service on one database and folder."""

import io
import re
import signal
import sys
import threading
import time
import traceback
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import psycopg
import pytest
from chaos import rows
from chosen_store import cluster
from service_process import QUICK, ServiceProcess

from foldnote.errors import ConfigurationError
from foldnote.models.status import JobStatus
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.events import read_state_tokens
from foldnote.service.store.jobs.first_pages import MOST_BYTES, MOST_ROWS, FirstPage
from foldnote.service.store.jobs.insertion import NewJob
from foldnote.service.store.jobs.pages import JobFilter
from foldnote.service.store.jobs.queue import JobEnd
from foldnote.service.store.schema import metadata
from foldnote.service.store.store import Store


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Start two replicas for tests that do not disturb each other."""
    folder, url = tmp_path_factory.mktemp("pair"), cluster().make_database()
    made = [ServiceProcess(folder, "--no-rate-limit", "--allow-deploy-model") for _ in range(2)]
    for each in made:
        each.environment = {"FOLDNOTE_STORE_URL": url}
        each.start()
    yield made
    for each in made:
        each.end()


@pytest.fixture
def store():
    opened = Store(StoreAddress.read({"url": cluster().make_database()}))
    yield opened
    opened.close()


def test_the_migrations_make_the_tables_of_the_schema(store):
    query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    with store.database.read() as connection:
        found = {tuple(row) for row in connection.exec_driver_sql(query)}
    expected = {(table.name, column.name) for table in metadata.sorted_tables for column in table.columns}
    assert {row for row in found if row[0] != "migrations"} == expected


def test_a_database_of_a_later_version_is_refused_and_left_as_it_is():
    address = StoreAddress.read({"url": cluster().make_database()})
    with psycopg.connect(address.url.get_secret_value(), autocommit=True) as connection:
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied TEXT NOT NULL)")
        connection.execute("INSERT INTO migrations VALUES ('m9999_later', '2999')")
        with pytest.raises(ConfigurationError, match="was used by a later version of foldnote"):
            Store(address)
        found = connection.execute(
            "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE nspname = 'public' AND relkind = 'r' UNION SELECT proname FROM pg_proc"
            " JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = 'public'"
        )
        assert [name for (name,) in found] == ["migrations"]


def test_a_new_organization_is_distinguished_from_one_that_exists(store):
    assert [store.organizations.add("lab"), store.organizations.add("lab")] == [True, False]


def test_what_an_engine_prints_is_stored_without_the_character_that_cannot_be(store):
    account = store.accounts.ensure_account("a@lab.example")
    store.jobs.add(account, NewJob("one", "anarci", {}, {}))
    claim = store.queue.claim(store.queue.waiting()[0], "nonce")
    assert store.queue.finish(claim, JobEnd(JobStatus.STOPPED, error="a\0b"))
    assert store.jobs.find([account], "one")["error"] == "a\N{REPLACEMENT CHARACTER}b"


def test_jobs_of_an_account_that_another_replica_changes_are_claimed_later(store):
    busy, free = (store.accounts.ensure_account(f"{name}@lab.example") for name in ("busy", "free"))
    for account in (busy, free):
        store.jobs.add(account, NewJob("one", "anarci", {}, {}))

    def claim():
        return store.queue.advance([], lambda find: next(iter(find()), None))

    with store.database.write(busy):
        moved = claim()
    assert [each.account_id for each in moved.claims] == [free]
    assert moved.is_incomplete
    assert [each.account_id for each in claim().claims] == [busy]


def test_pages_that_are_read_together_are_those_that_are_read_alone(store):
    running, batch, many, some, long, none = accounts = [
        store.accounts.ensure_account(f"{number}@lab.example") for number in range(6)
    ]
    store.jobs.add(running, NewJob("running", "anarci", {"sequence": "EVQ", "name": "ä, \u2028 'H'"}, {}))
    store.queue.claim(store.queue.waiting()[0], "nonce")
    store.jobs.add(running, NewJob("waiting", "anarci", {}, {}))
    store.jobs.add_batch(batch, NewJob("batch", "anarci", {}, {}), [NewJob("row", "anarci", {}, {})])
    for account, number in ((many, MOST_ROWS + 1), (some, 3)):
        for each in range(number):
            store.jobs.add(account, NewJob(f"job{each}", "anarci", {}, {}))
    store.jobs.delete(some, "job1")
    store.jobs.add(long, NewJob("long", "anarci", {"sequence": "A" * MOST_BYTES}, {}))
    asked = [
        FirstPage(account, limit, has_subjobs)
        for account in accounts
        for limit in (1, 2, MOST_ROWS, 1000)
        for has_subjobs in (True, False)
    ]
    found = store.first_pages.read(asked)
    assert found == {
        each: store.pages.read(
            JobFilter((each.account_id,), has_subjobs=each.has_subjobs), before=None, limit=each.limit
        )
        for each in asked
        if each.account_id != long and each[:2] != (many, 1000)
    }
    assert found[FirstPage(none, 1000, False)].text == b""
    assert set(found[FirstPage(running, 1000, False)].live) == {1}


def test_pages_keys_and_states_of_many_accounts_take_one_statement_each(store):
    accounts = [store.accounts.ensure_account(f"{number}@lab.example") for number in range(50)]
    for account in accounts:
        store.accounts.add_key(account, f"key {account}")
        store.jobs.add(account, NewJob("one", "anarci", {}, {}))
    with store.database.write() as connection:
        (name,) = connection.exec_driver_sql("SELECT current_database()").one()
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET log_statement = 'all'")
    with closing(Store(StoreAddress.read({"url": cluster().address(name)}))) as logged:
        begun = len(logged_statements())
        assert len(logged.first_pages.read([FirstPage(account, 1000, False) for account in accounts])) == 50
        assert len(logged.accounts.find_callers([f"key {account}" for account in accounts])) == 50
        assert len(read_state_tokens(logged.database, accounts)) == 50
        assert [each.split()[0] for each in logged_statements()[begun:]] == ["SELECT"] * 3


def logged_statements():
    """Return the statements of connections to databases with statement logging, except those of listeners."""
    log = (cluster().folder / "log").read_text()
    found = re.findall(r" LOG:  (?:statement|execute [^:]*):\s+(.*)", log)
    return [each for each in found if not each.startswith("LISTEN")]


def test_a_replica_name_that_another_machine_has_is_free_again_after_its_lease(store):
    assert store.replicas.renew("lab-1", "one boot", 60)
    assert store.replicas.renew("lab-1", "one boot", 60)
    assert not store.replicas.renew("lab-1", "another", 60)
    assert store.replicas.renew("lab-1", "one boot", -5)
    assert not store.replicas.renew("lab-1", "another", 60, margin_s=15)
    assert store.replicas.renew("lab-1", "another", 60)


def test_a_hundred_identical_submissions_at_two_replicas_make_one_job(pair):
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda number: pair[number % 2].submit("same"), range(100)))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 400: 99}
    assert {answer.json().get("code") for answer in answers} == {None, "job_name_taken"}
    assert pair[0].wait("same")["status"] == "Complete"
    assert rows(pair[0], "SELECT count(*) FROM jobs WHERE name = 'same'") == [(1,)]


def test_a_link_of_one_replica_is_valid_at_the_other(pair):
    pair[0].run("linked.output-1")
    link = httpx.URL(pair[0].result("linked.output-1", noAsync=True).json())
    assert httpx.get(link.copy_with(port=httpx.URL(pair[1].url).port)).status_code == 200


def test_a_run_does_not_see_the_address_of_the_database(pair):
    pair[0].run("curious.env")
    link = pair[0].result("curious.env", noAsync=True).json()
    with zipfile.ZipFile(io.BytesIO(pair[0].client.get(link).content)) as archive:
        seen = archive.read("environment.json").decode()
    assert "PATH" in seen
    assert "FOLDNOTE_STORE_URL" not in seen


@pytest.mark.cluster
def test_a_page_has_each_change_that_the_other_replica_acknowledged(pair):
    """Many clients poll the other replica meanwhile, which reads their pages together."""
    changed, other = pair
    names = [f"change{number}.sleep-60" for number in range(8)]
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            assert other.client.get("/jobs", params={"limit": 60}).status_code == 200

    def statuses() -> dict[str, str]:
        page = other.client.get("/jobs", params={"limit": 60}).json()
        return {each["jobName"]: each["status"] for each in page["jobs"]}

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        try:
            for name in names:
                assert changed.submit(name).status_code == 200
                assert name in statuses()
                deleted = changed.client.request("DELETE", "/delete-job", json={"jobName": name})
                assert deleted.status_code == 200
                assert name not in statuses()
        finally:
            is_over.set()
    assert [each.result() for each in asking] == [None] * 3


def test_a_job_is_stopped_at_the_replica_that_does_not_run_it(pair):
    runner, other = pair
    assert runner.submit("stopped.sleep-60").status_code == 200
    runner.wait("stopped.sleep-60", ("Running",))
    for each in pair:  # whichever runs it, the other is polled, too
        each.client.post("/stop-job", json={"jobName": "stopped.sleep-60"})
    assert other.wait("stopped.sleep-60", patience_s=12)["status"] == "Stopped"


def test_progress_is_the_same_at_both_replicas(pair):
    pair[0].submit("seen.hold")
    pair[0].wait("seen.hold", ("Running",))
    for each in pair:
        until = time.monotonic() + 60
        while each.job("seen.hold").get("progress") != 0.5:
            assert time.monotonic() < until
    pair[0].release("seen.hold")


def test_a_tool_registered_at_one_replica_runs_at_once_at_the_other(pair):
    tool = {
        "type": "stamp",
        "schema": {"type": "object", "properties": {}},
        "command": [sys.executable, "-c", "open('outputs/stamp', 'w').close()"],
    }
    assert pair[0].client.post("/deploy-model", json=tool).status_code == 200
    assert pair[1].submit("stamped", type="stamp", settings={}).status_code == 200
    assert pair[1].wait("stamped")["status"] == "Complete"


def test_a_signal_drains_one_replica_and_the_other_takes_jobs(pair):
    pair[0].process.send_signal(signal.SIGUSR1)
    until = time.monotonic() + 10
    while pair[0].client.get("/readyz").status_code == 200:
        assert time.monotonic() < until
    assert pair[0].submit("refused").status_code == 503
    pair[1].run("taken.output-1")
    pair[0].process.send_signal(signal.SIGUSR2)
    while pair[0].client.get("/readyz").status_code == 503:
        assert time.monotonic() < until


@pytest.mark.cluster
def test_the_replicas_continue_after_the_server_was_restarted(pair):
    cluster().restart()
    for number, each in enumerate(pair):
        until = time.monotonic() + 10
        while (answer := each.submit(f"after{number}")).status_code == 503:
            assert answer.headers["retry-after"]
            assert time.monotonic() < until
            time.sleep(0.1)
        assert each.wait(f"after{number}")["status"] == "Complete"


def test_who_waits_for_a_change_hears_of_one_at_the_other_replica(pair):
    mark = pair[0].client.get("/jobs", params={"since": "x", "waitSeconds": 1}).json()["mark"]
    with ThreadPoolExecutor(1) as pool:
        waited = pool.submit(
            pair[0].client.get, "/jobs", params={"since": mark, "waitSeconds": 20}, timeout=40
        )
        time.sleep(0.5)
        pair[1].submit("news")
        assert waited.result().json()["mark"] != mark


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://a:secret-word@h/d", "not that of a PostgreSQL database"),
        ("postgresql://a:secret-word@127.0.0.1:1/d", "Connection refused"),
        ("postgresql://a:secret-word@h", "not that of a PostgreSQL database"),
    ],
)
def test_an_address_that_is_wrong_is_explained_without_its_password(url, told):
    with pytest.raises(ConfigurationError, match=told) as caught:
        Store(StoreAddress.read({}, url))
    assert "secret-word" not in "".join(traceback.format_exception(caught.value))


def test_a_wrong_password_is_explained_and_told_nowhere(make_replicas, tmp_path):
    replica = make_replicas(1, is_started=False)[0]
    replica.environment["FOLDNOTE_STORE_URL"] = cluster().address("postgres", "secret-word")
    with pytest.raises(AssertionError, match="password authentication failed"):
        replica.start()
    log = (tmp_path / "service.log").read_text()
    assert "Traceback" not in log
    assert "secret-word" not in log


def test_a_folder_of_replicas_is_not_opened_without_their_database(make_replicas):
    replica = make_replicas(1)[0]
    replica.end()
    replica.environment = {}
    with pytest.raises(AssertionError, match="belongs to a service whose database is in PostgreSQL"):
        replica.start()


@pytest.mark.cluster
def test_replicas_with_different_data_folders_are_refused(make_replicas, tmp_path):
    first, second = make_replicas(2, is_started=False)
    first.start()
    second.folder = tmp_path / "other"
    second.folder.mkdir()
    with pytest.raises(AssertionError, match="share another data folder"):
        second.start()


def test_the_password_may_come_from_a_file(make_replicas, tmp_path):
    replica = make_replicas(1, is_started=False)[0]
    url = replica.environment["FOLDNOTE_STORE_URL"]
    password = tmp_path / "pgpass"
    password.write_text("127.0.0.1:*:*:foldnote:correct horse\n")
    password.chmod(0o600)
    replica.environment = {
        "FOLDNOTE_STORE_URL": url.replace(":correct%20horse", ""),
        "PGPASSFILE": str(password),
    }
    replica.start()
    assert replica.client.get("/jobs").status_code == 200


def test_what_a_killed_replica_ran_is_followed_by_the_other(make_replicas):
    first, second = make_replicas(2, is_started=False)
    second.code = QUICK.replace("grace_s=2.0", "grace_s=2.0, sweep_s=1.0")
    first.start()
    names = [f"kept{number}.hold.output-1" for number in range(2)]
    for name in [*names, "queued.output-1"]:
        assert first.submit(name).status_code == 200
    first.wait(names[0], ("Running",))
    second.start()
    first.kill()
    for name in names:
        second.release(name)
    assert {second.wait(name)["status"] for name in [*names, "queued.output-1"]} == {"Complete"}
    assert rows(second, "SELECT max(attempt) FROM jobs") == [(1,)]
