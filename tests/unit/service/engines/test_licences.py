"""Terms of engines and weights must be accepted before installation, once per user, and acceptance is recorded."""

import io
import json
import os
import pty
import subprocess
import sys

import pytest

from foldnote.errors import EngineError, EngineInstallError
from foldnote.service.engines import read_engine
from foldnote.service.engines.command import run_install, run_list
from foldnote.service.engines.install import install, list_unaccepted, remove
from foldnote.service.engines.licences import RECORD, read_acceptances, record_acceptances

TERMS = {
    "name": "Fold",
    "licence": "Academic licence (not for commercial use)",
    "source": "Example University",
    "url": "https://example.org/licence",
}


@pytest.fixture(autouse=True)
def _own_engines(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "environments"))
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path / "recipes"))
    monkeypatch.setenv("LOGNAME", "ada")


@pytest.fixture
def make_engine(tmp_path):
    """Write an engine whose licence must be accepted, with nothing to install in its environment."""

    def make(more="", **changed):
        folder = tmp_path / "recipes" / "academic"
        folder.mkdir(parents=True, exist_ok=True)
        terms = "\n".join(f"{key} = {json.dumps(value)}" for key, value in (TERMS | changed).items())
        (folder / "engine.toml").write_text(
            'name = "academic"\nmethod = "Fold"\nkind = "genuine"\nversion = "1"\ntools = ["anarci"]\n'
            f'{more}\n[environment]\nsteps = [["--dry-run", "--no-index", "pip"]]\n[[terms]]\n{terms}\n'
        )
        return read_engine(folder)

    return make


@pytest.fixture
def engine(make_engine):
    return make_engine()


@pytest.fixture
def accepted(engine):
    """Return the engine after this user has accepted its terms."""
    record_acceptances(engine.name, engine.terms)
    return engine


def test_nothing_is_made_before_the_terms_are_accepted(engine):
    with pytest.raises(EngineInstallError) as caught:
        install(engine, lambda event: None)
    assert not engine.home.exists()
    said = caught.value.message
    assert f"Fold: {TERMS['licence']} (Example University), {TERMS['url']}" in said
    assert "foldnote engines install academic --accept-licences" in said


def test_who_accepted_what_and_when_is_recorded_and_stays_when_the_engine_is_removed(engine, begin, tmp_path):
    begin(engine)
    install(engine, lambda event: None, has_accepted=True)
    remove(engine)
    (row,) = json.loads((tmp_path / "environments" / RECORD).read_text())
    assert row.pop("accepted").endswith("Z")
    assert row == {"engine": "academic", "user": "ada", **TERMS}


def test_a_user_is_not_asked_again_for_the_same_terms_and_another_user_is(accepted, make_engine, monkeypatch):
    assert list_unaccepted(accepted) == ()
    changed = make_engine(licence="Academic licence 2.0")
    assert list_unaccepted(changed) == changed.terms
    monkeypatch.setenv("LOGNAME", "bo")
    assert list_unaccepted(accepted) == accepted.terms


def test_of_all_engines_one_whose_licence_must_be_accepted_is_left_out_and_named(engine, monkeypatch):
    monkeypatch.setattr("foldnote.service.engines.command.load_engines", lambda: {"academic": engine})
    out = io.StringIO()
    assert run_install([], stream=out) == 0
    assert out.getvalue().endswith("whose licence must be accepted, are installed by name: academic\n")


def test_the_terms_must_be_accepted_and_a_no_installs_nothing(engine):
    asked = []
    out = io.StringIO()
    assert run_install(["academic"], ask=lambda *about: asked.append(about), stream=out) == 1
    assert asked == [(engine, engine.terms)]
    assert "is under terms that you must accept" in out.getvalue()
    assert read_acceptances() == []


@pytest.mark.parametrize(("answer", "users"), [(b"y\n", ["ada"]), (b"\n", [])], ids=["yes", "no answer"])
def test_a_terminal_shows_the_terms_and_asks(engine, begin, answer, users):
    begin(engine)
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    command = [sys.executable, "-m", "foldnote", "engines", "install", "academic"]
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False)
    os.close(ours)
    os.close(theirs)
    assert "Do you accept these terms? [y/N]" in done.stderr
    assert TERMS["url"] in done.stderr
    assert [each.user for each in read_acceptances()] == users
    assert engine.state().installed == bool(users)


def test_the_list_shows_the_terms_and_who_accepted_them(engine):
    for users in (None, "ada"):
        out = io.StringIO()
        run_list(["anarci"], as_json=True, stream=out)
        (row,) = (row for row in json.loads(out.getvalue()) if row["engine"] == "academic")
        (terms,) = row["terms"]
        assert (terms["asked"], terms["user"]) == (users is None, users)
        record_acceptances(engine.name, engine.terms)


def test_a_damaged_record_of_acceptances_is_never_overwritten(engine, tmp_path):
    path = tmp_path / "environments" / RECORD
    path.parent.mkdir(exist_ok=True)
    path.write_text("[{]")
    with pytest.raises(EngineInstallError, match="cannot be read: .* Restore it, or rename it"):
        install(engine, lambda event: None, has_accepted=True)
    assert path.read_text() == "[{]"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"source": ""}, "name, licence and source must say something"),
        ({"url": "http://x.org"}, "https address"),
    ],
)
def test_incomplete_terms_are_refused(make_engine, changed, reason):
    with pytest.raises(EngineError, match=reason):
        make_engine(**changed)
