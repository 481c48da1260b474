"""What the text in a file field refers to, in words.

A file setting is a path of this computer (uploaded at Submit), the name of an upload, the path of a file of
an earlier job, or the contents themselves. Nothing is read or sent here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from foldnote.forms.contents import recall, size_of
from foldnote.forms.words import join_words, size

Place = Literal["local", "upload", "job", "text", "unknown"]
_MOST_ENTRIES = 60
_OWN_FOLDER = re.compile(r"^foldnote-[0-9a-f]{12}/")
"""Where forms put what they upload: a folder for each contents, which says nothing to a person."""


@dataclass(frozen=True, slots=True)
class FileReference:
    """One file that a setting names."""

    place: Place
    words: str
    """What the field holds, as a person would say it."""
    error: str | None = None
    path: Path | None = None
    """The file of this computer; None for the other places."""


def read_reference(text: str, uploads: Iterable[str] = (), extensions: tuple[str, ...] = ()) -> FileReference:
    """What ``text`` refers to; a known upload wins over a file of the same name here."""
    if "\n" in text:
        return FileReference("text", f"pasted text, {size(len(text.encode()))}")
    error = _judge_extension(text, extensions)
    uploads = tuple(uploads)
    if text in uploads:
        size_bytes = size_of(text, uploads)
        told = "" if size_bytes is None else f", {size(size_bytes)}"
        return FileReference("upload", f"upload {_OWN_FOLDER.sub('', text)}{told}", error)
    path = local_path(text)
    if path is not None:
        told = f"file on this computer, {size(path.stat().st_size)}; uploaded at Submit"
        return FileReference("local", told, error, path)
    if text.startswith(("/", "./", "../", "~")):
        what = "is a folder" if Path(text).expanduser().is_dir() else "does not exist on this computer"
        return FileReference("unknown", "", f"{text} {what}.")
    if "/" in text:
        job, _, member = text.partition("/")
        seen = recall(text)
        told = f", {size(len(seen.encode()))}" if seen else ""
        return FileReference("job", f"{member} of the job or folder {job}{told}", error)
    return FileReference("upload", f"taken as an upload named {text}: there is no such file here", error)


def local_path(text: str) -> Path | None:
    """The file of this computer that ``text`` names; None where it names none."""
    if not text or "\n" in text or len(text) > 4096:
        return None
    try:
        path = Path(text).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def suggest_paths(text: str, extensions: tuple[str, ...] = ()) -> list[str]:
    """Files of this computer that continue ``text``: fitting files first, then folders."""
    stem, slash, start = text.rpartition("/")
    folder = Path(stem + slash).expanduser() if slash else Path()
    prefix = stem + slash if slash else ""
    try:
        entries = sorted(_list_entries(folder, start), key=lambda entry: (entry.is_dir(), entry.name))
    except OSError:
        return []
    files = [entry for entry in entries if entry.is_dir() or not _judge_extension(entry.name, extensions)]
    return [f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}" for entry in files[:_MOST_ENTRIES]]


def has_extension(name: str, extensions: tuple[str, ...]) -> bool:
    """Whether a file of this name can be what is wanted."""
    return _judge_extension(name, extensions) is None


def _list_entries(folder: Path, start: str) -> Iterator[Path]:
    for number, entry in enumerate(folder.iterdir()):
        if number > 2000:
            return
        is_hidden = entry.name.startswith(".") and not start.startswith(".")
        if entry.name.lower().startswith(start.lower()) and not is_hidden:
            yield entry


def _judge_extension(text: str, extensions: tuple[str, ...]) -> str | None:
    """Why the name's extension does not fit; None when it does or there is none to judge."""
    if not extensions:
        return None
    name = text.rpartition("/")[2].lower().removesuffix(".gz")
    if any(name.endswith(f".{extension}") for extension in extensions):
        return None
    wanted = join_words([f".{extension}" for extension in extensions])
    _, dot, found = name.rpartition(".")
    return f"A {wanted} file is wanted here; this is {f'.{found}' if dot else 'a name without extension'}."
