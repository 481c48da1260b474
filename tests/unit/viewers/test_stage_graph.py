"""The graph of a pipeline: its stages with their states, and the files that they take from each other."""

import re

import pytest

from foldnote.client.tables.batch_results import SheetRow
from foldnote.models import Job, JobStatus
from foldnote.viewers.card.stage_graph import StageInput, read_stages, write_graph
from foldnote.viewers.card.stage_layout import assign_lanes, place_columns

DIAMOND = ([], [0], [0], [1, 2])


def make_row(stage, tool="anarci", status=JobStatus.COMPLETE, settings=None, **more):
    job = Job(job_name=f"run-{stage}", type=tool, status=status, settings=settings or {}, **more)
    return SheetRow(job.job_name, {"stage": stage, "tool": tool}, job)


FOLD = make_row("fold", "abodybuilder", settings={"heavy": "EVQ"})
SCAN = make_row("scan", "aggrescan3d", JobStatus.RUNNING, {"pdbFile": "fold/*.pdb"}, progress=0.25)


def names(html):
    """Return what a screen reader says for each stage."""
    return re.findall(r'aria-label="([^"]*)"', html)


def test_each_stage_says_its_tool_its_state_and_what_it_takes():
    assert names(write_graph(read_stages([FOLD, SCAN]))) == [
        "Stages of the pipeline",
        "fold: AbodyBuilder, Complete",
        "scan: Aggrescan3D, Running, 25 %; takes *.pdb of fold",
    ]


def test_a_stage_that_runs_shows_its_progress():
    assert 'class="fnc-done" style="width:25%"' in write_graph(read_stages([FOLD, SCAN]))


def test_a_waiting_stage_names_the_stage_it_waits_for():
    waits = make_row("scan", status=JobStatus.IN_QUEUE, message="Waits for the stage fold.")
    assert "Waits for fold" in write_graph(read_stages([FOLD, waits]))


def test_a_stage_that_could_not_begin_does_not_count_as_failed():
    lost = make_row("scan", status=JobStatus.STOPPED, error="The stage fold failed: no chain.")
    html = write_graph(read_stages([FOLD, lost]))
    assert "fnc-at-stopped" in html
    assert "scan: ANARCI, not run. The stage fold failed: no chain." in html


def test_the_jobs_of_a_stage_that_takes_all_models_are_one_stage():
    rows = [make_row(f"scan{end}", settings={"pdbFile": f"fold/{end}.pdb"}) for end in ("", "-2", "-3")]
    nodes = read_stages([FOLD, *rows])
    assert [(node.name, len(node.jobs)) for node in nodes] == [("fold", 1), ("scan", 3)]
    assert "3 jobs" in write_graph(nodes)


def test_a_stage_whose_name_ends_in_a_number_is_a_separate_stage():
    rows = [make_row("scan", settings={"sequence": "EVQ"}), make_row("scan-2", settings={"sequence": "EVK"})]
    assert len(read_stages([FOLD, *rows])) == 3


def test_without_settings_each_stage_follows_the_one_before():
    nodes = read_stages([make_row("a"), make_row("b"), make_row("c")])
    assert [node.inputs for node in nodes] == [(), (StageInput(0, ""),), (StageInput(1, ""),)]


def test_names_are_text():
    html = write_graph(read_stages([make_row("<b>"), SCAN]))
    assert "&lt;b&gt;" in html
    assert "<b><b>" not in html


def test_a_reused_stage_names_the_job_whose_result_it_has():
    again = make_row("fold", "abodybuilder", reused_from="before-fold")
    assert "fold: AbodyBuilder, Reused from before-fold" in write_graph(read_stages([again, SCAN]))


def test_a_deleted_job_of_a_stage_is_reported():
    gone = SheetRow("run-scan", {"stage": "scan", "tool": "anarci"}, None)
    assert "scan: ANARCI, deleted" in write_graph(read_stages([FOLD, gone]))


def test_one_stage_is_not_a_graph():
    assert write_graph(read_stages([FOLD])) == ""


def test_columns_follow_what_is_taken():
    columns = place_columns(DIAMOND)
    assert columns.depths == (0, 1, 1, 2)
    assert columns.rows == (0.5, 0.0, 1.0, 0.5)


def test_a_connection_over_a_column_passes_beside_its_stages():
    columns = place_columns([[], [0], [0, 1]])
    (through,) = columns.passes
    assert through[0] == 1
    assert through[1] != columns.rows[1]


@pytest.mark.parametrize(
    ("sources", "lanes"),
    [
        ([[], [0], [1]], {0: 0, 1: 0}),
        (DIAMOND, {0: 0, 1: 1, 2: 0}),
        ([[], [], [0], [1]], {0: 0, 1: 1}),
    ],
)
def test_connections_that_overlap_have_lanes_of_their_own(sources, lanes):
    assert assign_lanes(sources) == lanes
