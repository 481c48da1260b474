"""Names of an engine's files in the result archive, syncing of the archive, and invalid figures."""

import json
import os
import random
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from foldnote.service.files.object_folder import ObjectFolder
from foldnote.service.runner.attempt import RESULT, AttemptSpec, prepare_attempt
from foldnote.service.runner.publishing import NotKeptError, name_members, publish_result, read_score

NOBODY = 65534


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


def publish_as_nobody(folder, closed):
    """Publish ``folder`` in a process for which permissions count; return the archive's message or the refusal's.

    Args:
        folder: an empty folder.
        closed: files and folders of mode 000, below ``outputs``.
    """
    spec = AttemptSpec(
        attempt_dir=str(folder / "attempt"),
        nonce="n",
        job_name="job",
        tool="anarci",
        settings={},
        command=("true",),
        environment={},
    )
    outputs = prepare_attempt(spec) / "work" / "outputs"
    (outputs / "inner").mkdir(parents=True, exist_ok=True)
    for name in ("a.txt", "b.txt", "inner/c.txt"):
        (outputs / name).write_text(name)
    if os.geteuid() == 0:
        for place in (folder, *folder.rglob("*")):
            os.chown(place, NOBODY, NOBODY)
    for name in closed:
        (outputs / name).chmod(0)
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            own = replace(spec, attempt_dir="attempt")
            try:
                found = publish_result(
                    own, "succeeded", "2026-01-01T00:00:00Z", read_score(own.folder), lambda: None
                )
                text = found.note or ""
            except NotKeptError as exc:
                text = f"not kept: {exc}"
            Path("note").write_text(text)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return (folder / "note").read_text()


@pytest.mark.parametrize(
    ("closed", "expected", "kept"),
    [
        ([], "", {"a.txt", "b.txt", "inner/c.txt"}),
        (["b.txt"], "1 output could not be read and is not in the result: b.txt.", {"a.txt", "inner/c.txt"}),
        (
            ["a.txt", "inner"],
            "2 outputs could not be read and are not in the result: a.txt, inner/.",
            {"b.txt"},
        ),
        (["a.txt", "b.txt", "inner"], "not kept: none of outputs/ could be read: a.txt, b.txt, inner/", None),
        (["."], "not kept: outputs/ may not be read by the user that runs the job", None),
    ],
    ids=["none", "file", "folder", "all", "outputs"],
)
def test_outputs_that_may_not_be_read_are_named(tmp_path, closed, expected, kept):
    assert publish_as_nobody(tmp_path, closed) == expected
    result = tmp_path / "attempt" / RESULT
    assert result.exists() is (kept is not None)
    if kept is not None:
        with zipfile.ZipFile(result) as archive:
            assert set(archive.namelist()) == kept | {"manifest.json", "job.log"}
            manifest = json.loads(archive.read("manifest.json"))
        assert manifest["notes"] == ([expected] if expected else [])
        assert {row["name"] for row in manifest["outputs"]} == kept
