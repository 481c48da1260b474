"""The examples of the README are run as they stand, against the embedded service and the real engines."""

import os
import re
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


@pytest.fixture
def service_ends():
    """The embedded service that the examples start ends with them."""
    yield
    from foldnote import settings
    from foldnote.models import read_runtime

    running = read_runtime(settings.runtime_dir())
    if running is not None:
        os.kill(running.pid, signal.SIGTERM)


def test_the_python_examples_work_in_their_order(service_ends):
    from foldnote.notebook.connection import find_async_client, find_client

    find_client.cache_clear()
    find_async_client.cache_clear()
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    numbering, cdrs = names["numbering"], names["cdrs"]
    assert len(numbering) == 227
    assert set(cdrs["region"]) == {"CDR1", "CDR2", "CDR3"}
    assert sum(1 for chain in names["structure"][0] for _ in chain) == 227
    assert len(names["kabat"]) == 120


def test_every_file_that_the_readme_points_to_is_there():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    missing = [target for target in targets if not target.startswith("http") and not (ROOT / target).exists()]
    assert missing == []


def test_every_make_target_that_the_docs_name_exists():
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"`?make ([a-z]+)`?", README + (ROOT / "CONTRIBUTING.md").read_text()))
    assert named
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in named), named


def test_every_command_that_the_readme_names_is_understood():
    from foldnote.cli import build_parser

    known = build_parser().format_help()
    shell = "\n".join(re.findall(r"```bash\n(.*?)```", README, re.S))
    commands = {*re.findall(r"^foldnote ([a-z]+)", shell, re.M), *re.findall(r"`foldnote ([a-z]+)", README)}
    assert commands
    assert all(re.search(rf"^\s+{name}\b", known, re.M) for name in commands), commands
