"""Fixtures of the browser tests: a JupyterLab server and a Chromium for each module, a fresh page for each test.

``lab`` is what most tests want. Its pages share what the browser has compiled of JupyterLab, and no cookie or stored item. Everything runs with the network cut: the page, the server, the kernels and the
service reach this computer only, and what they wanted beyond it is on record (``lab.outside``, ``server.refused``).
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_page import LabPage
from lab_server import ROOT, LabServer
from playwright.sync_api import Browser, BrowserContext, BrowserType, expect, sync_playwright

_ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--force-color-profile=srgb"),
    # no name and no address beyond this computer is found; the way of Playwright's routes takes a second a page
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE [::1]",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder is a browser test."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser. It ends with the module, because its event loop must not meet those of other tests."""
    expect.set_options(
        timeout=30_000
    )  # a busy machine takes its time, and an answer that comes ends the wait
    with sync_playwright() as playwright:
        browser = _launch(playwright.chromium)
        yield browser
        browser.close()


@pytest.fixture
def chromium_without_webgl(chromium: Browser) -> Iterator[Browser]:
    """A browser whose pages cannot draw in three dimensions."""
    browser = _launch(chromium.browser_type, "--disable-3d-apis")
    yield browser
    browser.close()


@pytest.fixture
def chromium_elsewhere(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Browser]:
    """A browser on a computer in another time zone, which the test names as the fixture's parameter."""
    browser = _launch(chromium.browser_type, zone=request.param)
    yield browser
    browser.close()


def _launch(kind: BrowserType, *more: str, zone: str | None = None) -> Browser:
    path = os.environ.get("FOLDNOTE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    return kind.launch(
        executable_path=path,
        env={**os.environ, **({} if zone is None else {"TZ": zone})},
        args=[*_ARGUMENTS, *more],
    )


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A JupyterLab server with folders of its own.

    Its service runs the probe of the tests; a module that says ``USES_REAL_ENGINES = True`` gets the real ones.
    """
    is_real = getattr(request.module, "USES_REAL_ENGINES", False)
    probe = None if is_real else ROOT / "tests" / "engines"
    server = LabServer(tmp_path_factory.mktemp("jupyterlab"), engine_path=probe)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shared_lab(chromium: Browser, server: LabServer) -> Iterator[LabPage]:
    """One page for all tests of a module, which leave it as they found it; not yet opened."""
    context = chromium.new_context(viewport={"width": 1600, "height": 1000}, accept_downloads=True)
    context.set_default_timeout(60_000)
    page = LabPage(context, server)
    yield page
    context.close()


@pytest.fixture(scope="module")
def window(chromium: Browser) -> Iterator[BrowserContext]:
    """A window of 1600 by 1000 pixels, whose pages are opened one after another: the second one loads in half the time."""
    context = chromium.new_context(viewport={"width": 1600, "height": 1000})
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def lab(window: BrowserContext, server: LabServer) -> Iterator[LabPage]:
    """A page of 1600 by 1000 pixels; not yet opened. It wants nothing outside this computer and throws nothing."""
    page = LabPage(window, server)
    yield page
    page.close()
    assert (page.outside, page.faults) == ([], [])
