"""Weights are downloaded from a real server, verified, shared, and never used before they are complete."""

import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from fault_layer import FaultLayer
from weights_server import WeightsServer

from foldnote.errors import EngineError, EngineInstallError
from foldnote.service.engines import build_attempt, engine_for, read_engine
from foldnote.service.engines.checking import verify_weights
from foldnote.service.engines.command import run_install, run_list, run_remove
from foldnote.service.engines.install import install, remove
from foldnote.service.engines.launch import describe, make_environment
from foldnote.service.engines.licences import read_acceptances
from foldnote.service.engines.weights.archives import name_git_tree
from foldnote.service.engines.weights.store import MARKER, Offer
from foldnote.service.runner.attempt import Outcome, prepare_attempt

CONTENT = random.Random(5).randbytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server():
    server = WeightsServer()
    server.files["/model.pt"] = CONTENT
    yield server
    server.close()


@pytest.fixture(autouse=True)
def engines_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "environments"))
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path / "engines"))
    return tmp_path / "environments"


@pytest.fixture
def make_engine(tmp_path, server):
    """Write and read an engine that runs in this Python and needs one file of weights."""

    def make(name="tiny", *, text=None, head="", **changed):
        row = {"name": "Tiny weights", "file": "model.pt", "url": f"{server.address}/model.pt"}
        row |= {"licence": "CC-BY-4.0", "source": "Its authors (2026)", "sha256": SHA256} | changed
        folder = tmp_path / "engines" / name
        folder.mkdir(parents=True, exist_ok=True)
        lines = text or "\n".join(f"{key} = {json.dumps(value)}" for key, value in row.items())
        (folder / "engine.toml").write_text(
            f'name = "{name}"\nmethod = "Tiny"\nkind = "genuine"\nversion = "1"\ntools = ["anarci"]\n{head}'
            f'[environment]\nkind = "host"\n[[weights]]\n{lines}\n'
        )
        return read_engine(folder)

    return make


def refuse(engine, **more):
    with pytest.raises(EngineInstallError) as caught:
        install(engine, lambda event: None, **more)
    assert not engine.state().installed
    return caught.value.message


def contents(engines_dir, kind="published"):
    return sorted(path.name for path in (engines_dir / ".weights" / kind).glob("*"))


def read_weights_of(engine):
    return (engine.home / "weights/model.pt").read_bytes()


def test_weights_are_fetched_verified_and_found_by_the_engine(make_engine, server, engines_dir):
    engine = make_engine()
    assert "an unknown amount to fetch" in engine.state().reason
    events = []
    install(engine, events.append)
    assert read_weights_of(engine) == CONTENT
    assert engine.state().installed
    assert contents(engines_dir) == [SHA256]
    assert list((engines_dir / ".weights/partial").glob("*[!k]")) == []
    assert make_environment(engine, 1)["FOLDNOTE_WEIGHTS"] == str(engine.home / "weights")
    said = next(event.message for event in events if event.message.startswith("weights:"))
    assert said == "weights: Tiny weights, of unknown size, from 127.0.0.1; licence: CC-BY-4.0"


def test_what_is_installed_is_not_fetched_again(make_engine, server):
    install(make_engine(), lambda event: None)
    install(make_engine(), lambda event: None)
    assert len(server.requests) == 1


def test_weights_of_another_size_do_not_count_and_are_fetched_again(make_engine, server):
    engine = make_engine()
    install(engine, lambda event: None)
    content = (engine.home / "weights/model.pt").resolve()
    content.chmod(0o600)
    content.write_bytes(CONTENT[:-1])
    state = engine.state()
    assert not state.installed
    assert "are damaged (Tiny weights changed its size on the disk)" in state.reason
    assert "run `foldnote engines install tiny` (an unknown amount to fetch)" in state.reason
    out = io.StringIO()
    run_list(["anarci"], as_json=True, stream=out)
    (row,) = [row for row in json.loads(out.getvalue()) if row["engine"] == "tiny"]
    assert (row["runs"], row["weights"][0]["state"]) == (False, None)
    assert "are damaged" in row["how"]
    install(engine, lambda event: None)
    assert (read_weights_of(engine), len(server.requests)) == (CONTENT, 2)
    assert engine.state().installed


