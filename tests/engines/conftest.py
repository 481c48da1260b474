"""A service for the tests of all adapters."""

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
