"""The catalog through the client, of our service and of others."""

import pytest
from job_settings import SETTINGS
from scripted_service import answers

from foldnote import catalog
from foldnote.errors import ProtocolError, SettingsError, UnknownToolError


async def test_every_bundled_tool_is_listed_with_its_schema(api, settle):
    tools = {tool.type: tool for tool in await settle(api.tools.list())}
    assert tools.keys() == catalog.tools().keys()
    assert all(tool.settings_schema for tool in tools.values())


async def test_a_tool_tells_what_runs_it(api, settle):
    tool = await settle(api.tools.get("anarci"))
    assert tool.available
    assert tool.engine.method == "Probe of the tests"


async def test_an_unknown_tool_is_answered_with_near_names(api, settle):
    with pytest.raises(UnknownToolError) as caught:
        await settle(api.tools.get("alphafol"))
    assert caught.value.near[0] == "alphafold"


def test_a_foreign_list_of_settings_is_translated_filled_in_and_obeyed(scripted, connect):
    rows = [{"name": "sequence", "required": True}, {"name": "scheme", "options": ["imgt", "new"]}]
    scripted.on("GET", "/tools", answers([{"name": "anarci", "settings": rows}]))
    scripted.on("POST", "/submit-job", answers("x submitted to queue."))
    client = connect()
    tool = client.tools.get("anarci")
    assert tool.available
    assert tool.settings_schema["properties"]["scheme"]["enum"] == ["imgt", "new"]
    assert "From foldnote's own catalog: sequence" in str(tool.origin)
    assert client.jobs.submit("anarci", SETTINGS | {"scheme": "new"}).status == "In Queue"
    with pytest.raises(SettingsError, match="scheme"):
        client.jobs.submit("anarci", SETTINGS | {"scheme": "kabat"})


def test_rows_of_a_catalog_that_name_no_tool_are_reported(scripted, connect):
    scripted.on("GET", "/tools", answers([{"name": "anarci"}, {"github": "x"}]))
    tools = connect().tools.list()
    assert tools.unread == ({"github": "x"},)
    assert "1 entry of the catalog could not be read" in repr(tools)


def test_a_foreign_tool_that_is_not_ours_keeps_its_words(scripted, connect):
    scripted.on(
        "GET", "/tools", answers({"tools": [{"name": "newfold", "description": "New.", "github": "x"}]})
    )
    tool = connect().tools.get("newfold")
    assert (tool.type, tool.description, tool.model_extra["github"]) == ("newfold", "New.", "x")


@pytest.mark.parametrize("said", ["hello", {"tools": 3}, [3], 7, None, [{"name": []}], [{"modalities": 5}]])
def test_an_invalid_catalog_is_reported(scripted, connect, said):
    scripted.on("GET", "/tools", answers(said))
    with pytest.raises(ProtocolError):
        connect().tools.list()
