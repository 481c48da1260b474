"""The examples of the page on results run in their order, on an archive that is made here."""

import re
from pathlib import Path

import foreign_archives as foreign
import pytest
from result_archives import FV, write_zip
from test_batch import make_batch

from foldnote.results import JobParts, open_result, save_export

PAGE = Path(__file__).parents[3] / "docs" / "results.md"


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    pytest.importorskip("IPython", reason="foldnote's notebook verbs need it")
    members = foreign.boltz() | {"msa/fv.a3m": ">q\nACD\n>h\nA-D\n"} | foreign.gnina()
    write_zip(tmp_path / "result.zip", members)
    jobs = ("fv-1", "fv-2")
    result = open_result(write_zip(tmp_path / "panel.zip", make_batch(jobs)))
    save_export(tmp_path / "panel.foldnote.zip", JobParts([result], {"jobName": "panel"}, jobs))
    models = (f"MODEL     {number}\n{FV.replace('END', '')}\nENDMDL\n" for number in (1, 2))
    (tmp_path / "nmr.pdb").write_text("".join(models))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}

    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
        exec(compile(block, PAGE.name, "exec"), names)

    assert names["fit"].rmsd < 0.01
    assert names["metric"].label == "ipTM"
    assert len(names["lines"]) == 454
