"""Bodies of responses to the page, and the types with which it reads them."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from foldnote.lab.known_jobs import KnownJobs
from foldnote.lab.responses import ServiceReport, ServiceState, tag_report, write_jobs
from foldnote.models.job import Job, JobPage
from foldnote.models.status import JobStatus

ROOT = Path(__file__).parents[3]
OK = ServiceReport(state=ServiceState.OK, profile="embedded", is_embedded=True)


def _known(**fields) -> KnownJobs:
    known = KnownJobs()
    known.replace_all(_page(**fields))
    return known


def _page(**fields) -> JobPage:
    return JobPage(jobs=(Job(job_name="a", type="anarci", status=JobStatus.RUNNING, **fields),))


def test_settings_and_links_stay_on_the_server():
    link = "https://example.org/?signature=1"
    known = _known(settings={"pdbFile": "ATOM"}, result_url=link, anotherLink=link)
    body = write_jobs(known, "", OK, "tag").body
    assert {"settings", "resultUrl"}.isdisjoint(json.loads(body)["jobs"][0])
    assert b"signature" not in body


def test_the_tag_changes_with_what_is_shown():
    assert len({_known(progress=progress).mark() for progress in (0.1, 0.2)}) == 2


def test_a_later_good_response_alone_is_not_a_change():
    later = OK.model_copy(update={"last_good": datetime.now(UTC)})
    assert tag_report(_known(), OK) == tag_report(_known(), later)


def test_a_page_that_was_away_gets_everything():
    answer = json.loads(write_jobs(_known(), "forgotten", OK, "tag").body)
    assert answer["isWhole"]
    assert [job["jobName"] for job in answer["jobs"]] == ["a"]


def print_generated(*command):
    script = [*command, "--print"]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_types_match_the_answers():
    made = print_generated("node", "labextension/scripts/generate-wire.mjs")
    kept = (ROOT / "labextension/src/api/wire.ts").read_text("utf-8")
    assert made == kept, "The answers' fields changed. Run `npm run wire` and commit wire.ts."


def test_the_pages_metrics_match_the_table():
    made = print_generated(sys.executable, "labextension/scripts/generate_metrics.py")
    kept = (ROOT / "labextension/src/models/results/metrics.ts").read_text("utf-8")
    assert made == kept, "The known metrics changed. Run `npm run metrics` and commit metrics.ts."
