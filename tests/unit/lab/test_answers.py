"""The bodies that the page gets, and the types that it reads them by."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from foldnote.lab.answers import ServiceReport, ServiceState, write_jobs
from foldnote.models.job import Job, JobPage
from foldnote.models.status import JobStatus

ROOT = Path(__file__).parents[3]
OK = ServiceReport(state=ServiceState.OK, profile="embedded", is_embedded=True)


def _page(**fields) -> JobPage:
    return JobPage(jobs=(Job(job_name="a", type="anarci", status=JobStatus.RUNNING, **fields),))


def test_settings_and_links_stay_on_the_server():
    page = _page(settings={"pdbFile": "ATOM"}, type_="x", result_url="https://example.org/?signature=1")
    job = json.loads(write_jobs(page, OK).body)["jobs"][0]
    assert {"settings", "resultUrl"}.isdisjoint(job)


def test_the_tag_changes_with_what_is_shown():
    tags = {write_jobs(_page(progress=progress), OK).tag for progress in (0.1, 0.2)}
    assert len(tags) == 2


def test_a_later_good_answer_alone_is_nothing_new():
    later = OK.model_copy(update={"last_good": datetime.now(UTC)})
    assert write_jobs(_page(), OK).tag == write_jobs(_page(), later).tag


def test_the_page_types_match_the_answers():
    made = subprocess.run(
        ["node", "labextension/scripts/generate-wire.mjs", "--print"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    kept = (ROOT / "labextension/src/api/wire.ts").read_text("utf-8")
    assert made.stdout == kept, "The answers' fields changed. Run `npm run wire` and commit wire.ts."
