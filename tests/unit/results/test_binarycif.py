"""Malicious BinaryCIF is refused before it takes memory, and no other error is raised."""

import tracemalloc

import gemmi
import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_archives import DATA

from foldnote.errors import UnreadableFileError
from foldnote.results.structure.binarycif import convert_to_mmcif

MEMORY_BUDGET = 150 * 1024**2
ROWS = 50_000_000
INTS = {"kind": "ByteArray", "type": 3}


def runs(size, *before):
    """Return a column of ``size`` equal values, in eight bytes."""
    data = np.array([7, size], dtype="<i4").tobytes()
    return {"data": data, "encoding": [*before, {"kind": "RunLength", "srcSize": size}, INTS]}


def texts(words, offsets, rows):
    """Return a column of ``rows`` copies of the first of ``words``."""
    offsets = np.array(offsets, dtype="<i4").tobytes()
    indices = np.array([0, rows], dtype="<i4").tobytes()
    encoding = {
        "kind": "StringArray",
        "stringData": words,
        "offsets": offsets,
        "offsetEncoding": [INTS],
        "dataEncoding": [{"kind": "RunLength", "srcSize": rows}, INTS],
    }
    return {"data": indices, "encoding": [encoding]}


def pack(columns, rows, category="_atom_site"):
    """Return a file with one table."""
    columns = [{"name": f"c{i}", "data": data, "mask": None} for i, data in enumerate(columns)]
    table = {"name": category, "rowCount": rows, "columns": columns}
    return msgpack.packb({"dataBlocks": [{"header": "X", "categories": [table]}]})


def convert(data):
    """Return the parsed ``data``, or None if it is refused, and the peak memory."""
    tracemalloc.start()
    try:
        return convert_to_mmcif(data, "x.bcif"), tracemalloc.get_traced_memory()[1]
    except UnreadableFileError as exc:
        assert exc.message.startswith("x.bcif")
        return None, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "bomb",
    [
        pack([runs(ROWS)] * 3, ROWS),
        pack([runs(ROWS)], 10),
        pack([runs(ROWS, {"kind": "Delta", "origin": 0, "srcType": 3})], ROWS),
        pack([texts("a" * 1_000_000, [0, 1_000_000], 5_000)], 5_000),
        pack([texts("a" * 1_000_000, [0, 1_000_000] * 2_000, 2)], 2),
        pack([runs(3) | {"encoding": [{"kind": "Delta", "origin": 0}] * 1_000}], 3),
        b"\xdd\x00\x0f\x00\x00" + b"\x80" * 0xF0000,
    ],
    ids=["rows", "a column", "deltas", "long texts", "overlapping texts", "encodings", "empty maps"],
)
def test_a_small_file_cannot_ask_for_much_memory(bomb):
    found, peak = convert(bomb)

    assert found is None
    assert peak < MEMORY_BUDGET


def test_columns_of_one_value_are_read_where_the_table_is_of_their_size():
    text = convert_to_mmcif(pack([runs(5_000), texts("ALAGLY", [0, 3, 6], 5_000)], 5_000), "x.bcif")
    table = gemmi.cif.read_string(text).sole_block().find("_atom_site.", ["c0", "c1"])

    assert [*table[4_999]] == ["7", "ALA"]
    assert len(table) == 5_000


NUMBERS = st.integers(-3, 300_000_000) | st.floats() | st.none() | st.text(max_size=3)
STEPS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(
            ["ByteArray", "FixedPoint", "IntervalQuantization", "RunLength", "Delta", "IntegerPacking", "Odd"]
        ),
        "type": st.sampled_from([1, 2, 3, 4, 5, 6, 32, 33, 9]),
        "byteCount": st.integers(0, 3),
        "isUnsigned": st.booleans(),
    }
    | dict.fromkeys(["srcSize", "factor", "min", "max", "numSteps", "origin"], NUMBERS)
)
CHAINS = st.lists(STEPS, max_size=4)
STRINGS = st.fixed_dictionaries(
    {
        "kind": st.just("StringArray"),
        "stringData": st.text(max_size=40),
        "offsets": st.binary(max_size=40),
        "offsetEncoding": CHAINS,
        "dataEncoding": CHAINS,
    }
)
COLUMNS = st.fixed_dictionaries(
    {"data": st.binary(max_size=64) | NUMBERS, "encoding": st.lists(STEPS | STRINGS, max_size=4)}
)


@settings(max_examples=60, deadline=None)
@given(st.lists(COLUMNS, min_size=1, max_size=3), st.integers(-1, 100_000_000) | st.integers(0, 8))
def test_any_encodings_are_read_or_refused_within_the_memory_budget(columns, rows):
    assert convert(pack(columns, rows))[1] < MEMORY_BUDGET


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_damaged_files_are_read_or_refused_within_the_memory_budget(random, count):
    damaged = bytearray((DATA / "trp_cage_two_models.bcif").read_bytes())
    for _ in range(count):
        damaged[random.randrange(len(damaged))] = random.randrange(256)

    assert convert(bytes(damaged))[1] < MEMORY_BUDGET
