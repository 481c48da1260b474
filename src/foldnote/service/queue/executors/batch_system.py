"""The commands of a batch system, by PSI/J: one job per attempt, never requeued.

PSI/J writes the script and knows how to submit. The rest of it is not used: its commands have no time limit,
it takes a job for failed when the system has not answered three times, its reader of ``squeue`` gives up on
all jobs at the first reason that it does not know, and it cancels by a number, which another job may have.
"""

from __future__ import annotations

import io
import logging
import math
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from foldnote import settings
from foldnote.errors import EngineError

if TYPE_CHECKING:
    from psij.executors.batch.slurm import SlurmJobExecutor

_COMMAND_S = 30.0
_OVER = frozenset({"BF", "CA", "CD", "DL", "F", "NF", "OOM", "PR", "RV", "TO"})
"""Compact states of Slurm in which a job neither runs nor will."""
_OWN_PREFIXES = ("SBATCH_", "SLURM_", "SQUEUE_", "SCANCEL_")
_KEPT = frozenset({"SLURM_CONF"})


class BatchSystemError(EngineError):
    """A command of the batch system failed, or did not end in time."""


@dataclass(frozen=True)
class BatchRequest:
    """What one job asks for."""

    name: str
    command: Sequence[str]
    cores: int
    memory_mb: int
    """Memory in MB (2**20 bytes)."""
    gpus: int
    walltime_s: float
    queue: str = ""
    account: str = ""
    reservation: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Further options of the submit command, by their long names."""


class Slurm:
    """Slurm, reached by its commands on this machine.

    Args:
        folder: for scripts and outputs of jobs, on a file system that is shared with the nodes.
        variables: of the jobs, in addition to those of this process.
    """

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        # importing PSI/J in the main thread would replace the handler of SIGCHLD, elsewhere it warns of that
        logging.getLogger("psij.executors.local").setLevel(logging.ERROR)
        from psij import JobExecutor
        from psij.executors.batch.slurm import SlurmExecutorConfig

        self._folder = folder
        self._variables = dict(variables)
        made = JobExecutor.get_instance("slurm", config=SlurmExecutorConfig(work_directory=folder))
        self._dialect = cast("SlurmJobExecutor", made)

    def submit(self, request: BatchRequest) -> str:
        """Submit one job; returns its number in the batch system.

        Raises:
            BatchSystemError: it was refused, or the batch system did not answer.
            OSError: the script cannot be written.
        """
        script = self._folder / f"{request.name}.job"
        with open(script, "w", encoding="utf-8", opener=_open_private) as stream:
            stream.write(self.write_script(request))
        from psij import Job

        return self._dialect.job_id_from_submit_output(
            self._run(self._dialect.get_submit_command(Job(), script))
        )

    def write_script(self, request: BatchRequest) -> str:
        """The script of a job; it holds no secret, since batch systems keep and show scripts."""
        from psij import Job, JobAttributes, JobSpec, ResourceSpecV1

        attributes = {**request.attributes, "job-name": request.name}
        resources = ResourceSpecV1(
            node_count=1,
            processes_per_node=1,
            cpu_cores_per_process=request.cores,
            gpu_cores_per_process=request.gpus or None,
            memory=request.memory_mb << 20,
        )
        spec = JobSpec(
            executable=request.command[0],
            inherit_environment=True,
            resources=resources,
            attributes=JobAttributes(
                duration=timedelta(seconds=request.walltime_s),
                queue_name=request.queue or None,
                account=request.account or None,
                reservation_id=request.reservation or None,
            ),
        )
        context: dict[str, object] = {
            "job": Job(spec),
            "custom_attributes": {"slurm": [{"key": k, "value": v} for k, v in attributes.items()]},
            "env": [],
            "formatted_job_duration": max(1, math.ceil(request.walltime_s / 60)),
            # PSI/J's launchers would leave shells around the agent; it replaces the script's instead
            "psij": {"launch_command": ["exec", *request.command], "script_dir": str(self._folder)},
        }
        script = io.StringIO()
        self._dialect.generate_submit_script(context["job"], context, script)  # type: ignore[arg-type]
        return script.getvalue()

    def list_live(self) -> set[tuple[str, str]]:
        """Number and name of this user's jobs that wait or run.

        A controller that lost its state gives the same numbers again, so that only both mean one job.

        Raises:
            BatchSystemError: the batch system did not answer.
        """
        answer = self._run(["squeue", "--me", "--noheader", "--array", "--states=all", "--format=%i %t %j"])
        rows = (line.split(maxsplit=2) for line in answer.splitlines())
        return {(row[0], row[2].strip()) for row in rows if len(row) == 3 and row[1] not in _OVER}

    def cancel(self, name: str) -> None:
        """End the job that has this name; does nothing if there is none.

        Raises:
            BatchSystemError: the batch system did not answer.
        """
        self._run(["scancel", "--quiet", "--me", f"--name={name}"])

    def read_last_words(self, native_id: str) -> str:
        """The last line that a job wrote, at most 300 characters; empty if it wrote nothing."""
        try:
            with self._output(native_id).open("rb") as stream:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - 4096))
                lines = stream.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")

    def remove_files(self, native_id: str, name: str) -> None:
        """Remove what a job left in the folder.

        Raises:
            OSError: it cannot be removed.
        """
        (self._folder / f"{name}.job").unlink(missing_ok=True)
        if native_id:
            for suffix in ("out", "ec", "nodefile"):
                self._output(native_id, suffix).unlink(missing_ok=True)

    def _output(self, native_id: str, suffix: str = "out") -> Path:
        return self._folder / f"{native_id}.{suffix}"

    def _run(self, command: Sequence[str]) -> str:
        try:
            done = subprocess.run(
                command,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_COMMAND_S,
                check=False,
            )
        except subprocess.TimeoutExpired as exc:
            raise BatchSystemError(f"{command[0]} did not answer within {_COMMAND_S:g} s.") from exc
        except OSError as exc:
            raise BatchSystemError(f"{command[0]} cannot be started: {exc.strerror}.") from exc
        if done.returncode != 0:
            words = " ".join((done.stderr or done.stdout).split())[:500]
            raise BatchSystemError(f"{words or f'{command[0]} ended with exit code {done.returncode}'}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        """Variables of the commands, and so of the jobs: no key, and none that changes the commands."""
        kept = {
            name: value
            for name, value in settings.process_environment().items()
            if name in _KEPT or not name.startswith(_OWN_PREFIXES)
        }
        return {**kept, **self._variables, "SBATCH_NO_REQUEUE": "1"}


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
