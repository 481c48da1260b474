"""Notebooks run if their engines are installed; `make test` installs the engines of all of them."""

import os
from pathlib import Path

import pytest
from _reference.notebook_facts import list_missing_engines, read_notebooks


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip a notebook that lacks an engine, and say how to install it; in CI it fails instead."""
    if "CI" in os.environ:
        return
    facts = {each.path: each for each in read_notebooks(Path(__file__).parent)}
    for item in items:
        missing = list_missing_engines(facts[item.path]) if item.path in facts else []
        if missing:
            command = f"foldnote engines install {' '.join(missing)}"
            reason = f"not installed, or for another version: run `{command}`"
            item.add_marker(pytest.mark.skip(reason=reason))
