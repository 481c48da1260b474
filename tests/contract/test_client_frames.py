"""Jobs as a DataFrame, with both APIs and the real service."""

import re
import subprocess
import sys

import pandas as pd
import pytest

from foldnote.client.tables.frames import tabulate_jobs
from foldnote.errors import NotFoundError

TEXT = str(pd.Series([""], dtype="str").dtype)
"""``str``, or ``object`` before pandas 3."""
COLUMNS = {
    "tool": TEXT,
    "status": TEXT,
    "created": "datetime64[us, UTC]",
    "started": "datetime64[us, UTC]",
    "completed": "datetime64[us, UTC]",
    "duration_s": "float64",
    "progress": "float64",
    "weighted_hours": "float64",
    "cpu_seconds": "float64",
    "peak_memory_mb": "float64",
    "peak_gpu_memory_mb": "float64",
    "retries": "int64",
    "batch": TEXT,
    "error": TEXT,
}


def dtypes(frame) -> dict[str, str]:
    return {name: str(dtype) for name, dtype in frame.dtypes.items()}


async def test_jobs_become_rows_newest_first(api, settle, settings, name):
    for row in range(2):
        await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.{row}"))
    frame = await settle(api.jobs.to_frame(2))
    assert list(frame.index) == [f"{name}.1", f"{name}.0"]
    assert frame.index.name == "job_name"
    assert dtypes(frame) == COLUMNS


async def test_a_failed_job_is_failed_in_every_table_and_says_why(api, settle, settings, name):
    await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.fail"))
    await settle(api.jobs.wait([f"{name}.fail"], 60))
    row = (await settle(api.jobs.to_frame())).loc[f"{name}.fail"]
    listed = (await settle(api.jobs.list(limit=1)))[0]
    assert (row["status"], listed.record.word, listed.record.status) == ("Failed", "Failed", "Stopped")
    assert "asked to fail" in row["error"]
    assert row["completed"] >= row["created"]


async def test_listing_the_jobs_of_a_missing_batch_is_an_error_not_an_empty_table(api, settle):
    for listed in (api.jobs.to_frame, api.jobs.list):
        with pytest.raises(NotFoundError, match=r"There is no batch 'no-such-batch'\."):
            await settle(listed(batch="no-such-batch"))


def test_the_documented_columns_are_those_of_the_frame():
    lines = re.findall(r"- ((?:``\w+``(?:, )?)+) \(([^;,)]+(?:, UTC\])?)", tabulate_jobs.__doc__)
    documented = {name: dtype for names, dtype in lines for name in re.findall(r"\w+", names)}
    assert {name: TEXT if dtype == "str" else dtype for name, dtype in documented.items()} == COLUMNS
    assert dtypes(tabulate_jobs([])) == COLUMNS


def test_the_client_imports_no_pandas():
    code = "import sys, foldnote.client; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
