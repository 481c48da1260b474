"""What `scripts/check` runs once more by itself: the files of a few failed tests, and nothing that is no failed test."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "list_failed.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_many.py").write_text(
        "import pytest\n@pytest.mark.parametrize('number', range(4))\ndef test_odd(number):\n    assert number % 2\n"
    )
    (folder / "test_one.py").write_text("def test_a():\n    assert False\ndef test_b():\n    pass\n")
    (folder / "test_none.py").write_text("def test_c():\n    pass\n")
    return folder


def run(folder, cache, *files):
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:schemathesis", "-p", "no:nbmake")
    return subprocess.run([*command, "-o", f"cache_dir={cache}", *files], cwd=folder).returncode


def list_failed(cache, most):
    command = (sys.executable, SCRIPT, cache, "--most", str(most))
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_files_are_named_once_if_few_tests_failed(folder, tmp_path):
    assert run(folder, tmp_path) == 1
    assert list_failed(tmp_path, most=3) == ["test_many.py", "test_one.py"]
    assert list_failed(tmp_path, most=2) == []


def test_a_file_that_cannot_be_imported_is_no_failed_test(folder, tmp_path):
    (folder / "test_broken.py").write_text("import nothing_of_this_name\n")
    assert run(folder, tmp_path, "test_broken.py") == 2
    assert list_failed(tmp_path, most=5) == []


def test_there_is_nothing_to_run_again_after_success(folder, tmp_path):
    assert run(folder, tmp_path, "test_none.py") == 0
    assert list_failed(tmp_path, most=5) == []