def test_weights_of_another_content_are_removed_by_the_check_and_fetched_again(make_engine, server):
    engine = make_engine()
    install(engine, lambda event: None)
    verify_weights(engine, io.StringIO())
    content = (engine.home / "weights/model.pt").resolve()
    content.chmod(0o600)
    content.write_bytes(bytes(len(CONTENT)))
    with pytest.raises(EngineError, match="Tiny weights is not what was installed, and was removed"):
        verify_weights(engine, io.StringIO())
    assert not engine.state().installed
    install(engine, lambda event: None)
    assert (read_weights_of(engine), len(server.requests)) == (CONTENT, 2)


def test_two_engines_share_one_content_until_neither_uses_it(make_engine, server, engines_dir):
    first, second = make_engine(), make_engine("other")
    for engine in (first, second):
        install(engine, lambda event: None)
    assert len(server.requests) == 1
    out = io.StringIO()
    run_remove(["tiny"], stream=out)
    assert out.getvalue() == "tiny: removed; 300 kB of weights stay for other engines\n"
    assert read_weights_of(second) == CONTENT
    run_remove(["other"], stream=out)
    assert out.getvalue().endswith("other: removed, with 300 kB of weights\n")
    assert contents(engines_dir) == []


def test_an_interrupted_download_resumes_where_it_stopped(make_engine, server):
    server.cut_after, server.cuts = 100_000, 2
    install(make_engine(), lambda event: None)
    assert server.ranges == [None, "bytes=100000-", "bytes=200000-"]


def test_the_next_installation_resumes_where_the_last_one_was_killed(make_engine, server):
    engine = make_engine()
    server.cut_after, server.cuts, server.stall_s = 200_000, 1, 5.0  # more than Python buffers
    with start_installing("tiny") as process:
        part = next_part(engine)
        process.kill()
    assert not engine.state().installed
    have = part.stat().st_size
    assert 0 < have <= 200_000
    install(engine, lambda event: None)
    assert server.ranges == [None, f"bytes={have}-"]
    assert read_weights_of(engine) == CONTENT


