"""The functions of tools, fn.tools.NAME, are made from schemas and submit as fn.submit does."""

import inspect
import json
import subprocess
import sys
from typing import Literal

import pytest
from job_settings import SETTINGS
from scripted_service import answers

import foldnote as fn
from foldnote import catalog
from foldnote.errors import ArgumentError, SettingsError, ToolFunctionError

OPTIONS = set(inspect.signature(fn.submit).parameters) - {"tool", "settings"}


@pytest.fixture
def here(client, monkeypatch):
    """Connect the notebook functions to the service of these tests."""
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    return client


def test_every_bundled_tool_is_a_function_of_its_settings():
    assert dir(fn.tools) == sorted(name.replace("-", "_") for name in catalog.tools())
    for tool in catalog.tools().values():
        function = getattr(fn.tools, tool.type.replace("-", "_"))
        parameters = inspect.signature(function).parameters
        assert set(parameters) - {"settings"} == set(tool.settings_schema["properties"]) | OPTIONS
        is_closed = tool.settings_schema.get("additionalProperties") is False
        assert is_closed == all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters.values())
        needed = {name for name, each in parameters.items() if each.default is each.empty}
        fields = tool.settings_schema["properties"]
        assert needed - {"settings"} == {
            n for n in tool.settings_schema["required"] if "default" not in fields[n]
        }


def test_a_signature_has_types_and_defaults():
    parameters = inspect.signature(fn.tools.proteinmpnn).parameters
    assert (parameters["numSequences"].annotation, parameters["numSequences"].default) == (int, 8)
    assert parameters["model"].annotation == Literal["general", "soluble"]
    assert parameters["designedChains"].annotation == list[str] | None
    assert parameters["biasAAs"].annotation == dict[str, float] | None
    assert parameters["again"].annotation is bool


def test_a_docstring_has_unit_range_options_default_and_condition():
    text = " ".join(fn.tools.hydration_free_energy.__doc__.split())
    assert "equilLength: Equilibration length. Length of the equilibration of each window" in text
    assert "Unit: ps. Range: 0 to 10,000. Default: 50." in text
    assert "Options: 'tip3p', 'spce'. Default: 'tip3p'." in text
    assert "extensions: what is sent in addition to the settings if the service accepts it:" in text
    assert "https://doi.org/10.1063/1.2978177" in text
    ablang = " ".join(fn.tools.ablang.__doc__.split())
    assert "Applies if task is 'mask'." in ablang


def test_each_setting_and_option_is_in_the_docstring():
    for tool in catalog.tools().values():
        lines = getattr(fn.tools, tool.type.replace("-", "_")).__doc__.splitlines()
        entries = {line.split(":")[0].strip() for line in lines if line.startswith("    ") and line[4] != " "}
        assert entries - {"**settings"} == set(tool.settings_schema["properties"]) | OPTIONS


def test_a_call_is_that_of_submit(here, settings):
    job = fn.tools.anarci(**settings)
    assert type(job) is type(fn.submit("anarci", **settings))
    assert fn.submit("anarci", **settings).job_name == job.job_name
    assert fn.tools.anarci(**settings, again=True).job_name != job.job_name


def test_none_omits_an_optional_setting(here, settings, name):
    job = fn.tools.anarci(sequence=settings["sequence"], scheme=None, job_name=name)
    assert (job.job_name, dict(job.record.settings)) == (name, {"sequence": settings["sequence"]})


def test_mistakes_are_short_and_name_the_remedy(here):
    with pytest.raises(ArgumentError, match=r"settings by name: fn\.tools\.anarci\(sequence=…\)"):
        fn.tools.anarci(SETTINGS["sequence"])
    with pytest.raises(SettingsError, match="Did you mean sequence"):
        fn.tools.anarci(sequenc="EVQ")
    with pytest.raises(ArgumentError, match=r"fn\.tools\.anarci: job_name must be text, not int"):
        fn.tools.anarci(**SETTINGS, job_name=5)
    with pytest.raises(ToolFunctionError, match="Did you mean abodybuilder"):
        fn.tools.abodybulder  # noqa: B018
    assert not hasattr(fn.tools, "_repr_html_")


