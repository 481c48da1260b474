"""Messages on the command line name commands and options, not the functions of a notebook."""

import ast
import re
from pathlib import Path

import pytest

import foldnote
from foldnote.cli import main
from foldnote.cli.printing import IN_COMMANDS, name_commands

ROOT = Path(foldnote.__file__).parent
ROOMS = ("errors.py", "models", "catalog", "client", "service/domain")
"""Modules whose messages a command prints."""
PYTHON = re.compile(r"\bfn\.[a-z]|\bclient\.[a-z]+\.|\bbatch(?:es)?\.[a-z]+\(|\bagain=True|\bwebhook=…")
NOT_PRINTED = {
    "client/resources/screening.py": "no command screens",
    "client/resources/pipelines.py": "no command runs pipelines",
    "client/resources/job_handle.py": "what a handle shows in a cell",
    "client/resources/batches.py": "the run of a pipeline, which only Python continues",
    "client/tables/tool_list.py": "the list as it is shown in a cell",
    "client/watching/end_mail.py": "a mail, which is read in a mail program",
    "client/core/error_mapping.py": "routes as calls, which are commands in turn: see the next test",
    "client/inputs/file_values.py": "commands upload what --file names before they look for others",
    "catalog/calls.py": "reads and writes cells",
    "catalog/functions.py": "describes functions of a notebook",
}
"""Modules with other messages that name Python, and the reason why no command prints them."""


def find_messages(path):
    tree = ast.parse(path.read_text())
    docs = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def find_modules():
    for room in ROOMS:
        yield from [ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py"))


def test_no_message_of_a_command_names_python():
    left = {
        str(path.relative_to(ROOT))
        for path in find_modules()
        for message in find_messages(path)
        if PYTHON.search(name_commands(message).replace("with fn.open_export", ""))
    }
    assert left - NOT_PRINTED.keys() == set()


def test_every_advice_that_is_reworded_is_given_somewhere():
    texts = [message for path in find_modules() for message in find_messages(path)]
    unsaid = [call for call in IN_COMMANDS if not any(call in text for text in texts)]
    assert [call for call in unsaid if not call.startswith("on_failure=")] == []


@pytest.mark.parametrize(
    ("sentence", "reworded"),
    [
        (
            (
                "There is no file x.pdb. Upload it with fn.upload(), refer to <JobName>/<path>, or pass the"
                " contents with fn.inline()."
            ),
            (
                "There is no file x.pdb. Upload it with `foldnote files upload`, refer to <JobName>/<path>, or"
                " give the contents themselves."
            ),
        ),
        (
            (
                "The batch b was submitted before and keeps on_failure='continue', retries=2. again=True submits"
                " its rows once more, as you ask now."
            ),
            (
                "The batch b was submitted before and keeps --on-failure continue, --retries 2. --again submits"
                " its rows once more, as you ask now."
            ),
        ),
    ],
)
def test_advice_names_options_and_commands(sentence, reworded):
    assert name_commands(sentence) == reworded


def test_an_unknown_tool_names_the_command_that_lists_tools(capsys, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_SERVICE_IDLE_STOP_S", "5")
    assert main(["submit", "nothing-of-the-kind", "--set", "a=1"]) == 4
    assert capsys.readouterr().err.endswith("here. `foldnote tools` lists them.\n")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The name 'a' belongs to another job. Choose another job_name.", "Choose another --name."),
        ("retries: Give a whole number from 0 to 10.", "--retries: Give"),
        ("max_runtime_s: Give a number above 0.", "--max-runtime: Give"),
    ],
)
def test_messages_about_arguments_name_the_options(said, told):
    assert told in name_commands(said)
