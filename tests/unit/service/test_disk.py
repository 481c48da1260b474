"""The ballast file in a real folder, and a thread whose work fails."""

import threading

from foldnote.service.disk import Disk
from foldnote.service.worker_thread import BackgroundWorker

MB = 1 << 20
ENDLESS = 1 << 62


def test_a_ballast_is_made_once_and_is_real(tmp_path):
    disk = Disk(tmp_path, 0, MB)
    disk.maintain_ballast()
    disk.maintain_ballast()
    assert [path.name for path in tmp_path.iterdir()] == ["ballast"]
    assert (tmp_path / "ballast").stat().st_blocks * 512 >= MB


def test_a_ballast_that_went_comes_back_when_there_is_room(tmp_path):
    disk = Disk(tmp_path, 0, MB)
    disk.maintain_ballast()
    disk.drop_ballast()
    assert not (tmp_path / "ballast").exists()
    disk.maintain_ballast()
    assert (tmp_path / "ballast").exists()


def test_below_the_floor_nothing_is_started_and_no_ballast_made(tmp_path):
    disk = Disk(tmp_path, ENDLESS, MB)
    disk.maintain_ballast()
    assert not disk.has_space()
    assert list(tmp_path.iterdir()) == []


def test_a_round_that_failed_is_repeated_unasked():
    done = threading.Event()
    tries = []

    def work():
        tries.append(1)
        if len(tries) == 1:
            raise OSError("the disk is full")
        done.set()

    rounds = BackgroundWorker("test", work)
    rounds.start()
    assert done.wait(120)
    rounds.stop()
    assert len(tries) >= 2
