"""Harmful archives are refused completely; damage affects only the damaged member."""

import gzip
import shutil
import stat
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_archives import FV, write_fv_result, write_zip

from foldnote.errors import ArchiveError, ResultError, UnreadableFileError
from foldnote.results import open_archive, open_result
from foldnote.results.archives.archive import check_name
from foldnote.results.archives.compression import unpack_single


@pytest.mark.parametrize(
    "name", ["../evil.txt", "a/../../evil", "/etc/passwd", "C:/evil", "a\\b", "bell\x07.txt"]
)
def test_a_name_that_leaves_the_archive_refuses_it(tmp_path, name):
    path = write_zip(tmp_path / "r.zip", {"good.csv": "a\n1\n"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo(name), "x")

    with pytest.raises(ArchiveError, match="not opened"):
        open_archive(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_are_refused(tmp_path, kind):
    entry = zipfile.ZipInfo("link")
    entry.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")

    with pytest.raises(ArchiveError, match="link|special"):
        open_archive(tmp_path / "r.zip")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = write_zip(tmp_path / "bomb.zip", {"zeros": bytes(70 * 1024**2)})

    with pytest.raises(ArchiveError, match="zip bomb"):
        open_archive(path)


def test_too_many_members_are_refused(tmp_path):
    path = write_zip(tmp_path / "many.zip", {f"{i}": b"" for i in range(10_001)})

    with pytest.raises(ArchiveError, match="10,001 files"):
        open_archive(path)


@pytest.mark.parametrize("percent", range(1, 36, 7))
def test_an_archive_that_ends_within_its_first_member_is_refused(tmp_path, percent):
    whole = write_fv_result(tmp_path / "r.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) * percent // 100])

    with pytest.raises(ArchiveError, match="complete ZIP"):
        open_archive(tmp_path / "cut.zip")


def test_a_missing_path_is_reported(tmp_path):
    with pytest.raises(ArchiveError, match="no result at"):
        open_archive(tmp_path / "absent.zip")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_flipped_byte_never_crashes_and_never_passes_silently(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("flip")
    content = bytearray(write_fv_result(folder / "r.zip").read_bytes())
    with zipfile.ZipFile(folder / "r.zip") as sound:
        meant = [sound.read(name) for name in sound.namelist()]
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (folder / "r.zip").write_bytes(content)

    try:
        result = open_result(folder / "r.zip")
    except ArchiveError:
        return
    result.check()
    for file in result.files:
        if file.name not in {problem.name for problem in result.problems}:
            assert result.read(file.name) in meant, f"{file.name} is damaged without a report"


def test_a_damaged_member_is_reported_and_the_rest_is_read(tmp_path):
    path = write_fv_result(tmp_path / "r.zip")
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("table.tsv").header_offset + 45
    content = bytearray(path.read_bytes())
    content[start] ^= 0xFF
    path.write_bytes(content)
    result = open_result(path)

    with pytest.raises(UnreadableFileError, match=r"table\.tsv"):
        result.tables["table.tsv"]

    assert [problem.name for problem in result.problems] == ["table.tsv"]
    assert len(result.structure.chains) == 2
    assert len(result.numbering) == 227


def test_a_gzip_bomb_is_not_unpacked():
    with pytest.raises(UnreadableFileError, match="expands to more"):
        unpack_single(gzip.compress(bytes(80 * 1024**2)), "zeros.gz")


def test_a_cut_gzip_is_reported():
    with pytest.raises(UnreadableFileError, match="truncated"):
        unpack_single(gzip.compress(FV.encode())[:-20], "x.pdb.gz")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_an_accepted_name_stays_inside(name):
    if check_name(name) is None:
        assert ".." not in name.split("/")
        assert not name.startswith("/")


def test_a_folder_and_a_single_file_open_like_an_archive(tmp_path):
    target = open_result(write_fv_result(tmp_path / "r.zip")).save_to(tmp_path / "out")

    assert open_result(target).structure.name == "antibody.pdb"
    assert len(open_result(target / "antibody.pdb").structure.chains) == 2


def test_a_file_that_cannot_be_written_whole_is_reported_and_is_not_taken_for_a_damaged_one(tmp_path):
    resource = pytest.importorskip("resource", reason="files are limited in size as POSIX does")
    result = open_result(write_fv_result(tmp_path / "r.zip"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(
            ResultError, match=r"out/antibody\.pdb cannot be written: File too large\. Free"
        ) as told:
            result.save_to(tmp_path / "out", ["antibody.pdb"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "the result is still whole in r.zip" in str(told.value)
    assert result.problems == ()
    assert list((tmp_path / "out").iterdir()) == []
    assert (result.save_to(tmp_path / "out") / "antibody.pdb").stat().st_size > 1000


def test_saving_never_overwrites(tmp_path):
    result = open_result(write_fv_result(tmp_path / "r.zip"))
    result.save_to(tmp_path / "out")

    with pytest.raises(ArchiveError, match="already exists"):
        result.save_to(tmp_path / "out")


def test_a_tar_file_of_a_folder_itself_is_opened(tmp_path):
    """As written by `tar -C folder -czf fv.tar.gz .` and `shutil.make_archive`."""
    folder = open_result(write_fv_result(tmp_path / "r.zip")).save_to(tmp_path / "fv")
    made = shutil.make_archive(str(tmp_path / "fv"), "gztar", folder)
    assert [file.name for file in open_result(made).files] == [
        file.name for file in open_result(folder).files
    ]
    assert open_result(made).problems == ()
