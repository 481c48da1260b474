"""Uploads: stored, listed by folder and page, replaced, deleted, downloaded by link with ranges."""

import httpx
import pytest


def upload(client, name, content=b"ATOM\n", **params):
    return client.put(f"/upload/{name}", content=content, params=params)


def listed(client, **params):
    return client.get("/files", params=params).json()


def test_an_upload_gives_two_addresses(client, service, name):
    receipt = upload(client, f"{name}.pdb", b"one").json()
    assert set(receipt) == {"message", "fileUrl", "signedUrl"}
    assert httpx.get(receipt["signedUrl"]).content == b"one"
    assert httpx.get(receipt["fileUrl"]).status_code == 401
    assert client.get(receipt["fileUrl"]).content == b"one"


def test_a_listed_file_has_its_record(client, name):
    upload(client, "a.pdb", b"12345", folder=name)
    page = listed(client, folder=name)
    assert (page["total"], page["hasMore"]) == (1, False)
    record = page["files"][0]
    assert (record["fileName"], record["name"], record["fileSize"], record["folder"]) == (
        "a.pdb",
        "a.pdb",
        5,
        name,
    )
    assert record["fileId"]
    assert record["uploadTime"].endswith("Z")


def test_the_same_name_is_replaced(client, name):
    for content in (b"old", b"newer"):
        upload(client, "a.pdb", content, folder=name)
    page = listed(client, folder=name)
    assert (page["total"], page["files"][0]["fileSize"]) == (1, 5)


def test_pages_have_every_file_once(client, name):
    for number in range(7):
        upload(client, f"{number}.pdb", folder=name)
    pages = [listed(client, folder=name, limit=3, offset=offset) for offset in (0, 3, 6)]
    assert [len(page["files"]) for page in pages] == [3, 3, 1]
    assert [page["hasMore"] for page in pages] == [True, True, False]
    assert {file["name"] for page in pages for file in page["files"]} == {f"{n}.pdb" for n in range(7)}


def test_folders_are_listed_on_demand(client, name):
    upload(client, "a.pdb", folder=f"{name}/inner")
    assert listed(client, folder=name)["total"] == 0
    page = listed(client, folder=name, includeFolders="true")
    assert (page["files"][0]["name"], page["files"][0]["isFolder"]) == ("inner", True)


def test_a_folder_is_deleted_with_what_is_below(client, name):
    upload(client, "a.pdb", folder=name)
    upload(client, "b.pdb", folder=f"{name}/inner")
    upload(client, "c.pdb", folder=f"{name}2")
    assert client.delete("/delete-file", params={"folder": name}).json() == {
        "message": f"2 files in {name} were deleted."
    }
    assert listed(client, folder=f"{name}/inner")["total"] == 0
    assert listed(client, folder=f"{name}2")["total"] == 1
    one = client.delete("/delete-file", params={"folder": f"{name}2"}).json()
    assert one == {"message": f"1 file in {name}2 was deleted."}


def test_a_deleted_file_is_gone_with_its_link(client, name):
    link = upload(client, f"{name}.pdb").json()["signedUrl"]
    assert client.delete("/delete-file", params={"filePath": f"{name}.pdb"}).status_code == 200
    assert httpx.get(link).status_code == 404
    again = client.delete("/delete-file", params={"filePath": f"{name}.pdb"})
    assert (again.status_code, again.json()["code"]) == (400, "file_not_found")


@pytest.mark.parametrize(
    "params", [{}, {"filePath": "a", "folder": "b"}, {"folder": "never-made"}, {"folder": ""}]
)
def test_an_unclear_deletion_is_refused(client, params):
    assert client.delete("/delete-file", params=params).status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e",
        "..%2f..%2fetc%2fpasswd",
        "a%2Fb.pdb",
        "a%00.pdb",
        "%0a",
        "a%0ab.pdb",
        "a%5cb",
        "%20",
        "x" * 256,
        "%ff",
        "con%3a",
    ],
)
def test_hostile_file_names_are_refused(service, path):
    url = httpx.URL(f"{service.url}/upload/x").copy_with(raw_path=f"/upload/{path}".encode())
    answer = service.client.put(url, content=b"x")
    assert answer.status_code == 400, answer.text
    assert answer.json()["field"] == "filename"


