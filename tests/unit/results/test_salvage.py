"""A ZIP without its directory: complete members are read, others are named, and limits still hold."""

import io
import random
import struct
import zipfile

import pytest
from result_archives import write_fv_result, write_zip

import foldnote.results.archives.archive as archive
from foldnote.errors import ArchiveError
from foldnote.results import open_archive, open_result

CONTENT = {f"folder/file_{i}.txt": random.Random(i).randbytes(3000) + bytes(5000) for i in range(6)}


class _Pipe(io.RawIOBase):
    """A stream without seeking, so that sizes are written after the members."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += data
        return len(data)


def pack(*, is_streamed=False, method=zipfile.ZIP_DEFLATED, content=CONTENT):
    pipe = _Pipe() if is_streamed else io.BytesIO()
    with zipfile.ZipFile(pipe, "w", method) as file:
        for name, data in content.items():
            file.writestr(name, data)
    return bytes(pipe.data) if is_streamed else pipe.getvalue()


def open_bytes(tmp_path, data):
    (tmp_path / "r.zip").write_bytes(data)
    return open_archive(tmp_path / "r.zip")


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.77, 0.97, 0.999])
def test_every_complete_member_is_read_and_the_broken_one_is_named(tmp_path, is_streamed, share):
    whole = pack(is_streamed=is_streamed)
    opened = open_bytes(tmp_path, whole[: int(len(whole) * share)])

    assert 1 <= len(opened.members) <= 6
    assert all(opened.read(member.name) == CONTENT[member.name] for member in opened.members)
    assert "its directory is missing" in dict(opened.problems)["r.zip"]
    names = {member.name for member in opened.members} | set(dict(opened.problems))
    assert names <= {*CONTENT, "r.zip"}
    if len(opened.members) < 6 and share < 0.9:
        assert f"file_{len(opened.members)}.txt" in str(opened.problems)


def test_uncompressed_members_are_also_read(tmp_path):
    whole = pack(method=zipfile.ZIP_STORED)
    opened = open_bytes(tmp_path, whole[: len(whole) // 2])

    assert [opened.read(member.name) for member in opened.members] == list(CONTENT.values())[
        : len(opened.members)
    ]


def test_a_changed_byte_in_a_salvaged_member_is_noticed(tmp_path):
    whole = bytearray(pack()[:20_000])
    whole[2000] ^= 0xFF
    (tmp_path / "r.zip").write_bytes(whole)
    result = open_result(tmp_path / "r.zip")
    result.check()

    assert "folder/file_0.txt" in {problem.name for problem in result.problems}
    assert result.read("folder/file_1.txt") == CONTENT["folder/file_1.txt"]


def test_the_structures_of_a_broken_download_are_there(tmp_path):
    path = write_fv_result(tmp_path / "r.zip")
    path.write_bytes(path.read_bytes()[:-400])
    result = open_result(path)

    assert [chain.name for chain in result.structure.chains] == ["H", "L"]
    assert any("Download it again" in problem.message for problem in result.problems)


def test_a_broken_archive_in_an_archive_is_salvaged(tmp_path):
    inner = pack()
    result = open_result(write_zip(tmp_path / "r.zip", {"inner.zip": inner[: len(inner) // 2]}))

    assert result.read("inner.zip/folder/file_0.txt") == CONTENT["folder/file_0.txt"]
    assert "inner.zip/inner.zip" in {problem.name for problem in result.problems}


@pytest.mark.parametrize("name", ["../up.txt", "/etc/passwd", "a\\..\\b"])
def test_names_that_climb_out_are_refused_in_salvage_as_well(tmp_path, name):
    content = {"x" * len(name): b"1" * 100, "ok.txt": b"2" * 100}
    data = pack(content=content).replace(("x" * len(name)).encode(), name.encode())

    with pytest.raises(ArchiveError, match="not opened"):
        open_bytes(tmp_path, data[: data.index(b"PK\x01\x02")])


def test_too_many_members_are_refused_in_salvage_as_well(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBERS", 4)
    whole = pack()

    with pytest.raises(ArchiveError, match="at most 4"):
        open_bytes(tmp_path, whole[: whole.index(b"PK\x01\x02")])


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_bomb_is_refused_in_salvage_as_well(tmp_path, is_streamed):
    whole = pack(is_streamed=is_streamed, content={"zeros": bytes(archive.SMALL_BYTES + 2_000_000)})

    with pytest.raises(ArchiveError, match="may be a zip bomb"):
        open_bytes(tmp_path, whole[: whole.index(b"PK\x01\x02")])


@pytest.mark.parametrize("seed", range(30))
def test_damaged_headers_are_read_or_refused(tmp_path, seed):
    chance = random.Random(seed)
    data = bytearray(pack(is_streamed=bool(seed % 2)))[: 20_000 + 50 * seed]
    for _ in range(4):
        place = chance.choice([chance.randrange(len(data)), chance.randrange(60)])
        data[place] = chance.randrange(256)
    try:
        opened = open_bytes(tmp_path, bytes(data))
    except ArchiveError:
        return
    for member in opened.members:
        assert member.size_bytes >= 0


def test_a_member_that_announces_more_than_there_is_costs_no_memory(tmp_path):
    head = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, 10, 0xFFFFFFF0, 1, 0)

    with pytest.raises(ArchiveError):
        open_bytes(tmp_path, head + b"a" + b"\x00" * 10)


def test_a_member_without_a_name_is_refused(tmp_path):
    with pytest.raises(ArchiveError, match=r"r\.zip"):
        open_bytes(tmp_path, b"PK\x03\x04" + bytes(1024))
