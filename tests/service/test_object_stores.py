"""Contents in a folder and in a bucket: the shared contract, and faults that only a bucket has."""

import contextlib
import hashlib
import os
import time
import traceback
from dataclasses import replace

import httpx
import pytest
from object_server import AWAY, CREDENTIALS, object_server, refusal

from foldnote.errors import ConfigurationError
from foldnote.io import hold_lock
from foldnote.service.files import object_bucket
from foldnote.service.files.bucket import BucketClient, BucketError
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.files.conditions import is_full, is_passing
from foldnote.service.files.object_bucket import ObjectBucket, key_of
from foldnote.service.files.object_folder import ObjectFolder
from foldnote.service.files.object_opening import open_bucket, open_objects
from foldnote.service.files.objects import YOUNG_S
from foldnote.service.layout import BUCKET_MARK

MB = 1 << 20
TELLING = refusal(
    "403 Forbidden", f"InvalidAccessKeyId</Code><K>{CREDENTIALS['AWS_ACCESS_KEY_ID']}</K><Code>A"
)


@pytest.fixture
def credentials(monkeypatch):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def gate():
    return object_server().make_gate()


@pytest.fixture
def address(credentials, gate):
    """Create a bucket behind a gate that can fail."""
    return BucketAddress(f"s3://{object_server().make_bucket()}/a/prefix", endpoint=gate.url)


@pytest.fixture
def bucket(address, tmp_path):
    return ObjectBucket(BucketClient(address), tmp_path / "copies")


@pytest.fixture(params=["folder", "bucket"])
def objects(request, tmp_path):
    if request.param == "folder":
        return ObjectFolder(tmp_path / "objects")
    return request.getfixturevalue("bucket")


def age(objects, sha256):
    """Make a content look as if it had been written hours ago."""
    old = time.time() - YOUNG_S - 10
    for path in objects.path(sha256).parents[1].rglob(sha256):
        os.utime(path, (old, old))


def drop_copies(tmp_path):
    for path in (tmp_path / "copies").glob("??/*"):
        path.unlink()


def test_a_content_is_kept_under_its_hash(objects):
    sha256 = objects.put_bytes(b"one")
    assert sha256 == hashlib.sha256(b"one").hexdigest()
    assert (objects.has(sha256), objects.size_bytes(sha256)) == (True, 3)
    assert objects.path(sha256).read_bytes() == b"one"


def test_missing_content_is_reported(objects):
    assert not objects.has("ab" * 32)
    with pytest.raises(FileNotFoundError):
        objects.path("ab" * 32).read_bytes()
    with pytest.raises(FileNotFoundError):
        objects.size_bytes("ab" * 32)


def test_a_draft_that_is_left_stores_nothing(objects, tmp_path):
    with objects.draft() as draft:
        draft.write(b"half")
    assert not objects.has(hashlib.sha256(b"half").hexdigest())
    assert not list(tmp_path.rglob("drafts/*"))


def test_a_file_that_is_adopted_stays_where_it_was(objects, tmp_path):
    source = tmp_path / "result.zip"
    source.write_bytes(b"zip")
    sha256 = hashlib.sha256(b"zip").hexdigest()
    for _ in range(2):
        objects.adopt(source, sha256)
    source.unlink()
    assert objects.path(sha256).read_bytes() == b"zip"


def test_only_unused_contents_are_removed(objects):
    used, unused = (objects.put_bytes(text) for text in (b"used", b"unused"))
    age(objects, used)
    age(objects, unused)
    objects.collect(lambda sha256: sha256 == used, young_s=-1)
    assert (objects.has(used), objects.has(unused)) == (True, False)


def test_a_content_that_was_just_stored_is_not_removed(objects):
    sha256 = objects.put_bytes(b"its row is not committed yet")
    assert not objects.release(sha256, lambda _: False)
    objects.collect(lambda _: False)
    assert objects.has(sha256)


def test_a_released_content_is_removed_when_it_is_unused(objects):
    sha256 = objects.put_bytes(b"of a deleted job")
    age(objects, sha256)
    assert objects.release(sha256, lambda _: True)
    assert objects.has(sha256)
    assert objects.release(sha256, lambda _: False)
    assert not objects.has(sha256)
    assert objects.release(sha256, lambda _: False)


def test_a_store_that_works_has_no_fault(objects):
    assert objects.find_fault() is None


# a bucket


def test_a_content_is_fetched_again_when_its_copy_is_gone(bucket, tmp_path):
    sha256 = bucket.put_bytes(b"one")
    drop_copies(tmp_path)
    assert (bucket.is_cached(sha256), bucket.has(sha256)) == (False, True)
    assert bucket.path(sha256).read_bytes() == b"one"
    assert bucket.is_cached(sha256)


