"""A service for the tests of all adapters; files whose tests are all deselected are not imported."""

import re

import pytest

pytest.register_assert_rewrite("adapter_contract", "engine_contract", "real_engine")

from adapter_contract import AdapterLab  # noqa: E402


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """Create a lab with its own service, where stand-ins for programs can be set up."""
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDNOTE_HOME", str(folder / "home"))
        with AdapterLab(folder) as made:
            yield made


def pytest_ignore_collect(collection_path, config):
    """Skip files whose tests are all deselected by ``-m``: importing these 46 files with 1,500 tests takes each
    worker a second.
    """
    if "not extra_engine" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    marks = re.search(r"^pytestmark = (\[\n(?:    .*\n)*\]|.*)", collection_path.read_text("utf-8"), re.M)
    return True if marks and "pytest.mark.extra_engine" in marks[0] else None
