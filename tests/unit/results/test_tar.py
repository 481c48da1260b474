"""Tar archives are handled as safely and tolerantly as ZIP archives, and nested archives open like folders."""

import gzip
import io
import tarfile
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_archives import FV, write_zip

from foldnote.errors import ArchiveError, UnreadableFileError
from foldnote.results import open_archive, open_result

MEMBERS = {"a/model.pdb": FV.encode(), "a/scores.csv": b"x\n1\n", "b.json": b'{"iptm": 0.5}'}


def tar_bytes(members, mode="w"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def special(kind, name="x"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
    return stream.getvalue()


def write(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_every_compression_opens_whatever_the_file_is_called(tmp_path, mode):
    result = open_result(write(tmp_path / "download", tar_bytes(MEMBERS, mode)))

    assert [file.name for file in result.files] == sorted(MEMBERS)
    assert {name: result.read(name) for name in MEMBERS} == MEMBERS
    assert result.check() == ()


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/../../evil", "C:/evil", "bell\x07"])
def test_a_name_that_leaves_a_tar_refuses_it(tmp_path, name):
    with pytest.raises(ArchiveError, match="not opened"):
        open_archive(write(tmp_path / "r.tar", tar_bytes({"good": b"1", name: b"x"})))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_a_tar_refuse_it(tmp_path, kind):
    with pytest.raises(ArchiveError, match="link|special"):
        open_archive(write(tmp_path / "r.tar", special(kind)))


def test_a_packed_bomb_is_stopped_while_it_unpacks(tmp_path):
    with pytest.raises(ArchiveError, match="decompression bomb"):
        open_archive(write(tmp_path / "r.tar.gz", tar_bytes({"zeros": bytes(80 * 1024**2)}, "w:gz")))


def test_too_many_members_of_a_tar_are_refused(tmp_path):
    with pytest.raises(ArchiveError, match="10,001 files"):
        open_archive(write(tmp_path / "r.tar", tar_bytes({f"{i}": b"" for i in range(10_001)})))


def test_a_tar_that_is_cut_off_keeps_what_came_before(tmp_path):
    whole = tar_bytes({"1.csv": b"a\n1\n", "2.bin": bytes(range(256)) * 400}, "w")
    result = open_result(write(tmp_path / "r.tar", whole[:30_000]))

    assert result.tables["1.csv"]["a"].tolist() == [1]
    assert [file.name for file in result.files] == ["1.csv"]
    assert "2.bin" in result.problems[0].message


@pytest.mark.parametrize("percent", range(2, 100, 7))
def test_a_packed_tar_that_is_cut_off_says_so(tmp_path, percent):
    whole = tar_bytes(MEMBERS, "w:gz")
    path = write(tmp_path / "r.tar.gz", whole[: len(whole) * percent // 100])

    try:
        result = open_result(path)
    except ArchiveError as exc:
        assert "download it again" in exc.message
    else:
        assert result.problems
        assert "download it again" in result.problems[0].message


def test_archives_inside_open_like_folders(tmp_path):
    inner = write_zip(tmp_path / "inner.zip", {"model.pdb": FV}).read_bytes()
    packed = tar_bytes({"deep/inner.zip": inner, "scores.csv": b"x\n1\n"}, "w:gz")
    result = open_result(write_zip(tmp_path / "r.zip", {"job/out.tar.gz": packed}))

    assert [file.name for file in result.files] == [
        "job/out.tar.gz/deep/inner.zip/model.pdb",
        "job/out.tar.gz/scores.csv",
    ]
    assert len(result.structure.chains) == 2


def test_a_harmful_archive_inside_is_reported_and_the_rest_is_read(tmp_path):
    members = {"inner.tar": special(tarfile.SYMTYPE), "scores.csv": "x\n1\n", "broken.zip": b"PK no"}
    result = open_result(write_zip(tmp_path / "r.zip", members))

    assert {problem.name for problem in result.problems} == {"inner.tar", "broken.zip"}
    assert result.tables["scores.csv"]["x"].tolist() == [1]


def test_archives_are_opened_three_deep_and_no_further(tmp_path):
    data = FV.encode()
    name = "model.pdb"
    for level in range(5):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(name, data)
        data, name = stream.getvalue(), f"{level}.zip"
    result = open_result(write(tmp_path / "r.zip", data))

    assert [file.name for file in result.files] == ["3.zip/2.zip/1.zip"]


def test_an_unpacked_copy_of_nested_archives_opens_the_same(tmp_path):
    inner = write_zip(tmp_path / "inner.zip", {"model.pdb": FV}).read_bytes()
    result = open_result(write_zip(tmp_path / "r.zip", {"inner.zip": inner, "a.csv": "x\n1\n"}))
    copied = open_result(result.save_to(tmp_path / "out"))

    assert [file.name for file in copied.files] == [file.name for file in result.files]


def test_a_single_compressed_structure_is_not_an_archive(tmp_path):
    result = open_result(write(tmp_path / "x.pdb.gz", gzip.compress(FV.encode())))

    assert len(result.structure.chains) == 2


def test_what_systems_leave_beside_files_is_not_listed(tmp_path):
    members = {"a.csv": b"x\n1\n", "._a.csv": b"junk", "__MACOSX/._a.csv": b"junk", "sub/.DS_Store": b"junk"}

    for path in (write_zip(tmp_path / "r.zip", members), write(tmp_path / "r.tar", tar_bytes(members))):
        assert [file.name for file in open_result(path).files] == ["a.csv"]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 255), st.sampled_from(["w", "w:gz", "w:xz"]), st.booleans())
def test_a_damaged_tar_never_crashes(tmp_path_factory, place, change, mode, is_cut):
    data = bytearray(tar_bytes(MEMBERS, mode))
    place %= len(data)
    data[place] ^= change
    path = tmp_path_factory.mktemp("tar") / "r.tar"
    path.write_bytes(data[:place] if is_cut else data)

    try:
        result = open_result(path)
    except ArchiveError:
        return
    result.check()
    for file in result.files:
        try:
            result.read(file.name)
        except UnreadableFileError:
            assert file.name in {problem.name for problem in result.problems}


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=1200))
def test_headers_of_any_bytes_end_soon(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("tar") / "r.tar"
    path.write_bytes(noise + bytes(1024))

    try:
        assert len(open_archive(path).members) <= 3
    except ArchiveError as exc:
        assert "r.tar" in exc.message


def test_a_negative_size_does_not_read_for_ever(tmp_path):
    header = bytearray(tarfile.TarInfo("x").tobuf())
    header[124:136] = b"\xff" * 8 + (-512).to_bytes(4, "big", signed=True)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)

    with pytest.raises(ArchiveError):
        open_archive(write(tmp_path / "r.tar", bytes(header) * 3 + bytes(1024)))
