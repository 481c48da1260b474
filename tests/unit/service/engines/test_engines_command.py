"""Output of ``foldnote engines``."""

import io
import json
import re

import pytest
from probe_engine import write_probe_engine

from foldnote import catalog
from foldnote.errors import UnknownEngineError
from foldnote.service.engines.command import run_install, run_list, run_remove
from foldnote.service.engines.registry import load_engines


@pytest.fixture
def out():
    return io.StringIO()


@pytest.fixture(autouse=True)
def _no_engines(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "empty"))


def test_the_list_has_every_tool_once(out):
    run_list(list(catalog.tools()), as_json=True, stream=out)
    rows = json.loads(out.getvalue())
    assert [row["tool"] for row in rows if row["tool"]] == list(catalog.tools())


def test_a_tool_with_an_engine_says_how_to_get_it(out):
    run_list(["abodybuilder", "abmap"], as_json=True, stream=out)
    first, second = json.loads(out.getvalue())[:2]
    assert (first["runs"], first["method"]) == (False, "ABodyBuilder2 (model 1 of 4)")
    assert "foldnote engines install abodybuilder2" in first["how"]
    assert (second["runs"], second["engine"]) == (False, None)
    assert "Connect to a service" in second["how"]
    assert (first["status"], second["status"]) == ("installable", "elsewhere")


def test_only_an_environment_of_its_own_can_be_removed(out, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(write_probe_engine(tmp_path / "more", ("abmap",))))
    run_list(["abodybuilder", "abmap"], as_json=True, stream=out)
    rows = {row["tool"]: row["has_environment"] for row in json.loads(out.getvalue())}
    assert (rows["abodybuilder"], rows["abmap"]) == (True, False)


def test_the_table_marks_a_substitute_and_counts(out, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(write_probe_engine(tmp_path / "more", ("abmap",))))
    run_list(["abodybuilder", "abmap", "abb4"], stream=out)
    lines = out.getvalue().splitlines()
    listed = {tool for engine in load_engines().values() for tool in engine.tools} | {"abb4"}
    assert lines[0] == f"1 of {len(listed)} tools run on this machine."
    assert any(line.startswith("abmap") and " runs " in line and "[SUBSTITUTE]" in line for line in lines)
    assert any(line.startswith("abb4") and "elsewhere" in line and "ABB4" in line for line in lines)


class Terminal(io.StringIO):
    """A stream that acts as a terminal."""

    def isatty(self):
        return True


def test_a_list_for_another_program_has_one_line_for_each_tool(out, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    run_list(["abodybuilder", "anarci"], stream=out)
    (row,) = [line for line in out.getvalue().splitlines() if line.startswith("anarci ")]
    assert re.search(r"\([0-9.]+ [MG]B or more\)\.$", row)


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_in_a_narrow_terminal_the_text_is_printed_below_its_row(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    run_list(["abodybuilder", "anarci"], stream=terminal)
    lines = terminal.getvalue().splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("anarci "))
    text = [line for line in lines[begin : begin + 4] if line.startswith("    ")]
    assert "The engine anarci is not installed" in " ".join(" ".join(text).split())
    table = lines[2 : begin + 4]
    assert max(map(len, table)) <= columns


def test_in_a_wide_terminal_the_text_is_printed_beside_its_row(monkeypatch):
    monkeypatch.setenv("COLUMNS", "190")
    terminal = Terminal()
    run_list(["anarci"], stream=terminal)
    lines = terminal.getvalue().splitlines()
    assert lines[2].endswith("HOW TO GET IT")
    assert any(line.startswith("anarci ") and "The engine anarci is not installed" in line for line in lines)


def test_installing_prints_licence_and_end(out, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(write_probe_engine(tmp_path / "more")))
    assert run_install(["probe"], stream=out) == 0
    assert "licence: BSD-3-Clause" in out.getvalue()


def test_several_engines_are_installed_at_once_and_each_line_says_of_which(out, tmp_path, monkeypatch):
    for name in ("first", "second", "third", "fourth"):
        write_probe_engine(tmp_path / "more", name=name)
    broken = tmp_path / "more/fourth/engine.toml"
    needs = "kind = 'host'\nsystem = [{command = 'no-such-prog', debian = 'nsp'}]"
    broken.write_text(broken.read_text().replace("kind = 'host'", needs))
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path / "more"))
    assert run_install(["first", "second", "third", "fourth"], stream=out) == 1
    lines = out.getvalue().splitlines()
    assert next(line for line in lines if "no-such-prog" in line).startswith("fourth: ")
    assert sum("licence: BSD-3-Clause" in line for line in lines) == 4


def test_of_all_engines_one_without_packages_for_this_python_is_left_out(out, tmp_path, monkeypatch):
    for name in load_engines().keys() - {"vina"}:
        write_probe_engine(tmp_path / "more", name=name)
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path / "more"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("foldnote.service.engines.engine._OURS", (3, 99))
    assert run_install([], stream=out) == 0
    assert "The engine vina needs Python 3.12 or older" in out.getvalue()
    assert run_install(["vina"], stream=out) == 1


def test_an_unknown_engine_installs_nothing(out):
    with pytest.raises(UnknownEngineError):
        run_install(["anarci", "rosetta"], stream=out)
    assert out.getvalue() == ""


def test_removing_what_is_not_there_says_so(out):
    assert run_remove(["anarci"], stream=out) == 0
    assert out.getvalue() == "anarci: was not installed\n"
