"""Decoder of BinaryCIF, mmCIF tables with encoded columns in MessagePack.

It follows the specification (Sehnal et al., PLoS Comput. Biol. 16, e1008247, 2020). gemmi does not read
BinaryCIF; biotite's decoder needs 128 MB and does not limit the size to which a file expands. Only the
categories that foldnote uses are decoded. Run lengths and repeated strings can expand a few bytes to any
size, so the total numbers of cells and characters are limited in proportion to the size of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import gemmi
import msgpack
import numpy as np
from numpy.typing import NDArray

from foldnote.errors import UnreadableFileError
from foldnote.results.core.messages import explain

_WANTED = """
_atom_site _entity _entity_poly _entity_poly_seq _struct_asym _struct_conf _struct_sheet_range _struct_conn
_struct _exptl _software _cell _symmetry _ma_qa_metric _ma_qa_metric_local _ma_qa_metric_global
_pdbx_struct_assembly _pdbx_struct_assembly_gen _pdbx_struct_oper_list
_chem_comp _chem_comp_atom _chem_comp_bond
"""
CATEGORIES = frozenset(_WANTED.split())
_FREE_CELLS = 200_000
_CELLS_PER_BYTE = 8
"""Maximum number of cells per byte; real files have about two, since an atom's coordinates take at least
six bytes."""
_MAX_CELLS = 100_000_000
_FREE_LETTERS = 16_000_000
_LETTERS_PER_CELL = 16
_MAX_STEPS = 8
"""Maximum number of successive encodings of a column; the specification's longest chain has four."""
_TYPES = {1: "<i1", 2: "<i2", 3: "<i4", 4: "<u1", 5: "<u2", 6: "<u4", 32: "<f4", 33: "<f8"}
_MAX_VALUES = 300_000
"""Maximum number of MessagePack values in all maps and lists; a BinaryCIF file of the Protein Data Bank
has about 20,000."""
_BROKEN = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    AttributeError,
    RuntimeError,
    MemoryError,
)

Values = NDArray[Any]


def convert_to_mmcif(data: bytes, name: str) -> str:
    """Return the tables of a BinaryCIF file as mmCIF text.

    Raises:
        UnreadableFileError: it is not a BinaryCIF file, or is damaged.
    """
    cells = min(_MAX_CELLS, _FREE_CELLS + _CELLS_PER_BYTE * len(data))
    budget = _Budget(cells, _FREE_LETTERS + _LETTERS_PER_CELL * cells)
    try:
        content = _unpack(data)
        document = gemmi.cif.Document()
        for block in content["dataBlocks"]:
            _add_block(document, block, budget)
        return document.as_string()
    except _BROKEN as exc:
        raise UnreadableFileError(f"{name} is not a readable BinaryCIF file: {explain(exc)}.") from exc


def _unpack(data: bytes) -> Any:
    """Return the MessagePack value at the beginning of ``data``; bytes after it are ignored.

    A single byte can be an empty map, so values are counted while they are decoded.

    Raises:
        ValueError: the data are truncated, nested too deeply, not plain data, or hold too many values.
    """
    values = 0

    def count_values(container: Any) -> Any:
        nonlocal values
        values += 1 + len(container)
        if values > _MAX_VALUES:
            raise ValueError(f"it holds more than {_MAX_VALUES:,} values")
        return container

    try:
        return msgpack.unpackb(
            data,
            list_hook=count_values,
            object_hook=count_values,
            max_array_len=_MAX_VALUES,
            max_map_len=_MAX_VALUES,
            max_ext_len=0,
            unicode_errors="replace",
        )
    except msgpack.ExtraData as exc:
        return exc.unpacked


@dataclass
class _Budget:
    """Remaining numbers of cells and characters that the tables of a file may have."""

    cells: int
    letters: int

    def take_cells(self, rows: int, columns: int) -> None:
        """Count a table before it is decoded."""
        self.cells -= rows * columns
        if rows < 0 or self.cells < 0:
            raise ValueError("its tables have far more rows than its bytes can hold")

    def take_letters(self, count: int) -> None:
        """Count the strings of a column before they are created."""
        self.letters -= count
        if self.letters < 0:
            raise ValueError("its texts are far longer than its bytes can hold")


def _add_block(document: gemmi.cif.Document, block: Mapping[str, Any], budget: _Budget) -> None:
    added = document.add_new_block(_clean_name(str(block["header"])))
    for category in block["categories"]:
        prefix = str(category["name"])
        columns = [
            (str(column["name"]), column) for column in category["columns"] if _is_tag(str(column["name"]))
        ]
        if prefix in CATEGORIES and columns:
            rows = int(category["rowCount"])
            budget.take_cells(rows, len(columns))
            texts = [_read_column(column, rows, budget) for _, column in columns]
            loop = added.init_loop(f"{prefix}.", [tag for tag, _ in columns])
            loop.set_all_values(texts)


def _clean_name(header: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in header) or "block"


def _is_tag(name: str) -> bool:
    return bool(name) and all(33 <= ord(letter) < 127 for letter in name)


