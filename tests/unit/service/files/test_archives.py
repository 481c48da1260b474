"""Harmful archives are refused for every operation, and nothing is written."""

import io
import stat
import zipfile

import pytest

from foldnote.service.files import archives
from foldnote.service.files.archives import DamagedArchiveError

GOOD = {"settings.json": b"{}", "models/a.pdb": b"ATOM\n" * 200, "notes.txt": bytes(range(256)) * 40}


def write(path, members, kind=zipfile.ZIP_DEFLATED, mode=stat.S_IFREG):
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.filename = name  # the constructor would correct the faults
            info.compress_type = kind
            info.external_attr = (mode | 0o600) << 16
            archive.writestr(info, content)
    return path


def read_all(path):
    """Perform every operation that a request may need from an archive."""
    for name in archives.member_names(path):
        archives.find_member(path, name)
        archives.read_member(path, name, len)
        archives.read_start(path, name, 10)
    archives.write_subset(path, archives.structure_names(path), io.BytesIO())
    with zipfile.ZipFile(io.BytesIO(), "w") as target:
        archives.copy_members(path, target, "job/")


def content_of(path, name):
    taken = io.BytesIO()
    archives.read_member(path, name, taken.write)
    return taken.getvalue()


def test_a_sound_archive_is_read(tmp_path):
    place = write(tmp_path / "a.zip", GOOD)
    read_all(place)
    assert set(archives.member_names(place)) == set(GOOD)


@pytest.mark.parametrize(
    "name",
    [
        "../x.pdb",
        "a/../../x.pdb",
        "/etc/x.pdb",
        "C:/x.pdb",
        "c:x.pdb",
        "a\\..\\x.pdb",
        "..",
        "a/..",
        "a\n.pdb",
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name):
    with pytest.raises(DamagedArchiveError, match="an unsafe path"):
        read_all(write(tmp_path / "a.zip", GOOD | {name: b"x"}))


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path, mode):
    with pytest.raises(DamagedArchiveError, match="is not a regular file"):
        read_all(write(tmp_path / "a.zip", {"x.pdb": b"/etc/passwd"}, mode=mode))


def test_an_encrypted_member_is_refused(tmp_path):
    path = write(tmp_path / "a.zip", GOOD)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(DamagedArchiveError, match="is not a regular file"):
        read_all(path)


def test_a_bomb_is_refused_before_it_grows(tmp_path):
    path = write(tmp_path / "a.zip", {"zeros.pdb": bytes(archives.SMALL_BYTES + 1)})
    written = []
    with pytest.raises(DamagedArchiveError, match="times its size"):
        archives.read_member(path, "zeros.pdb", written.append)
    assert written == []


def test_a_member_does_not_grow_beyond_what_it_declares(tmp_path):
    """A zip bomb with a wrong size ends at that size, and its checksum is wrong."""
    path = write(tmp_path / "a.zip", {"zeros.pdb": bytes(1 << 20)})
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02") + 24
    content[at : at + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(content)
    written = []
    with pytest.raises(DamagedArchiveError):
        archives.read_member(path, "zeros.pdb", written.append)
    assert sum(map(len, written)) <= 1000


def test_too_many_members_are_not_copied(tmp_path):
    path = write(
        tmp_path / "a.zip", {f"{n}.txt": b"" for n in range(archives.MAX_MEMBERS + 1)}, zipfile.ZIP_STORED
    )
    with zipfile.ZipFile(io.BytesIO(), "w") as target, pytest.raises(DamagedArchiveError, match="10000 are"):
        archives.copy_members(path, target, "job/")


@pytest.mark.parametrize("percent", range(100))
def test_an_archive_that_ends_early_is_refused(tmp_path, percent):
    path = write(tmp_path / "a.zip", GOOD)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * percent // 100])
    with pytest.raises(DamagedArchiveError):
        read_all(path)


def test_a_changed_bit_anywhere_is_refused_or_harmless(tmp_path):
    content = write(tmp_path / "a.zip", GOOD).read_bytes()
    path = tmp_path / "changed.zip"
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        try:
            read_all(path)
            read = {content_of(path, name) for name in archives.member_names(path)}
        except DamagedArchiveError:
            continue
        assert read <= set(GOOD.values()), f"bit {at % 8} of byte {at} changed a content without an error"
