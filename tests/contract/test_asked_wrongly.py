"""Wrong arguments and missing optional libraries are explained in one sentence."""

import inspect
import re
import sys

import numpy as np
import pandas as pd
import pytest
from job_settings import SETTINGS

import foldnote as fn
from foldnote import catalog
from foldnote.client import Stage
from foldnote.client.tables.tool_list import ToolList
from foldnote.errors import ArgumentError, BadRequestError, FoldnoteError, SettingsError
from foldnote.results.tables import tabular


@pytest.mark.parametrize("limit", [None, 0, -1, 2.5, "10", True])
@pytest.mark.parametrize("resource", ["jobs", "batches", "files"])
async def test_an_invalid_limit_is_refused(api, settle, resource, limit):
    with pytest.raises(FoldnoteError, match=f"limit is {limit!r}; it must be a positive integer"):
        await settle(getattr(api, resource).list(limit=limit))


@pytest.mark.parametrize("settings", [None, "EVQ", [{"sequence": "EVQ"}]], ids=["none", "text", "rows"])
async def test_settings_that_are_not_a_mapping_are_refused(api, settle, settings):
    with pytest.raises(FoldnoteError, match=r"Settings are a mapping such as .*batches\.submit\(\)"):
        await settle(api.jobs.submit("anarci", settings))


async def test_a_tool_that_is_not_text_is_refused(api, settle):
    with pytest.raises(FoldnoteError, match="A tool is given by its type, such as 'anarci', not int"):
        await settle(api.tools.get(5))


DOCSTRINGS = f"{fn.tools.__doc__}\n{ToolList.search.__doc__}"
EXAMPLES = re.findall(r"(\w+): [^\n]*?e\.g\. ``\"?([\w-]+)\"?``", DOCSTRINGS)


@pytest.mark.parametrize(("what", "example"), EXAMPLES)
def test_the_examples_of_the_docstrings_find_tools(what, example):
    assert ToolList(catalog.tools().values()).search(**{what: example})


def test_there_are_examples_of_each_filter():
    assert {what for what, _ in EXAMPLES} == {"family", "modality", "function"}


def test_a_library_that_is_missing_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FoldnoteError, match=r"pip install 'foldnote\[parquet\]'") as caught:
        tabular.read_table(b"PAR1", "x.parquet")
    assert caught.value.message.count(". ") == 0


def test_a_crate_without_its_library_is_one_sentence(client, settings, tmp_path, monkeypatch):
    job = client.jobs.submit("anarci", settings)
    result = job.wait(60).result()
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    with pytest.raises(FoldnoteError, match=r"pip install 'foldnote\[crate\]'"):
        result.save_crate(tmp_path / "crate.zip")
    assert list(tmp_path.iterdir()) == []


