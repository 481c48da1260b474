"""Engines are discovered, parsed, checked and selected."""

import sys
from importlib.metadata import EntryPoint

import pytest
from probe_engine import write_probe_engine

from foldnote.errors import EngineError, UnknownEngineError
from foldnote.service.engines import engine_for, load_engines, read_engine
from foldnote.service.engines.registry import get_engine


def write_toml(folder, text):
    folder.mkdir()
    (folder / "engine.toml").write_text(text)
    return folder


GOOD = 'name = "x"\nmethod = "X"\nkind = "genuine"\nversion = "1"\ntools = ["anarci"]\n'


REQUIRED_KEYS = ("licence", "licence_note", "citation", "homepage", "note")


@pytest.mark.parametrize("engine", load_engines().values(), ids=lambda engine: engine.name)
def test_a_bundled_engine_is_complete(engine):
    missing = [key for key in REQUIRED_KEYS if not getattr(engine, key)]
    if not engine.environment.probe and engine.kind != "adapter":
        missing.append("environment.probe")
    assert missing == [], f"Its engine.toml lacks {', '.join(missing)}."
    assert len(engine.note) <= 400
    assert engine.outputs.keys() == set(engine.tools)
    assert all(": " in line for files in engine.outputs.values() for line in files)
    assert (engine.folder / "run.py").is_file()
    assert engine.name == engine.folder.name


def test_the_bundled_engines_serve_their_tools():
    engines = load_engines()
    assert engine_for("abodybuilder", engines).name == "abodybuilder2"
    assert engine_for("anarci", engines).name == "anarci"
    assert engine_for("antibody-annotation", engines).name == "anarci"
    assert engine_for("vina", engines).name == "vina"
    assert engine_for("abmap", engines) is None


def test_files_are_reported_for_each_tool_apart(tmp_path):
    text, host = GOOD.replace('["anarci"]', '["anarci", "vina"]'), '[environment]\nkind = "host"\n'
    both = read_engine(write_toml(tmp_path / "both", f'{text}outputs = ["a.csv: all"]\n{host}'))
    assert both.as_tool_engine("vina").outputs == both.as_tool_engine("anarci").outputs == ("a.csv: all",)
    apart = read_engine(write_toml(tmp_path / "apart", f'{text}[outputs]\nvina = ["b.sdf: poses"]\n{host}'))
    assert apart.as_tool_engine("vina").outputs == ("b.sdf: poses",)
    assert apart.as_tool_engine("anarci").outputs == ()
    strange = write_toml(tmp_path / "strange", f'{text}[outputs]\nadmet = ["b.csv: all"]\n{host}')
    with pytest.raises(EngineError, match="outputs names 'admet', which is not in tools"):
        read_engine(strange)


def test_an_engine_is_named_for_each_tool_apart(tmp_path):
    text = GOOD.replace('["anarci"]', '["anarci", "vina"]')
    changed = '[differs.vina]\nmethod = "Another"\nkind = "substitute"\nnote = "Not Vina."\n'
    host = '[environment]\nkind = "host"\n'
    engine = read_engine(write_toml(tmp_path / "x", f"{text}{changed}{host}"))
    found = engine_for("vina", [engine])
    assert (found.method, found.kind, found.note) == ("Another", "substitute", "Not Vina.")
    assert engine.as_tool_engine("vina").method == "Another"
    assert engine_for("anarci", [engine]) == engine == engine.for_tool("anarci")
    wrong = {
        "differs names 'admet', which is not in tools": '[differs.admet]\nmethod = "x"\n',
        "differs.vina has the key 'version'; it may have method, kind": '[differs.vina]\nversion = "2"\n',
        "differs.vina.kind must be one of genuine": '[differs.vina]\nkind = "best"\n',
        "differs.vina must be a table of texts": "[differs.vina]\nmethod = 2\n",
        "differs must be a table of tables": 'differs = "vina"\n',
    }
    for number, (words, table) in enumerate(wrong.items()):
        with pytest.raises(EngineError, match=words):
            read_engine(write_toml(tmp_path / f"wrong-{number}", f"{text}{table}{host}"))


