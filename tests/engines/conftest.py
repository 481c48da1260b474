"""A service for the tests of all adapters; files of engines that are left out are not read."""

import re

import pytest
from adapter_contract import AdapterLab


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A lab with a service of its own, where stand-ins of programs can be set up."""
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDNOTE_HOME", str(folder / "home"))
        with AdapterLab(folder) as made:
            yield made


def pytest_ignore_collect(collection_path, config):
    """Whether all tests of a file are left out by ``-m``: 1,500 of 46 files, at which each worker would look for a second."""
    if "not extra_engine" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    marks = re.search(r"^pytestmark = (\[\n(?:    .*\n)*\]|.*)", collection_path.read_text("utf-8"), re.M)
    return True if marks and "pytest.mark.extra_engine" in marks[0] else None
