"""The names of an engine's files in the result archive, its sync, and figures that are none."""

import os

import pytest

from foldnote.service.runner.attempt import RESULT, AttemptSpec, prepare_attempt
from foldnote.service.runner.publishing import name_members, publish_result, read_score


def test_names_that_a_reader_of_archives_refuses_are_changed_and_stay_apart():
    strange = {
        b"A:12.pdb": "A_12.pdb",
        b"F\\C=C.sdf": "_F_C=C.sdf",
        b"F_C=C.sdf": "F_C=C.sdf",
        b"two\nlines.txt": "two_lines.txt",
        b"latin-\xe9.pdb": "latin-_.pdb",
        "é.pdb".encode(): "é.pdb",
    }
    members = name_members(map(os.fsdecode, strange))
    assert {os.fsencode(place): member for member, place in members.items()} == strange


def test_an_endlessly_nested_score_file_is_ignored(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "score.json").write_text('{"a":' + "[" * 60_000)
    assert read_score(tmp_path).figures is None


@pytest.mark.parametrize("has_lease", [False, True], ids=["alone", "of a replica"])
def test_an_archive_is_synced_before_it_is_linked_among_the_contents(tmp_path, monkeypatch, has_lease):
    spec = AttemptSpec(
        attempt_dir=str(tmp_path / "attempt"),
        nonce="n",
        job_name="job",
        tool="anarci",
        settings={},
        command=("true",),
        environment={},
        has_lease=has_lease,
    )
    folder = prepare_attempt(spec)
    (folder / "work/outputs").mkdir(exist_ok=True)
    (folder / "work/outputs/a.txt").write_text("a")
    synced, sync = {}, os.fsync

    def note(descriptor):
        sync(descriptor)
        status = os.fstat(descriptor)
        synced[status.st_ino] = status.st_size

    monkeypatch.setattr(os, "fsync", note)
    archive = publish_result(spec, "succeeded", "2026-01-01T00:00:00Z", read_score(folder), lambda: None)
    assert synced.get((folder / RESULT).stat().st_ino) == archive.size_bytes
