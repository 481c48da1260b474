"""Slurm on this machine, with its own configuration and keys, started and stopped by the tests."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from free_ports import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
PATHS = f"{os.environ['PATH']}:/usr/sbin:/sbin"


def batch_section(folder: Path, **more) -> dict:
    """Return the configuration section of a `batch` executor whose files are in `folder`."""
    return {
        "kind": "batch",
        "work_dir": str(folder / "shared"),
        "cores": 1,
        "memory_gb": 1,
        "memory_margin_mb": 64,
        "max_jobs": 4,
        "poll_s": 0.3,
        "engine_path": str(folder / "engines"),
        "node_dir": str(folder / "node"),
    } | more


class SlurmCluster:
    """A controller and one node, this machine, without cgroups."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: dict[str, subprocess.Popen] = {}
        self.variables = {"SLURM_CONF": str(folder / "slurm.conf")}
        self.host = os.uname().nodename.partition(".")[0]

    def __enter__(self) -> "SlurmCluster":
        missing = [each for each in PROGRAMS if not shutil.which(each, path=PATHS)]
        if missing or os.getuid() != 0:
            pytest.skip("needs root and Slurm: scripts/install-test-programs --cluster")
        # holds the node's sockets, whose paths have at most 108 characters
        self.spool = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        for name in ("state", "logs"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(self._configuration())
        paths = (f"--{name}={self.folder / f'munge.{end}'}" for name, end in MUNGE)
        self._start("munged", "--foreground", "--force", *paths)
        self._wait_for(lambda: (self.folder / "munge.sock").exists(), "munged")
        self.start_controller()
        self.start_node()
        return self

    def __exit__(self, *_args) -> None:
        subprocess.run(["scancel", "--me", "--quiet"], env=self._environment(), check=False, timeout=30)
        for name in ("slurmd", "slurmctld", "munged"):
            self.kill(name)
        shutil.rmtree(self.spool, ignore_errors=True)

    @contextmanager
    def administrator(self) -> Iterator[None]:
        """Act as an administrator who resumes the node after Slurm has drained it.

        A killed controller reuses the numbers of jobs that it had not saved yet, and a node that still runs a job with
        such a number is drained for a "Duplicate jobid".
        """
        is_done = threading.Event()

        def look() -> None:
            while not is_done.wait(1):
                if "drain" in self.ask("sinfo", "--noheader", "--format=%T").stdout:
                    self.ask("scontrol", "update", f"NodeName={self.host}", "State=RESUME")

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            is_done.set()
            thread.join()

    def start_controller(self) -> None:
        self._start("slurmctld", "-D")
        self._wait_for(lambda: self.ask("sinfo", "--noheader").returncode == 0, "slurmctld")

    def start_node(self) -> None:
        self._start("slurmd", "-D")
        self._wait_for(lambda: "idle" in self.ask("sinfo", "--noheader").stdout, "slurmd")

    def kill(self, name: str) -> None:
        process = self.processes.pop(name, None)
        if process is not None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()

    def ask(self, *command: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            command, env=self._environment(), capture_output=True, text=True, check=False, timeout=60
        )

    def jobs(self) -> list[list[str]]:
        """Return number, name and state of every waiting or running job."""
        return [
            line.split() for line in self.ask("squeue", "--noheader", "--format=%i %j %t").stdout.splitlines()
        ]

    def describe(self) -> str:
        """Return its nodes and jobs with their states, and the end of the controller's log, for messages of failing
        tests.
        """
        nodes = self.ask("sinfo", "--Node", "--long").stdout
        log = self.folder / "logs" / "slurmctld.log"
        return f"{nodes}{self.ask('squeue', '--long').stdout}{log.read_text()[-3000:]}"

    def _start(self, name: str, *arguments: str) -> None:
        with (self.folder / "logs" / f"{name}.out").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [shutil.which(name, path=PATHS), *arguments],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self._environment(), start_new_session=True,
            )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        return os.environ | self.variables

    def _wait_for(self, condition, what: str) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            log = self.folder / "logs" / f"{what}.out"
            assert time.monotonic() < deadline, f"{what} does not start: {log.read_text()[-2000:]}"
            time.sleep(0.1)

    def _configuration(self) -> str:
        host, at = self.host, self.folder
        return f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={at}/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={at}/state
SlurmdSpoolDir={self.spool}
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd.pid
SlurmctldLogFile={at}/logs/slurmctld.log
SlurmdLogFile={at}/logs/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
KillWait=5
MinJobAge=10
MessageTimeout=5
# A third of this passes before a controller that was killed asks the node which of its jobs still run.
SlurmdTimeout=30
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=4000
PartitionName=main Nodes={host} Default=YES MaxTime=UNLIMITED State=UP
"""


MUNGE = (
    ("key-file", "key"), ("socket", "sock"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"),
)  # fmt: skip
