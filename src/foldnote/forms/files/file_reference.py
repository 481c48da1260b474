"""Resolve what the text in a file field refers to.

A file setting is a local path (uploaded on submission), the name of an upload, the path of a file of an
earlier job, or the contents themselves. `resolve_file` decides which, and its result's type (`LocalFile`,
`FileValue`, `JobFile`, `Contents`) records the decision.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from foldnote.client.inputs.file_values import Contents, FileValue, JobFile, LocalFile
from foldnote.forms.files.contents import recall, size_of
from foldnote.text import format_size, join_words

Place = Literal["local", "upload", "job", "text", "unknown"]
_MAX_ENTRIES = 60
_MOLECULES = frozenset(("sdf", "mol", "mol2", "pdbqt", "smi"))
_PATH_BEGINNINGS = ("/", "./", "../", "~")
_OWN_FOLDER = re.compile(r"^foldnote-[0-9a-f]{12}/")
"""Names of the folders that forms upload to, one per contents; messages omit them."""


class FileReference(NamedTuple):
    """One file that a setting names."""

    place: Place
    words: str
    """Description of the file, for the field's readout."""
    error: str | None = None
    path: Path | None = None
    """Path of a local file; None for other places."""


def resolve_file(value: Any, uploads: Iterable[str] = (), extensions: tuple[str, ...] = ()) -> Any:
    """Return ``value`` as the kind of file that it names; a known upload precedes a local file.

    A text that names neither stays plain text, and is resolved when it is read again. A decision is kept,
    regardless of which files exist later.
    """
    if isinstance(value, list | tuple):
        return [resolve_file(item, uploads, extensions) for item in value]
    if not isinstance(value, str) or isinstance(value, Contents | LocalFile) or not value:
        return value
    if "\n" in value:
        return Contents(value)
    if isinstance(value, FileValue):
        return value
    if value in set(uploads):
        return FileValue(value)
    if value.startswith(_PATH_BEGINNINGS) or local_path(value) is not None:
        return LocalFile(value)
    from foldnote.catalog.contents import SMILES  # deferred: needed only for given texts

    return Contents(f"{value}\n") if SMILES in extensions and is_smiles(value, extensions) else value


def is_smiles(text: str, extensions: tuple[str, ...]) -> bool:
    """Return whether a text for a molecule file is a SMILES, with or without a name, and not a file name."""
    from foldnote.catalog.checks.molecule import is_file_smiles

    is_molecule = any(extension in _MOLECULES for extension in extensions)
    return is_molecule and is_file_smiles(text, extensions)


def read_reference(text: str, uploads: Iterable[str] = (), extensions: tuple[str, ...] = ()) -> FileReference:
    """Describe the file that ``text`` names, as decided by `resolve_file`."""
    uploads = tuple(uploads)
    value = resolve_file(text, uploads, extensions)
    if "\n" in value:
        is_molecule = value.count("\n") == 1 and is_smiles(value.strip(), extensions)
        source = f"the molecule of the SMILES {value.strip()[:60]}" if is_molecule else "pasted text"
        return FileReference("text", f"{source}, {format_size(len(value.encode()))}")
    if not isinstance(value, FileValue | LocalFile) and is_smiles(value, extensions):
        return FileReference("unknown", "", _ask_for_structure(extensions))
    error = _explain_extension(value, extensions)
    if isinstance(value, LocalFile):
        return _read_local(value, uploads, error)
    if isinstance(value, JobFile) or ("/" in value and value not in uploads and not _OWN_FOLDER.match(value)):
        job, _, member = value.partition("/")
        source = "job" if isinstance(value, JobFile) else "job or folder"
        cached = recall(value)
        size = f", {format_size(len(cached.encode()))}" if cached else ""
        origin: Place = "upload" if isinstance(value, FileValue) and source != "job" else "job"
        return FileReference(origin, f"{member} of the {source} {job}{size}", error)
    if isinstance(value, FileValue):
        size_bytes = size_of(value, uploads)
        size = "" if size_bytes is None else f", {format_size(size_bytes)}"
        is_here = local_path(str(value)) is not None
        hint = f"; for the file {value} on this computer write ./{value}" if is_here else ""
        return FileReference("upload", f"upload {original_name(value)}{size}{hint}", error)
    if error:
        return FileReference("unknown", "", error)
    return FileReference("upload", f"no such file here; taken as an upload named {value}")


