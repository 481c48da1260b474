"""A Dask cluster whose scheduler and workers are processes, and a service that runs its jobs there."""

import os
import subprocess
import sys
from pathlib import Path

from free_ports import free_port
from service_process import ServiceProcess

QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "False",
}


class Cluster:
    """A scheduler and its workers, each in its own process."""

    def __init__(
        self,
        folder: Path,
        host: str = "127.0.0.1",
        prefix: tuple[str, ...] = (),
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        """Create the cluster; `prefix` is a program that starts the scheduler on a machine with the address `host`.

        With a self-signed certificate and its key, all connections use TLS.
        """
        self.folder = folder
        self._host, self._prefix = host, prefix
        self.port = free_port()
        self.address = f"{'tls' if certificate else 'tcp'}://{host}:{self.port}"
        self.security: dict[str, str] = {}
        if certificate is not None:
            chain, key = map(str, certificate)
            self.security = {"tls-ca-file": chain, "tls-cert": chain, "tls-key": key}
        self.workers: list[subprocess.Popen] = []

    def start(self, workers: int = 1) -> "Cluster":
        self.scheduler = self._spawn(
            self._prefix, "scheduler", "--host", self._host, "--port", str(self.port), "--no-dashboard"
        )
        for _ in range(workers):
            self.add_worker()
        return self

    def add_worker(self, *arguments: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen:
        self.workers.append(
            self._spawn(
                prefix, "worker", self.address, "--nthreads", "2", "--no-nanny", "--no-dashboard",
                "--local-directory", str(self.folder / "dask"), *arguments,
            )
        )  # fmt: skip
        return self.workers[-1]

    def _spawn(self, prefix: tuple[str, ...], what: str, *arguments: str) -> subprocess.Popen:
        secured = [part for name, path in self.security.items() for part in (f"--{name}", path)]
        with (self.folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(
                [*prefix, sys.executable, "-m", "dask", what, *arguments, *secured],
                stdout=log,
                stderr=log,
                env=os.environ | QUIET,
                cwd=self.folder,
            )

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


class ClusterService(ServiceProcess):
    """A service all of whose jobs run on a Dask cluster."""

    def __init__(self, folder: Path, cluster: Cluster, lease_s: float = 4.0, host: str = "127.0.0.1") -> None:
        port = free_port()
        super().__init__(folder, "--no-rate-limit", "--host", host, "--port", str(port))
        config = folder / "home" / "config"
        config.mkdir(parents=True, mode=0o700)
        security = "".join(
            f'{name.replace("-", "_")} = "{path}"\n' for name, path in cluster.security.items()
        )
        (config / "config.toml").write_text(
            f'[executors]\ndefault = "lab"\nservice_url = "http://{host}:{port}"\n'
            f"lease_s = {lease_s}\nheartbeat_s = 0.3\n"
            f'[executors.lab]\nkind = "dask"\naddress = "{cluster.address}"\n'
            f'engine_path = "{self.engines}"\nnode_dir = "{folder / "node"}"\n{security}'
        )
