"""Mappings of file names to parts of a result, which are read on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

import pandas as pd

T = TypeVar("T")


class Parts(Mapping[str, T], Generic[T]):
    """Parts by file name; each is read on first use and cached."""

    def __init__(self, noun: str, names: Iterable[str], read: Callable[[str], T]) -> None:
        """Keep the names and the function that reads one; ``noun`` (plural) is used in the repr."""
        self._noun = noun
        self._names = tuple(names)
        self._name_set = frozenset(self._names)
        self._read = read
        self._cache: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Return the part in file ``name``.

        Raises:
            KeyError: there is no such part.
            UnreadableFileError: the file is damaged.
        """
        if name not in self._name_set:
            raise KeyError(name)
        if name not in self._cache:
            self._cache[name] = self._read(name)
        return self._cache[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._name_set

    def __repr__(self) -> str:
        return f"<{len(self)} {self._noun}: {', '.join(self._names) or 'none'}>"


class Tables(Parts[pd.DataFrame]):
    """Tables by file name; each access returns a copy."""

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return the table in file ``name``, as a copy.

        Raises:
            KeyError: there is no such table.
            UnreadableFileError: the file is damaged.
        """
        return super().__getitem__(name).copy()
