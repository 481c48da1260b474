"""Options of an engine in ``config.toml``: databases, numbers, and options that require each other."""

import pytest

from foldnote import settings
from foldnote.service.engines import read_engine
from foldnote.service.engines.configuration import explain_configuration, read_engine_options

OPTIONS = """
[[options]]
name = "uniref"
kind = "database"
needs = ["mmseqs"]
is_needed = false
help = "your UniRef30"

[[options]]
name = "mmseqs"
kind = "program"
is_needed = false
help = "MMseqs2"

[[options]]
name = "sensitivity"
kind = "number"
least = 1
most = 10
is_needed = false
help = "of the search"
"""


@pytest.fixture
def engine(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "engine.toml").write_text(
        'name = "tiny"\nmethod = "Tiny"\nkind = "genuine"\nversion = "1"\ntools = ["anarci"]\n'
        f'{OPTIONS}\n[environment]\nkind = "host"\n'
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "uniref30_db.dbtype").write_bytes(b"")
    program = tmp_path / "data" / "mmseqs"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return read_engine(folder)


def configure(text):
    (settings.config_dir() / "config.toml").write_text(f"[engines.tiny]\n{text}")


def test_nothing_is_needed_and_nothing_searched_without_the_section(engine):
    assert (engine.configured().values, engine.databases, engine.state().installed) == ({}, (), True)


def test_a_database_is_a_path_without_suffix_and_its_name_is_reported(engine, tmp_path):
    data = tmp_path / "data"
    configure(f'uniref = "{data}/uniref30_db"\nmmseqs = "{data}/mmseqs"\nsensitivity = 7.5\n')
    assert engine.configured().values == {
        "uniref": f"{data}/uniref30_db",
        "mmseqs": f"{data}/mmseqs",
        "sensitivity": "7.5",
    }
    assert engine.databases == ("uniref30_db",)
    assert engine.as_tool_engine("anarci").databases == ("uniref30_db",)


def test_an_option_is_required_while_another_option_needs_it(engine, tmp_path):
    configure(f'uniref = "{tmp_path}/data/uniref30_db"\n')
    told = "tiny is not configured: set mmseqs (MMseqs2) in the section [engines.tiny] of config.toml."
    assert engine.state().reason == told
    configure('uniref = ""\n')
    assert engine.state().installed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('uniref = "data/x"', "uniref is 'data/x', which is not an absolute path"),
        ('uniref = "/nowhere/x"', "which is not an MMseqs2 database: there is no x.dbtype"),
        ("uniref = 7", "uniref is 7, which is not a string"),
        ("sensitivity = 0.5", "sensitivity is 0.5, which is not from 1 to 10"),
        ("sensitivity = true", "sensitivity is True, which is not a number"),
        ('sensitivity = "8"', "sensitivity is '8', which is not a number"),
        ("sensitivity = nan", "which is not from 1 to 10"),
        ('unref = "x"', "it has no option unref"),
    ],
)
def test_an_error_names_the_option(engine, text, words):
    configure(text)
    assert words in explain_configuration("tiny", engine.configured())


def test_an_option_cannot_require_an_option_that_does_not_exist():
    with pytest.raises(ValueError, match="the option uniref needs 'mmseqs', which is not among options"):
        read_engine_options([{"name": "uniref", "help": "x", "kind": "database", "needs": ["mmseqs"]}])
