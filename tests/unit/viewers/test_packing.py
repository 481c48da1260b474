"""What travels in a page comes out as it went in, and is small."""

import base64
import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.viewers.render.compression import LETTERS, pack, pack_densely, turn
from foldnote.viewers.render.html import write_json

ASSETS = Path(__file__).parents[3] / "src" / "foldnote" / "viewers" / "assets"


def turn_back(pieces):
    """The text of :func:`turn`, as the page reads it."""
    return "\n".join(piece if isinstance(piece, str) else read_columns(*piece) for piece in pieces)


def read_columns(length, letters):
    lines = len(letters) // length
    return "\n".join(letters[line::lines] for line in range(lines))


@given(st.text())
def test_any_text_comes_back(text):
    assert turn_back(turn(text)) == text


@given(
    st.lists(st.text(alphabet="AB ", min_size=3, max_size=3), min_size=8, max_size=30), st.text(max_size=20)
)
def test_lines_of_one_length_come_back(lines, tail):
    text = "\n".join([*lines, tail])
    assert turn_back(json.loads(json.dumps(turn(text)))) == text


def test_what_is_packed_is_json_in_safe_letters():
    packed = pack({"a": ["</script>", "\u2028", 1.5]})
    assert json.loads(gzip.decompress(base64.b64decode(packed))) == {"a": ["</script>", "\u2028", 1.5]}
    assert "<" not in packed


@given(st.text())
def test_what_is_packed_densely_comes_back(text):
    packed = pack_densely({"a": text})
    assert json.loads(gzip.decompress(read_letters(packed))) == {"a": text}
    assert write_json(packed) == f'"{packed}"'
    assert len(packed) < 0.96 * len(pack({"a": text}))


def read_letters(text):
    """The bytes of a text in which five letters are four bytes, the last ones left out if they are not needed."""
    missing = -len(text) % 5
    values = np.array([LETTERS.index(letter) for letter in text + LETTERS[-1] * missing], np.uint64)
    words = values.reshape(-1, 5) @ np.array([85**4, 85**3, 85**2, 85, 1], np.uint64)
    whole = words.astype(">u4").tobytes()
    return whole[: len(whole) - missing]


@pytest.mark.parametrize("name", ["start.js", "explorer.js"])
def test_the_page_reads_the_same_letters(name):
    assert f" = '{LETTERS}'" in (ASSETS / name).read_text()
    assert len(set(LETTERS)) == 85
    assert not set(LETTERS) & set("\"'&<\\/${}")


@given(st.dictionaries(st.text(), st.integers(), min_size=1), st.text())
def test_columns_come_back_beside_what_they_are_packed_with(data, text):
    packed = pack(data, {"pieces of a model": turn(text)})
    found = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert turn_back(found.pop("pieces of a model")) == text
    assert found == data


def test_columns_of_digits_take_less_when_packed_as_such():
    rng = random.Random(1)
    pieces = turn("\n".join(f"ATOM {rng.uniform(0, 99):8.3f}{rng.uniform(0, 99):8.3f}" for _ in range(2000)))
    apart, together = pack({"a": 1}, {"pieces": pieces}), pack({"a": 1, "pieces": pieces})
    assert len(apart) < 0.93 * len(together)
    assert gzip.decompress(base64.b64decode(apart)) == gzip.decompress(base64.b64decode(together))


def test_lines_with_letters_that_count_twice_on_the_page_stand_as_they_are():
    text = "\n".join(["REMARK \U0001f9ec"] * 9)
    assert turn(text) == [text]
