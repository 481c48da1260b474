"""An engine may use another one's environment, which is created once and serves both."""

import io

import pytest
from local_wheels import write_wheel

from foldnote.errors import EngineError
from foldnote.service.engines import load_engines
from foldnote.service.engines.command import run_install, run_remove
from foldnote.service.engines.install import install, list_unaccepted, remove
from foldnote.service.engines.launch import make_environment

HEAD = 'name = "{name}"\nmethod = "Tiny"\nkind = "genuine"\nversion = "1"\ntools = ["anarci"]\n'
VARIABLES = 'variables = { KIND = "owner", FOLDER = "{engine_dir}" }\n'
TERMS = '[[terms]]\nname = "Tiny"\nlicence = "its own"\nsource = "its authors"\nurl = "https://example.org/licence"\n'


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write and read the ``engine.toml`` of ``owner`` and of ``guest``, which uses its environment."""
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "environments"))
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path / "engines"))

    def write(*, terms="", more="", steps=True):
        write_wheel(tmp_path / "wheels", "firstpart")
        step = ["--no-index", "--find-links", str(tmp_path / "wheels"), "firstpart==1.0"]
        own = f'steps = {[step]!r}\nmodules = ["shared"]\n' + VARIABLES if steps else 'kind = "host"\n'
        texts = {
            "owner": f"{terms}[environment]\n{own}",
            "guest": f'[environment]\nsame_as = "owner"\nmodules = ["mine"]\nvariables = {{ KIND = "guest" }}\n{more}',
        }
        for name, text in texts.items():
            folder = tmp_path / "engines" / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "engine.toml").write_text(HEAD.format(name=name) + text)
        engines = load_engines()
        return engines["owner"], engines["guest"]

    return write


def test_installing_the_guest_makes_the_environment_of_both(write):
    owner, guest = write()
    assert "run `foldnote engines install guest`" in guest.state().reason
    events = []
    install(guest, events.append)
    assert owner.state().installed
    assert guest.state().installed
    assert guest.python == owner.python
    assert {event.engine for event in events} == {"guest"}
    assert any(event.message.startswith("environment of owner: step 1 of 1") for event in events)
    assert events[-1].message == "is installed"


def test_the_guest_has_the_modules_and_variables_of_both(write):
    owner, guest = write()
    environment = make_environment(guest, 1)
    folders = [str(owner.folder / "shared"), str(guest.folder / "mine")]
    assert environment["PYTHONPATH"].split(":") == folders
    assert (environment["KIND"], environment["FOLDER"]) == ("guest", str(owner.folder))
    assert make_environment(owner, 1)["KIND"] == "owner"


def test_both_are_installed_by_one_command_one_after_the_other(write):
    owner, guest = write()
    out = io.StringIO()
    assert run_install(["guest", "owner"], stream=out) == 0
    assert owner.state().installed
    assert guest.state().installed
    assert "in the environment of owner" in out.getvalue()


def test_removing_the_guest_leaves_the_environment(write):
    owner, guest = write()
    install(guest, lambda event: None)
    out = io.StringIO()
    run_remove(["guest"], stream=out)
    assert "guest: removed; its environment stays for owner" in out.getvalue()
    assert owner.state().installed
    remove(owner)
    assert not guest.state().installed


def test_terms_of_the_owner_are_accepted_for_the_guest(write):
    owner, guest = write(terms=TERMS)
    assert list_unaccepted(guest) == owner.terms
    install(guest, lambda event: None, has_accepted=True)
    assert guest.state().installed
    assert list_unaccepted(owner) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"more": 'probe = "pass"\n'}, "environment.probe is that of owner, which same_as names"),
        ({"more": 'kind = "host"\n'}, "environment.same_as needs the kind venv"),
        ({"steps": False}, "cannot use the environment of owner, which has none of its own"),
    ],
    ids=["a key of the owner", "no environment", "no environment to use"],
)
def test_what_cannot_be_shared_is_refused(write, changes, words):
    with pytest.raises(EngineError, match=words):
        write(**changes)


def test_an_owner_that_is_not_there_is_named(write, tmp_path):
    write()
    (tmp_path / "engines/owner/engine.toml").unlink()
    with pytest.raises(EngineError, match="guest uses the environment of 'owner'"):
        load_engines()
