"""A result: one archive and everything that can be read from it, when it is asked for.

Opening lists the files and reads none. A file that turns out to be damaged is reported in
:attr:`Result.problems` and the others are still read. How a result is shown is decided elsewhere: the room
that draws registers itself with :func:`register_display`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any, ParamSpec, TypeGuard, TypeVar

import pandas as pd

from foldnote.errors import ArchiveError, UnreadableFileError
from foldnote.results.archive import Archive, open_archive, unpack_gzip
from foldnote.results.arrays import read_array_figures
from foldnote.results.confidence import ScoreFigures
from foldnote.results.kinds import FileKind, find_kind, structure_order
from foldnote.results.manifest import Manifest, read_manifest
from foldnote.results.metrics import has_scores
from foldnote.results.numbering import Region, find_regions, read_numbering
from foldnote.results.structure import Structure
from foldnote.results.tables import Scalar, find_figures, find_table, read_delimited, read_json

MAX_JSON_BYTES = 32 * 1024**2
"""Larger JSON files are not looked into for tables and figures; :meth:`Result.read` still reads them."""

_VARIANT_WORDS = re.compile(r"(unrelaxed|relaxed|scores?|confidences?|summary|full_data|model|pred)[_.-]?")

Bundle = Mapping[str, Any]
P = ParamSpec("P")
T = TypeVar("T")
_displays: list[Callable[[Result], list[Bundle]]] = []


@dataclass(frozen=True)
class ResultFile:
    """One file of a result.

    Attributes:
        name: path inside the archive.
        size_bytes: unpacked size.
        kind: what it holds, judged by its name.
    """

    name: str
    size_bytes: int
    kind: FileKind


@dataclass(frozen=True)
class FileProblem:
    """A file that could not be read.

    Attributes:
        name: path inside the archive.
        message: what is wrong with it.
    """

    name: str
    message: str


class Tables(Mapping[str, pd.DataFrame]):
    """The tables of a result by file name; each is read when it is asked for, and copied on every access."""

    def __init__(self, names: tuple[str, ...], read: Callable[[str], pd.DataFrame]) -> None:
        """Keep the names and how to read one."""
        self._names = names
        self._read = read
        self._frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """The table in file ``name``, as a copy.

        Raises:
            KeyError: there is no such table.
            UnreadableFileError: the file is damaged.
        """
        if name not in self._names:
            raise KeyError(name)
        if name not in self._frames:
            self._frames[name] = self._read(name)
        return self._frames[name].copy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{len(self)} tables: {', '.join(self._names) or 'none'}>"


class Result:
    """What a job left behind. Make one with :func:`open_result`."""

    def __init__(self, archive: Archive, name: str | None = None) -> None:
        """Keep an open archive and the name to show for it."""
        self.archive = archive
        self.name = name or archive.path.name
        self._problems: dict[str, FileProblem] = {}

    @cached_property
    def files(self) -> tuple[ResultFile, ...]:
        """Every file, by name."""
        return tuple(ResultFile(m.name, m.size_bytes, find_kind(m.name)) for m in self.archive.members)

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """Files that turned out to be unreadable so far; :meth:`check` looks at every one."""
        return tuple(self._problems.values())

    def read(self, name: str) -> bytes:
        """The bytes of one file; a ``.gz`` is unpacked.

        Raises:
            UnreadableFileError: there is no such file, or it is damaged; it is then in :attr:`problems`.
        """
        try:
            data = self.archive.read(name)
            return unpack_gzip(data, name) if name.lower().endswith(".gz") else data
        except UnreadableFileError as exc:
            self._report(name, exc)
            raise

    def check(self) -> tuple[FileProblem, ...]:
        """Read every file once and return all problems."""
        for file in self.files:
            self._try(file.name, self.read, file.name)
        for structure in self.structures:
            self._try(structure.name, structure.to_gemmi)
        for name in self.tables:
            self._try(name, self.tables.__getitem__, name)
        return self.problems

    def save_to(self, folder: str | Path) -> Path:
        """Unpack into ``folder``, which is made if absent; damaged files are left out and reported.

        Raises:
            ArchiveError: a file would be written over an existing one.
        """
        target = Path(folder)
        for file in self.files:
            place = target / file.name
            if place.exists():
                raise ArchiveError(f"{place} exists already; choose another folder for the result.")
            data = self._try(file.name, self.archive.read, file.name)
            if data is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        return target

    @cached_property
    def structures(self) -> tuple[Structure, ...]:
        """The structures, the one to look at first at the front; each is read when it is used."""
        names = sorted(self._named(FileKind.STRUCTURE), key=structure_order)
        return tuple(self._make_structure(name) for name in names)

    @property
    def structure(self) -> Structure | None:
        """The first structure that can be read, or None."""
        return next((each for each in self.structures if self._try(each.name, each.to_gemmi)), None)

    @cached_property
    def tables(self) -> Tables:
        """The tables by file name: CSV, TSV, and JSON files that hold a list of flat records."""
        delimited = self._named(FileKind.NUMBERING, FileKind.TABLE)
        records = [name for name, content in self._json.items() if find_table(content) is not None]
        return Tables((*delimited, *records), self._read_table)

    @cached_property
    def scores(self) -> Mapping[str, Scalar]:
        """The run's figures from ``score.json``; without one, those of the first score file."""
        for name in self._named(FileKind.SCORES):
            figures = find_figures(self._read_json(name))
            if figures:
                return figures
        first = self.score_table.head(1).to_dict("records")
        return find_figures(first[0]) if first else {}

    @cached_property
    def score_table(self) -> pd.DataFrame:
        """The figures of every score file beside the structures.

        Returns:
            One row a JSON or npz file that holds a known score, ``file`` (str) as the index in natural order;
            the columns are the files' own names, figures as they stand there.
        """
        rows = {name: find_figures(content) for name, content in self._json.items()}
        small = [
            file.name
            for file in self.files
            if file.name.lower().endswith(".npz") and file.size_bytes <= MAX_JSON_BYTES
        ]
        rows |= {name: self._try(name, self._read_as, read_array_figures, name) or {} for name in small}
        kept = {name: row for name, row in rows.items() if has_scores(row)}
        names = sorted(kept, key=structure_order)
        return pd.DataFrame([kept[name] for name in names], index=pd.Index(names, name="file"))

    @cached_property
    def manifest(self) -> Manifest | None:
        """What was really run, or None for a result that does not say."""
        for name in self._named(FileKind.MANIFEST):
            manifest = self._try(name, self._read_as, read_manifest, name)
            if manifest is not None:
                return manifest
        return None

    @cached_property
    def numbering(self) -> pd.DataFrame | None:
        """The antibody numbering, or None; its columns: :func:`foldnote.results.numbering.read_numbering`."""
        for name in self._named(FileKind.NUMBERING):
            frame = self._try(name, self._read_as, read_numbering, name)
            if frame is not None:
                return frame
        return None

    @property
    def regions(self) -> tuple[Region, ...]:
        """The regions that the numbering names; empty without one."""
        return () if self.numbering is None else find_regions(self.numbering)

    def __repr__(self) -> str:
        parts = [
            _count(len(self.files), "file"),
            _count(len(self._named(FileKind.STRUCTURE)), "structure"),
            _count(len(self._named(FileKind.NUMBERING, FileKind.TABLE)), "table"),
        ]
        return f"<Result {self.name}: {', '.join(parts)}>"

    def _ipython_display_(self) -> None:
        from IPython.display import publish_display_data

        for bundle in self.bundles():
            publish_display_data(dict(bundle))  # type: ignore[no-untyped-call]

    def bundles(self) -> list[Bundle]:
        """The mime bundles that show this result; plain text when nothing that draws is registered."""
        return _displays[-1](self) if _displays else [{"text/plain": repr(self)}]

    def _named(self, *kinds: FileKind) -> tuple[str, ...]:
        return tuple(file.name for file in self.files if file.kind in kinds)

    def _make_structure(self, name: str) -> Structure:
        form = "mmcif" if name.lower().removesuffix(".gz").endswith("cif") else "pdb"
        return Structure(name, form, partial(self._read_text, name), partial(self._find_figures, name))

    def _read_text(self, name: str) -> str:
        return self.read(name).decode("utf-8", "replace")

    def _read_table(self, name: str) -> pd.DataFrame:
        try:
            if find_kind(name) is FileKind.NUMBERING:
                return read_numbering(self.read(name), name)
            table = find_table(self._json[name]) if name in self._json else None
            return table if table is not None else read_delimited(self.read(name), name)
        except UnreadableFileError as exc:
            self._report(name, exc)
            raise

    @cached_property
    def _json(self) -> Mapping[str, Any]:
        """The content of every JSON file that is not too large and can be read."""
        sizes = {file.name: file.size_bytes for file in self.files}
        names = [name for name in self._named(FileKind.DATA) if sizes[name] <= MAX_JSON_BYTES]
        return {name: self._read_json(name) for name in names if name not in self._problems}

    def _read_json(self, name: str) -> Any:
        return self._try(name, self._read_as, read_json, name)

    def _read_as(self, reader: Callable[[bytes, str], T], name: str) -> T:
        return reader(self.read(name), name)

    def _find_figures(self, structure: str) -> ScoreFigures:
        """The per-residue figures of the score file whose name is the structure's but for variant words."""
        wanted = _variant_key(structure)
        for name, content in self._json.items():
            values = content.get("plddt") if isinstance(content, Mapping) else None
            if _is_numbers(values) and _variant_key(name) == wanted:
                return {"plddt": values}
        return {}

    def _try(self, name: str, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The action's value, or None after reporting that the file ``name`` cannot be read."""
        try:
            return action(*args, **kwargs)
        except UnreadableFileError as exc:
            self._report(name, exc)
            return None

    def _report(self, name: str, exc: UnreadableFileError) -> None:
        self._problems.setdefault(name, FileProblem(name, exc.message))


def open_result(path: str | Path, name: str | None = None) -> Result:
    """The result at ``path``: a ZIP archive, an unpacked folder, or a single file.

    Args:
        path: where it is.
        name: what to call it; the file's name when none is given.

    Raises:
        ArchiveError: nothing is there, or the archive is cut off or not safe to read.
    """
    return Result(open_archive(path), name)


def register_display(display: Callable[[Result], list[Bundle]]) -> None:
    """Let ``display`` turn results into mime bundles when a notebook shows them."""
    _displays[:] = [display]


def _variant_key(name: str) -> tuple[str, str]:
    path = PurePosixPath(name.lower().removesuffix(".gz"))
    return (str(path.parent), _VARIANT_WORDS.sub("", path.stem))


def _is_numbers(values: object) -> TypeGuard[list[float]]:
    return isinstance(values, list) and all(isinstance(value, int | float) for value in values)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
