"""The seed and settings that an engine reports, and invalid reports."""

import json
import os

import pytest

from foldnote.service.runner.manifest import read_used


@pytest.fixture
def work(tmp_path):
    """Return the working folder of the attempt in ``tmp_path``."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_a_report_gives_seed_settings_and_what_was_ignored(tmp_path, work):
    report = {"seed": 42, "settings": {"a": 1, "b": [2]}, "ignored": {"c": "Not for this method."}}
    (work / "used.json").write_text(json.dumps(report))
    used = read_used(tmp_path)
    assert (used.seed, used.seed_note) == (42, None)
    assert used.describe({"a": 1, "c": 3}) == {
        "settingsChanged": {"b": {"given": None, "used": [2]}},
        "settingsIgnored": {"c": "Not for this method."},
    }


def test_a_seed_of_null_says_that_the_method_has_none(tmp_path, work):
    (work / "used.json").write_text('{"seed": null}')
    used = read_used(tmp_path)
    assert (used.seed_note, used.takes_seed) == ("The engine uses no random seed.", False)


@pytest.mark.parametrize(
    "text", ['{"seed": true}', '{"seed": "7"}', '{"seed": 1.5}', "[7]", "{", "[" * 100_000]
)
def test_an_invalid_seed_is_not_reported(tmp_path, work, text):
    (work / "used.json").write_text(text)
    used = read_used(tmp_path)
    assert used.seed is None
    assert "does not report" in used.seed_note


def test_a_report_that_is_a_link_is_not_read(tmp_path, work):
    (tmp_path / "elsewhere.json").write_text('{"seed": 5}')
    (work / "used.json").symlink_to(tmp_path / "elsewhere.json")
    assert read_used(tmp_path).seed is None


def test_a_report_that_is_a_pipe_is_not_read(tmp_path, work):
    os.mkfifo(work / "used.json")
    assert read_used(tmp_path).seed is None


def test_a_report_that_is_too_large_is_not_read(tmp_path, work):
    (work / "used.json").write_text('{"seed": 5}' + " " * (1 << 20))
    assert read_used(tmp_path).seed is None
