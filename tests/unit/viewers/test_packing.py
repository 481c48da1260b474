"""Data packed into a page are unpacked unchanged, and are small."""

import base64
import gzip
import json
import random
import time

from hypothesis import given
from hypothesis import strategies as st

from foldnote.viewers.render.compression import pack, pack_view, transpose_lines

_BACK = str.maketrans("./:,[] ", "$&<>`{}")


def turn_back(pieces):
    """Return the original text of :func:`turn`, decoded as the page does."""
    return "\n".join(piece if isinstance(piece, str) else read_columns(*piece) for piece in pieces)


def read_columns(length, letters):
    lines = len(letters) // length
    return "\n".join(letters[line::lines] for line in range(lines))


@given(st.text())
def test_any_text_comes_back(text):
    assert turn_back(transpose_lines(text)) == text


@given(
    st.lists(st.text(alphabet="AB ", min_size=3, max_size=3), min_size=8, max_size=30), st.text(max_size=20)
)
def test_lines_of_one_length_come_back(lines, tail):
    text = "\n".join([*lines, tail])
    assert turn_back(json.loads(json.dumps(transpose_lines(text)))) == text


def test_what_is_packed_is_json_in_safe_letters():
    packed = pack({"a": ["</script>", "\u2028", 1.5]})
    assert json.loads(gzip.decompress(base64.b64decode(packed))) == {"a": ["</script>", "\u2028", 1.5]}
    assert "<" not in packed


def test_columns_of_digits_take_less_than_with_gzip():
    rng = random.Random(1)
    pieces = transpose_lines(
        "\n".join(f"ATOM {rng.uniform(0, 99):8.3f}{rng.uniform(0, 99):8.3f}" for _ in range(2000))
    )
    packed = base64.b64decode(pack(pieces))
    assert len(packed) < 0.93 * len(gzip.compress(gzip.decompress(packed), 9))


def test_equal_data_are_packed_equally_at_any_time(monkeypatch):
    before = pack(["a"])
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert pack(["a"]) == before


def test_lines_with_surrogate_pairs_are_kept_unchanged():
    text = "\n".join(["REMARK \U0001f9ec"] * 9)
    assert transpose_lines(text) == [text]


def test_a_view_is_packed_without_letters_that_html_mathjax_or_templates_read():
    words, columns = (
        {"code": "if (a < b && c) {}" * 50},
        {"models": transpose_lines("ATOM 1.500\nATOM 2.500\n" * 9)},
    )
    packed = pack_view(words, columns)
    assert not set(packed) & set("<>&\"'`$\\{}")
    assert json.loads(gzip.decompress(base64.b85decode(packed.translate(_BACK)))) == json.loads(
        json.dumps(words | columns)
    )
    assert pack_view(words, columns) == packed
