"""Missing requirements of a machine are reported before anything is installed."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def program(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path):
    """Run the check on a machine with only these programs, and return its complaints."""
    for name in ("bash", "seq"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")

    def check(*goals, python=sys.executable, **programs):
        for name, text in programs.items():
            program(tmp_path, name, text)
        command = ("/usr/bin/bash", ROOT / "scripts" / "check-machine", python, *goals)
        done = subprocess.run(
            command, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0) is (done.stderr == "")
        return done.stderr

    return check


def test_a_machine_with_all_of_it_is_accepted(machine):
    assert machine("demo", node="exit 0", npm="exit 0") == ""


def test_without_node_the_error_says_what_to_install(machine):
    assert "apt-get install nodejs npm" in machine("demo")


def test_a_full_disk_is_named_before_the_tests_begin(machine, tmp_path):
    (tmp_path / "awk").symlink_to("/usr/bin/awk")
    disk = (
        'case "$2" in .) free=900000;; *) free=3456;; esac; echo header; echo "/dev/sda 999999 5 $free 1% /"'
    )
    said = machine("test", node="exit 0", npm="exit 0", df=disk)
    assert said.startswith("The tests need 8 GB of free disk space")
    assert "has 3 GB" in said
    assert "TMPDIR" in said
    assert machine("test", df='echo header; echo "/dev/sda 999999 5 8001 1% /"') == ""
    assert machine("demo", df=disk) == ""


def test_an_old_node_is_named_with_the_way_to_a_newer_one(machine):
    said = machine("demo", node='[ "$1" = -e ] && exit 1; echo v18.19.1', npm="exit 0")
    assert "this is v18.19.1" in said
    assert "npm install --prefix ~/node node@22 && export PATH=~/node/node_modules/.bin:$PATH" in said


# Only the last question, about the engines, is answered with no.
NEWER = """case "$2" in *">="*) exit 1;; esac; [ "$1" = -V ] && echo Python 3.15.1; exit 0"""


def test_a_python_too_new_for_the_engines_is_refused_for_the_demo_before_it_begins(machine, tmp_path):
    newer = program(tmp_path, "newer", NEWER)
    said = machine("demo", python=newer, node="exit 0", npm="exit 0")
    assert "Python 3.15.1, and no older one is on PATH" in said
    assert machine("lab", python=newer) == ""
    assert machine("demo", python=newer, **{"python3.13": "exit 0"}) == ""


def test_the_newest_python_is_the_one_that_the_engines_name(machine, tmp_path):
    said = machine("demo", python=program(tmp_path, "newer", NEWER))
    for name in ("abodybuilder2", "anarci"):
        engine = ROOT / "src/foldnote/service/engines" / name / "engine.toml"
        newest = tomllib.loads(engine.read_text())["environment"]["newest_python"]
        assert f"packages for Python up to {newest};" in said
