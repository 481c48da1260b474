"""A service that cannot start says in one sentence what is wrong and what to do; documented exit code, no traceback,
no secret.
"""

import json
import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from chosen_store import cluster
from forked_python import run_forked
from object_server import CREDENTIALS, object_server, refusal
from test_full_disk import mount

from foldnote.cli.exit_codes import Exit

COMMAND = "import sys; from foldnote.cli import main; sys.exit(main())"
SECRET = "a-secret-that-nobody-may-see"


@pytest.fixture
def start(tmp_path):
    """Run `foldnote serve` until it exits; return its exit code and output."""

    def run(*arguments: str, config: str = "", **variables: str) -> tuple[int, str]:
        home = tmp_path / "home"
        (home / "config").mkdir(parents=True, exist_ok=True, mode=0o700)
        (home / "config" / "config.toml").write_text(config)
        environment = os.environ | {"FOLDNOTE_HOME": str(home)} | variables
        given = arguments if "--data-dir" in arguments else ("--data-dir", str(tmp_path / "data"), *arguments)
        done = run_forked(COMMAND, "serve", *given, environment=environment)
        said = done.stderr
        assert "Traceback" not in said, said
        assert SECRET not in said, said
        lines = [line for line in said.splitlines() if not line.startswith(("{", "usage:"))]
        assert len(lines) == 1, said
        return done.returncode, lines[0]

    return run


def test_a_port_that_is_taken(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = start("--port", str(taken.getsockname()[1]))
    assert (code, "Choose another --port, or 0" in said) == (Exit.BAD_INPUT, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "192.0.2.1"], "Choose a --host that is an address of this machine"),
        (["--host", "no.such.host.invalid"], "Choose a --host that is an address of this machine"),
        (["--port", "70000"], "--port: 70000 is too large: at most 65,535"),
        (["--workers", "-1"], "--workers: '-1' is not a whole number that is not negative"),
        (["--burst", "many"], "--burst: 'many' is not a whole number above 0"),
        (["--trial-days", "1000000"], "--trial-days: 1000000 is too large: at most 365,000"),
        (["--page-rows", "9" * 20], "--page-rows: "),
        (["--public-url", "lab.example.org"], "'lab.example.org' is not an address such as https://"),
        (["--trusted-proxy", "head"], "'head' is not an address of a machine or network"),
        (["--tls-cert", "/absent/chain.pem"], "/absent/chain.pem cannot be used for TLS: no such file"),
    ],
    ids=lambda value: value[0].strip("-") if isinstance(value, list) else "",
)
def test_an_option_that_is_wrong(start, options, words):
    code, said = start(*options)
    assert (code, words in said) == (Exit.BAD_INPUT, True), said


