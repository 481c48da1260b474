"""Shared by the tests of installations."""

import json
import shutil
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from foldnote.service.engines import Engine
from foldnote.service.engines.engine import ENVIRONMENT
from foldnote.service.engines.install import STEPS


@pytest.fixture(scope="session")
def empty_environment(tmp_path_factory) -> Path:
    """Create an environment with pip, which takes longer than everything that a test installs."""
    folder = tmp_path_factory.mktemp("empty") / "env"
    venv.create(folder, symlinks=True, with_pip=True)
    return folder


@pytest.fixture
def begin(empty_environment) -> Callable[[Engine], None]:
    """Do the first part of an installation: a following one finds the environment and continues with its steps."""

    def copy(engine: Engine) -> None:
        shutil.copytree(empty_environment, engine.home / ENVIRONMENT, symlinks=True)
        done = {"recipe": engine.recipe, "lock": engine.lock_digest, "done": [], "files": {}}
        (engine.home / STEPS).write_text(json.dumps(done))

    return copy