def start_installing(name):
    command = [sys.executable, "-m", "foldnote", "engines", "install", name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def next_part(engine):
    """Return the partial file, once it has content."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for path in (engine.home.parent / ".weights/partial").glob("*"):
            if not path.suffix and path.exists() and path.stat().st_size:
                return path
        time.sleep(0.002)
    raise AssertionError("nothing was fetched")


def test_a_server_without_ranges_sends_the_whole_again(make_engine, server):
    server.has_ranges = False
    server.cut_after, server.cuts = 100_000, 1
    install(make_engine(), lambda event: None)
    assert server.ranges == [None, "bytes=100000-"]


def test_a_file_that_changed_in_between_is_fetched_from_its_begin(make_engine, server):
    engine = make_engine()
    server.cut_after, server.cuts = 100_000, 99
    server.has_ranges = False
    refuse(engine)
    server.cuts, server.has_ranges, server.etag = 0, True, '"two"'
    install(engine, lambda event: None)
    assert read_weights_of(engine) == CONTENT


def test_a_connection_that_is_cut_again_and_again_ends_in_a_sentence(make_engine, server, engines_dir):
    server.has_ranges, server.cut_after, server.cuts = False, 100_000, 99
    message = refuse(make_engine())
    assert "Tiny weights could not be fetched from 127.0.0.1" in message
    assert "100 kB of it are there, and installing it again continues from there." in message
    assert "--weights FOLDER" in message
    assert contents(engines_dir) == []


def test_a_server_that_is_not_there_is_reported(make_engine, server):
    server.close()
    assert "Check the network and try again." in refuse(make_engine())


def test_another_hash_is_refused_and_nothing_is_kept(make_engine, server, engines_dir):
    server.files["/model.pt"] = CONTENT[:-1] + b"x"
    message = refuse(make_engine())
    assert f"{SHA256} was published. It is not used." in message
    assert contents(engines_dir) == []
    server.files["/model.pt"] = CONTENT
    install(make_engine(), lambda event: None)
    assert server.ranges == [None, None]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": 404}, "answers 404 Not Found. Its authors may have moved it."),
        ({"status": 403}, "answers 403 Forbidden."),
        ({"status": 503}, "it answers 503 Service Unavailable"),
        ({"headers": {"Content-Type": "text/html; charset=utf-8"}}, "a web page instead of the file"),
        ({"headers": {"Content-Encoding": "gzip"}}, "an encoding that was not asked for"),
    ],
)
def test_an_answer_without_the_file_is_reported(make_engine, server, change, words):
    for name, value in change.items():
        setattr(server, name, value)
    assert words in refuse(make_engine())


def test_a_size_that_is_not_the_published_one_is_refused_before_the_download(make_engine, server):
    assert "300,000 bytes now, and 299,999 were published" in refuse(make_engine(size_bytes=299_999))


def test_without_a_hash_a_download_of_unknown_length_is_refused(make_engine, server):
    server.headers = {"Content-Length": None}
    assert "does not say how long the file is" in refuse(make_engine(sha256=""))


def test_an_unpublished_hash_is_recorded_and_checked_afterwards(make_engine, server, engines_dir):
    engine = make_engine(sha256="")
    install(engine, lambda event: None)
    (row,) = engine.installed_weights()
    assert (row.sha256, row.basis) == (SHA256, "first")
    run_remove(["tiny"], stream=io.StringIO())
    server.files["/model.pt"] = CONTENT[::-1]
    message = refuse(engine)
    assert f"{SHA256} was recorded when it was first installed" in message
    server.files["/model.pt"] = CONTENT
    install(engine, lambda event: None)
    assert engine.installed_weights()[0].basis == "recorded"


def test_a_redirect_is_followed(make_engine, server):
    server.redirects["/old.pt"] = "/model.pt"
    install(make_engine(url=f"{server.address}/old.pt"), lambda event: None)
    assert [path for path, _ in server.requests] == ["/old.pt", "/model.pt"]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            "http://weights.example/model.pt",
            "is redirected to http://weights.example/model.pt, and it is not an https",
        ),
        ("ftp://weights.example/model.pt", "is not"),
        ("https://user:word@weights.example/model.pt", "contains a user name or a password"),
        ("/old.pt", "redirected again and again"),
    ],
)
def test_a_redirect_elsewhere_is_refused(make_engine, server, target, words):
    server.redirects["/old.pt"] = target
    message = refuse(make_engine(url=f"{server.address}/old.pt"))
    assert words in message or "cannot be fetched" in message


def test_nothing_of_the_user_is_sent(make_engine, server, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("FOLDNOTE_API_KEY", "sk-secret")
    server.headers = {"Set-Cookie": "id=7"}
    server.cut_after, server.cuts = 100_000, 1
    install(make_engine(), lambda event: None)
    for _, headers in server.requests:
        assert set(headers) <= {
            "Host",
            "Accept",
            "Accept-Encoding",
            "Connection",
            "User-Agent",
            "Range",
            "If-Range",
        }
        assert headers["User-Agent"] == "foldnote"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"file": "../escape.pt"}, "must be a plain path"),
        ({"file": "/etc/passwd"}, "must be a plain path"),
        ({"file": "a\\b"}, "must be a plain path"),
        ({"url": "http://weights.example/model.pt"}, "not an https address"),
        ({"url": "file:///etc/passwd"}, "not an https address"),
        ({"url": "https://me:word@weights.example/x"}, "a user name or a password"),
        ({"sha256": "ABC"}, "64 hexadecimal digits"),
        ({"licence": ""}, "must say something"),
        ({"contains": ["a"]}, "set unpack"),
        ({"unpack": True, "contains": ["../a"]}, "not a plain path"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_declaration_that_cannot_be_used_is_refused(make_engine, row, words):
    with pytest.raises(EngineError, match=".") as caught:
        make_engine(**row)
    assert words in caught.value.message


def test_two_entries_of_one_file_are_refused(make_engine):
    row = 'name = "A"\nurl = "https://a.example/a"\nlicence = "MIT"\nsource = "A"\nfile = "{}"\n'
    with pytest.raises(EngineError, match="used by two entries"):
        make_engine(text=f"{row.format('a')}[[weights]]\n{row.format('a/b')}")


def test_a_second_installation_of_the_same_file_waits_and_takes_it(make_engine, server, engines_dir):
    engine, other = make_engine(), make_engine("other")
    server.cut_after, server.cuts, server.stall_s = 200_000, 1, 2.0  # more than Python buffers
    messages = []
    with start_installing("tiny") as process:
        next_part(engine)
        install(other, lambda event: messages.append(event.message))
        process.communicate()
    waits = [message for message in messages if "waiting for process" in message]
    assert waits
    assert waits[0].startswith(f"Tiny weights: waiting for process {process.pid} of ")
    assert "Tiny weights is there already" in messages
    assert process.returncode == 0
    assert contents(engines_dir) == [SHA256]


def test_a_disk_that_gets_full_is_reported_and_given_back(make_engine, tmp_path, engines_dir):
    engine = make_engine()
    layer = FaultLayer(tmp_path, engines_dir / ".weights/partial")
    layer.set("ENOSPC", "w", 2, "foldnote")
    done = subprocess.run(
        [sys.executable, "-m", "foldnote", "engines", "install", "tiny"],
        env=os.environ | layer.environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (6, "")
    assert "The disk has too little space: Tiny weights" in done.stdout
    assert "FOLDNOTE_WEIGHTS_DIR" in done.stdout
    assert not engine.state().installed
    assert [path.suffix for path in (engines_dir / ".weights/partial").iterdir()] == [".lock"]


# --- a folder instead of the download


def test_a_folder_of_weights_is_verified_the_same_way(make_engine, server, tmp_path):
    given = tmp_path / "given"
    given.mkdir()
    (given / "model.pt").write_bytes(CONTENT[:-1])
    assert "is not the published file" in refuse(make_engine(), offer=Offer(given))
    (given / "model.pt").write_bytes(CONTENT)
    install(make_engine(), lambda event: None, offer=Offer(given))
    assert read_weights_of(make_engine()) == CONTENT
    assert (given / "model.pt").read_bytes() == CONTENT
    assert server.requests == []


def test_what_a_folder_lacks_is_reported_with_its_address(make_engine, tmp_path):
    message = refuse(make_engine(), offer=Offer(tmp_path))
    assert "there is no model.pt. It is published at http://127.0.0.1" in message
    assert "is not a folder" in refuse(make_engine(), offer=Offer(tmp_path / "absent"))


# --- stand-ins


@pytest.fixture
def stand_ins(tmp_path):
    folder = tmp_path / "stand-ins"
    folder.mkdir()
    (folder / "model.pt").write_bytes(b"random")
    (folder / MARKER).write_text("")
    return folder


def test_stand_ins_are_never_taken_for_published_weights(make_engine, stand_ins):
    engine = make_engine(sha256="")
    assert "holds stand-in weights" in refuse(engine, offer=Offer(stand_ins))
    install(engine, lambda event: None, offer=Offer(stand_ins, is_stand_in=True))
    assert [row.state for row in engine.installed_weights()] == ["stand-in"]
    (stand_ins / MARKER).unlink()
    with pytest.raises(EngineInstallError, match="is the stand-in that was installed before"):
        install(engine, lambda event: None, offer=Offer(stand_ins))


def test_published_weights_replace_stand_ins_and_not_the_other_way_round(make_engine, stand_ins, engines_dir):
    engine = make_engine()
    install(engine, lambda event: None, offer=Offer(stand_ins, is_stand_in=True))
    install(engine, lambda event: None)
    assert read_weights_of(engine) == CONTENT
    assert contents(engines_dir, "stand-in") == []
    with pytest.raises(EngineInstallError, match="stand-ins do not replace"):
        install(engine, lambda event: None, offer=Offer(stand_ins, is_stand_in=True))


def test_the_list_and_the_manifest_say_what_the_weights_are(make_engine, stand_ins, server):
    engine = make_engine()
    install(engine, lambda event: None, offer=Offer(stand_ins, is_stand_in=True))
    assert make_environment(engine, 1)["FOLDNOTE_WEIGHTS_STATE"] == "stand-in"
    assert "not yet checked with the published weights" in describe(engine)["note"]
    assert describe(engine)["weights"][0]["state"] == "stand-in"
    install(engine, lambda event: None)
    out = io.StringIO()
    run_list(["anarci"], as_json=True, stream=out)
    (row,) = [row for row in json.loads(out.getvalue()) if row["engine"] == "tiny"]
    assert row["weights"][0]["state"] == "published"
    assert row["weights_note"].startswith("Installed and run with stand-in weights; not yet checked")
    checked = make_engine(head="checked_with_published_weights = true\n")
    assert (checked.weights_note, describe(checked)["note"]) == ("", None)


RUN = """
import json
from pathlib import Path
Path("outputs/table.csv").write_text("a,b\\n1,2\\n")
Path("score.json").write_text(json.dumps({"plddt": 91.5}))
Path("notes.json").write_text(json.dumps(["A note."]))
"""


@pytest.mark.parametrize("is_stand_in", [True, False])
def test_a_run_with_stand_ins_has_no_figures_and_says_so(make_engine, stand_ins, tmp_path, is_stand_in):
    engine = make_engine()
    (engine.folder / "run.py").write_text(RUN)
    install(engine, lambda event: None, offer=Offer(stand_ins, is_stand_in=True) if is_stand_in else None)
    job = {
        "attempt_dir": tmp_path / "attempt",
        "nonce": "n",
        "job_name": "a",
        "tool": "anarci",
        "settings": {},
    }
    spec = build_attempt(engine, **job)
    prepare_attempt(spec)
    subprocess.run([sys.executable, "-m", "foldnote.service.runner.runner", spec.attempt_dir], check=True)
    outcome = Outcome.read(spec.folder)
    with zipfile.ZipFile(spec.folder / "result.zip") as archive:
        manifest, names = json.loads(archive.read("manifest.json")), archive.namelist()
    sentence = "Ran with stand-in weights: figures mean nothing."
    assert manifest["notes"] == ([sentence, "A note."] if is_stand_in else ["A note."])
    assert ("score.json" in names) != is_stand_in
    assert outcome.score == (None if is_stand_in else {"plddt": 91.5})
    assert outcome.note == (sentence if is_stand_in else None)


def test_the_installation_shows_size_licence_and_source_first(make_engine, server):
    make_engine(size_bytes=len(CONTENT))
    out = io.StringIO()
    assert run_install(["tiny"], stream=out) == 0
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert "weights: Tiny weights, 300 kB; licence: CC-BY-4.0" in lines
    assert f"from {server.address}/model.pt (Its authors (2026))" in lines
    assert f"SHA-256: {SHA256}" in lines


def test_terms_that_must_be_accepted_are(make_engine, server):
    engine = make_engine(must_accept=True)
    message = refuse(engine)
    assert "CC-BY-4.0 (Its authors (2026))" in message
    assert "foldnote engines install tiny --accept-licences" in message
    assert server.requests == []
    install(engine, lambda event: None, has_accepted=True)
    assert engine.state().installed
    assert [each.terms.name for each in read_acceptances()] == ["Tiny weights"]


def test_weights_can_come_later(make_engine, server):
    engine = make_engine()
    install(engine, lambda event: None, with_weights=False)
    assert server.requests == []
    assert engine.environment_state().installed
    assert "The weights of the engine tiny are not installed" in engine.state().reason


def test_all_engines_at_once_are_those_without_gigabytes_from_elsewhere(make_engine, server, monkeypatch):
    engine = make_engine()
    monkeypatch.setattr("foldnote.service.engines.command.load_engines", lambda: {"tiny": engine})
    out = io.StringIO()
    assert run_install([], stream=out) == 0
    assert "are installed by name: tiny" in out.getvalue()
    assert server.requests == []


# --- optional weights


MORE = CONTENT[:1000]
COMPLETE = '[with_optional_weights]\nmethod = "Tiny ensemble"\nnote = "Gives errors."\n'


@pytest.fixture
def make_optional(make_engine, server, tmp_path):
    """Write and read an engine that runs with one file of weights, and better with a second."""

    def make(needed=True, **changed):
        row = {"licence": "CC-BY-4.0", "source": "Its authors (2026)", "sha256": SHA256}
        more = row | {"name": "More", "file": "more.pt", "url": f"{server.address}/more.pt", "optional": True}
        first = row | {"name": "Needed", "file": "model.pt", "url": f"{server.address}/model.pt"}
        server.files["/more.pt"] = MORE
        own = {"sha256": hashlib.sha256(MORE).hexdigest(), "size_bytes": len(MORE)}
        rows = [*([first] if needed else []), more | own | changed]
        texts = ["\n".join(f"{key} = {json.dumps(value)}" for key, value in each.items()) for each in rows]
        return make_engine(text="\n[[weights]]\n".join(texts), head=f'note = "One model."\n{COMPLETE}')

    return make


def list_engine():
    out = io.StringIO()
    run_list(["anarci"], as_json=True, stream=out)
    return next(row for row in json.loads(out.getvalue()) if row["engine"] == "tiny")


def test_optional_weights_are_fetched_only_on_request(make_optional, server):
    engine = make_optional()
    install(engine, lambda event: None)
    assert [path for path, _ in server.requests] == ["/model.pt"]
    assert engine.state().installed
    assert make_environment(engine, 1).get("FOLDNOTE_OPTIONAL_WEIGHTS") is None
    row = list_engine()
    assert (row["method"], row["optional_method"]) == ("Tiny", "Tiny ensemble")
    assert [(each["optional"], each["state"]) for each in row["weights"]] == [
        (False, "published"),
        (True, None),
    ]
    install(engine, lambda event: None, with_optional=True)
    assert make_environment(engine, 1)["FOLDNOTE_OPTIONAL_WEIGHTS"] == "yes"
    row = list_engine()
    assert (row["method"], row["optional_method"]) == ("Tiny ensemble", "")


def test_an_engine_with_optional_weights_only_is_installed_with_no_network(make_optional, server):
    engine = make_optional(needed=False)
    assert run_install(["tiny"], stream=io.StringIO()) == 0
    assert server.requests == []
    assert engine.state().installed
    assert engine.weights_note == ""
    assert describe(engine)["weights"] == []


def test_all_engines_include_those_with_optional_weights(make_optional, server, monkeypatch):
    engine = make_optional(needed=False)
    monkeypatch.setattr("foldnote.service.engines.command.load_engines", lambda: {"tiny": engine})
    out = io.StringIO()
    assert run_install([], stream=out) == 0
    assert "optional weights (--optional-weights): More, 1 kB" in out.getvalue()
    assert "are installed by name" not in out.getvalue()
    assert server.requests == []


def test_the_table_says_what_optional_weights_add(make_optional):
    install(make_optional(), lambda event: None)
    out = io.StringIO()
    run_list(["anarci"], stream=out)
    words = " ".join(out.getvalue().split())
    assert "With `foldnote engines install tiny --optional-weights` (1 kB to fetch): Tiny ensemble." in words


def test_what_runs_is_named_by_the_weights_that_are_there(make_optional, tmp_path):
    engine = make_optional()
    install(engine, lambda event: None)
    job = {"nonce": "n", "job_name": "a", "tool": "anarci", "settings": {}}
    before = build_attempt(engine, attempt_dir=tmp_path / "1", **job).engine
    install(engine, lambda event: None, with_optional=True)
    after = build_attempt(engine, attempt_dir=tmp_path / "2", **job).engine
    assert (before["method"], after["method"]) == ("Tiny", "Tiny ensemble")
    assert (len(before["weights"]), len(after["weights"])) == (1, 2)
    assert after["note"].startswith("Gives errors.")
    assert engine_for("anarci", [engine]).method == "Tiny ensemble"
    assert engine.as_tool_engine("anarci").method == "Tiny ensemble"


def test_optional_weights_that_cannot_be_fetched_leave_an_engine_that_runs(make_optional, server):
    engine = make_optional()
    del server.files["/more.pt"]
    with pytest.raises(EngineInstallError, match="the engine tiny runs as Tiny"):
        install(engine, lambda event: None, with_optional=True)
    assert engine.state().installed
    assert not engine.has_optional_weights()


def test_optional_weights_with_another_hash_are_refused(make_optional):
    engine = make_optional(sha256="0" * 64)
    with pytest.raises(EngineInstallError, match="is not the published file"):
        install(engine, lambda event: None, with_optional=True)
    assert not engine.has_optional_weights()


def test_optional_weights_of_a_folder_are_taken_where_they_are_in_it(make_optional, tmp_path):
    engine, given = make_optional(), tmp_path / "given"
    given.mkdir()
    (given / "model.pt").write_bytes(CONTENT)
    install(engine, lambda event: None, offer=Offer(given))
    assert not engine.has_optional_weights()
    with pytest.raises(EngineInstallError, match=r"has none of the weights that tiny lacks: more\.pt"):
        install(engine, lambda event: None, offer=Offer(given))
    (given / "more.pt").write_bytes(MORE)
    install(engine, lambda event: None, offer=Offer(given))
    assert engine.has_optional_weights()


def test_optional_weights_of_an_engine_without_are_refused(make_engine):
    assert "has no optional weights" in refuse(make_engine(), with_optional=True)


@pytest.mark.parametrize("arguments", [[], ["tiny", "--no-weights"]], ids=["unnamed", "contradictory"])
def test_the_command_wants_a_name_for_optional_weights(arguments):
    command = [sys.executable, "-m", "foldnote", "engines", "install", *arguments, "--optional-weights"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Name the engines whose optional weights you want" in done.stderr


@pytest.mark.parametrize(
    ("head", "more", "words"),
    [
        ("", {"optional": True}, "need each other"),
        (COMPLETE, {}, "need each other"),
        ('[with_optional_weights]\nversion = "2"\n', {"optional": True}, "has the key 'version'"),
        ('with_optional_weights = "all"\n', {"optional": True}, "must be a table of texts"),
        ('[with_optional_weights]\nkind = "best"\n', {"optional": True}, "kind must be one of"),
    ],
    ids=["no table", "no weights", "key", "text", "kind"],
)
def test_a_declaration_of_optional_weights_that_cannot_be_used_is_refused(make_engine, head, more, words):
    with pytest.raises(EngineError, match=words):
        make_engine(head=head, **more)


# --- archives


def make_tar(files, top="repo-1/", links=()):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(top + name)
            info.size, info.mode = len(content), 0o755 if name.endswith(".sh") else 0o644
            archive.addfile(info, io.BytesIO(content))
        for name, target in links:
            info = tarfile.TarInfo(top + name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return stream.getvalue()


FILES = {"run.sh": b"#!/bin/sh\n", "models/a.pt": b"weights", "models-b/c": b"", "README": b"read me\n"}


@pytest.fixture
def git_tree(tmp_path):
    """Return git's hash of the tree of FILES."""
    folder = tmp_path / "repo"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "run.sh").chmod(0o755)
    for arguments in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    done = subprocess.run(["git", "write-tree"], cwd=folder, check=True, capture_output=True, text=True)
    shutil.rmtree(folder / ".git")
    assert name_git_tree(folder) == done.stdout.strip()
    return done.stdout.strip()