def test_a_data_folder_on_a_file_system_that_can_only_be_read(start, tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mount(folder, 20)
    try:
        (folder / "data").mkdir(mode=0o700)
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        subprocess.run([*sudo, "mount", "-o", "remount,ro", str(folder)], check=True)
        code, said = start("--data-dir", str(folder / "data"))
        assert (code, "mount it for writing, or give another --data-dir" in said) == (Exit.BROKEN, True), said
        code, said = start("--data-dir", str(folder / "new"))
        assert (code, "cannot be created: Read-only file system" in said) == (Exit.BAD_INPUT, True), said
    finally:
        subprocess.run([*sudo, "umount", "-l", str(folder)], check=True)


def test_a_data_folder_with_something_else_in_it(start, tmp_path):
    (tmp_path / "data" / "key").mkdir(parents=True, mode=0o700)
    code, said = start()
    assert (code, "data/key: Is a directory. That is not what a service keeps there" in said) == (6, True), (
        said
    )


def test_the_database_of_a_later_version(make_service, start, tmp_path):
    service = make_service()
    service.end()
    with closing(sqlite3.connect(service.folder / "data" / "service.sqlite3")) as database, database:
        database.execute("INSERT INTO migrations VALUES ('m9999_later', '2030-01-01T00:00:00Z')")
    code, said = start("--data-dir", str(service.folder / "data"))
    assert (code, "was used by a later version of foldnote" in said) == (Exit.BAD_INPUT, True), said


def test_a_postgresql_server_that_does_not_let_the_service_in(start):
    good = cluster().make_database()
    place = good.rpartition("@")[2]
    port = place.partition(":")[2].partition("/")[0]
    for url, words in (
        (f"postgresql://foldnote:{SECRET}@{place}", 'password authentication failed for user "foldnote". Check its'),
        (f"postgresql://foldnote@{place}", "no password supplied. Check its address, user and password"),
        (f"postgresql://foldnote:{SECRET}@{place.replace(port, '1')}", "failed: Connection refused. Check its"),
        (f"postgresql://foldnote:{SECRET}@no.such.host.invalid/x", "failed to resolve host 'no.such.host.invalid'"),
    ):  # fmt: skip
        code, said = start(FOLDNOTE_STORE_URL=url)
        assert (code, words in said) == (Exit.BAD_INPUT, True), said


def test_a_postgresql_user_who_may_not_create_tables(start):
    with cluster().connect("postgres") as connection:
        connection.autocommit = True
        connection.execute(f"CREATE ROLE weak LOGIN PASSWORD '{SECRET}'")
        connection.execute("CREATE DATABASE of_another")
    place = cluster().address("of_another").rpartition("@")[2]
    with cluster().connect("of_another") as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")  # the default since version 15
    code, said = start(FOLDNOTE_STORE_URL=f"postgresql://weak:{SECRET}@{place}")
    assert code == Exit.BAD_INPUT
    assert "permission denied for schema public. Let its user own the database: ALTER DATABASE" in said


def objects(**rows: str) -> str:
    return "[objects]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in rows.items())


def test_an_object_store_that_cannot_be_used(start):
    server = object_server()
    bucket, gate = server.make_bucket(), server.make_gate()
    keys = CREDENTIALS | {"AWS_SECRET_ACCESS_KEY": SECRET}
    code, said = start(config=objects(url="s3://absent-bucket/a", endpoint=server.url), **CREDENTIALS)
    assert (code, "The bucket of s3://absent-bucket/a does not exist. Create it" in said) == (2, True), said
    gate.answer = refusal("403 Forbidden", "SignatureDoesNotMatch")
    code, said = start(config=objects(url=f"s3://{bucket}/a", endpoint=gate.url), **keys)
    assert (code, "refuses the service's credentials (SignatureDoesNotMatch)" in said) == (2, True), said
    half = {name: value for name, value in keys.items() if name != "AWS_SECRET_ACCESS_KEY"}
    code, said = start(config=objects(url=f"s3://{bucket}/a", endpoint=server.url), **half)
    assert (code, "the identifier of a key needs its secret" in said) == (2, True), said


def test_an_executor_whose_shared_folder_cannot_be_used(start, tmp_path):
    """The folder is opened after the database, when the service starts to work."""
    (tmp_path / "file").write_text("no folder")
    config = (
        '[executors]\nservice_url = "http://head:8800"\n[executors.slurm]\nkind = "batch"\n'
        f'work_dir = "{tmp_path}/file/batch"\ncores = 4\nmemory_gb = 8\n'
    )
    code, said = start(config=config)
    assert code == Exit.BROKEN
    assert f"{tmp_path}/file/batch" in said or f"{tmp_path}/file" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a program as another user")
def test_a_data_folder_of_another_user(tmp_path):
    folder = tmp_path / "of-root"
    folder.mkdir()
    for each in (folder, *folder.parents):
        each.chmod(each.stat().st_mode | 0o055)
    code = (
        "import argparse, os, sys\n"
        "from foldnote.service.serve import add_arguments, config_of, main\n"
        "parser = argparse.ArgumentParser()\n"
        "add_arguments(parser)\n"
        "config = config_of(parser.parse_args())\n"
        "os.setgroups([]), os.setgid(65534), os.setuid(65534)\n"
        "sys.exit(main(config, True))"
    )
    command = [sys.executable, "-c", code, "--data-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == Exit.BROKEN, done.stderr
    assert "Permission denied. Run it as the user to whom all files there belong" in done.stderr
    assert "Traceback" not in done.stderr
