"""The commands of a batch system, via PSI/J: one job per attempt, never requeued.

Of PSI/J, only the script and the submission are used. Its commands have no time limit, it reports a job as
failed when the system has not answered three times, its parser of ``squeue`` gives up on all jobs at the
first unknown reason, and it cancels by number, which may belong to another job.
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
"""Compact states of Slurm of jobs that neither run nor will run."""
_OWN_PREFIXES = ("SBATCH_", "SLURM_", "SQUEUE_", "SCANCEL_")
_KEPT = frozenset({"SLURM_CONF"})


class BatchSystemError(EngineError):
    """A command of the batch system failed, or did not end in time."""


@dataclass(frozen=True)
class BatchRequest:
    """The resources that one job requests."""

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
    """Additional options of the submit command, by their long names."""


class Slurm:
    """Slurm, controlled by its commands on this machine.

    Args:
        folder: folder for scripts and outputs of jobs, on a file system shared with the nodes.
        variables: environment variables of the jobs, in addition to those of this process.
    """

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        # importing PSI/J in the main thread would replace the SIGCHLD handler; in other threads it logs a
        # warning
        logging.getLogger("psij.executors.local").setLevel(logging.ERROR)
        from psij import JobExecutor
        from psij.executors.batch.slurm import SlurmExecutorConfig

        self._folder = folder
        self._variables = dict(variables)
        made = JobExecutor.get_instance("slurm", config=SlurmExecutorConfig(work_directory=folder))
        self._dialect = cast("SlurmJobExecutor", made)

    def submit(self, request: BatchRequest) -> str:
        """Submit one job; return its number in the batch system.

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
        """Write the script of a job; it holds no secret, since batch systems store and show scripts."""
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
            # PSI/J's launchers would leave shells around the agent; exec replaces the script's shell instead
            "psij": {"launch_command": ["exec", *request.command], "script_dir": str(self._folder)},
        }
        script = io.StringIO()
        self._dialect.generate_submit_script(context["job"], context, script)  # type: ignore[arg-type]
        return script.getvalue()

    def list_live(self) -> set[tuple[str, str]]:
        """Return number and name of this user's jobs that wait or run.

        A controller that lost its state reuses numbers, so only number and name together identify a job.

        Raises:
            BatchSystemError: the batch system did not answer.
        """
        answer = self._run(["squeue", "--me", "--noheader", "--array", "--states=all", "--format=%i %t %j"])
        rows = (line.split(maxsplit=2) for line in answer.splitlines())
        return {(row[0], row[2].strip()) for row in rows if len(row) == 3 and row[1] not in _OVER}

    def cancel(self, name: str) -> None:
        """Cancel the job with this name; do nothing if there is none.

        Raises:
            BatchSystemError: the batch system did not answer.
        """
        self._run(["scancel", "--quiet", "--me", f"--name={name}"])

    def read_last_line(self, native_id: str) -> str:
        """Return the last line that a job wrote, at most 300 characters; empty if it wrote nothing."""
        try:
            with self._output(native_id).open("rb") as stream:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - 4096))
                lines = stream.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")

    def remove_files(self, native_id: str, name: str) -> None:
        """Remove a job's files from the folder.

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
        """Return the variables of commands and jobs, without keys and settings of the commands."""
        kept = {
            name: value
            for name, value in settings.process_environment().items()
            if name in _KEPT or not name.startswith(_OWN_PREFIXES)
        }
        return {**kept, **self._variables, "SBATCH_NO_REQUEUE": "1"}


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