SEQUENCE = SETTINGS["sequence"]
WRONG_CALLS = {
    "settings without names": (lambda: fn.submit("anarci", SEQUENCE), "2 positional .* takes 1 .*name=value"),
    "settings as a dict": (lambda: fn.submit("anarci", {"sequence": SEQUENCE}), r"\*\*\{…\}"),
    "nothing at all": (lambda: fn.submit(), r"needs tool: fn.submit\(tool\)"),
    "a number as tool": (lambda: fn.submit(5), "tool must be text or a tool, not int"),
    "no table": (lambda: fn.submit_batch("anarci"), r"needs table: fn.submit_batch\(tool, table\)"),
    "a list of sequences": (lambda: fn.submit_batch("anarci", [SEQUENCE]), "a row of this is a str"),
    "a dict of columns": (lambda: fn.submit_batch("anarci", {"sequence": [SEQUENCE]}), "this is a dict"),
    "a number as table": (lambda: fn.submit_batch("anarci", 5), "this is a int"),
    "a column of a table": (lambda: fn.submit_batch("anarci", pd.Series([SEQUENCE])), "a row of this"),
    "a sequence as table": (lambda: fn.submit_batch("anarci", SEQUENCE), "is not the path of a table"),
    "an unknown column": (
        lambda: fn.submit_batch("anarci", [{"sequence": SEQUENCE, "schem": "imgt"}]),
        "'schem' is not a setting .* Did you mean scheme",
    ),
    "a number as search": (lambda: fn.tools(5), "search must be text, not int"),
    "a number as family": (lambda: fn.tools(family=5), "family must be text"),
    "a misspelt filter": (lambda: fn.tools(familly="x"), "no argument 'familly'. Did you mean family"),
    "a number as job": (lambda: fn.job(5), "job_name must be text, not int"),
    "no form": (lambda: fn.form(), "needs subject"),
    "a number as form": (lambda: fn.form(5), "subject must be text or a tool"),
    "an object as a value": (lambda: fn.form("anarci", sequence=object()), "cannot be of the type object"),
    "a number as structure": (lambda: fn.view(5), "a list of them, not int"),
    "a file that is not there": (lambda: fn.view("none.pdb"), "cannot be read: No such file or directory.$"),
    "British colour": (lambda: fn.view("x.pdb", colour="chain"), "Did you mean color"),
    "a number as grid": (lambda: fn.grid(5), "Give a list of structures, not int"),
    "a number as upload": (lambda: fn.uploaded(5), "name must be text"),
    "a number as contents": (lambda: fn.inline(5), "text must be text"),
    "no name of a variable": (lambda: fn.variable(), "needs name"),
    "a number as prompt": (lambda: fn.recommend(5), "prompt must be text"),
    "a sequence as inputs": (lambda: fn.recommend("fold", inputs="AAA"), "Give a list of molecules"),
    "one input": (lambda: fn.recommend("fold", inputs={"sequence": "A"}), "Give a list of molecules"),
    "a tool as stage": (lambda: fn.pipeline("p", ["anarci"]), "Give a list of stages"),
    "a stage without tool": (lambda: fn.stage("a"), r"needs tool: fn.stage\(name, tool\)"),
    "a number as a stage's file": (lambda: Stage("a", "anarci").file(5), "not a path inside"),
    "one ligand": (lambda: fn.screen(fn.inline("ATOM"), "CCO"), "Give a list of ligands"),
    "a number as result": (lambda: fn.open_result(5), "path must be text or a path"),
    "a profile without its name": (lambda: fn.account("x"), "got 1 positional .* takes no positional ones"),
    "a number as profile": (lambda: fn.connect(5), "profile must be text"),
    "no source": (lambda: fn.upload(), "needs source"),
    "a folder": (lambda: fn.upload("."), "'.' is a folder. Name a file to upload"),
    "two names": (lambda: fn.submit("anarci", name="a", job_name="b"), "give one of them"),
    "a name with a space": (lambda: fn.submit("anarci", name="my job"), "Write 'my-job'"),
    "a number as name": (lambda: fn.form("anarci", name=5), r"name of a job is text, not int \(5\)"),
    "a list as columns": (
        lambda: fn.submit_batch("anarci", [{"VH": SEQUENCE}], columns=["VH"]),
        "columns must be a mapping, not list",
    ),
    "a list as columns of a form": (
        lambda: fn.form("anarci").add_table([{"VH": SEQUENCE}], columns=["VH"]),
        "columns is a mapping such as .* not a list",
    ),
    "a list as sweep": (
        lambda: fn.submit_batch("anarci", [{"VH": SEQUENCE}], sweep=["VH"]),
        "sweep must be a mapping, not list",
    ),
    "a list as sweep of a form": (
        lambda: fn.form("anarci").add_table([{"VH": SEQUENCE}], sweep=["VH"]),
        "sweep is a mapping such as .* not a list",
    ),
    "a generator as the values of a sweep": (
        lambda: fn.submit_batch("anarci", [{"VH": SEQUENCE}], sweep={"scheme": iter(["imgt"])}),
        "should be a list of values, not list_iterator",
    ),
    "a misspelt column": (
        lambda: fn.submit_batch("anarci", [{"VH": SEQUENCE}], columns={"VHH": "sequence"}),
        "no column 'VHH'. It has: VH",
    ),
    "two columns of one name": (
        lambda: fn.submit_batch("anarci", pd.DataFrame([[SEQUENCE, "EVQ"]], columns=["sequence"] * 2)),
        "2 columns named 'sequence'",
    ),
    "no stages": (lambda: fn.pipeline("p", None), "Give a list of stages"),
    "no ligands": (lambda: fn.screen(fn.inline("ATOM"), None), "Give a list of ligands"),
    "a number to report": (lambda: fn.report(5), r"takes a job.*, not int \(5\)"),
    "a list in a list to report": (lambda: fn.report([["a"]]), "or a list of these, not list"),
    "an empty name to report": (lambda: fn.report(""), "job '' does not exist"),
    "nothing to export": (lambda: fn.export(None), "takes a job or its name.*, not None"),
    "an empty name to compare": (lambda: fn.compare("", ""), "neither a file nor a job ''"),
    "a sequence to compare": (lambda: fn.compare(SEQUENCE * 3, "b"), "neither a file nor a job"),
    "no result": (lambda: fn.open_result(""), "no result at ''"),
    "the contents of a file to view": (lambda: fn.view("ATOM\nATOM\n"), "it is the contents of a file"),
    "the contents of a file to upload": (lambda: fn.upload("ATOM\nATOM\n"), r"inline\(text\)"),
    "a number as values": (lambda: fn.form("anarci").set(5), "a mapping of them, not a int"),
    "what is no number": (
        lambda: fn.validate("anarci", sequence=float("nan")),
        r"^sequence: .* finite",
    ),
    "a word as a flag": (lambda: fn.submit("anarci", again="no"), "again must be True or False, not 'no'"),
    "a word as a flag of a tool's function": (
        lambda: fn.tools.anarci(sequence=SEQUENCE, again="no"),
        "again must be True or False, not 'no'",
    ),
    "a number as a flag": (lambda: fn.purge("3d", ask=0), "ask must be True or False, not 0"),
    "a set": (lambda: fn.validate("anarci", sequence={"A"}), r"^sequence: .* not a Python set"),
    "a schema that is none": (lambda: fn.form({"properties": 5}), "not a valid JSON Schema: properties: 5"),
}


