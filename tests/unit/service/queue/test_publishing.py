"""The names of an engine's files in the result archive, its sync, and figures that are none."""

import os
import random

import pytest

from foldnote.service.files.object_folder import ObjectFolder
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


@pytest.mark.parametrize("size", [1, 3 << 20], ids=["small", "large"])
@pytest.mark.parametrize("has_lease", [False, True], ids=["alone", "of a replica"])
@pytest.mark.parametrize("number", [1, 3], ids=["one", "several"])
def test_an_archive_is_synced_before_it_is_linked_among_the_contents(
    tmp_path, monkeypatch, has_lease, size, number
):
    synced, unsynced_links = {}, []
    sync, link = os.fsync, os.link

    def note_sync(descriptor):
        sync(descriptor)
        status = os.fstat(descriptor)
        synced[status.st_ino] = status.st_size

    def note_link(source, target):
        if synced.get(source.stat().st_ino) != source.stat().st_size:
            unsynced_links.append(source)
        link(source, target)

    contents = ObjectFolder(tmp_path / "contents")
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "link", note_link)
    archives = []
    for job in range(number):
        spec = AttemptSpec(
            attempt_dir=str(tmp_path / f"attempt{job}"),
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
        (folder / "work/outputs/a.txt").write_bytes(random.Random(job).randbytes(size))
        archive = publish_result(spec, "succeeded", "2026-01-01T00:00:00Z", read_score(folder), lambda: None)
        assert ((folder / RESULT).stat().st_ino in synced) is (size > 1), "large ones by the runner"
        archives.append((folder / RESULT, archive.sha256))
    if number == 1:
        contents.adopt(*archives[0])
    else:
        contents.adopt_all(archives)
    assert [contents.path(sha256).read_bytes() == path.read_bytes() for path, sha256 in archives] == [
        True
    ] * number
    assert unsynced_links == []
    assert all(contents.path(sha256).parent.stat().st_ino in synced for _, sha256 in archives)
