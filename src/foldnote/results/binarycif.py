"""BinaryCIF: mmCIF tables, column by column packed into MessagePack.

After the published specification (Sehnal et al., PLoS Comput. Biol. 16, e1008247, 2020). Only the tables that
the other rooms read are unpacked. Sizes that a file declares are checked against the bytes that are there, so
that a small file cannot ask for much memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.errors import UnreadableFileError
from foldnote.results.messagepack import MessagePackError, unpack
from foldnote.results.wording import explain

_WANTED = """
_atom_site _entity _entity_poly _entity_poly_seq _struct_asym _struct_conf _struct_sheet_range _struct_conn
_struct _cell _symmetry _ma_qa_metric _ma_qa_metric_local _ma_qa_metric_global _pdbx_struct_assembly
_pdbx_struct_assembly_gen _pdbx_struct_oper_list _chem_comp _chem_comp_atom _chem_comp_bond
"""
CATEGORIES = frozenset(_WANTED.split())
_MOST_VALUES = 50_000_000
_TYPES = {1: "<i1", 2: "<i2", 3: "<i4", 4: "<u1", 5: "<u2", 6: "<u4", 32: "<f4", 33: "<f8"}
_BROKEN = (
    MessagePackError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    AttributeError,
    MemoryError,
)

Values = NDArray[Any]


def convert_to_mmcif(data: bytes, name: str) -> str:
    """The tables of a BinaryCIF file as mmCIF text.

    Raises:
        UnreadableFileError: it is no BinaryCIF, or damaged.
    """
    try:
        content = unpack(data)
        document = gemmi.cif.Document()
        for block in content["dataBlocks"]:
            _add_block(document, block)
    except _BROKEN as exc:
        raise UnreadableFileError(f"{name} is no readable BinaryCIF file: {explain(exc)}.") from exc
    return document.as_string()


def _add_block(document: gemmi.cif.Document, block: Mapping[str, Any]) -> None:
    added = document.add_new_block(_clean_name(str(block["header"])))
    for category in block["categories"]:
        prefix = str(category["name"])
        columns = [
            (str(column["name"]), column) for column in category["columns"] if _is_tag(str(column["name"]))
        ]
        if prefix in CATEGORIES and columns:
            texts = [_read_column(column, int(category["rowCount"])) for _, column in columns]
            loop = added.init_loop(f"{prefix}.", [tag for tag, _ in columns])
            loop.set_all_values(texts)


def _clean_name(header: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in header) or "block"


def _is_tag(name: str) -> bool:
    return bool(name) and all(33 <= ord(letter) < 127 for letter in name)


def _read_column(column: Mapping[str, Any], rows: int) -> list[str]:
    """The column's values as mmCIF writes them."""
    values = _decode(column["data"])
    if len(values) != rows:
        raise ValueError(f"a column has {len(values)} values in a table of {rows} rows")
    mask = None if column.get("mask") is None else _decode(column["mask"])
    if values.dtype.kind == "f":
        texts = [
            f"{value:.6g}" if abs(value) >= 1e6 else f"{value:.5f}".rstrip("0").rstrip(".")
            for value in values
        ]
    else:
        texts = [str(value) for value in values.tolist()]
        if values.dtype.kind not in "iu":
            texts = [gemmi.cif.quote(text) for text in texts]
    if mask is None:
        return texts
    if len(mask) != rows:
        raise ValueError("a mask is as long as no column")
    return [text if kind == 0 else "." if kind == 1 else "?" for text, kind in zip(texts, mask, strict=True)]


def _decode(packed: Mapping[str, Any]) -> Values:
    values: Any = packed["data"]
    for encoding in reversed(packed["encoding"]):
        values = _undo(values, encoding)
        if len(values) > _MOST_VALUES:
            raise ValueError(f"a column unpacks to more than {_MOST_VALUES:,} values")
    return np.asarray(values)


def _undo(values: Any, encoding: Mapping[str, Any]) -> Any:
    kind = encoding["kind"]
    if kind == "ByteArray":
        return np.frombuffer(values, dtype=_TYPES[encoding["type"]])
    if kind == "FixedPoint":
        return np.asarray(values, dtype=np.float64) / float(encoding["factor"])
    if kind == "IntervalQuantization":
        low, high, steps = float(encoding["min"]), float(encoding["max"]), int(encoding["numSteps"])
        return low + np.asarray(values, dtype=np.float64) * ((high - low) / max(steps - 1, 1))
    if kind == "RunLength":
        return _undo_runs(np.asarray(values), int(encoding["srcSize"]))
    if kind == "Delta":
        return np.cumsum(np.asarray(values, dtype=np.int64)) + int(encoding["origin"])
    if kind == "IntegerPacking":
        return _undo_packing(np.asarray(values), encoding)
    if kind == "StringArray":
        return _undo_strings(values, encoding)
    raise ValueError(f"the encoding {str(kind)[:40]!r} is unknown")


def _undo_runs(pairs: Values, size: int) -> Values:
    runs = pairs.reshape(-1, 2).astype(np.int64)
    if size > _MOST_VALUES or (runs[:, 1] < 0).any() or runs[:, 1].sum() != size:
        raise ValueError("the runs of a column do not add up to its length")
    return np.repeat(runs[:, 0], runs[:, 1])


def _undo_packing(values: Values, encoding: Mapping[str, Any]) -> Values:
    """Sums of consecutive values at the limit of their type, each sum ended by one inside it."""
    wide = values.astype(np.int64)
    count = int(encoding["byteCount"])
    if count not in (1, 2):
        raise ValueError("integers are packed into one or two bytes")
    top = (1 << (8 * count)) - 1 if encoding["isUnsigned"] else (1 << (8 * count - 1)) - 1
    at_limit = wide == top if encoding["isUnsigned"] else (wide == top) | (wide == -top - 1)
    ends = np.flatnonzero(~at_limit)
    if len(ends) != int(encoding["srcSize"]) or (len(wide) and (len(ends) == 0 or ends[-1] != len(wide) - 1)):
        raise ValueError("packed integers do not add up to their column")
    sums = np.cumsum(wide)[ends] if len(ends) else np.empty(0, dtype=np.int64)
    return np.diff(sums, prepend=0)


def _undo_strings(data: Any, encoding: Mapping[str, Any]) -> Values:
    text = str(encoding["stringData"])
    offsets = _decode({"data": encoding["offsets"], "encoding": encoding["offsetEncoding"]}).astype(np.int64)
    indices = _decode({"data": data, "encoding": encoding["dataEncoding"]}).astype(np.int64)
    words = _cut(text, offsets)
    if len(indices) and (indices.min() < -1 or indices.max() >= len(words)):
        raise ValueError("a text points outside its column")
    lookup = np.array([*words, ""], dtype=object)
    return np.asarray(lookup[indices])


def _cut(text: str, offsets: Sequence[int] | Values) -> list[str]:
    ends = [int(offset) for offset in offsets]
    return [text[start:end] for start, end in pairwise(ends)]
