"""Lists of models in their order, as some programs leave them beside the structures.

One such file is a JSON object with ``order``, a list of model names from the best, and one object a figure
with its value for every model, or a list of the values in that order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from foldnote.results.families import LinkKey, find_link
from foldnote.results.tables import Scalar, find_figures

_FIGURE_NAMES = {"plddts": "mean_plddt"}


@dataclass(frozen=True)
class Order:
    """One list.

    Attributes:
        folder: the folder that the file is in.
        links: what the names of each model's files have in common, from the best model.
        figures: single figures of each, in the same order.
    """

    folder: str
    links: tuple[LinkKey, ...]
    figures: tuple[Mapping[str, Scalar], ...]


def read_order(content: Any, name: str) -> Order | None:
    """The order in the JSON ``content`` of the file ``name``, or None when it holds none."""
    names = content.get("order") if isinstance(content, Mapping) else None
    if not isinstance(names, list) or not names or not all(isinstance(each, str) for each in names):
        return None
    folder = str(PurePosixPath(name.lower()).parent)
    links = tuple(LinkKey(folder, find_link(f"{each}.pdb").tokens) for each in names)
    columns = {key: _by_name(values, names) for key, values in content.items() if key != "order"}
    figures = tuple(
        find_figures({_FIGURE_NAMES.get(key, key): column.get(each) for key, column in columns.items()})
        for each in names
    )
    return Order(folder, links, figures)


def _by_name(values: object, names: list[str]) -> Mapping[str, Any]:
    if isinstance(values, list) and len(values) == len(names):
        return dict(zip(names, values, strict=True))
    return values if isinstance(values, Mapping) else {}
