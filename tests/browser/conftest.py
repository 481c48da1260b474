"""Fixtures of the browser tests: one Chromium for all, a JupyterLab server for each module, a page for a module or a test.

``lab`` is a fresh page for each test, ``shared_lab`` one for a module, and ``notebook_page`` the same with an empty
notebook. Pages share the browser's compiled code of JupyterLab, for which all servers use one port in turn, but no
cookies or stored items. The network is cut: the page, the server, the kernels and the service reach this computer only,
and other addresses that they requested are recorded (``lab.outside``, ``server.refused``).
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium_features import LEFT_OUT
from lab_page import LabPage
from lab_server import ROOT, LabServer, find_lasting_port
from patience import PATIENCE_MS
from playwright.sync_api import Browser, BrowserContext, BrowserType, expect, sync_playwright

_PROBE = ROOT / "tests" / "engines"
_ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--force-color-profile=srgb"),
    # Resolve no host but this computer. Doing so with Playwright's routes takes a second per page.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE [::1]",
    # Optimizing JavaScript takes an eighth of the processor time and never pays off before a test closes its
    # page. Room for young objects (32 MB) saves collections of garbage while JupyterLab loads.
    "--js-flags=--no-opt --no-maglev --min-semi-space-size=32",
    # Software rendering needs no GPU process.
    "--in-process-gpu",
    LEFT_OUT,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder as a browser test."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Launch a browser. It closes with this folder's tests, because its event loop conflicts with those of other tests."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = _launch(playwright.chromium)
        yield browser
        browser.close()


@pytest.fixture
def chromium_without_webgl(chromium: Browser) -> Iterator[Browser]:
    """Launch a browser without WebGL."""
    browser = _launch(chromium.browser_type, "--disable-3d-apis")
    yield browser
    browser.close()


def _launch(kind: BrowserType, *more: str) -> Browser:
    path = os.environ.get("FOLDNOTE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    return kind.launch(executable_path=path, args=[*_ARGUMENTS, *more])


@pytest.fixture(scope="package")
def lasting_port() -> int:
    """Return the port that servers use in turn."""
    return find_lasting_port()


@pytest.fixture(scope="package")
def common_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """Start a server for modules that use only their own notebook and jobs."""
    server = LabServer(tmp_path_factory.mktemp("jupyterlab"), engine_path=_PROBE, port=find_lasting_port())
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, lasting_port: int
) -> Iterator[LabServer]:
    """Start a JupyterLab server with folders of its own.

    Its service runs the probe engine; in modules with ``USES_REAL_ENGINES = True``, the real ones. Modules with
    ``SHARES_SERVER = True`` share one server.
    """
    if getattr(request.module, "SHARES_SERVER", False):
        shared: LabServer = request.getfixturevalue("common_server")
        yield shared
        shared.end_kernels()
        return
    probe = None if getattr(request.module, "USES_REAL_ENGINES", False) else _PROBE
    server = LabServer(tmp_path_factory.mktemp("jupyterlab"), engine_path=probe, port=lasting_port)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def window(chromium: Browser) -> Iterator[BrowserContext]:
    """Open a window of 1600 by 1000 pixels for successive pages: later ones load in half the time."""
    context = chromium.new_context(
        viewport={"width": 1600, "height": 1000},
        accept_downloads=True,
        reduced_motion="reduce",  # without a GPU, drawing one moving icon takes an eighth of a core
    )
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture(scope="module")
def shared_lab(window: BrowserContext, server: LabServer) -> Iterator[LabPage]:
    """Create one page for all tests of a module, which undo their changes; it is not opened yet."""
    page = LabPage(window, server)
    yield page
    page.close()


@pytest.fixture(scope="package")
def common_pages(window: BrowserContext) -> list[LabPage]:
    """Hold the open page of the server of ``SHARES_SERVER``, if there is one."""
    return []


@pytest.fixture(scope="module")
def notebook_page(
    request: pytest.FixtureRequest, window: BrowserContext, server: LabServer, common_pages: list[LabPage]
) -> Iterator[LabPage]:
    """Open a page of the size ``VIEWPORT`` with a notebook named like the module, and nothing beside it.

    Modules with ``SHARES_SERVER = True`` use the same page in turn, unless a test with a page of its own has closed it.
    """
    name = f"{request.module.__name__.rpartition('.')[2].removeprefix('test_')}.ipynb"
    server.write_notebook(name, "1")
    is_shared = getattr(request.module, "SHARES_SERVER", False)
    if is_shared and common_pages and not common_pages[0].page.is_closed():
        page = common_pages[0]
        page.set_theme("light")
        page.turn_to(name)
    else:
        page = LabPage(window, server)
        page.open(name)
        page.page.keyboard.press("Control+b")
        common_pages[:] = [page] if is_shared else []
    width, height = getattr(request.module, "VIEWPORT", (1600, 1000))
    page.resize(width, height)
    yield page
    if not is_shared:
        page.close()


@pytest.fixture
def lab(window: BrowserContext, server: LabServer) -> Iterator[LabPage]:
    """Create a page of 1600 by 1000 pixels, not opened yet, and assert that it requests nothing outside this computer
    and throws nothing.
    """
    page = LabPage(window, server)
    yield page
    page.close()
    assert (page.outside, page.faults) == ([], [])
