"""The files of an attempt are written completely and read back unchanged."""

import pytest

from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import AttemptSpec, Outcome
from foldnote.service.runner.local_runners import LocalRunners


@pytest.fixture
def spec(tmp_path):
    return AttemptSpec(
        attempt_dir=str(tmp_path / "a"),
        nonce="n1",
        job_name="job",
        tool="anarci",
        settings={"sequence": "Ä\ud800"},
        command=("python", "run.py"),
        environment={"A": "b"},
        files={"pdbFile": ("inputs/x.pdb",)},
        seed=3,
    )


def test_a_specification_survives_the_file(spec):
    folder = files.prepare_attempt(spec)
    assert files.read_spec(folder) == spec


def test_an_outcome_survives_the_file(tmp_path):
    outcome = Outcome("failed", "Because.", {"a": 1}, 10, "ff", "s", "e")
    files.write_json(tmp_path / files.OUTCOME, files.as_content(outcome))
    assert Outcome.read(tmp_path) == outcome


def test_half_characters_of_an_engine_do_not_come_back_from_the_files(tmp_path):
    half = Outcome("failed", "Half \ud800", {"\udfff": "\ud800x", "whole": "\U0001f600"})
    files.write_json(tmp_path / files.OUTCOME, files.as_content(half))
    assert Outcome.read(tmp_path) == Outcome("failed", "Half ?", {"?": "?x", "whole": "\U0001f600"})
    files.write_progress(tmp_path, 0.5, "\ud800 done")
    assert files.read_progress(tmp_path) == (0.5, "? done")


def test_nothing_published_reads_as_nothing(tmp_path):
    assert Outcome.read(tmp_path) is None
    assert files.read_progress(tmp_path) == (None, None)


def test_times_are_rfc_3339_utc():
    assert files.now().endswith("Z")
    assert "T" in files.now()


def test_progress_emptied_by_a_power_cut_is_ignored(tmp_path):
    (tmp_path / files.PROGRESS).write_bytes(b"")
    assert files.read_progress(tmp_path) == (None, None)


def test_an_attempt_that_a_power_cut_left_empty_can_be_given_up(spec):
    folder = files.prepare_attempt(spec)
    (folder / files.SPEC).write_bytes(b"")
    assert LocalRunners({}).revoke(folder) is True


def test_an_outcome_that_a_power_cut_left_empty_is_none(tmp_path):
    (tmp_path / files.OUTCOME).write_bytes(b"")
    assert Outcome.read(tmp_path) is None
