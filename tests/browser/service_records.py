"""Responses of the server extension for states that are hard to reach with a real service."""

from datetime import UTC, datetime, timedelta
from typing import Any

from foldnote.lab.known_jobs import KnownJobs
from foldnote.lab.local_notes import Notes
from foldnote.lab.responses import ServiceReport, ServiceState, write_jobs, write_tools
from foldnote.models.job import Job, JobPage, StatusCounts
from foldnote.models.status import BatchStatus, JobStatus
from foldnote.models.tool import Tool, ToolEngine


def make_job(name: str, status: JobStatus = JobStatus.COMPLETE, *, age_s: float = 60, **fields: Any) -> Job:
    """Make a job submitted ``age_s`` seconds ago, which started at once unless it waits."""
    created = datetime.now(UTC) - timedelta(seconds=age_s)
    started = None if status is JobStatus.IN_QUEUE else created + timedelta(seconds=2)
    completed = created + timedelta(seconds=age_s / 2) if status.is_final else None
    times = {"created": created, "started": started, "completed": completed}
    return Job(job_name=name, status=status, **({"type": "abodybuilder"} | times | fields))


def jobs_body(
    *jobs: Job,
    state: ServiceState = ServiceState.OK,
    notes: Notes | None = None,
    older_key: str | None = None,
    **report: Any,
) -> bytes:
    """Return the body of ``GET jobs``; ``older_key`` means that there are older jobs."""
    counts = {status: sum(job.status is status for job in jobs) for status in JobStatus}
    known = KnownJobs(notes)
    known.replace_all(JobPage(jobs=jobs, statuses=StatusCounts.model_validate(counts), start_key=older_key))
    return write_jobs(known, "", make_report(state, **report), "tag").body


def tools_body(*tools: Tool) -> bytes:
    """Return the body of ``GET tools``."""
    return write_tools(tools, make_report()).body


def make_report(state: ServiceState = ServiceState.OK, **fields: Any) -> ServiceReport:
    """A report on the embedded service."""
    start = {"profile": "embedded", "is_embedded": True, "url": "http://127.0.0.1:40000"}
    return ServiceReport(state=state, **(start | {"last_good": datetime.now(UTC)} | fields))


LONG_NAME = (
    "adalimumab-fv-a-second-attempt-with-a-name-of-one-hundred-letters-that-nobody-can-read-to-its-end-ok"
)
JOBS = (
    make_job("pertuzumab-fv", JobStatus.IN_QUEUE, age_s=12),
    make_job("trastuzumab-fv", JobStatus.RUNNING, age_s=75, progress=0.42, message="Refining with OpenMM"),
    make_job("panel-numbering", JobStatus.RUNNING, age_s=35, type="anarci"),
    make_job(
        "screen-of-the-panel",
        JobStatus.RUNNING,
        age_s=600,
        type="batch",
        tool="anarci",
        batch_status=BatchStatus.RUNNING,
        batch_size=100,
        statuses={"In Queue": 58, "Running": 2, "Complete": 37, "Stopped": 3},
        failed=2,
    ),
    make_job(LONG_NAME, age_s=4000, score={"ptm": 0.8712}),
    make_job("cetuximab-fv", JobStatus.STOPPED, age_s=9000, error="ANARCI found no heavy chain in VH."),
    make_job("rituximab-fv", JobStatus.STOPPED, age_s=90000),
    make_job("<img src=x onerror=window.hacked=1>", age_s=200000, type="anarci"),
    make_job("\u202egnp.evil", age_s=300000, type="anarci"),
)

TOOLS = (
    Tool(
        type="abodybuilder",
        display_name="AbodyBuilder",
        description="Predicts the structure of an antibody's variable domain from its heavy and light chain.",
        family="antibody",
        modalities=("antibody",),
        available=True,
        engine=ToolEngine(name="abodybuilder2", method="ABodyBuilder2 (model 1 of 4)"),
    ),
    Tool(
        type="alphafold",
        display_name="AlphaFold",
        description="Predicts the structure of a protein from its sequence.",
        family="structure-prediction",
        unavailable_reason="Nothing on this computer runs AlphaFold. Connect to a service that does.",
    ),
)
