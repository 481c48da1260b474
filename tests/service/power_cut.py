"""Replay the journal of operations on a folder up to a power cut, and compute what is left on the disk.

Synced data survive: the bytes of a file by a sync of the file, its name by a sync of its folder. Of everything else the
disk keeps nothing or, with `chance`, a random part: each write, change of names or new size separately, but in order.
`journal.c` writes the journal.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

HEAD = struct.Struct("<cHHIQq")


@dataclass(frozen=True)
class Record:
    """One change or sync."""

    kind: str
    first: str
    second: str
    file: int
    at: int
    content: bytes
    end: int
    """Length of the journal up to and including this record."""


def read_journal(path: Path) -> Iterator[Record]:
    content = path.read_bytes()
    place = 0
    while place < len(content):
        kind, first, second, size, file, at = HEAD.unpack_from(content, place)
        parts = []
        place += HEAD.size
        for length in (first, second, size):
            parts.append(content[place : place + length])
            place += length
        yield Record(kind.decode(), parts[0].decode(), parts[1].decode(), file, at, parts[2], place)


@dataclass
class File:
    """The bytes that are on the disk, and later changes: bytes at a position, or None for a new size."""

    kept: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        self.kept = self.image(None)
        self.pending = []

    def image(self, chance: Random | None, share: float = 1.0) -> bytearray:
        """Return the content with all pending changes or, with `chance`, a random part of them."""
        image = bytearray(self.kept)
        for at, content in self.pending:
            if chance is None or chance.random() < share:
                size = at if content is None else max(len(image), at + len(content))
                image = image[:size].ljust(size, b"\0")
                if content is not None:
                    image[at : at + len(content)] = content
        return image


@dataclass
class Folder:
    """Names on the disk, current names, and the changes between; each change is atomic."""

    kept: dict[str, "File | Folder"] = field(default_factory=dict)
    seen: dict[str, "File | Folder"] = field(default_factory=dict)
    pending: list[dict[str, "File | Folder | None"]] = field(default_factory=list)

    def change(self, change: dict[str, "File | Folder | None"]) -> None:
        self.pending.append(change)
        apply(change, self.seen)

    def sync(self) -> None:
        self.kept, self.pending = dict(self.seen), []


def apply(change: dict[str, File | Folder | None], names: dict[str, File | Folder]) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


class Disk:
    """The folder `root` according to its journal."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self.top = Folder()
        self._files: dict[int, File] = {}

    def play(self, record: Record) -> None:
        match record.kind:
            case "w" | "t" if (file := self._files.get(record.file)) is not None:
                file.pending.append((record.at, record.content if record.kind == "w" else None))
            case "s":
                self._sync(record)
            case "c" | "m":
                new: File | Folder = Folder()
                if record.kind == "c":
                    new = self._files[record.file] = File()
                self._change(record.first, new)
            case "u":
                self._change(record.first, None)
            case "l" | "r":
                self._move(record)

    def _sync(self, record: Record) -> None:
        node = self._files.get(record.file) if record.file else self._find(record.first)
        if node is not None:
            node.sync()

    def _move(self, record: Record) -> None:
        node = self._find(record.first)
        if node is None:
            return
        if record.kind == "l":
            self._change(record.second, node)
        elif Path(record.first).parent == Path(record.second).parent:
            folder = self._find(str(Path(record.first).parent))
            assert isinstance(folder, Folder)
            folder.change({Path(record.first).name: None, Path(record.second).name: node})
        else:
            self._change(record.first, None)
            self._change(record.second, node)

    def _change(self, path: str, node: File | Folder | None) -> None:
        folder = self._find(str(Path(path).parent))
        if isinstance(folder, Folder):  # otherwise it is in a folder of a process without a journal
            folder.change({Path(path).name: node})

    def _find(self, path: str) -> File | Folder | None:
        node: File | Folder | None = self.top
        for name in Path(path).relative_to(self._root).parts:
            node = node.seen.get(name) if isinstance(node, Folder) else None
        return node

    def leave(self, name: str, chance: Random | None = None) -> None:
        """Write what the cut leaves of one top-level folder; with `chance`, keep a part of what was not synced."""
        if isinstance(folder := self.top.kept.get(name), Folder):
            _leave(folder, Path(self._root, name), chance)


def _leave(folder: Folder, target: Path, chance: Random | None) -> None:
    target.mkdir()
    names = dict(folder.kept)
    for change in folder.pending if chance else ():
        if chance.random() < 0.5:
            apply(change, names)
    for name, node in names.items():
        if isinstance(node, Folder):
            _leave(node, target / name, chance)
        else:
            (target / name).write_bytes(node.image(chance, 0.5) if chance else node.kept)
