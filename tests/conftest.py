"""Fixtures and hooks for all tests: a separate home for each, without the user's API key."""

import ast
import atexit
import gc
import os
import shutil
import signal
import sys
from functools import cache, partial
from itertools import count
from pathlib import Path

import certifi
import httpx
import hypothesis
import platformdirs
import pytest

_REAL_DATA = Path(platformdirs.user_data_dir("foldnote", appauthor=False))
WITHOUT_PACKAGES = (
    *(["biotite"] if sys.version_info >= (3, 14) else []),
    *(["engines install vina"] if sys.version_info >= (3, 13) and not shutil.which("python3.12") else []),
)
"""What has no packages for this Python; see the extras in pyproject.toml, and scripts/check."""
SLOW_FIRST = (
    *("packaging", "engines", "service", "contract", "examples"),
    *("unit/viewers/test_pdf.py", "unit/viewers/test_batches.py", "unit/test_cli.py", "unit/lab"),
    *(
        "unit/viewers",
        "browser/test_views.py",
        "browser/test_results_elsewhere.py",
        "browser/test_sidebar.py",
    ),
)
"""The slowest folders and files, which run first. The files that run last are short, so all workers finish at about
the same time.
"""
_UMASK = os.umask(0o022)
os.umask(_UMASK)
# Also for servers that outlive one test: only the installed engines are shared.
os.environ.setdefault("FOLDNOTE_ENGINES_DIR", str(_REAL_DATA / "engines"))
# No time limit for an example: a busy machine is slow.
hypothesis.settings.register_profile(
    "patient",
    max_examples=100 if "FOLDNOTE_TEST_EXAMPLES" in os.environ else 30,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("patient")
# A shell that starts the tests in the background makes them, and every program that they start, ignore
# Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Each worker collects every test, and these objects live until it exits: scanning them for garbage costs five
# seconds during collection, and again at each full collection later.
gc.disable()
atexit.register(gc.freeze)  # nor is it worth a search for garbage when the worker exits


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def web_certificates(tmp_path_factory):
    """Return the user's ``SSL_CERT_FILE`` for tests that install packages from the web, and replace it with one
    certificate.

    No other test connects to the web, and loading all 140 certificates takes each client 22 ms, here and in every
    program that a test starts.
    """
    text, end = Path(certifi.where()).read_text(), "-----END CERTIFICATE-----\n"
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(text[text.index("-----BEGIN") : text.index(end) + len(end)])
    before = os.environ.get("SSL_CERT_FILE")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield before


@pytest.fixture(scope="session", autouse=True)
def _patience():
    """Let HTTP requests of tests time out after a minute instead of five seconds, since the machine may be busy."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("get", "post", "put", "patch", "delete", "head", "options", "request", "stream"):
            patch.setattr(httpx, name, partial(getattr(httpx, name), timeout=60))
        yield


@pytest.fixture(scope="session")
def _homes(tmp_path_factory):
    """Return paths for homes in one folder: ``mktemp`` would list the thousands of folders that it has made."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_home(_homes, monkeypatch):
    """Give each test its own jobs, keys and service. Installed engines are shared and only read."""
    home = next(_homes)
    home.mkdir()
    monkeypatch.setenv("FOLDNOTE_HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("FOLDNOTE_SITE_CONFIG", "")  # no administrator's configuration
    for name in ("BASE_URL", "API_KEY", "PROFILE", "ENGINE_PATH", "JUPYTERHUB_SERVICE"):
        monkeypatch.delenv(f"FOLDNOTE_{name}", raising=False)


@pytest.fixture(autouse=True)
def _own_umask():
    """Restore the user's umask for each test, because a service or command in this process may change it."""
    os.umask(_UMASK)
    yield
    os.umask(_UMASK)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow files first, so that all workers finish at about the same time."""
    tests = Path(__file__).parent

    @cache
    def rank(path: Path) -> int:
        places = (place for place, slow in enumerate(SLOW_FIRST) if path.is_relative_to(tests / slow))
        return next(places, len(SLOW_FIRST))

    items.sort(key=lambda item: rank(item.path))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Turn skips into failures in CI, where everything that tests need is installed by `make test`.

    The exceptions are the real result archives, which are not part of the project, and packages that cannot be
    installed for this Python.
    """
    report = (yield).get_result()
    if "CI" in os.environ and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(each in reason for each in ("real result archives", *WITHOUT_PACKAGES)):
            report.outcome, report.longrepr = "failed", f"skipped under CI: {reason}"


@pytest.fixture(scope="session")
def syntax_trees() -> dict[Path, ast.Module]:
    """Parse each module of the package. The trees are kept out of garbage collection: scanning them takes longer than
    parsing.
    """
    gc.disable()
    sources = sorted((Path(__file__).parent.parent / "src" / "foldnote").rglob("*.py"))
    trees = {path: ast.parse(path.read_text()) for path in sources}
    gc.freeze()
    gc.enable()
    return trees


@pytest.fixture
def home() -> Path:
    """Return this test's ``FOLDNOTE_HOME``."""
    return Path(os.environ["FOLDNOTE_HOME"])
