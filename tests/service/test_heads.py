"""HEAD returns the headers of GET for every route."""

import httpx
import pytest

PATHS = ["/jobs?limit=3", "/files", "/files/head.pdb", "/files/nothing", "/tools", "/tools.json", "/healthz"]


@pytest.mark.parametrize("prefix", ["", "/v1", "/api"])
@pytest.mark.parametrize("path", PATHS)
def test_the_head_is_that_of_the_answer_to_get(client, prefix, path):
    client.put("/upload/head.pdb", content=b"ATOM")
    head, whole = client.head(prefix + path), client.get(prefix + path)
    assert head.status_code == whole.status_code
    assert head.headers["content-type"] == whole.headers["content-type"]
    assert head.content == b""
    if "/jobs" not in path:  # other tests submit meanwhile
        assert int(head.headers["content-length"]) == len(whole.content)


def test_a_head_needs_the_key_that_the_answer_needs(service):
    assert httpx.head(f"{service.url}/files").status_code == 401
    assert httpx.head(f"{service.url}/jobs").status_code == 403


def test_a_route_without_get_has_no_head(client):
    answer = client.head("/submit-job")
    assert answer.status_code == 405
    assert "HEAD" not in answer.headers["allow"]
