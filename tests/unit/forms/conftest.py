"""What tests of forms share: the cell that a form stands in."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def in_cell(monkeypatch):
    """Pretends that a notebook cell is executing: as the front end, it gives the cell's id."""

    def execute(cell_id, run):
        parent = {"metadata": {"cellId": cell_id}, "header": {"msg_id": f"run-{run}"}}
        kernel = SimpleNamespace(get_parent=lambda _channel: parent)
        shell = SimpleNamespace(kernel=kernel, user_ns={"__session__": "study/fv.ipynb"})
        monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)

    return execute