@pytest.mark.parametrize("folder", ["..", "a/../b", "a//b", "a\x00b", "/".join("a" * 20), "a\\b"])
def test_hostile_folders_are_refused(client, folder):
    for answer in (upload(client, "a.pdb", folder=folder), client.get("/files", params={"folder": folder})):
        assert (answer.status_code, answer.json()["field"]) == (400, "folder")


def test_an_empty_file_is_invalid(client):
    refusal = upload(client, "empty.pdb", b"").json()
    assert (refusal["code"], refusal["error"]) == ("invalid_file", "The file 'empty.pdb' is empty.")


@pytest.mark.parametrize(
    "params", [{"limit": 0}, {"limit": "x"}, {"offset": -1}, {"offset": 10**30}, {"includeFolders": "no"}]
)
def test_wrong_paging_is_refused(client, params):
    answer = client.get("/files", params=params)
    assert (answer.status_code, answer.json()["field"]) == (400, next(iter(params)))


def test_more_than_a_hundred_are_clamped(client):
    assert client.get("/files", params={"limit": 1000}).status_code == 200


class TestLinks:
    """A link serves one unchanged content for an hour."""

    @pytest.fixture
    def link(self, client, name):
        return httpx.URL(upload(client, f"{name}.bin", bytes(range(200))).json()["signedUrl"])

    def test_ranges(self, link):
        answer = httpx.get(link, headers={"Range": "bytes=10-19"})
        assert (answer.status_code, answer.content) == (206, bytes(range(10, 20)))
        assert httpx.get(link, headers={"Range": "bytes=-5"}).content == bytes(range(195, 200))
        assert httpx.get(link, headers={"Range": "bytes=500-"}).status_code == 416

    def test_head(self, link):
        answer = httpx.head(link)
        assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "200")

    def test_it_answers_under_each_prefix(self, link):
        for prefix in ("/v1", "/api"):
            assert httpx.get(link.copy_with(path=prefix + link.path)).status_code == 200

    @pytest.mark.parametrize("key", ["owner", "expires", "keyId", "signature"])
    def test_a_changed_query_is_refused(self, link, key):
        value = link.params[key]
        changed = (
            ("1" if value[0] != "1" else "2") + value[1:] if not value.isdigit() else str(int(value) + 1)
        )
        assert httpx.get(link.copy_set_param(key, changed)).status_code == 403
        assert httpx.get(link.copy_remove_param(key)).status_code == 403

    def test_another_path_is_refused(self, link):
        parts = link.path.split("/")
        for index in range(2, len(parts)):
            changed = [*parts[:index], parts[index][::-1] + "0", *parts[index + 1 :]]
            answer = httpx.get(link.copy_with(path="/".join(changed)))
            assert answer.status_code in (403, 404)

    def test_a_link_takes_only_get(self, link):
        for method in ("PUT", "POST", "DELETE"):
            assert httpx.request(method, link).status_code == 405


class TestPresignedUpload:
    """A link to PUT to, one to HEAD, and the key for a file field."""

    def links(self, client, filename):
        answer = client.post(
            "/getPresignedUploadUrl", json={"filename": filename, "contentType": "chemical/x-pdb"}
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def test_the_bytes_become_a_file(self, client, name):
        links = self.links(client, f"{name}/in ü.pdb")
        assert set(links) == {"uploadUrl", "headUrl", "key"}
        assert httpx.head(links["headUrl"]).status_code == 404
        assert httpx.put(links["uploadUrl"], content=b"ATOM").status_code == 200
        assert httpx.head(links["headUrl"]).status_code == 200
        assert client.get(f"/files/{links['key']}").content == b"ATOM"

    def test_a_link_is_good_for_its_method_and_name(self, client, name):
        links = self.links(client, f"{name}.pdb")
        assert httpx.put(links["headUrl"], content=b"x").status_code == 403
        assert httpx.head(links["uploadUrl"]).status_code == 403
        other = links["uploadUrl"].replace(f"{name}.pdb", f"{name}.txt")
        assert httpx.put(other, content=b"x").json()["code"] == "invalid_signature"

    @pytest.mark.parametrize("filename", ["", "../x", "a/../b", "x\n"])
    def test_a_hostile_name_is_refused(self, client, filename):
        answer = client.post("/getPresignedUploadUrl", json={"filename": filename})
        assert (answer.status_code, answer.json()["field"]) == (400, "filename")


def test_no_model_is_finetuned_yet(client):
    assert client.get("/finetuned-models").json() == {"models": []}
