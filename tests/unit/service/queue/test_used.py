"""The seed and settings that an engine reports, and reports that are none."""

import json
import os

import pytest

from foldnote.service.runner.used_settings import MOST_BYTES, read_used


def test_a_report_gives_seed_settings_and_what_was_ignored(tmp_path):
    report = {"seed": 42, "settings": {"a": 1, "b": [2]}, "ignored": {"c": "Not for this method."}}
    (tmp_path / "used.json").write_text(json.dumps(report))
    used = read_used(tmp_path)
    assert (used.seed, used.seed_note) == (42, None)
    assert used.describe({"a": 1, "c": 3}) == {
        "settingsChanged": {"b": {"given": None, "used": [2]}},
        "settingsIgnored": {"c": "Not for this method."},
    }


def test_a_seed_of_null_says_that_the_method_has_none(tmp_path):
    (tmp_path / "used.json").write_text('{"seed": null}')
    assert read_used(tmp_path).seed_note == "The engine uses no random seed."


@pytest.mark.parametrize(
    "text", ['{"seed": true}', '{"seed": "7"}', '{"seed": 1.5}', "[7]", "{", "[" * 100_000]
)
def test_what_is_no_seed_is_not_reported(tmp_path, text):
    (tmp_path / "used.json").write_text(text)
    used = read_used(tmp_path)
    assert used.seed is None
    assert "does not report" in used.seed_note


def test_a_report_that_is_a_link_or_a_pipe_or_too_large_is_not_read(tmp_path):
    for name in ("link", "pipe", "large"):
        (tmp_path / name).mkdir()
    (tmp_path / "elsewhere.json").write_text('{"seed": 5}')
    (tmp_path / "link" / "used.json").symlink_to(tmp_path / "elsewhere.json")
    os.mkfifo(tmp_path / "pipe" / "used.json")
    (tmp_path / "large" / "used.json").write_text('{"seed": 5}' + " " * MOST_BYTES)
    assert [read_used(tmp_path / name).seed for name in ("link", "pipe", "large")] == [None, None, None]
