"""Tools that other processes register and remove during a request."""

import pytest

from foldnote import catalog
from foldnote.service.domain.tool_registry import Toolbox, ToolWithEngine
from foldnote.service.engines import load_engines
from foldnote.service.faults import RefusalError

BY_COMMAND = catalog.tool("anarci").model_copy(update={"type": "by-command"})


def test_a_tool_that_is_removed_between_two_looks_is_unknown_and_not_only_unavailable():
    registered = {"by-command": ToolWithEngine(BY_COMMAND, load_engines()["anarci"])}
    toolbox = Toolbox({})
    toolbox.read_registered_with(lambda: dict(registered))
    tool = toolbox.find("by-command")
    registered.clear()
    toolbox.refresh()
    with pytest.raises(RefusalError) as refused:
        toolbox.require_engine(tool)
    assert refused.value.code == "unknown_tool"


def test_a_tool_of_the_catalog_without_an_engine_is_unavailable():
    toolbox = Toolbox({})
    with pytest.raises(RefusalError) as refused:
        toolbox.require_engine(toolbox.find("anarci"))
    assert refused.value.code == "tool_unavailable"
