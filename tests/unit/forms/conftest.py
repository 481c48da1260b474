"""Shared by tests of forms: the cell that contains a form."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def in_cell(monkeypatch):
    """Pretend that a notebook cell is executing, by giving the cell's id as the front end does."""

    def execute(cell_id, run):
        parent = {"metadata": {"cellId": cell_id}, "header": {"msg_id": f"run-{run}"}}
        kernel = SimpleNamespace(get_parent=lambda _channel: parent)
        shell = SimpleNamespace(kernel=kernel, user_ns={"__session__": "study/fv.ipynb"})
        monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)

    return execute
