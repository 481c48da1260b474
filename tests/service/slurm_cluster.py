"""Slurm on this machine, with its own configuration and keys, started and stopped by the tests.

The cluster has one node, this machine, or several: each is a daemon with its own name, and may be a host of its own
network namespace.
"""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from free_ports import free_port
from service_process import ServiceProcess

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


class BatchService(ServiceProcess):
    """A service all of whose jobs are batch jobs; ``host`` is its address."""

    def __init__(
        self,
        folder: Path,
        variables: dict[str, str],
        lease_s: float = 4.0,
        host: str = "127.0.0.1",
        **more,
    ) -> None:
        folder.mkdir()
        port = free_port()
        super().__init__(folder, "--no-rate-limit", "--host", host, "--port", str(port))
        self.environment = variables
        section = batch_section(folder, **more)
        self.shared = Path(section["work_dir"])
        config = folder / "home" / "config"
        config.mkdir(parents=True, mode=0o700)
        (config / "config.toml").write_text(
            f'[executors]\ndefault = "lab"\nservice_url = "http://{host}:{port}"\n'
            f"lease_s = {lease_s}\nheartbeat_s = 0.3\n[executors.lab]\n"
            + "".join(f"{name} = {value!r}\n" for name, value in section.items())
        )

    def files(self, pattern: str) -> list[Path]:
        return list(self.shared.glob(f"service-*/{pattern}"))


@dataclass(frozen=True)
class SlurmNode:
    """A node: its name and address, a program that starts processes on its host, and its number of GPUs."""

    name: str
    address: str = "127.0.0.1"
    prefix: tuple[str, ...] = ()
    gpus: int = 0