def _read_column(column: Mapping[str, Any], rows: int, budget: _Budget) -> list[str]:
    """Return the column's values as in mmCIF text."""
    values = _decode(column["data"], rows)
    if values.shape != (rows,):
        raise ValueError(f"a column has {values.size} values in a table of {rows} rows")
    mask = None if column.get("mask") is None else _decode(column["mask"], rows)
    texts = _write_values(values, budget)
    if mask is None:
        return texts
    if mask.shape != (rows,):
        raise ValueError("a mask and its column have different lengths")
    return [text if kind == 0 else "." if kind == 1 else "?" for text, kind in zip(texts, mask, strict=True)]


def _write_values(values: Values, budget: _Budget) -> list[str]:
    if values.dtype.kind == "f":
        return [
            f"{value:.6g}" if abs(value) >= 1e6 else f"{value:.5f}".rstrip("0").rstrip(".")
            for value in values.tolist()
        ]
    if values.dtype.kind in "iu":
        return [str(value) for value in values.tolist()]
    quoted: dict[str, str] = {}
    texts = [str(value) for value in values.tolist()]
    budget.take_letters(sum(map(len, texts)))
    for text in texts:
        if text not in quoted:
            quoted[text] = gemmi.cif.quote(text)
    return [quoted[text] for text in texts]


def _decode(packed: Mapping[str, Any], most: int) -> Values:
    """Return the values of a column with at most ``most`` values."""
    values: Any = packed["data"]
    steps = packed["encoding"]
    if len(steps) > _MAX_STEPS:
        raise ValueError(f"a column has {len(steps)} successive encodings")
    for encoding in reversed(steps):
        values = _decode_encoding(values, encoding, most)
    return np.asarray(values)


def _decode_encoding(values: Any, encoding: Mapping[str, Any], most: int) -> Any:
    kind = encoding["kind"]
    if kind == "ByteArray":
        return np.frombuffer(values, dtype=_TYPES[encoding["type"]])
    if kind == "FixedPoint":
        return np.asarray(values, dtype=np.float64) / _read_number(encoding["factor"])
    if kind == "IntervalQuantization":
        low, high, steps = float(encoding["min"]), float(encoding["max"]), int(encoding["numSteps"])
        if not np.isfinite([low, high, high - low]).all():
            raise ValueError("an interval of values is infinite")
        return low + np.asarray(values, dtype=np.float64) * ((high - low) / max(steps - 1, 1))
    if kind == "RunLength":
        return _decode_run_length(np.asarray(values), int(encoding["srcSize"]), most)
    if kind == "Delta":
        return np.cumsum(np.asarray(values, dtype=np.int64)) + int(encoding["origin"])
    if kind == "IntegerPacking":
        return _decode_integer_packing(np.asarray(values), encoding)
    if kind == "StringArray":
        return _decode_string_array(values, encoding, most)
    raise ValueError(f"the encoding {str(kind)[:40]!r} is unknown")


def _read_number(value: Any) -> float:
    number = float(value)
    if number == 0 or not np.isfinite(number):
        raise ValueError(f"values are divided by {number}")
    return number


def _decode_run_length(pairs: Values, size: int, most: int) -> Values:
    runs = pairs.reshape(-1, 2).astype(np.int64)
    if size > most:
        raise ValueError(f"runs give {size:,} values where {most:,} are expected")
    # Each run is also checked individually, since the sum can overflow.
    if ((runs[:, 1] < 0) | (runs[:, 1] > size)).any() or runs[:, 1].sum() != size:
        raise ValueError("the runs of a column do not add up to its length")
    return np.repeat(runs[:, 0], runs[:, 1])


def _decode_integer_packing(values: Values, encoding: Mapping[str, Any]) -> Values:
    """Sum each run of values at the limit of their type, which ends with a value inside the limits."""
    wide = values.astype(np.int64)
    count = int(encoding["byteCount"])
    if count not in (1, 2):
        raise ValueError("packed integers must have one or two bytes")
    top = (1 << (8 * count)) - 1 if encoding["isUnsigned"] else (1 << (8 * count - 1)) - 1
    at_limit = wide == top if encoding["isUnsigned"] else (wide == top) | (wide == -top - 1)
    ends = np.flatnonzero(~at_limit)
    if len(ends) != int(encoding["srcSize"]) or (len(wide) and (len(ends) == 0 or ends[-1] != len(wide) - 1)):
        raise ValueError("packed integers do not match the length of their column")
    sums = np.cumsum(wide)[ends] if len(ends) else np.empty(0, dtype=np.int64)
    return np.diff(sums, prepend=0)


def _decode_string_array(data: Any, encoding: Mapping[str, Any], most: int) -> Values:
    text = str(encoding["stringData"])
    packed = {"data": encoding["offsets"], "encoding": encoding["offsetEncoding"]}
    offsets = _decode(packed, len(text) + 2).astype(np.int64)
    indices = _decode({"data": data, "encoding": encoding["dataEncoding"]}, most).astype(np.int64)
    strings = _cut(text, offsets)
    if len(indices) and (indices.min() < -1 or indices.max() >= len(strings)):
        raise ValueError("the index of a string is out of range")
    lookup = np.array([*strings, ""], dtype=object)
    return np.asarray(lookup[indices])


def _cut(text: str, offsets: Values) -> list[str]:
    if len(offsets) and (offsets[0] < 0 or offsets[-1] > len(text) or (np.diff(offsets) < 0).any()):
        raise ValueError("the strings of a column overlap")
    return [text[start:end] for start, end in pairwise(offsets.tolist())]