def test_the_tools_are_listed_as_before(here):
    assert [tool.type for tool in fn.tools("AutoDock Vina", runs_here=True)] == ["vina"]
    assert list(inspect.signature(fn.tools).parameters)[:2] == ["search", "family"]
    with pytest.raises(ArgumentError, match=r"fn\.tools has no argument 'famly'\. Did you mean family"):
        fn.tools(famly="x")


def test_a_listed_tool_has_the_docstring_of_the_bundled_one(here):
    bundled = {name: getattr(fn.tools, name).__doc__ for name in dir(fn.tools)}
    fn.tools()
    for name, text in bundled.items():
        assert text.partition("Reference:")[2] == getattr(fn.tools, name).__doc__.partition("Reference:")[2]


def test_a_tool_of_the_service_alone_has_a_function_once_it_is_listed(scripted, connect, monkeypatch):
    client = connect()
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    schema = {
        "type": "object",
        "properties": {
            "lambda": {"type": ["number", "null"]},
            "profile": {"type": "string"},
            "token": {"type": "string", "format": "password", "default": "hidden"},
            "n-steps": {"type": "integer", "exclusiveMinimum": 0},
        },
        "required": ["lambda"],
    }
    scripted.on("GET", "/tools", answers([{"type": "own-tool", "schema": schema}, {"type": "class"}]))
    scripted.on("POST", "/submit-job", answers("x submitted to queue."))
    scripted.on("GET", "/jobs", answers({"error": "none"}, 404))
    assert not hasattr(fn.tools, "own_tool")
    try:
        fn.tools()
        signature = inspect.signature(fn.tools.own_tool)
        assert {"own_tool", "class_", "anarci"} <= set(dir(fn.tools))
        assert "hidden" not in f"{signature} {fn.tools.own_tool.__doc__}"
        assert "Range: more than 0." in fn.tools.own_tool.__doc__
        fn.tools.own_tool(lambda_=None, profile_="x", n_steps=3, job_name="own", more=1)
        sent = json.loads(next(one.body for one in scripted.asked if one.path == "/submit-job"))
        assert sent["settings"] == {"lambda": None, "profile": "x", "n-steps": 3, "more": 1}
    finally:
        scripted.on("GET", "/tools", answers([]))
        fn.tools()


@pytest.fixture
def list_own_tools(scripted, connect, monkeypatch):
    """Return a function that lists tools of these types, with text settings of these names, at a separate service."""
    client = connect()
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    scripted.on("POST", "/submit-job", answers("x submitted to queue."))
    scripted.on("GET", "/jobs", answers({"error": "none"}, 404))

    def show(types, *names):
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        scripted.on("GET", "/tools", answers([{"type": each, "schema": schema} for each in types]))
        fn.tools()
        return scripted

    yield show
    show([])


def test_a_setting_may_have_any_name(list_own_tools):
    names = ["class", "class_", "webhook", "webhook_", "a-b", "a_b", "settings", "x²", "\N{MICRO SIGN}M", ""]
    scripted = list_own_tools(["own"], *names)
    signature = inspect.signature(fn.tools.own)
    arguments = [
        "class__", "class_", "webhook__", "webhook_", "a_b_", "a_b", "settings", "x2",
        "\N{GREEK SMALL LETTER MU}M", "_",
    ]  # fmt: skip
    assert list(signature.parameters)[: len(names)] == arguments
    assert list(signature.parameters)[-1] == "settings_"
    fn.tools.own(**{name: name for name in arguments}, job_name="own")
    sent = json.loads(next(one.body for one in scripted.asked if one.path == "/submit-job"))
    assert sent["settings"] == dict(zip(names, arguments, strict=True))


def test_a_tool_is_found_by_its_own_name_where_another_is_written_alike_in_python(list_own_tools):
    list_own_tools(["a-b", "a_b"])
    assert fn.tools.a_b.__doc__.startswith("Submit a job of a_b.")


def test_names_and_signatures_need_no_service_and_no_large_library():
    code = (
        "import sys, inspect, foldnote as fn; assert 'foldnote.catalog' not in sys.modules;"
        "dir(fn.tools); inspect.signature(fn.tools.anarci); print(sorted({'httpx', 'pandas', 'numpy', 'gemmi',"
        "'ipywidgets', 'jsonschema_rs'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