def _ask_for_structure(extensions: tuple[str, ...]) -> str:
    endings = join_words([f".{extension}" for extension in extensions])
    return (
        f"This is a SMILES, and the tool needs a 3D structure of the molecule as a file ({endings})."
        " RDKit can generate one: AddHs(MolFromSmiles(…)), EmbedMolecule, MolToMolFile(…, 'ligand.sdf')."
    )


def _read_local(text: LocalFile, uploads: tuple[str, ...], error: str | None) -> FileReference:
    path = local_path(text)
    if path is None:
        what = "is a folder" if Path(text).expanduser().is_dir() else "does not exist on this computer"
        return FileReference("unknown", "", f"{text} {what}.")
    hint = f"; the upload {text} is not used" if text in uploads else ""
    summary = f"file on this computer, {format_size(path.stat().st_size)}; uploaded on Submit{hint}"
    return FileReference("local", summary, error, path)


def describe_file(value: Any) -> Any:
    """Describe a file setting briefly, for tables: ``upload x.pdb``; other values are unchanged."""
    if isinstance(value, list | tuple):
        return [describe_file(item) for item in value]
    if not isinstance(value, str) or "\n" in value:
        return value
    if isinstance(value, LocalFile):
        return f"{value} (on this computer)"
    if isinstance(value, JobFile):
        job, _, member = value.partition("/")
        return f"{member} of the job {job}"
    return f"upload {original_name(value)}" if isinstance(value, FileValue) else value


def original_name(value: str) -> str:
    """Return the name of an upload without the folder in which forms put it."""
    return _OWN_FOLDER.sub("", value)


def local_path(text: str) -> Path | None:
    """Return the existing local file that ``text`` names; None if there is none or it is at the service."""
    if not text or "\n" in text or len(text) > 4096 or isinstance(text, FileValue):
        return None
    try:
        path = Path(text).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def suggest_paths(text: str, extensions: tuple[str, ...] = ()) -> list[str]:
    """Return local paths that complete ``text``: files with an allowed extension, then folders."""
    stem, slash, start = text.rpartition("/")
    folder = Path(stem + slash).expanduser() if slash else Path()
    prefix = stem + slash if slash else ""
    try:
        entries = sorted((entry.is_dir(), entry.name) for entry in _list_entries(folder, start))
    except OSError:
        return []
    matches = [(is_dir, name) for is_dir, name in entries if is_dir or has_extension(name, extensions)]
    return [f"{prefix}{name}{'/' if is_dir else ''}" for is_dir, name in matches[:_MAX_ENTRIES]]


def has_extension(name: str, extensions: tuple[str, ...]) -> bool:
    """Return whether the name has one of the extensions, optionally with ``.gz``; True if all are allowed."""
    plain = name.lower().removesuffix(".gz")
    return not extensions or any(plain.endswith(f".{extension}") for extension in extensions)


def _list_entries(folder: Path, start: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number > 2000:
                return
            is_hidden = entry.name.startswith(".") and not start.startswith(".")
            if entry.name.lower().startswith(start.lower()) and not is_hidden:
                yield entry


def _explain_extension(text: str, extensions: tuple[str, ...]) -> str | None:
    """Explain why the name's extension is not allowed, as a sentence; None if it is."""
    name = text.rpartition("/")[2].lower().removesuffix(".gz")
    if has_extension(name, extensions):
        return None
    endings = join_words([f".{extension}" for extension in extensions])
    _, dot, ending = name.rpartition(".")
    first, _, remainder = text.partition(" ")
    if remainder and is_smiles(first, extensions):
        return f"{first!r} is a SMILES, and {remainder.strip()!r} is not part of it. Leave it out."
    if not dot and any(extension in _MOLECULES for extension in extensions):
        return (
            f"This field needs a {endings} file, or a SMILES; this is a name without extension, and names of"
            " molecules are not looked up."
        )
    return (
        f"This field needs a {endings} file; this is {f'.{ending}' if dot else 'a name without extension'}."
    )
