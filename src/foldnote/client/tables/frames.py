"""Jobs as DataFrames, for both APIs.

pandas is imported only when a frame is made: a program that only submits does not need it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from foldnote.models import Job

if TYPE_CHECKING:
    import pandas as pd

_TIMES = ("created", "started", "completed")
_NUMBERS = ("duration_s", "progress", "weighted_hours", "cpu_seconds", "peak_memory_mb", "peak_gpu_memory_mb")


def tabulate_batch(jobs: Iterable[Job]) -> pd.DataFrame:
    """Tabulate the jobs of a batch with their settings and scores, in their order.

    Returns:
        One row per job, with the columns of ``tabulate_jobs``, then ``settings.NAME`` and ``score.NAME``
        (missing where a job has none).
    """
    import pandas as pd

    rows = list(jobs)
    parts = [tabulate_jobs(rows)]
    for prefix, values in (
        ("settings", [row.settings for row in rows]),
        ("score", [row.score or {} for row in rows]),
    ):
        names = dict.fromkeys(name for value in values for name in value)
        columns = {f"{prefix}.{name}": [value.get(name) for value in values] for name in names}
        parts.append(pd.DataFrame(columns, index=parts[0].index))
    return pd.concat(parts, axis="columns")


def tabulate_batches(batches: Iterable[Job]) -> pd.DataFrame:
    """Tabulate batch parents, with the columns of ``tabulate_jobs`` and counts of their jobs.

    Returns:
        One row per batch; ``jobs``, ``complete`` and ``stopped`` (Int64; ``stopped`` includes failed jobs, as
        in the interface) are missing where the service does not count them.
    """
    import pandas as pd

    rows = list(batches)
    frame = tabulate_jobs(rows)
    counts: dict[str, list[int | None]] = {
        "jobs": [row.batch_size for row in rows],
        "complete": [row.statuses.complete if row.statuses else None for row in rows],
        "stopped": [row.statuses.stopped if row.statuses else None for row in rows],
    }
    return frame.assign(**{name: pd.array(found, dtype="Int64") for name, found in counts.items()})


def tabulate_jobs(jobs: Iterable[Job]) -> pd.DataFrame:
    """Tabulate jobs, in their order.

    Returns:
        One row per job, with the index ``job_name`` (str) and the columns

        - ``tool`` (str): the tool's type, also for a batch
        - ``status`` (str): ``In Queue``, ``Running``, ``Complete``, ``Stopped``, or ``Failed`` for a failed
          run and ``Not run`` for a stage behind a failed one, which the interface calls ``Stopped``
        - ``created``, ``started``, ``completed`` (datetime64[us, UTC]; NaT until then)
        - ``duration_s`` (float64, seconds): from start to end, or until now; NaN before the start
        - ``progress`` (float64, 0 to 1; NaN if the engine does not report it)
        - ``weighted_hours`` (float64, weighted hours; NaN if not counted)
        - ``cpu_seconds`` (float64, seconds): processor time of all of the run's processes; NaN before the end
          and where it is not measured
        - ``peak_memory_mb`` (float64, MB of 2**20 bytes): most that the run's largest process had in memory;
          NaN as before
        - ``peak_gpu_memory_mb`` (float64, MB of 2**20 bytes): most GPU memory that the run's processes had
          together; NaN as before and without a GPU
        - ``retries`` (int64): how often the job was run again because its tool failed
        - ``batch`` (str): the batch that the job is part of; missing outside batches
        - ``error`` (str): why a run failed, or why a stage did not run; else missing
    """
    import pandas as pd

    rows = list(jobs)
    columns: dict[str, Any] = {
        "tool": pd.Series([row.tool_type for row in rows], dtype="str"),
        "status": pd.Series([row.word for row in rows], dtype="str"),
    }
    for name in _TIMES:
        columns[name] = _read_times([getattr(row, name) for row in rows])
    for name in _NUMBERS:
        columns[name] = pd.Series([getattr(row, name) for row in rows], dtype="float64")
    columns["retries"] = pd.Series([row.retries or 0 for row in rows], dtype="int64")
    for name in ("batch", "error"):
        columns[name] = pd.Series([getattr(row, name) for row in rows], dtype="str")
    return pd.DataFrame(columns).set_index(
        pd.Index([row.job_name for row in rows], dtype="str", name="job_name")
    )


def _read_times(times: Iterable[datetime | None]) -> pd.DatetimeIndex:
    """Convert times to UTC in microseconds at once; pandas would convert each time zone separately."""
    import numpy as np
    import pandas as pd

    stamps = [pd.NaT.value if time is None else round(time.timestamp() * 1e6) for time in times]
    return pd.DatetimeIndex(np.array(stamps, dtype="int64").view("datetime64[us]"), tz="UTC")
