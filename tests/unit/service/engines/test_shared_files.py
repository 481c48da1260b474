"""Environments share one copy of identical large files, and stay independent of each other."""

import base64
import errno
import hashlib
import os

import pytest

from foldnote.service.engines.shared_files import drop_unused_files, share_files

LARGE = bytes(range(256)) * 400
SMALL = b"small"


@pytest.fixture
def make_environment(tmp_path):
    def make(name, files, recorded=None):
        folder = tmp_path / name
        info = folder / "big-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: big\nVersion: 1.0\n")
        rows = []
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
            digest = hashlib.sha256((recorded or {}).get(path, content)).digest()
            encoded = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            rows.append(f'"{path}",sha256={encoded},{len(content)}\n')
        (info / "RECORD").write_text("".join(rows) + "big-1.0.dist-info/RECORD,,\n")
        return folder

    return make


@pytest.fixture
def store(tmp_path):
    return tmp_path / ".files"


def test_equal_large_files_become_one(make_environment, store):
    files = {"big/lib, large.so": LARGE, "big/small.py": SMALL}
    first, second = make_environment("a", files), make_environment("b", files)
    assert share_files(first, store) == 0
    assert share_files(second, store) == len(LARGE)
    assert (first / "big/lib, large.so").samefile(second / "big/lib, large.so")
    assert not (first / "big/small.py").samefile(second / "big/small.py")
    assert {path: (second / path).read_bytes() for path in files} == files
    assert share_files(second, store) == share_files(first, store) == 0


def test_a_file_that_is_replaced_in_one_environment_stays_in_the_others(make_environment, store):
    first, second = (make_environment(name, {"big.so": LARGE}) for name in "ab")
    share_files(first, store)
    share_files(second, store)
    (second / "big.so").unlink()  # as pip does before it writes another version
    (second / "big.so").write_bytes(b"x")
    assert (first / "big.so").read_bytes() == LARGE


def test_a_file_that_is_not_what_its_record_says_is_not_shared(make_environment, store):
    changed = LARGE[:-1] + b"!"
    first = make_environment("a", {"big.so": LARGE})
    second = make_environment("b", {"big.so": changed}, recorded={"big.so": LARGE})
    share_files(first, store)
    assert share_files(second, store) == 0
    assert (second / "big.so").read_bytes() == changed
    assert (first / "big.so").read_bytes() == LARGE


def test_files_with_other_permissions_are_not_shared(make_environment, store):
    first, second = (make_environment(name, {"big.so": LARGE}) for name in "ab")
    (second / "big.so").chmod(0o755)
    share_files(first, store)
    assert share_files(second, store) == 0


def test_what_no_environment_has_is_dropped(make_environment, store):
    first, second = (make_environment(name, {"big.so": LARGE}) for name in "ab")
    share_files(first, store)
    share_files(second, store)
    (first / "big.so").unlink()
    assert drop_unused_files(store) == 0
    (second / "big.so").unlink()
    assert drop_unused_files(store) == len(LARGE)
    assert [path for path in store.rglob("*") if path.is_file()] == []
    assert drop_unused_files(store.with_name("nowhere")) == 0


def test_a_file_system_without_links_changes_nothing(make_environment, store, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    folder = make_environment("a", {"big.so": LARGE})
    monkeypatch.setattr(os, "link", refuse)
    assert share_files(folder, store) == 0
    assert (folder / "big.so").read_bytes() == LARGE


@pytest.mark.parametrize(
    "row",
    ["big.so,sha256=!!!,3", "big.so", "../../outside.so,sha256=,1", '"', "big.so,sha256=AAAA,1"],
    ids=["digits", "short", "empty", "quote", "length"],
)
def test_a_damaged_record_shares_nothing(make_environment, store, row):
    folder = make_environment("a", {"big.so": LARGE})
    (folder / "big-1.0.dist-info/RECORD").write_text(row + "\n")
    assert share_files(folder, store) == 0
    assert (folder / "big.so").read_bytes() == LARGE