def archive_row(server, **more):
    row = {"file": "code", "url": f"{server.address}/repo.tar.gz", "unpack": True, "sha256": ""}
    return row | {"leading_folders": 1, "contains": ["models/a.pt"]} | more


def test_a_git_archive_is_verified_by_its_tree(make_engine, server, git_tree):
    server.files["/repo.tar.gz"] = make_tar(FILES)
    engine = make_engine(**archive_row(server, git_tree=git_tree))
    install(engine, lambda event: None)
    assert (engine.home / "weights/code/models/a.pt").read_bytes() == b"weights"
    assert os.access(engine.home / "weights/code/run.sh", os.X_OK)
    remove(engine)
    server.files["/repo.tar.gz"] = make_tar(dict(reversed(FILES.items())))  # repacked, with the same files
    install(engine, lambda event: None)
    assert engine.state().installed


def test_other_files_than_those_of_the_commit_are_refused(make_engine, server, git_tree):
    server.files["/repo.tar.gz"] = make_tar(FILES | {"models/a.pt": b"other"})
    assert "not those of the commit" in refuse(make_engine(**archive_row(server, git_tree=git_tree)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (make_tar({"../../../out": b"x"}), "leads out of its folder"),
        (make_tar({"/out": b"x"}, top=""), "leads out of its folder"),
        (make_tar({}, links=[("models", "/etc")]), "is a link or a device"),
        (make_tar(FILES)[:60], "it is"),
        (b"no archive", "neither a tar nor a zip archive"),
        (make_tar({"README": b""}), "has no models/a.pt"),
        (make_tar({"a": b""}), "has no models/a.pt"),
    ],
    # pytest would name them after their bytes, which contain the time
    ids=["above", "absolute", "link", "cut", "no archive", "without weights", "other file"],
)
def test_an_archive_that_cannot_be_used_is_refused(make_engine, server, engines_dir, content, words):
    server.files["/repo.tar.gz"] = content
    assert words in refuse(make_engine(**archive_row(server)))
    assert contents(engines_dir) == []
    assert list(engines_dir.rglob("out")) == []


