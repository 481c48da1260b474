"""Objects, links, names and archives, each without a server."""

import contextlib
import errno
import io
import os
import threading
import time
import zipfile
from pathlib import Path

import pytest

from foldnote.service.faults import RefusalError
from foldnote.service.files import archives
from foldnote.service.files.links import LinkSigner, Target
from foldnote.service.files.names import check_file_name, check_folder, split_path
from foldnote.service.files.object_folder import ObjectFolder
from foldnote.service.files.objects import YOUNG_S

TARGET = Target("job", "1", 7, "ab" * 32, "a b.zip")


@pytest.fixture
def objects(tmp_path):
    return ObjectFolder(tmp_path / "objects")


def age(path):
    old = time.time() - YOUNG_S - 10
    os.utime(path, (old, old))


def test_the_same_content_is_kept_once(objects):
    assert objects.put_bytes(b"one") == objects.put_bytes(b"one")
    assert objects.path(objects.put_bytes(b"one")).read_bytes() == b"one"


def test_a_dropped_draft_leaves_nothing(objects, tmp_path):
    with objects.draft() as draft:
        draft.write(b"half")
    assert not [path for path in (tmp_path / "objects").rglob("*") if path.is_file()]


def descriptor_below(folder):
    """Return the file below `folder` that this process has open."""
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if folder in link.readlink().parents:
                return int(link.name)
    raise AssertionError("no file is open")


def test_a_draft_that_cannot_be_written_leaves_nothing(objects, tmp_path):
    def write_to_a_broken_disk():
        with objects.draft() as draft:
            draft.write(b"still in the buffer")
            os.close(descriptor_below(tmp_path))

    with pytest.raises(OSError, match="Bad file descriptor"):
        write_to_a_broken_disk()
    assert not [path for path in (tmp_path / "objects").rglob("*") if path.is_file()]


def test_an_unused_old_content_is_collected(objects):
    used, unused, young = (objects.put_bytes(text) for text in (b"used", b"unused", b"young"))
    age(objects.path(used))
    age(objects.path(unused))
    assert objects.collect(lambda sha256: sha256 == used) == 1
    assert objects.path(used).exists()
    assert objects.path(young).exists()
    assert not objects.path(unused).exists()


def test_an_adopted_result_stays_where_it_was(objects, tmp_path):
    source = tmp_path / "result.zip"
    source.write_bytes(b"zip")
    objects.adopt(source, "cd" * 32)
    objects.adopt(source, "cd" * 32)
    source.unlink()
    assert objects.path("cd" * 32).read_bytes() == b"zip"


def test_every_folder_on_the_way_to_a_content_is_synced(objects, tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("foldnote.service.files.object_folder.sync", synced.append)
    sha256 = objects.put_bytes(b"one")
    assert synced == [tmp_path / "objects", objects.path(sha256).parent]


def test_a_name_that_is_added_while_its_folder_is_being_synced_is_synced_itself(
    objects, tmp_path, monkeypatch
):
    """A sync in another thread may have started earlier."""
    source = tmp_path / "result.zip"
    source.write_bytes(b"zip")
    objects.adopt(source, "cd" * 32)
    seen, begun, may_end = [], threading.Event(), threading.Event()

    def sync(folder):
        if not folder.is_dir():
            return
        seen.append({each.name for each in folder.iterdir()})
        if len(seen) == 1:
            begun.set()
            assert may_end.wait(60)

    monkeypatch.setattr("foldnote.service.files.object_folder.sync", sync)
    other = threading.Thread(target=objects.adopt, args=(source, "cd" + "00" * 31))
    other.start()
    assert begun.wait(60)
    objects.adopt(source, "cd" + "11" * 31)
    may_end.set()
    other.join(60)
    objects.adopt(source, "cd" + "11" * 31)
    assert "cd" + "11" * 31 in seen[1]
    assert len(seen) == 3, "the first sync did not include the second name"


def test_a_result_is_copied_where_a_file_has_one_name_only(objects, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    source = tmp_path / "result.zip"
    source.write_bytes(b"zip")
    objects.adopt(source, "cd" * 32)
    assert objects.path("cd" * 32).read_bytes() == b"zip"
    assert not list((tmp_path / "objects" / "drafts").iterdir())


def query_of(link):
    return dict(part.split("=") for part in link.partition("?")[2].split("&"))


def check(signer, query, target=TARGET):
    signer.check(target, expires=int(query["expires"]), key_id=query["keyId"], signature=query["signature"])


def test_a_link_is_good_until_it_is_late():
    check(LinkSigner({"k": b"secret"}, 60), query_of(LinkSigner({"k": b"secret"}, 60).sign(TARGET)))
    with pytest.raises(RefusalError) as caught:
        check(LinkSigner({"k": b"secret"}, 60), query_of(LinkSigner({"k": b"secret"}, -1).sign(TARGET)))
    assert (caught.value.status, caught.value.code) == (403, "link_expired")


@pytest.mark.parametrize(
    "other",
    [
        Target("file", "1", 7, "ab" * 32, "a b.zip"),
        Target("job", "2", 7, "ab" * 32, "a b.zip"),
        Target("job", "1", 8, "ab" * 32, "a b.zip"),
        Target("job", "1", 7, "ac" * 32, "a b.zip"),
        Target("job", "1", 7, "ab" * 32, "a c.zip"),
    ],
)
def test_a_link_grants_nothing_else(other):
    signer = LinkSigner({"k": b"secret"}, 60)
    with pytest.raises(RefusalError) as caught:
        check(signer, query_of(signer.sign(TARGET)), other)
    assert caught.value.status == 403


def test_links_of_the_secret_before_stay_good():
    old = LinkSigner({"k1": b"old"}, 60).sign(TARGET)
    check(LinkSigner({"k2": b"new", "k1": b"old"}, 60), query_of(old))
    with pytest.raises(RefusalError):
        check(LinkSigner({"k2": b"new"}, 60), query_of(old))


@pytest.mark.parametrize("name", ["a.pdb", "Fv (1).pdb", "é.pdb", "-x", ".hidden"])
def test_usual_names_are_fine(name):
    assert check_file_name(name) == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "a\x00", "a\n", "\ud800", " a", "x" * 256, "a:b"]
)
def test_hostile_names_are_refused(name):
    with pytest.raises(RefusalError) as caught:
        check_file_name(name)
    assert caught.value.status == 400


def test_folders_are_trimmed():
    assert check_folder("/a/b/") == "a/b"
    assert check_folder(None) == check_folder("") == check_folder("/") == ""
    assert split_path("a/b/c.pdb") == ("a/b", "c.pdb")
    assert split_path("c.pdb") == ("", "c.pdb")


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "result.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name in ("models/a.pdb", "b.CIF", "notes.txt"):
            made.writestr(name, f"content of {name}")
    return path


def test_members_are_found_by_their_whole_path(archive):
    assert archives.find_member(archive, "models/a.pdb") == "models/a.pdb"
    assert archives.find_member(archive, "a.pdb") is None


def test_structures_only(archive):
    assert archives.structure_names(archive) == ["models/a.pdb", "b.CIF"]
    subset = io.BytesIO()
    archives.write_subset(archive, ["models/a.pdb"], subset)
    assert zipfile.ZipFile(subset).read("models/a.pdb") == b"content of models/a.pdb"


def test_a_member_is_handed_over_in_pieces(archive):
    pieces = []
    archives.read_member(archive, "notes.txt", pieces.append)
    assert b"".join(pieces) == b"content of notes.txt"