@pytest.fixture
def here(client, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    return client


@pytest.mark.parametrize("what", WRONG_CALLS)
def test_a_wrong_call_of_a_function_is_answered_in_a_sentence(here, what):
    call, sentence = WRONG_CALLS[what]
    with pytest.raises(FoldnoteError, match=sentence) as caught:
        call()
    assert len(caught.value.message) < 240
    assert "\n" not in caught.value.message


async def test_a_flag_of_the_client_is_true_or_false(api, settle, settings):
    with pytest.raises(ArgumentError, match=r"submit\(\): again must be True or False, not 'false'"):
        await settle(api.jobs.submit("anarci", settings, again="false"))
    with pytest.raises(ArgumentError, match=r"list\(\): include_subjobs must be True or False, not 'no'"):
        await settle(api.jobs.list(include_subjobs="no"))
    assert await settle(api.jobs.list(include_subjobs=np.True_)) is not None


def test_a_tool_is_given_by_itself_wherever_its_type_is_taken(here, settings):
    tool = here.tools.get("anarci")
    assert fn.validate(tool, **settings).valid
    assert fn.validate(tool, extensions={"label": "x"}, **settings).valid
    assert fn.stage("number", tool, **settings) == fn.stage("number", "anarci", **settings)


def test_an_invalid_time_limit_is_refused(here, settings):
    job = fn.submit("anarci", **settings)
    with pytest.raises(FoldnoteError, match="timeout_s is 'soon'; it must be a number of seconds"):
        job.wait("soon", progress=False)
    with pytest.raises(FoldnoteError, match="5 is not a path inside the result"):
        job.file(5)


def test_a_job_is_named_by_either_word(here, settings, name):
    assert fn.submit("anarci", name=name, **settings).job_name == name
    assert fn.submit("anarci", job_name=name, **settings).job_name == name
    assert fn.form("anarci", name=name, **settings).job_name == name
    assert fn.form("anarci", job_name=name, **settings).job_name == name


def test_a_table_may_have_the_columns_that_people_write(here, name):
    table = pd.DataFrame({"id": [f"{name}-a", f"{name}-b"], "VH": [SEQUENCE + "SA", SEQUENCE + "SC"]})
    batch = fn.submit_batch("anarci", table, scheme="imgt")
    jobs = batch.subjobs()
    assert [job.job_name for job in jobs] == list(table["id"])
    assert [job.settings["sequence"] for job in jobs] == list(table["VH"])


def test_a_function_keeps_its_signature_and_its_help():
    assert list(inspect.signature(fn.submit).parameters)[:2] == ["tool", "job_name"]
    assert "Args:" in fn.submit.__doc__


NAMED = {
    "a name": (lambda given: fn.submit("anarci", job_name="a b", **given), "jobName", "job_name"),
    "a batch": (
        lambda given: fn.submit_batch("anarci", [given], batch_name="a b"),
        "batchName",
        "batch_name",
    ),
    "a time limit": (
        lambda given: fn.submit("anarci", max_runtime_s=-4, **given),
        "maxRuntimeSeconds",
        "max_runtime_s",
    ),
    "a label": (lambda given: fn.submit("anarci", label="x" * 201, **given), "foldnote.label", "label"),
    "retries": (lambda given: fn.submit_batch("anarci", [given], retries=99), "foldnote.retries", "retries"),
    "an extension": (
        lambda given: fn.submit("anarci", extensions={"external": "msa"}, **given),
        "foldnote.external",
        "extensions, external",
    ),
    "an input": (lambda _: fn.recommend("fold", inputs=[{"x": "A"}]), "inputs[0]", "input 1"),
}


@pytest.mark.parametrize(("call", "field", "name"), NAMED.values(), ids=NAMED)
def test_a_message_names_an_argument_as_it_is_written_and_the_error_has_the_field(
    here, settings, call, field, name
):
    with pytest.raises(SettingsError, match=rf"attention\. {name}: ") as caught:
        call(settings)
    assert caught.value.problems[0].field == field


def test_the_service_names_items_and_stages_as_people_count_and_write_them(here, settings):
    verdict = fn.validate("admet", smilesStrings=["CCO", "C(("])
    assert (verdict.field, verdict.error.partition(":")[0]) == ("smilesStrings.1", "smilesStrings, item 2")
    chains = fn.validate("proteinmpnn", pdbFile="x.pdb", designedResidues={"1": "x;"})
    assert chains.error.partition(":")[0] == chains.field == "designedResidues.1"
    with pytest.raises(BadRequestError, match=r"^stage number, sequence: Position 2") as caught:
        fn.pipeline("counted", [fn.stage("number", "anarci", scheme="imgt")], inputs={"sequence": "E1"})
    assert caught.value.field == "stages.0.settings.sequence"
