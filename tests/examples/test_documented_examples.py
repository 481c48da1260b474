"""The Python examples of the README and the docs run unchanged on the embedded service."""

import os
import re
import signal
from pathlib import Path

import pytest
from example_files import WORLDS, write_quick_engine

ROOT = Path(__file__).parents[2]
PAGES = {
    page.name: page.read_text("utf-8") for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
BLOCKS = {name: re.findall(r"^```python\n(.*?)^```", text, re.S | re.M) for name, text in PAGES.items()}
RUN_ELSEWHERE = {
    "c.JupyterHub.services": "tests/browser/hub_server.py",
    "sample-conformations": "tests/service/test_own_engine.py",
    "await explorer.picture": "tests/browser/test_explorer.py",
    "client.webhook.renew_secret()": "tests/service/test_webhooks.py",
    "fn.share(": "tests/service/test_sharing.py",
    "fn.open_shared(": "tests/service/test_sharing.py",
}
"""Words in examples that need a hub, a program, a browser or a service for several people, with the tests that run them."""
OWN_PAGES = sorted(
    name for name, blocks in BLOCKS.items() if blocks and name not in ("README.md", "start.md")
)

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Create the notebook's folder; the service that the examples start ends with them."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    from foldnote import settings
    from foldnote.models import read_runtime

    running = read_runtime(settings.runtime_dir())
    if running is not None:
        os.kill(running.pid, signal.SIGTERM)


def run_blocks(page, names=None):
    """Run the blocks of a page in order with a separate client; return what they define."""
    from foldnote.notebook.connection import find_async_jobs, make_client

    make_client.cache_clear()
    find_async_jobs.cache_clear()
    names = {} if names is None else names
    for block in BLOCKS[page]:
        if not any(words in block for words in RUN_ELSEWHERE):
            exec(compile(block, page, "exec"), names)
    return names


def check_client(names):
    assert len(names["numbering"]) == 120
    assert names["advice"].tools[0].tool_id == "anarci"
    assert names["account"].jobs_left is None
    assert list(names["run"].to_frame()["status"]) == ["Complete", "Complete"]


def check_howto(names):
    assert list(names["table"]["KD_nM"]) == [0.8, 12.0]
    assert names["result"].pose_table["affinity"].is_monotonic_increasing
    assert len(names["batch"].results()) == 2
    assert names["change"].notna().sum() == 2


def check_results(names):
    assert names["fit"].pairs.shape[0] == names["fit"].aligned == 227
    assert names["fit"].rmsd < 0.01
    assert names["metric"].label == "ipTM"
    assert len(names["lines"]) == 454
    assert len(names["ensemble"].split()) == 5
    assert list(names["panel"].table["job_name"]) == ["fv-1", "fv-2"]
    assert [coverage.depth for coverage in names["coverages"]] != []


CHECKS = {"client.md": check_client, "howto.md": check_howto, "results.md": check_results}


@pytest.mark.parametrize("page", OWN_PAGES)
def test_the_examples_of_a_page_of_the_docs_work_in_their_order(page, folder, tmp_path_factory, monkeypatch):
    import foldnote as fn
    from foldnote.service.engines import load_engines

    if (
        page == "howto.md" and not load_engines()["vina"].state().installed
    ):  # it has no packages for Python 3.13
        pytest.skip("needs: foldnote engines install vina")
    monkeypatch.setenv(
        "FOLDNOTE_ENGINE_PATH", str(write_quick_engine(tmp_path_factory.mktemp("engines"), page))
    )
    for prepare in WORLDS.get(page, ()):
        prepare(folder)
    names = run_blocks(page, {"fn": fn, "job": {"files": {"pdbFiles": ["inputs/pdbFiles/a.pdb"]}}})
    CHECKS.get(page, lambda names: None)(names)


def test_the_examples_of_the_readme_and_the_first_page_work_in_their_order(folder):
    names = run_blocks("README.md")
    numbering, cdrs = names["numbering"], names["cdrs"]
    assert len(numbering) == 227
    assert set(cdrs["region"]) == {"CDR1", "CDR2", "CDR3"}
    assert sum(1 for chain in names["structure"][0] for _ in chain) == 227
    assert len(names["kabat"]) == 120
    assert len(run_blocks("start.md")["cdrs"]) == len(cdrs)


def test_an_example_that_is_run_elsewhere_is_one_of_the_docs_and_of_that_test():
    everything = "".join(block for blocks in BLOCKS.values() for block in blocks)
    for words, test in RUN_ELSEWHERE.items():
        assert everything.count(words) >= 1, words
        assert re.search(
            rf"{re.escape(words)}|docs.{{1,6}}(jupyterhub|tools)\.md", (ROOT / test).read_text("utf-8")
        ), test
