"""A cached result damaged on the disk is fetched again, whatever the damage."""

import hashlib
import io
import os
import random
import zipfile
from functools import cache

import pytest
from scripted_service import answers, serves

RECORD = {"jobName": "a", "type": "anarci", "status": "Complete", "settings": {},
          "created": "2026-11-01T10:00:00Z", "completed": "2026-11-01T10:00:02Z"}  # fmt: skip
CONTENT = b'{"plddt": 90}'


@cache
def archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("score.json", CONTENT)
        target.writestr("noise.txt", random.Random(1).randbytes(20_000))
    return packed.getvalue()


@pytest.fixture(params=["hash announced", "no hash announced"])
def client(request, scripted, connect, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path))
    whole = archive()
    etag = hashlib.sha256(whole).hexdigest() if request.param == "hash announced" else "any"
    scripted.on("GET", "/jobs", answers(RECORD))
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", serves(whole, etag=f'"{etag}"'))
    return connect()


def damage(path, place: float, *, is_cut: bool) -> None:
    """Flip a bit or truncate the file in place without changing its times, as a bad disk does."""
    times, content = path.stat(), bytearray(path.read_bytes())
    at = int(place * (len(content) - 1))
    content[at] ^= 1 << at % 8
    with path.open("r+b") as stream:
        stream.write(content[:at] if is_cut else content)
        stream.truncate()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_a_flipped_bit_or_a_truncation_anywhere_is_repaired(client):
    chance = random.Random(7)
    for number in range(30 if "FOLDNOTE_TEST_EXAMPLES" in os.environ else 10):
        path = client.jobs.download("a")
        damage(path, chance.random(), is_cut=bool(number % 2))
        result = client.jobs.get("a").result()
        assert {file.name for file in result.files} == {"score.json", "noise.txt"}
        assert path.read_bytes() == archive()


def test_a_damaged_selection_is_unpacked_again(client):
    for place in (0.0, 0.5, 0.99):
        folder = client.jobs.download("a", patterns=["*.txt"])
        damage(folder / "noise.txt", place, is_cut=False)
        folder = client.jobs.download("a", patterns=["*.txt"])
        assert (folder / "noise.txt").read_bytes() == random.Random(1).randbytes(20_000)


def test_what_is_intact_is_not_transferred_again(client, scripted):
    for _ in range(3):
        client.jobs.download("a", patterns=["*.txt"])
    assert scripted.count("GET", "/f") == 1


def test_a_damaged_record_of_the_hash_is_also_repaired(client, tmp_path):
    path = client.jobs.download("a")
    path.with_name(f".{path.name}.sha256").write_bytes(b"\xff")
    assert client.jobs.download("a").read_bytes() == archive()
