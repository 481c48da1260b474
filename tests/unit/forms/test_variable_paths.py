"""Fields bound to a path from a variable: stored values are read, and no code of the user's runs."""

from collections import defaultdict, namedtuple
from dataclasses import dataclass
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from form_builders import label_of, make_form
from hypothesis import given
from hypothesis import strategies as st

from foldnote.errors import ArgumentError
from foldnote.forms import variable
from foldnote.forms.schema.spec import MISSING

TOOL = {"heavy": {"type": "string", "title": "Heavy chain"}}
Pair = namedtuple("Pair", "heavy light")


@pytest.fixture(scope="module")
def shell():
    """Return an interactive shell like that of a notebook's kernel."""
    from IPython.core.interactiveshell import InteractiveShell

    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@dataclass(slots=True)
class Slotted:
    heavy: str


class Running:
    """Count the code that is run on it."""

    calls = 0

    @property
    def heavy(self):
        Running.calls += 1
        return "EVQ"

    def __getattr__(self, name):
        Running.calls += 1
        raise AttributeError(name)

    def __getitem__(self, key):
        Running.calls += 1
        return "EVQ"


FRAME = pd.DataFrame({"VH": ["EVQ", "QVQ"], "count": ["x", "y"]}, index=[3, 4])
STORED = {
    "column as attribute": (FRAME, "it.VH", ["EVQ", "QVQ"]),
    "row of a column by its label": (FRAME, 'it["VH"][3]', "EVQ"),
    "row as attribute": (FRAME.loc[4], "it.VH", "QVQ"),
    "array": (np.array([[1, 2], [3, 4]]), "it[1][-1]", 4),
    "namespace": (SimpleNamespace(heavy="EVQ"), "it.heavy", "EVQ"),
    "slots": (Slotted("EVQ"), "it.heavy", "EVQ"),
    "named tuple": (Pair("EVQ", "DIQ"), "it.light", "DIQ"),
    "class": (type("Settings", (), {"heavy": "EVQ"}), "it.heavy", "EVQ"),
    "nested": ({"chains": [Slotted("EVQ")]}, " it['chains'][ 0 ].heavy ", "EVQ"),
}
ABSENT = {
    "method of a table": (FRAME, "it.count"),
    "no such column": (FRAME, 'it["VL"]'),
    "property": (Running(), "it.heavy"),
    "computed attribute": (Running(), "it.light"),
    "computed item": (Running(), 'it["heavy"]'),
    "default that a dict would make": (defaultdict(str), 'it["heavy"]'),
    "beyond the end": (["EVQ"], "it[1]"),
    "function": (Slotted, "it.mro"),
}


@pytest.mark.parametrize(("value", "path", "found"), STORED.values(), ids=STORED)
def test_a_stored_value_is_found(shell, value, path, found):
    shell.user_ns["it"] = value
    assert variable(path).read() == found


@pytest.mark.parametrize(("value", "path"), ABSENT.values(), ids=ABSENT)
def test_nothing_is_computed_or_changed(shell, value, path):
    shell.user_ns["it"] = value
    Running.calls = 0
    assert variable(path).read() is MISSING
    assert Running.calls == 0
    assert not isinstance(value, defaultdict) or not value


names = st.text(st.characters(codec="utf-8", categories=["Lu", "Ll", "Nd", "Zs", "Po"]), max_size=8)
keys = st.lists(st.one_of(names, st.integers(0, 3)), max_size=6)


@given(keys)
def test_a_path_finds_what_python_finds(shell, path):
    value: object = "EVQ"
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [None] * key + [value]
    shell.user_ns["it"] = value
    text = "it" + "".join(f"[{key!r}]" for key in path)
    assert variable(text).read() == eval(text, {"it": value}) == "EVQ"


@pytest.mark.parametrize(
    "text",
    [
        "f(x)",
        "a.b()",
        "a[b]",
        "a[1:2]",
        "a + b",
        "a.__dict__",
        "a._x",
        "[1]",
        "",
        "a; b",
        "a[f'x']",
        "a[1.5]",
    ],
)
def test_what_would_have_to_be_run_is_refused_with_an_example(text):
    with pytest.raises(ArgumentError, match=r"a path such as \"df\.VH\""):
        variable(text)


def test_a_field_follows_a_path_which_the_code_keeps(shell):
    shell.user_ns.pop("table", None)
    form = make_form(TOOL, heavy=variable('table["VH"][3]'))
    assert 'follows <code>table["VH"][3]</code>, and table is not defined yet' in unescape(
        label_of(form, "heavy")
    )
    shell.user_ns["table"] = FRAME
    form.bindings.follow()
    assert form.value["heavy"] == "EVQ"
    assert 'heavy=table["VH"][3],' in form.code()
    shell.user_ns["table"] = {}
    form.bindings.follow()
    form.refresh()
    assert 'follows <code>table["VH"][3]</code>, where no plain value is stored' in unescape(
        label_of(form, "heavy")
    )


MANY = {
    "column": ("it.VH", "it.VH holds 2 values, and this takes one, such as it.VH[3]."),
    "list": ("names", "names holds 2 values, and this takes one, such as names[0]."),
    "array": ("array", "array holds 2 values, and this takes one, such as array[0]."),
    "labels that no path can write": ("dated", "dated holds 1 value, and this takes one."),
}


@pytest.mark.parametrize(("path", "said"), MANY.values(), ids=MANY)
def test_a_variable_of_many_values_is_named_with_a_path_to_one_of_them(shell, path, said):
    dated = pd.Series(["EVQ"], index=[pd.Timestamp("2026-11-29")])
    shell.user_ns.update(it=FRAME, names=["EVQ", "QVQ"], array=np.array(["EVQ", "QVQ"]), dated=dated)
    form = make_form(TOOL, heavy=variable(path))
    assert [problem.message for problem in form.problems] == [
        f"{said} For one job per value, add the table to the form's batch, or call fn.submit_batch."
    ]
    one = said.partition("such as ")[2].rstrip(".")
    assert not one or not make_form(TOOL, heavy=variable(one)).problems