class SlurmCluster:
    """A controller and its nodes; by default one node, this machine.

    With ``has_cgroups``, Slurm confines each job to its memory, cores and GPUs, as most clusters do.
    """

    def __init__(
        self,
        folder: Path,
        nodes: Sequence[SlurmNode] = (),
        address: str = "127.0.0.1",
        prefix: tuple[str, ...] = (),
        *,
        has_cgroups: bool = False,
    ) -> None:
        self.folder = folder
        self.processes: dict[str, subprocess.Popen] = {}
        self.variables = {"SLURM_CONF": str(folder / "slurm.conf")}
        self.host = os.uname().nodename.partition(".")[0]
        self.nodes = tuple(nodes) or (SlurmNode(self.host),)
        self._address, self._prefix = address, prefix
        self._has_cgroups = has_cgroups

    def __enter__(self) -> "SlurmCluster":
        missing = [each for each in PROGRAMS if not shutil.which(each, path=PATHS)]
        if missing or os.getuid() != 0:
            pytest.skip("needs root and Slurm: scripts/install-test-programs --cluster")
        # holds the nodes' sockets, whose paths have at most 108 characters
        self.spool = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        for name in ("state", "logs"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(self._configuration())
        (self.folder / "cgroup.conf").write_text(CONFINED if self._has_cgroups else "")
        (self.folder / "gres.conf").write_text("".join(self._list_gpus()))
        paths = (f"--{name}={self.folder / f'munge.{end}'}" for name, end in MUNGE)
        self._start("munged", "munged", "--foreground", "--force", *paths)
        self._wait_for(lambda: (self.folder / "munge.sock").exists(), "munged")
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        return self

    def __exit__(self, *_args) -> None:
        subprocess.run(["scancel", "--me", "--quiet"], env=self._environment(), check=False, timeout=30)
        deadline = time.monotonic() + 10
        while self.jobs() and time.monotonic() < deadline:  # a failed test leaves some
            time.sleep(0.2)
        for name in (*(node.name for node in self.nodes), "slurmctld", "munged"):
            self.kill(name)
        shutil.rmtree(self.spool, ignore_errors=True)
        for node in self.nodes if self._has_cgroups else ():
            for folder in CGROUPS.glob(f"*/slurm_{node.name}"):
                _remove_cgroup(folder)

    @contextmanager
    def administrator(self) -> Iterator[None]:
        """Act as an administrator who resumes a node after Slurm has drained it.

        A killed controller reuses the numbers of jobs that it had not saved yet, and a node that still runs a job with
        such a number is drained for a "Duplicate jobid".
        """
        is_done = threading.Event()

        def look() -> None:
            while not is_done.wait(1):
                for node in self.nodes:
                    if "drain" in self.state_of(node):
                        self.ask("scontrol", "update", f"NodeName={node.name}", "State=RESUME")

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            is_done.set()
            thread.join()

    def start_controller(self) -> None:
        self._start("slurmctld", *self._prefix, "slurmctld", "-D")
        self._wait_for(lambda: self.ask("sinfo", "--noheader").returncode == 0, "slurmctld")

    def start_node(self, node: SlurmNode) -> None:
        (self.spool / node.name).mkdir(exist_ok=True)
        self._start(node.name, *node.prefix, "slurmd", "-D", "-N", node.name)
        self._wait_for(lambda: self._answers(node), node.name)

    def _answers(self, node: SlurmNode) -> bool:
        """Return whether the controller has heard from a node, which may be drained."""
        state = self.state_of(node)
        return state not in ("", "unknown") and not state.startswith("down") and not state.endswith("*")

    def state_of(self, node: SlurmNode) -> str:
        """Return the state of a node in Slurm's words, such as `idle` or `down*`."""
        return self.ask("sinfo", "--noheader", "--nodes", node.name, "--format=%T").stdout.strip()

    def kill(self, name: str) -> None:
        """Kill the controller, munge's daemon, or that of a node by its name; the jobs of a node go on."""
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

    def _start(self, name: str, *command: str) -> None:
        with (self.folder / "logs" / f"{name}.out").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self._environment(), start_new_session=True,
            )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        return os.environ | self.variables | {"PATH": PATHS}

    def _wait_for(self, condition, what: str) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            log = self.folder / "logs" / f"{what}.out"
            assert time.monotonic() < deadline, f"{what} does not start: {log.read_text()[-2000:]}"
            time.sleep(0.1)

    def _configuration(self) -> str:
        host, at = self.host, self.folder
        nodes = "\n".join(
            f"NodeName={node.name} NodeHostname={host} NodeAddr={node.address} Port={free_port()}"
            f" CPUs={os.cpu_count()} RealMemory=4000" + (f" Gres=gpu:{node.gpus}" if node.gpus else "")
            for node in self.nodes
        )
        track, task = ("cgroup", "cgroup") if self._has_cgroups else ("linuxproc", "none")
        return f"""
ClusterName=test
SlurmctldHost={host}({self._address})
SlurmctldPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={at}/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={at}/state
SlurmdSpoolDir={self.spool}/%n
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd-%n.pid
SlurmctldLogFile={at}/logs/slurmctld.log
SlurmdLogFile={at}/logs/slurmd-%n.log
ProctrackType=proctrack/{track}
TaskPlugin=task/{task}
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
# A third of this passes before a controller that was killed asks a node which of its jobs still run.
SlurmdTimeout=30
GresTypes=gpu
{nodes}
PartitionName=main Nodes={",".join(node.name for node in self.nodes)} Default=YES MaxTime=UNLIMITED State=UP
"""

    def _list_gpus(self) -> Iterator[str]:
        """Create a device for each GPU, without one behind it; yield the lines of gres.conf."""
        for node in self.nodes:
            for number in range(node.gpus):
                device = self.folder / f"{node.name}-gpu{number}"
                os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(195, number))  # the major number of NVIDIA
                yield f"NodeName={node.name} Name=gpu File={device}\n"


def has_controllers() -> bool:
    """Return whether this machine has the controllers of cgroups version 1 that Slurm confines jobs with."""
    return all(
        (CGROUPS / name / "cgroup.procs").exists() for name in ("cpuset", "devices", "freezer", "memory")
    )


def _remove_cgroup(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            _remove_cgroup(path)
    with suppress(OSError):
        folder.rmdir()


CGROUPS = Path("/sys/fs/cgroup")
CONFINED = f"""
CgroupPlugin=cgroup/v1
CgroupMountpoint={CGROUPS}
ConstrainCores=yes
ConstrainDevices=yes
ConstrainRAMSpace=yes
"""
MUNGE = (
    ("key-file", "key"), ("socket", "sock"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"),
)  # fmt: skip
