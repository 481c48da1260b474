"""The options of an executor of the kind ``batch``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from foldnote import settings
from foldnote.errors import ConfigurationError
from foldnote.service.queue.executors.node_environment import read_environment

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
"""Characters that PSI/J copies to a script unchanged."""
_OWN = re.compile(
    "array|chdir|cpus-per-task|error|export|gpus-per-task|job-name|mem|nodes|ntasks|ntasks-per-node|open-mode"
    "|output|requeue|no-requeue|time|wrap"
)
"""Options of sbatch that foldnote sets."""
_REQUIRED = ("work_dir", "cores", "memory_gb")
_LARGEST = {"cores": 4096, "memory_gb": 65_536, "gpus": 64, "max_jobs": 500, "memory_margin_mb": 65_536}
_YEAR_S = 366 * 86_400


@dataclass(frozen=True)
class BatchOptions:
    """The section of an executor of the kind ``batch``; paths are those of the nodes.

    Attributes:
        service_url: address at which the nodes reach the service.
        work_dir: folder that service and nodes share, for scripts, orders and the output of jobs.
        cores: maximum number of cores that a job may request.
        memory_gb: maximum memory that a job may request, in GB (2**30 bytes).
        gpus: maximum number of GPUs that a job may request.
        scheduler: the batch system.
        queue: partition; empty for the default one.
        account: account that jobs are charged to; empty for the user's default.
        reservation: name of an advance reservation; empty for none.
        attributes: additional options of ``sbatch`` by their long names.
        max_jobs: maximum number of jobs that wait or run in the batch system at once.
        memory_margin_mb: memory that a job requests beyond its engine's need, in MB (2**20 bytes).
        walltime_margin_s: time that a job requests beyond its engine's time limit.
        bundle_s: time during which a job begins further runs, requested in addition. 0 for one run per job.
        max_walltime_s: longest time that a job may request; 0 for no limit.
        poll_s: interval between queries of the batch system.
        python: Python interpreter with foldnote.
        engines_dir: folder of the engines' environments.
        weights_dir: folder of the weights.
        engine_path: additional folders of engines, separated as in PATH.
        node_dir: folder of the attempts' files.
    """

    service_url: str
    work_dir: str
    cores: int
    memory_gb: int
    gpus: int = 0
    scheduler: str = "slurm"
    queue: str = ""
    account: str = ""
    reservation: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    max_jobs: int = 100
    memory_margin_mb: int = 512
    walltime_margin_s: float = 300.0
    bundle_s: float = 300.0
    max_walltime_s: float = 0.0
    poll_s: float = 15.0
    python: str = sys.executable
    engines_dir: str = ""
    weights_dir: str = ""
    engine_path: str = ""
    node_dir: str = ""

    @classmethod
    def read(cls, name: str, options: Mapping[str, Any]) -> Self:
        """Check the options of the section ``[executors.NAME]``.

        Raises:
            ConfigurationError: one is unknown, missing or of the wrong type.
        """
        where = f"The section [executors.{name}] of config.toml"
        kinds = {each.name: str(each.type) for each in fields(cls)}
        known = kinds.keys() - {"service_url"}
        settings.require_known_options(where, options.keys() - {"service_url"}, known)
        for key, value in options.items():
            _require_kind(where, key, value, kinds[key])
        missing = [key for key in _REQUIRED if not options.get(key)]
        if missing:
            raise ConfigurationError(f"{where} needs {', '.join(missing)}.")
        read = cls(**options)
        if read.scheduler != "slurm":
            raise ConfigurationError(
                f"{where} sets scheduler to {read.scheduler!r}; it must be 'slurm'. For another batch system,"
                " start Dask workers with dask-jobqueue and use the kind 'dask'."
            )
        if not Path(read.work_dir).is_absolute():
            raise ConfigurationError(f"{where} sets work_dir to {read.work_dir!r}; it must begin with '/'.")
        if read.node_memory_mb < 1:
            raise ConfigurationError(
                f"{where} sets memory_gb to {read.memory_gb}, which is not more than memory_margin_mb,"
                f" {read.memory_margin_mb}."
            )
        return read

    @property
    def node_memory_mb(self) -> int:
        """Maximum memory of an engine, in MB (2**20 bytes)."""
        return (self.memory_gb << 10) - self.memory_margin_mb

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of the jobs."""
        return read_environment(self)

    def walltime_s(self, time_limit_s: float) -> float:
        """Return the time that a job requests, for an engine limited to ``time_limit_s`` and further runs."""
        wanted = time_limit_s + self.bundle_s + self.walltime_margin_s
        return min(wanted, self.max_walltime_s) if self.max_walltime_s else wanted


def _require_kind(where: str, key: str, value: object, kind: str) -> None:
    """Check one option.

    Raises:
        ConfigurationError: it has the wrong type, or characters that are not allowed in a script.
    """
    if kind == "int":
        low, high = int(key not in ("gpus", "memory_margin_mb")), _LARGEST[key]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ConfigurationError(
                f"{where} sets {key} to {value!r}; it must be an integer from {low} to {high}."
            )
    elif kind == "float":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _YEAR_S:
            raise ConfigurationError(
                f"{where} sets {key} to {value!r}; it must be a number of seconds from 0 to {_YEAR_S}."
            )
        if key == "poll_s" and value < 0.2:
            raise ConfigurationError(f"{where} sets poll_s to {value!r}; it must be at least 0.2.")
    elif key == "attributes":
        _require_attributes(where, value)
    elif not isinstance(value, str):
        raise ConfigurationError(f"{where} sets {key} to {value!r}; it must be text.")
    elif value and key in ("work_dir", "queue", "account", "reservation", "python"):
        _require_plain(where, key, value)


def _require_attributes(where: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{where} sets attributes to {value!r}; it must be a table.")
    for name, each in value.items():
        if _OWN.fullmatch(name) or name.startswith("-"):
            raise ConfigurationError(
                f"{where} sets attributes.{name}, which foldnote sets itself or which is not the long name of"
                " an option of sbatch without dashes."
            )
        _require_plain(where, "attributes", str(name))
        _require_plain(where, f"attributes.{name}", each)


def _require_plain(where: str, key: str, value: object) -> None:
    if not isinstance(value, str) or not _PLAIN.fullmatch(value):
        raise ConfigurationError(
            f"{where} sets {key} to {value!r}; it must be text of letters, digits and _@%+=:,./- without"
            " spaces, since it becomes a part of a job's script."
        )