def test_a_zip_archive_is_unpacked_too(make_engine, server):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("repo-1/models/a.pt", b"weights")
    server.files["/repo.tar.gz"] = stream.getvalue()
    engine = make_engine(**archive_row(server))
    install(engine, lambda event: None)
    assert (engine.home / "weights/code/models/a.pt").read_bytes() == b"weights"


@pytest.mark.parametrize("content", [b"weight", b"changed"], ids=["size", "content"])
def test_a_damaged_file_of_an_archive_is_found_and_the_archive_fetched_again(make_engine, server, content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("repo-1/models/a.pt", b"weights")
    server.files["/repo.tar.gz"] = stream.getvalue()
    engine = make_engine(**archive_row(server))
    install(engine, lambda event: None)
    place = engine.home / "weights/code/models/a.pt"
    place.write_bytes(content)
    if len(content) == len(b"weights"):
        with pytest.raises(EngineError, match="is not what was installed"):
            verify_weights(engine, io.StringIO())
    assert not engine.state().installed
    install(engine, lambda event: None)
    assert (place.read_bytes(), len(server.requests)) == (b"weights", 2)
    verify_weights(engine, io.StringIO())


def test_a_stand_in_of_an_archive_may_be_a_folder(make_engine, server, tmp_path):
    (tmp_path / "given/code/models").mkdir(parents=True)
    (tmp_path / "given/code/models/a.pt").write_bytes(b"random")
    engine = make_engine(**archive_row(server))
    assert "is a folder" in refuse(engine, offer=Offer(tmp_path / "given"))
    install(engine, lambda event: None, offer=Offer(tmp_path / "given", is_stand_in=True))
    assert (engine.home / "weights/code/models/a.pt").read_bytes() == b"random"


def test_weights_folders_are_where_the_option_says(make_engine, server, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_WEIGHTS_DIR", str(tmp_path / "big-disk"))
    install(make_engine(), lambda event: None)
    assert (Path(tmp_path) / "big-disk/published" / SHA256).is_file()
