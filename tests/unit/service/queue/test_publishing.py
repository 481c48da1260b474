"""The names of an engine's files in the result archive, and figures that are none."""

import os

from foldnote.service.runner.publishing import name_members, read_score


def test_names_that_a_reader_of_archives_refuses_are_changed_and_stay_apart():
    strange = {
        b"A:12.pdb": "A_12.pdb",
        b"F\\C=C.sdf": "_F_C=C.sdf",
        b"F_C=C.sdf": "F_C=C.sdf",
        b"two\nlines.txt": "two_lines.txt",
        b"latin-\xe9.pdb": "latin-_.pdb",
        "é.pdb".encode(): "é.pdb",
    }
    members = name_members(map(os.fsdecode, strange))
    assert {os.fsencode(place): member for member, place in members.items()} == strange


def test_an_endlessly_nested_score_file_is_ignored(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "score.json").write_text('{"a":' + "[" * 60_000)
    assert read_score(tmp_path).figures is None
