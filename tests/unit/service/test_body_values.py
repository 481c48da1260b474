"""The number of values in a body, counted before parsing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.service.faults import RefusalError
from foldnote.service.http import bodies

TEXT = st.text(alphabet='",{[\\a\né', max_size=12)
JSON = st.recursive(
    st.none() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def count(value):
    """Count commas and opening brackets outside the strings of a value's JSON."""
    if not isinstance(value, dict | list):
        return 0, 0
    inner = value.values() if isinstance(value, dict) else value
    commas, brackets = max(0, len(value) - 1), 1
    for each in map(count, inner):
        commas, brackets = commas + each[0], brackets + each[1]
    return commas, brackets


@given(JSON, st.booleans())
def test_only_content_outside_strings_is_counted(value, ensure_ascii):
    outside = bodies.outside_of_texts(json.dumps(value, ensure_ascii=ensure_ascii).encode())
    assert (outside.count(b","), outside.count(b"{") + outside.count(b"[")) == count(value)


def test_a_string_across_blocks_is_one_string(monkeypatch):
    monkeypatch.setattr(bodies, "_BLOCK_BYTES", 3)
    assert bodies.outside_of_texts(b'["a,,,,,,", 1, {"b,,,": "[[[["}]') == b"[,,{"


@pytest.mark.parametrize("value", [[0] * (bodies.MAX_VALUES + 2), [[] for _ in range(bodies.MAX_CONTAINERS)]])
def test_too_many_values_are_refused(value):
    with pytest.raises(RefusalError, match="more than") as caught:
        bodies.parse_json(json.dumps(value).encode())
    assert (caught.value.status, caught.value.code) == (400, "invalid_json")


def test_as_many_values_as_there_may_be_are_read():
    value = [0] * bodies.MAX_VALUES
    assert bodies.parse_json(json.dumps(value).encode()) == value
