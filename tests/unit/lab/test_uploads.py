"""Files on their way from a page to the service: sent in parts, interrupted, resumed, cancelled."""

import asyncio
import os
import time

import pytest
from lab_fixtures import TOKEN

from foldnote import settings
from foldnote.errors import (
    ArgumentError,
    ConfigurationError,
    ServiceError,
    ServiceUnreachableError,
)
from foldnote.lab.uploads import ABANDONED_S, KEPT_S, PlannedUpload, Uploads

LOGIN = {"Authorization": f"token {TOKEN}"}
CONTENT = b"ATOM\n" * 200_000


async def begin(jupyter, name="big one.pdb", size=1_000_000, **more):
    body = {"name": name, "sizeBytes": size, "mark": "1", **more}
    answer = await jupyter.post("files/uploads", headers=LOGIN, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def send(jupyter, upload, content=CONTENT, start=0, end=None):
    address = f"files/uploads/{upload['id']}?offset={start}"
    return await jupyter.put(address, headers=LOGIN, content=content[start:end])


async def finish(jupyter, upload):
    async with asyncio.timeout(60):
        while True:
            answer = await jupyter.post(f"files/uploads/{upload['id']}/finish", headers=LOGIN)
            if answer.status_code != 200 or answer.json()["path"] is not None:
                return answer


async def list_files(jupyter, query=""):
    return (await jupyter.get(f"files{query}", headers=LOGIN)).json()["files"]


async def test_pieces_become_one_file_and_it_is_deleted(jupyter):
    upload = await begin(jupyter)
    await send(jupyter, upload, end=300_000)
    await send(jupyter, upload, start=300_000)
    assert (await finish(jupyter, upload)).json()["path"] == "big one.pdb"
    [file] = await list_files(jupyter)
    assert (file["fileName"], file["fileSize"]) == ("big one.pdb", len(CONTENT))
    await jupyter.delete("files?path=big one.pdb", headers=LOGIN)
    assert await list_files(jupyter) == []


async def test_a_broken_upload_resumes_where_it_stopped(jupyter):
    upload = await begin(jupyter)
    await send(jupyter, upload, end=300_000)
    again = await begin(jupyter)
    assert (again["id"], again["receivedBytes"]) == (upload["id"], 300_000)
    other = await begin(jupyter, mark="2")
    assert (other["id"] != upload["id"], other["receivedBytes"]) == (True, 0)


async def test_a_piece_that_came_twice_counts_once(jupyter):
    upload = await begin(jupyter)
    for _ in range(2):
        answer = await send(jupyter, upload, end=300_000)
    assert answer.json()["receivedBytes"] == 300_000
    await send(jupyter, upload, start=300_000)
    await finish(jupyter, upload)
    [file] = await list_files(jupyter)
    assert file["fileSize"] == len(CONTENT)


async def test_a_piece_that_does_not_fit_is_refused(jupyter):
    upload = await begin(jupyter, size=10)
    gap = await jupyter.put(f"files/uploads/{upload['id']}?offset=5", headers=LOGIN, content=b"12345")
    beyond = await jupyter.put(f"files/uploads/{upload['id']}?offset=0", headers=LOGIN, content=b"1" * 11)
    assert (gap.status_code, beyond.status_code) == (400, 400)
    assert "received up to byte 0 of 10" in gap.json()["error"]


async def test_half_a_file_is_not_passed_on(jupyter):
    upload = await begin(jupyter)
    await send(jupyter, upload, end=300_000)
    answer = await finish(jupyter, upload)
    assert answer.status_code == 400
    assert await list_files(jupyter) == []


async def lose_service(jupyter, service):
    """Upload a file while the service is gone; return the page's request."""
    upload = await begin(jupyter, size=4)
    await send(jupyter, upload, b"ATOM")
    await list_files(jupyter)  # the connection is open before it breaks
    service.is_down = True
    async with asyncio.timeout(60):
        while (now := (await finish_once(jupyter, upload)).json())["waiting"] is None:
            assert now["path"] is None
    return upload, now


async def finish_once(jupyter, upload):
    return await jupyter.post(f"files/uploads/{upload['id']}/finish", headers=LOGIN, timeout=120)


async def test_a_service_that_is_gone_is_waited_for_and_gets_the_file_when_it_is_back(jupyter, service):
    upload, now = await lose_service(jupyter, service)
    assert "cannot be reached" in now["waiting"]
    service.is_down = False
    done = (await finish(jupyter, upload)).json()
    assert (done["path"], done["waiting"]) == ("big one.pdb", None)
    [file] = await list_files(jupyter)
    assert file["fileSize"] == 4


async def test_a_page_that_waits_for_an_upload_is_answered_when_it_is_cancelled(jupyter, service):
    upload, _ = await lose_service(jupyter, service)
    waiting = asyncio.create_task(finish_once(jupyter, upload))
    await asyncio.sleep(0.5)
    await jupyter.delete(f"files/uploads/{upload['id']}", headers=LOGIN)
    answer = await waiting
    assert (answer.status_code, answer.json()["error"]) == (400, "The upload of big one.pdb was cancelled.")


async def test_an_unreachable_service_is_not_waited_for_without_requests():
    uploads = Uploads()
    upload = uploads.begin(make_request())
    await upload.write_chunk(0, b"abc")

    async def fail(path, meter):
        upload.touched -= ABANDONED_S + 1
        raise ServiceUnreachableError("Gone.")

    with pytest.raises(ServiceUnreachableError):
        await upload.finish(fail)
    assert upload.describe().waiting is None
    uploads.close()


async def test_an_upload_that_is_given_up_is_forgotten(jupyter):
    upload = await begin(jupyter)
    await jupyter.delete(f"files/uploads/{upload['id']}", headers=LOGIN)
    answer = await jupyter.get(f"files/uploads/{upload['id']}", headers=LOGIN)
    assert answer.status_code == 404
    assert "Start it again" in answer.json()["error"]


async def test_an_upload_that_cannot_be_is_refused(jupyter):
    for body in ({}, {"name": "a"}, {"name": "a", "sizeBytes": 0}, {"name": "", "sizeBytes": 1}):
        answer = await jupyter.post("files/uploads", headers=LOGIN, json=body)
        assert answer.status_code == 400, body
        assert answer.json()["error"], body


async def test_folders_are_listed_looked_into_and_deleted_as_a_whole(jupyter):
    for name, folder in (("a.pdb", "targets"), ("b.pdb", "targets"), ("top.pdb", None)):
        upload = await begin(jupyter, name, 4, folder=folder)
        await send(jupyter, upload, b"ATOM")
        await finish(jupyter, upload)
    rows = {row["fileName"]: row["isFolder"] for row in await list_files(jupyter)}
    assert rows == {"targets": True, "top.pdb": False}
    assert {row["fileName"] for row in await list_files(jupyter, "?folder=targets")} == {"a.pdb", "b.pdb"}
    await jupyter.delete("files?folder=targets", headers=LOGIN)
    assert [row["fileName"] for row in await list_files(jupyter)] == ["top.pdb"]


async def test_a_file_of_the_file_browser_is_uploaded_as_it_is_now(jupyter, tmp_path):
    for content in (b"ATOM", b"HETA"):
        (tmp_path / "local.pdb").write_bytes(content)
        begun = await jupyter.post("files/contents", headers=LOGIN, json={"path": "local.pdb"})
        assert (await finish(jupyter, begun.json())).json()["path"] == "local.pdb"
    missing = await jupyter.post("files/contents", headers=LOGIN, json={"path": "none.pdb"})
    assert missing.status_code == 404


async def test_a_file_of_the_file_browser_that_the_service_refuses_leaves_no_copy(jupyter, tmp_path):
    (tmp_path / "local.pdb").write_bytes(b"ATOM")
    body = {"path": "local.pdb", "folder": "../elsewhere"}
    refused = await jupyter.post("files/contents", headers=LOGIN, json=body)
    assert refused.status_code == 400, refused.text
    assert list((settings.cache_dir() / "uploads").iterdir()) == []


async def test_a_restarted_jupyter_server_continues_with_the_received_part(tmp_path):
    before = Uploads(folder=tmp_path / "uploads")
    upload = before.begin(make_request())
    await upload.write_chunk(0, b"ab")
    beside = Uploads(folder=tmp_path / "uploads")
    assert beside.begin(make_request()).id != upload.id, "two servers wrote to one file"
    assert beside.find(upload.id, "ann") is None
    beside.close()
    before.close()
    after = Uploads(folder=tmp_path / "uploads")
    found = after.find(upload.id, "ann")
    assert found.describe() == upload.describe()
    assert after.begin(make_request()) is found
    await found.write_chunk(2, b"c")
    sent = []

    async def send(path, meter):
        sent.append(path.read_bytes())
        return "a"

    assert (await found.finish(send)).path == "a"
    after.close()
    last = Uploads(folder=tmp_path / "uploads")
    assert (await last.find(upload.id, "ann").finish(send)).path == "a"
    assert sent == [b"abc"]
    last.close()


@pytest.mark.parametrize("name", ["../../config/keys", "x" * 22, "-" * 21 + "/"])
async def test_an_unknown_id_is_not_found(name, tmp_path):
    (tmp_path / "uploads").mkdir()
    assert Uploads(folder=tmp_path / "uploads").find(name, "ann") is None


async def test_what_an_earlier_server_left_is_removed_when_it_is_old(tmp_path):
    before = Uploads(folder=tmp_path)
    old, young = before.begin(make_request("old")), before.begin(make_request("young"))
    before.close()
    past = time.time() - KEPT_S - 60
    for path in (old.path, old.path.with_suffix(".json")):
        os.utime(path, (past, past))
    after = Uploads(folder=tmp_path)
    after.begin(make_request("new"))
    assert not [*tmp_path.glob(f"{old.id}*")]
    assert len([*tmp_path.glob(f"{young.id}*")]) == 2
    after.close()


async def test_a_disk_without_room_is_reported_in_words(tmp_path):
    uploads = Uploads(folder=tmp_path)
    upload = uploads.begin(make_request())
    upload.path.unlink()
    upload.path.mkdir()  # the folder is not writable
    with pytest.raises(ConfigurationError, match="cannot store a.*Free disk space"):
        await upload.write_chunk(0, b"abc")
    uploads.close()


def make_request(name="a", owner="ann"):
    return PlannedUpload(owner, name, None, 3)


async def test_other_users_cannot_find_an_upload():
    uploads = Uploads()
    upload = uploads.begin(make_request())
    assert uploads.find(upload.id, "ann") is upload
    assert uploads.find(upload.id, "bob") is None
    uploads.close()


async def test_an_abandoned_upload_is_removed():
    now = 0.0
    uploads = Uploads(lambda: now)
    upload = uploads.begin(make_request())
    upload.touched = 0.0
    now = KEPT_S + 1
    uploads.begin(make_request("b"))
    assert not upload.path.exists()
    assert uploads.find(upload.id, "ann") is None
    uploads.close()


async def test_a_refused_file_can_be_passed_on_again():
    uploads = Uploads()
    upload = uploads.begin(make_request())
    await upload.write_chunk(0, b"abc")
    sent = []

    async def fail(path, meter):
        raise ServiceError("No.")

    async def work(path, meter):
        meter(3, 3)
        sent.append(path.read_bytes())
        return "a"

    with pytest.raises(ServiceError):
        await upload.finish(fail)
    assert (await upload.finish(work)).path == "a"
    assert (await upload.finish(fail)).path == "a"
    assert sent == [b"abc"]
    uploads.close()


async def test_a_file_without_bytes_is_refused_before_it_is_sent():
    with pytest.raises(ArgumentError, match="is empty"):
        Uploads().begin(PlannedUpload("ann", "a", None, 0))
