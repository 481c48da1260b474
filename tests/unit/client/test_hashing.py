"""A download's hash is that of the file, however its bytes are split."""

import hashlib
import threading

import pytest

from foldnote.client.core.hashing import BackgroundHash

CONTENT = bytes(range(256)) * 20_000


@pytest.mark.parametrize("have", [0, 7, 3_000_000, len(CONTENT)])
@pytest.mark.parametrize("piece", [1000, 65_536, 3_000_000])
def test_every_byte_counts_once(tmp_path, have, piece):
    path = tmp_path / "part"
    path.write_bytes(CONTENT[:have])
    running = BackgroundHash(path, have)
    with path.open("ab") as part:
        for begin in range(have, len(CONTENT), piece):
            part.write(CONTENT[begin : begin + piece])
            running.update(CONTENT[begin : begin + piece])
    assert running.close() == hashlib.sha256(CONTENT).hexdigest()


def test_a_beginning_that_is_gone_gives_no_hash(tmp_path):
    assert BackgroundHash(tmp_path / "nothing", 10).close() is None


def test_no_thread_is_left_behind(tmp_path):
    running = BackgroundHash(tmp_path / "part", 0)
    for _ in range(40):
        running.update(CONTENT[:1_000_000])
    running.close()
    assert not [thread for thread in threading.enumerate() if "hash" in thread.name]