def test_a_large_content_is_sent_in_parts_and_read_by_ranges(bucket, tmp_path):
    content = os.urandom(9 * MB)
    sha256 = bucket.put_bytes(content)
    drop_copies(tmp_path)
    assert b"".join(bucket.read(sha256, (8 * MB, 8 * MB + 10))) == content[8 * MB : 8 * MB + 10]
    assert bucket.path(sha256).read_bytes() == content


def test_a_content_that_was_changed_in_the_bucket_is_not_taken(bucket, tmp_path):
    sha256 = bucket.put_bytes(b"one")
    drop_copies(tmp_path)
    bucket.bucket.put(key_of(sha256), b"two")
    with pytest.raises(OSError, match="is damaged"):
        bucket.path(sha256)
    assert not bucket.is_cached(sha256)


def test_the_bucket_gets_nothing_of_an_interrupted_upload(bucket, gate, tmp_path):
    gate.bytes_left = 9 * MB
    with pytest.raises(BucketError):
        bucket.put_bytes(os.urandom(20 * MB))
    gate.bytes_left = None
    assert not list(bucket.bucket.list("objects"))
    assert not list(tmp_path.rglob("drafts/*"))


@pytest.mark.parametrize(
    ("answer", "told", "is_space"),
    [
        (AWAY, "cannot be reached", False),
        (refusal("403 Forbidden", "InvalidAccessKeyId"), r"refuses the service's credentials", False),
        (refusal("507 Insufficient Storage", "XMinioStorageFull"), "is full", True),
    ],
)
def test_a_store_that_fails_is_a_clear_error_that_may_pass(bucket, gate, answer, told, is_space):
    gate.answer = answer
    with pytest.raises(BucketError, match=told) as caught:
        bucket.put_bytes(b"one")
    assert (is_passing(caught.value), is_full(caught.value)) == (True, is_space)
    assert told.split()[-1] in bucket.find_fault()
    gate.answer = None
    assert bucket.put_bytes(b"one")


def test_an_error_names_no_credentials(bucket, gate):
    gate.answer = TELLING
    with pytest.raises(BucketError) as caught:
        bucket.put_bytes(b"one")
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + bucket.find_fault()
    assert not [word for word in CREDENTIALS.values() if word.startswith("testing") and word in shown]


def test_a_signed_link_gives_the_content_without_a_key(bucket):
    sha256 = bucket.put_bytes(b"one")
    link = bucket.find_link(sha256)
    answer = httpx.get(link, headers={"range": "bytes=1-"})
    assert (answer.status_code, answer.content) == (206, b"ne")
    assert answer.headers["content-disposition"] == "attachment"
    assert httpx.head(bucket.find_link(sha256, "HEAD")).headers["content-length"] == "3"


def test_no_link_is_given_where_users_cannot_reach_the_store(address, tmp_path):
    hidden = ObjectBucket(BucketClient(replace(address, has_links=False)), tmp_path / "copies")
    assert hidden.find_link(hidden.put_bytes(b"one")) is None


def test_an_upload_of_another_replica_is_not_removed_meanwhile(address, tmp_path):
    """One replica finds a content unused, and another stores it again before the removal."""
    here, there = (ObjectBucket(BucketClient(address), tmp_path / "copies", name) for name in "ab")
    sha256 = here.put_bytes(b"one")
    age(here, sha256)
    assert there.put_bytes(b"one") == sha256
    assert not here.release(sha256, lambda _: False)
    assert there.has(sha256)


def test_a_claim_that_another_replica_renews_is_kept(address, tmp_path, monkeypatch):
    """The other replica holds the lock of the claims, and renews an old one, when this one removes it."""
    here = ObjectBucket(BucketClient(address), tmp_path / "copies")
    claim = tmp_path / "copies" / "claims" / here.put_bytes(b"one")
    os.utime(claim, (0, 0))

    def wait_for_the_other(*arguments, **options):
        os.utime(claim)
        return hold_lock(*arguments, **options)

    monkeypatch.setattr(object_bucket, "hold_lock", wait_for_the_other)
    here.collect(lambda _: True)
    assert claim.exists()


def test_a_size_is_known_although_another_thread_forgets_it(bucket, monkeypatch):
    class Forgotten(dict):
        def __contains__(self, key):
            found = super().__contains__(key)
            self.clear()
            return found

    sha256 = bucket.put_bytes(b"one")
    monkeypatch.setattr(bucket, "_sizes", Forgotten({sha256: 3}))
    assert bucket.size_bytes(sha256) == 3


