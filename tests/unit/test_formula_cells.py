"""Users' text in a batch's table is text to spreadsheet programs, and is read back unchanged."""

import csv
import io
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.results.batch import remove_guards
from foldnote.service.domain.batch_archives import Subjob, guard_formula, make_table

STARTS = ("=", "+", "-", "@", "\t", "\r")


@pytest.mark.parametrize("text", ['=HYPERLINK("http://a","b")', "+1", "-1+2", "@SUM(A1)", "\tx", "'=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(text):
    assert guard_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "EVQLVES", "CC(=O)O", "'quoted'", "1e-3", "a=b"])
def test_other_text_stays_as_it_is(text):
    assert guard_formula(text) == text


@given(st.lists(st.text(st.sampled_from("'=+-@\ta1")), min_size=1))
def test_guarded_text_is_read_back_letter_for_letter(texts):
    guarded = [guard_formula(text) for text in texts]
    assert not any(text.startswith(STARTS) for text in guarded)
    table = pd.DataFrame({"a": pd.Series(guarded, dtype="str"), "n": range(len(texts))})
    assert list(remove_guards(table)["a"]) == texts


def test_the_table_of_a_batch_runs_nothing_and_keeps_numbers():
    settings = json.dumps({"note": "=1+1", "seed": -3})
    subjob = Subjob("a", "Complete", None, settings, json.dumps({"best": -7.5, "why": "@x"}), None)
    (row,) = csv.DictReader(io.StringIO(make_table([subjob])))
    assert (row["settings.note"], row["settings.seed"]) == ("'=1+1", "-3")
    assert (row["score.best"], row["score.why"]) == ("-7.5", "'@x")
