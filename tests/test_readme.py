"""The examples of the README and the docs are run as they stand, on the embedded service and real engines."""

import os
import re
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)
PAGES = sorted((ROOT / "docs").glob("*.md"))
RUN = {page.name: re.findall(r"```python run\n(.*?)```", page.read_text(), re.S) for page in PAGES}
"""The blocks of each page of the docs that are marked to be run, in their order."""

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


def run_blocks(name, blocks):
    """What the blocks define, run one after another with clients of their own."""
    from foldnote.notebook.connection import find_async_jobs, make_client

    make_client.cache_clear()
    find_async_jobs.cache_clear()
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
    return names


@pytest.mark.parametrize("name", [name for name, blocks in RUN.items() if blocks])
def test_the_marked_examples_of_a_page_of_the_docs_work_in_their_order(name, service_ends):
    names = run_blocks(name, RUN[name])
    if name == "client.md":
        assert len(names["numbering"]) == 120
        assert names["advice"].tools[0].tool_id == "anarci"
        assert names["account"].jobs_left is None


def test_the_python_examples_work_in_their_order(service_ends):
    names = run_blocks("README.md", BLOCKS)
    numbering, cdrs = names["numbering"], names["cdrs"]
    assert len(numbering) == 227
    assert set(cdrs["region"]) == {"CDR1", "CDR2", "CDR3"}
    assert sum(1 for chain in names["structure"][0] for _ in chain) == 227
    assert len(names["kabat"]) == 120


def test_every_file_that_the_readme_points_to_is_there():
    pages = {ROOT / "README.md": README} | {page: page.read_text() for page in PAGES}
    # pages below reference/ are written with the site: see test_site.py
    missing = [
        (page.name, target)
        for page, text in pages.items()
        for target in re.findall(r"\]\(([^)#]+)\)", text)
        if not target.startswith(("http", "reference/")) and not (page.parent / target).exists()
    ]
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
