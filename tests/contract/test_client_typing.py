"""Type checkers know both APIs: plain values in one, awaitables in the other."""

import subprocess
import sys
from pathlib import Path

import pytest

RIGHT = """
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
import pandas as pd
from foldnote.client import AsyncBatchHandle, AsyncClient, AsyncJobHandle, BatchHandle, Client, JobHandle
from foldnote.client import AsyncPipelineRun, Pipeline, PipelineRun, Stage
from foldnote.client.tables.job_list import JobList
from foldnote.client.submission.preview import Preview
from foldnote.models import Account, FilePage, Job, Recommendation, Tool
from foldnote.models.deployed import FinetunedModel
from foldnote.results import Result

def at_once(client: Client) -> None:
    job: JobHandle = client.jobs.submit("anarci", {}, job_name="a")
    record: Job = job.finish(1.0)
    page: JobList[JobHandle] = client.jobs.list(limit=3)
    older: JobHandle = page[0].refresh()
    many: dict[str, JobHandle] = client.jobs.wait(["a"])
    ended: Iterator[JobHandle] = client.jobs.as_completed(["a"])
    batch: BatchHandle = client.batches.submit("anarci", [{}])
    rows: pd.DataFrame = batch.to_frame()
    again: BatchHandle = batch.retry()
    joined: pd.DataFrame = again.results(rows)
    preview: Preview = client.batches.preview("anarci", [{}])
    sent: BatchHandle = client.batches.send(preview)
    listed: JobList[BatchHandle] = client.batches.list(limit=3)
    log: Iterator[str] = client.jobs.follow_log("a")
    frame: pd.DataFrame = client.jobs.to_frame(10)
    path: Path = client.jobs.download("a", pdbs_only=True)
    name: str = client.files.upload(b"", "a.pdb")
    opened: Result = job.wait(1.0).result()
    mine: Account = client.account.get()
    advice: Recommendation = client.router.ask("x")
    saved: Pipeline = client.pipelines.submit("p", [Stage("a", "anarci", {})])
    run: PipelineRun = client.pipelines.run(saved).wait()
    stages: JobList[JobHandle] = run.stages()
    screened: BatchHandle = client.screenings.submit("r", ["l"])
    models: tuple[FinetunedModel, ...] = client.models.list()
    files: FilePage = client.files.list()
    tools: tuple[Tool, ...] = client.tools.list().search(runs_here=True)

async def awaited(client: AsyncClient) -> None:
    job: AsyncJobHandle = await client.jobs.submit("anarci", {}, job_name="a")
    record: Job = await job.finish(1.0)
    page: JobList[AsyncJobHandle] = await client.jobs.list(limit=3)
    stopped: AsyncJobHandle = await page[:2][0].stop()
    many: dict[str, AsyncJobHandle] = await client.jobs.wait(["a"])
    ended: AsyncIterator[AsyncJobHandle] = client.jobs.as_completed(["a"])
    batch: AsyncBatchHandle = await client.batches.submit("anarci", [{}])
    rows: pd.DataFrame = await batch.to_frame()
    again: AsyncBatchHandle = await batch.retry()
    joined: pd.DataFrame = await again.results(rows)
    preview: Preview = await client.batches.preview("anarci", [{}])
    log: AsyncIterator[str] = client.jobs.follow_log("a")
    frame: pd.DataFrame = await client.jobs.to_frame(10)
    path: Path = await client.jobs.download("a", pdbs_only=True)
    name: str = await client.files.upload(b"", "a.pdb")
    waited: AsyncJobHandle = await job.wait(1.0)
    opened: Result = await waited.result()
    mine: Account = await client.account.get()
    run: AsyncPipelineRun = await client.pipelines.run("p")
    frame_of_run: pd.DataFrame = await run.to_frame()
"""
WRONG = {
    "the value of an awaitable": "async def f(c: AsyncClient) -> None:\n    c.jobs.get('a').job_name",
    "awaiting a value": "async def f(c: Client) -> None:\n    await c.jobs.get('a')",
    "a wrong argument": "def f(c: Client) -> None:\n    c.jobs.get(1)",
    "an unknown argument": "def f(c: Client) -> None:\n    c.jobs.list(many=3)",
}


def test_types_of_both_apis(tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    begin = "from foldnote.client import AsyncClient, Client\n"
    for number, code in enumerate(WRONG.values()):
        (tmp_path / f"wrong{number}.py").write_text(begin + code)
    found = check_types(tmp_path)
    assert "right.py" not in found, found
    for number, what in enumerate(WRONG):
        assert f"wrong{number}.py:3: error" in found, f"{what} is not found: {found}"


def check_types(folder: Path) -> str:
    pytest.importorskip("mypy")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(root / "pyproject.toml")]
    files = sorted(map(str, folder.glob("*.py")))
    return subprocess.run([*command, *files], cwd=root, capture_output=True, text=True).stdout
