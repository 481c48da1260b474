"""Shared by the tests of tools' views."""

import json
import zipfile

import pytest

from foldnote.results import open_result


@pytest.fixture
def open_files(tmp_path):
    """Open the result of a tool's job with these files: name to text."""

    def write_and_open(tool, files):
        manifest = {"job": {"type": tool, "jobName": "j"}, "engine": {"method": "Some method"}}
        with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
            for name, content in {"manifest.json": json.dumps(manifest), **files}.items():
                archive.writestr(name, content)
        return open_result(tmp_path / "r.zip")

    return write_and_open
