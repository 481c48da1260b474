"""What is asked wrongly, or lacks an optional library, is answered in one sentence."""

import re
import sys

import pytest

import foldnote as fn
from foldnote import catalog
from foldnote.client.tool_list import ToolList
from foldnote.errors import FoldnoteError
from foldnote.results import tables
from foldnote.results.smiles import read_smiles


@pytest.mark.parametrize("limit", [None, 0, -1, 2.5, "10", True])
@pytest.mark.parametrize("resource", ["jobs", "batches", "files"])
async def test_a_limit_that_is_no_number_of_rows_is_refused(face, settle, resource, limit):
    with pytest.raises(FoldnoteError, match=f"limit is {limit!r}; it must be a whole number from 1"):
        await settle(getattr(face, resource).list(limit=limit))


DOCSTRINGS = f"{fn.tools.__doc__}\n{ToolList.search.__doc__}"
EXAMPLES = re.findall(r"(\w+): [^\n]*?e\.g\. ``\"?([\w-]+)\"?``", DOCSTRINGS)


@pytest.mark.parametrize(("what", "example"), EXAMPLES)
def test_the_examples_of_the_docstrings_find_tools(what, example):
    assert ToolList(catalog.tools().values()).search(**{what: example})


def test_there_are_examples_of_each_filter():
    assert {what for what, _ in EXAMPLES} == {"family", "modality", "function"}


@pytest.mark.parametrize(
    ("library", "extra", "use"),
    [
        ("pyarrow", "parquet", lambda: tables.read_table(b"PAR1", "x.parquet")),
        ("rdkit.Chem", "chem", lambda: read_smiles(b"CCO", "x.smi")),
    ],
)
def test_a_library_that_is_missing_is_named_with_the_line_that_installs_it(monkeypatch, library, extra, use):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(FoldnoteError, match=rf"pip install 'foldnote\[{extra}\]'") as caught:
        use()
    assert caught.value.message.count(". ") == 0


def test_a_crate_without_its_library_is_one_sentence(client, settings, tmp_path, monkeypatch):
    job = client.jobs.submit("anarci", settings)
    result = job.wait(60).result()
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    with pytest.raises(FoldnoteError, match=r"pip install 'foldnote\[crate\]'"):
        result.save_crate(tmp_path / "crate.zip")
    assert list(tmp_path.iterdir()) == []
