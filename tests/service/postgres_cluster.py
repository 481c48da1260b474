"""A PostgreSQL server for the tests in a temporary folder, with Debian's programs or those on PATH."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

import psycopg

PASSWORD = "correct horse"
_numbers = count()


def find_programs() -> Path:
    """Return the folder with `initdb` and `postgres`, which Debian does not put on PATH."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    assert found or folders, "The tests need PostgreSQL: scripts/install-test-programs installs it."
    return Path(found).parent if found else folders[-1]


class PostgresCluster:
    """One server; its superuser is `foldnote`, with a password."""

    def __init__(self, folder: Path | None = None) -> None:
        # below /tmp, since its user may have no access to the folders of the user who runs the tests
        self.folder = folder or Path(tempfile.mkdtemp(prefix="foldnote-postgres-", dir="/tmp"))
        self.folder.mkdir(exist_ok=True)
        self._programs = find_programs()
        # initdb refuses to run as root
        self._user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
        if self._user:
            shutil.chown(self.folder, "postgres", "postgres")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        (self.folder / "password").write_text(PASSWORD)
        (self.folder / "password").chmod(0o644)
        self._run(
            "initdb", "--pgdata", str(self.folder / "data"), "--username=foldnote", "--encoding=UTF8",
            "--locale=C.UTF-8", "--auth=scram-sha-256", "--no-sync", "--no-instructions",
            f"--pwfile={self.folder / 'password'}",
        )  # fmt: skip
        self._process: subprocess.Popen | None = None
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", **self._user)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.folder,
            "max_connections": 300,
            "shared_buffers": "64MB",
        }
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(self.folder / "data"), *settings],
                stdout=log, stderr=log, cwd="/", **self._user,
            )  # fmt: skip
        until = time.monotonic() + 30
        while True:
            try:
                return self.connect("postgres").close()
            except psycopg.OperationalError:
                assert time.monotonic() < until, (self.folder / "log").read_text()[-3000:]
                time.sleep(0.05)

    def stop(self, number: int = signal.SIGINT) -> None:
        """Stop the server: by default immediately, cutting connections; with SIGQUIT as in a crash."""
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(60)

    def restart(self, number: int = signal.SIGINT) -> None:
        self.stop(number)
        self.start()

    def start_again_if_ended(self) -> None:
        """Start the server if it has exited, or wait until it responds again."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
            self.start()

    def connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(self.address(database), autocommit=True)

    def address(self, database: str, password: str = PASSWORD) -> str:
        return f"postgresql://foldnote:{password.replace(' ', '%20')}@127.0.0.1:{self.port}/{database}"

    def make_database(self) -> str:
        """Create an empty database and return its address."""
        name = f"test{next(_numbers)}_{secrets.token_hex(4)}"
        with self.connect("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)

    def close(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