def test_copies_are_limited(address, tmp_path):
    small = ObjectBucket(BucketClient(replace(address, cache_mb=1)), tmp_path / "copies")
    first, second = (small.put_bytes(os.urandom(MB)) for _ in range(2))
    age(small, first)
    small.put_bytes(os.urandom(MB))
    assert not small.is_cached(first)
    assert small.is_cached(second)  # it was just used
    assert small.has(first)


def test_uploads_by_links_that_nobody_took_over_are_removed(bucket):
    bucket.bucket.put("uploads/token", b"one")
    bucket.collect(lambda _: False)
    assert [each.key for each in bucket.bucket.list("uploads")] == ["uploads/token"]


def open_for(folder, address):
    folder.mkdir(exist_ok=True)
    return open_objects(folder, address)


def test_a_bucket_belongs_to_one_service(address, tmp_path):
    sha256 = open_for(tmp_path / "one", address).put_bytes(b"one")
    assert open_for(tmp_path / "one", address).has(sha256)
    with pytest.raises(ConfigurationError, match="holds the contents of another service"):
        open_for(tmp_path / "two", address)
    with pytest.raises(ConfigurationError, match=r"The contents of .*one are in s3://"):
        open_for(tmp_path / "one", None)
    other = replace(address, url=f"{address.url}/other")
    with pytest.raises(ConfigurationError, match=r"are in s3://.*, not in s3://"):
        open_for(tmp_path / "one", other)


def test_a_bucket_that_was_emptied_is_refused(address, tmp_path):
    opened = open_for(tmp_path / "one", address)
    opened.bucket.delete("foldnote-service.json")
    with pytest.raises(ConfigurationError, match=r"does not have the contents of .*one"):
        open_for(tmp_path / "one", address)


def test_a_bucket_that_was_being_marked_when_the_service_died_is_marked(address, tmp_path, gate):
    gate.answer = AWAY
    with pytest.raises(ConfigurationError, match="cannot be reached"):
        open_for(tmp_path / "one", address)
    gate.answer = None
    assert open_for(tmp_path / "one", address).find_fault() is None


def test_a_bucket_is_not_opened_while_another_process_opens_it(address, tmp_path):
    open_for(tmp_path / "one", address)
    with (
        hold_lock(tmp_path / "one" / f"{BUCKET_MARK}.lock"),
        pytest.raises(ConfigurationError, match=r"another process has been opening s3://.* for .*one"),
    ):
        open_bucket(tmp_path / "one", address, "", lock_timeout_s=0.2)


def test_contents_in_the_folder_must_be_moved_before_a_bucket_is_used(address, tmp_path):
    open_for(tmp_path / "one", None).put_bytes(b"one")
    with pytest.raises(ConfigurationError, match="move-to-bucket"):
        open_for(tmp_path / "one", address)


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"url": "s3://name:secret@lab/x"}, "without credentials"),
        ({"url": "ftp://lab"}, "needs a url such as"),
        ({"url": "s3://lab", "access_key_id": "x"}, "unknown option 'access_key_id'.*environment"),
        ({"url": "s3://lab", "has_links": "yes"}, "it must be true or false"),
        ({"url": "s3://lab", "endpoint": "minio:9000"}, "begins with https://"),
        ({"url": "s3://lab", "cache_mb": -1}, "must not be negative"),
        ({"endpoint": "https://minio"}, "needs a url"),
    ],
)
def test_a_wrong_section_is_refused_with_the_reason(section, told):
    with pytest.raises(ConfigurationError, match=told):
        BucketAddress.read(section)


def test_without_a_section_contents_are_in_the_folder(tmp_path):
    assert BucketAddress.read({}) is None
    assert isinstance(open_objects(tmp_path, None), ObjectFolder)


def test_credentials_of_a_profile_are_used(address, tmp_path, monkeypatch):
    file = tmp_path / "credentials"
    file.write_text("[lab]\naws_access_key_id = profile-name\naws_secret_access_key = x\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    opened = ObjectBucket(BucketClient(replace(address, profile="lab")), tmp_path / "copies")
    with contextlib.closing(httpx.Client(timeout=60)) as client:
        assert "profile-name" in opened.find_link(opened.put_bytes(b"one"))
        assert client.get(opened.find_link(opened.put_bytes(b"one"))).content == b"one"


@pytest.mark.parametrize("url", ["gs://lab-foldnote/x", "az://lab-foldnote/x"])
def test_buckets_of_other_providers_are_opened(url, monkeypatch):
    monkeypatch.setenv("GOOGLE_SKIP_SIGNATURE", "true")
    assert BucketClient(BucketAddress(url, account="lab", endpoint="http://127.0.0.1:1")).address.url == url
