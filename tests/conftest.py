"""What every test shares: a home of its own, and no key of the person who runs the tests."""

import ast
import gc
import os
import signal
from functools import cache, partial
from itertools import count
from pathlib import Path

import certifi
import httpx
import hypothesis
import platformdirs
import pytest

_REAL_DATA = Path(platformdirs.user_data_dir("foldnote", appauthor=False))
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
"""Folders and files that take longest. Those that come last are short, so that no worker is left with a long one."""
_UMASK = os.umask(0o022)
os.umask(_UMASK)
# For servers that live longer than one test, too: engines are shared, everything else is not.
os.environ.setdefault("FOLDNOTE_ENGINES_DIR", str(_REAL_DATA / "engines"))
# A busy machine makes no example wrong: how long one takes, or is thought up, is not judged.
hypothesis.settings.register_profile(
    "patient",
    max_examples=100 if "FOLDNOTE_TEST_EXAMPLES" in os.environ else 30,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("patient")
# A shell that starts the tests in the background has them ignore Ctrl-C, and every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Each worker collects every test, all of which stay to its end: looking them through for garbage would cost five seconds
# there, and again whenever a test makes garbage of its own.
gc.disable()


def pytest_collection_finish() -> None:
    """Garbage is that of tests, from here on."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def web_certificates(tmp_path_factory):
    """What the person who runs the tests has set as ``SSL_CERT_FILE``, for those that install packages from the web.

    No other test asks a server of the web: of 140 certificates, which each client takes 22 ms to load, here and in every
    program that a test starts, one is enough.
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
    """A request of a test waits for a minute, not for five seconds: a busy machine takes its time."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("get", "post", "put", "patch", "delete", "head", "options", "request", "stream"):
            patch.setattr(httpx, name, partial(getattr(httpx, name), timeout=60))
        yield


@pytest.fixture(scope="session")
def _homes(tmp_path_factory):
    """Paths for homes in a folder of their own: ``mktemp`` reads all that it made before, thousands of them."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_home(_homes, monkeypatch):
    """No test touches the user's own jobs, keys or service; installed engines are shared, read only."""
    home = next(_homes)
    home.mkdir()
    monkeypatch.setenv("FOLDNOTE_HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("FOLDNOTE_SITE_CONFIG", "")  # no administrator's configuration
    for name in ("BASE_URL", "API_KEY", "PROFILE", "ENGINE_PATH", "JUPYTERHUB_SERVICE"):
        monkeypatch.delenv(f"FOLDNOTE_{name}", raising=False)


@pytest.fixture(autouse=True)
def _own_umask():
    """A service or command in this process may close what it writes to others; each test begins with the user's."""
    os.umask(_UMASK)
    yield
    os.umask(_UMASK)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow files come first, so that several workers end together."""
    tests = Path(__file__).parent

    @cache
    def rank(path: Path) -> int:
        places = (place for place, slow in enumerate(SLOW_FIRST) if path.is_relative_to(tests / slow))
        return next(places, len(SLOW_FIRST))

    items.sort(key=lambda item: rank(item.path))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Where CI runs, all that `make test` installs is there: a skip would hide that it is not.

    The real result archives are not part of the project, so that their absence is told and not a failure.
    """
    report = (yield).get_result()
    if "CI" in os.environ and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if "real result archives" not in reason:
            report.outcome, report.longrepr = "failed", f"skipped under CI: {reason}"


@pytest.fixture(scope="session")
def syntax_trees() -> dict[Path, ast.Module]:
    """The syntax tree of each module of the package. They are no garbage, and to look through them takes longer than to parse."""
    gc.disable()
    sources = sorted((Path(__file__).parent.parent / "src" / "foldnote").rglob("*.py"))
    trees = {path: ast.parse(path.read_text()) for path in sources}
    gc.freeze()
    gc.enable()
    return trees


@pytest.fixture
def home() -> Path:
    """The home of this test, as ``foldnote.settings`` sees it."""
    return Path(os.environ["FOLDNOTE_HOME"])