def test_every_pip_requirement_of_a_bundled_engine_is_bounded():
    for engine in load_engines().values():
        for step in engine.environment.steps:
            assert all("==" in each or "<" in each for each in step)


def test_a_path_of_the_environment_adds_engines(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(write_probe_engine(tmp_path / "more", ("abmap",))))
    assert engine_for("abmap", load_engines()).name == "probe"


def test_a_path_may_be_the_engine_itself(tmp_path):
    folder = write_probe_engine(tmp_path / "more") / "probe"
    assert "probe" in load_engines([folder])


def test_a_later_engine_replaces_one_of_the_same_name(tmp_path):
    folder = write_probe_engine(tmp_path / "more", name="anarci")
    assert load_engines([folder])["anarci"].method == "Probe of the tests"


def test_an_installed_engine_goes_before_one_that_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "empty"))
    engines = load_engines([write_probe_engine(tmp_path / "more")])
    reordered = {"probe": engines["probe"], **engines}
    assert engine_for("anarci", reordered).name == "probe"


def test_an_engine_that_is_not_installed_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "empty"))
    state = load_engines()["anarci"].state()
    assert not state.installed
    assert "foldnote engines install anarci" in state.reason


def test_a_missing_system_program_is_named_with_its_package(tmp_path):
    text = '[environment]\nkind = "host"\nsystem = [{command = "no-such-prog", debian = "nsp"}]\n'
    state = read_engine(write_toml(tmp_path / "x", GOOD + text)).state()
    assert "no-such-prog" in state.reason
    assert "apt-get install nsp" in state.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'name' is missing"),
        (GOOD.replace("genuine", "best"), "kind is 'best'"),
        (GOOD, "steps is empty"),
        (GOOD + '[environment]\nsteps = [["x<2"]]\nnewest_python = "new"', "write it like 3.12"),
        (GOOD + 'colour = "red"\n', "unknown key 'colour'"),
        (GOOD.replace('["anarci"]', '"anarci"'), "tools must be a list"),
        (
            GOOD.replace("anarci", "af_traj"),
            "tools names 'af_traj', and there is no such tool: is it 'af-traj'",
        ),
        (GOOD.replace('"x"', '"../x"'), "use letters"),
        ("name = ", "engine.toml cannot be used"),
    ],
)
def test_a_bad_file_is_refused_with_the_key_at_fault(tmp_path, text, words):
    with pytest.raises(EngineError, match=words):
        read_engine(write_toml(tmp_path / "x", text))


def test_the_version_is_that_of_the_packages_for_the_python_of_the_environment(tmp_path):
    ours = f"3.{sys.version_info.minor}"
    packages = f'[environment]\nsteps = [["x<2"]]\nnewest_python = "3.{sys.version_info.minor + 1}"\n'
    same = write_toml(tmp_path / "same", f'{GOOD}versions = {{ "{ours}" = "2" }}\n{packages}')
    other = write_toml(tmp_path / "other", f'{GOOD}versions = {{ "3.10" = "2" }}\n{packages}')
    assert [read_engine(folder).version for folder in (same, other)] == ["2", "1"]


def test_a_path_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(EngineError, match="is not a folder"):
        load_engines([tmp_path / "nowhere"])


def test_an_unknown_name_lists_the_known_ones():
    engines = load_engines()
    with pytest.raises(UnknownEngineError, match=f"Engines: {', '.join(sorted(engines))}"):
        get_engine("rosetta", engines)


def test_entry_points_bring_engines_and_their_failures(tmp_path, monkeypatch):
    folder = write_probe_engine(tmp_path / "more", name="packaged")
    (tmp_path / "engine_package_of_test.py").write_text(f"ENGINES = {str(folder)!r}\ndef broken(): 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    points = {
        name: EntryPoint(name, f"engine_package_of_test:{name}", "foldnote.engines")
        for name in ("ENGINES", "broken")
    }
    monkeypatch.setattr("foldnote.service.engines.registry.entry_points", lambda group: [points["ENGINES"]])
    assert "packaged" in load_engines()
    monkeypatch.setattr("foldnote.service.engines.registry.entry_points", lambda group: [points["broken"]])
    with pytest.raises(EngineError, match="division by zero"):
        load_engines()
