"""What the text in a file field refers to, in words.

A file setting is a path of this computer (uploaded at Submit), the name of an upload, the path of a file of
an earlier job, or the contents themselves. `settle` decides once which of them a text is; the type of its
value (`LocalFile`, `FileValue`, `JobFile`, `Contents`) keeps the decision. Nothing is read or sent here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from foldnote.catalog.checks.molecule import find_smiles_fault
from foldnote.client.inputs.file_values import Contents, FileValue, JobFile, LocalFile
from foldnote.forms.files.contents import recall, size_of
from foldnote.text import format_size, join_words

Place = Literal["local", "upload", "job", "text", "unknown"]
_MOST_ENTRIES = 60
_MOLECULES = frozenset(("sdf", "mol", "mol2", "pdbqt", "smi"))
_PATH_BEGINNINGS = ("/", "./", "../", "~")
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


def settle(value: Any, uploads: Iterable[str] = (), extensions: tuple[str, ...] = ()) -> Any:
    """``value`` as the kind of file that it is; a known upload wins over a file of the same name here.

    Text that is neither stays plain text, and is decided when it is read again: its file may come yet. What
    has a kind keeps it, whatever files are there later.
    """
    if isinstance(value, list | tuple):
        return [settle(item, uploads, extensions) for item in value]
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
    return Contents(f"{value}\n") if "smi" in extensions and is_smiles(value, extensions) else value


def is_smiles(text: str, extensions: tuple[str, ...]) -> bool:
    """Whether a text in a field for molecules is a SMILES and no name of a file."""
    is_molecule = any(extension in _MOLECULES for extension in extensions)
    return is_molecule and _judge_extension(text, extensions) is not None and find_smiles_fault(text) is None


def read_reference(text: str, uploads: Iterable[str] = (), extensions: tuple[str, ...] = ()) -> FileReference:
    """What ``text`` refers to: see `settle`."""
    uploads = tuple(uploads)
    value = settle(text, uploads, extensions)
    if "\n" in value:
        is_molecule = value.count("\n") == 1 and is_smiles(value.strip(), extensions)
        what = f"the molecule of the SMILES {value.strip()[:60]}" if is_molecule else "pasted text"
        return FileReference("text", f"{what}, {format_size(len(value.encode()))}")
    if not isinstance(value, FileValue | LocalFile) and is_smiles(value, extensions):
        return FileReference("unknown", "", _ask_for_structure(extensions))
    error = _judge_extension(value, extensions)
    if isinstance(value, LocalFile):
        return _read_local(value, uploads, error)
    if isinstance(value, JobFile) or ("/" in value and value not in uploads and not _OWN_FOLDER.match(value)):
        job, _, member = value.partition("/")
        what = "job" if isinstance(value, JobFile) else "job or folder"
        seen = recall(value)
        told = f", {format_size(len(seen.encode()))}" if seen else ""
        place: Place = "upload" if isinstance(value, FileValue) and what != "job" else "job"
        return FileReference(place, f"{member} of the {what} {job}{told}", error)
    if isinstance(value, FileValue):
        size_bytes = size_of(value, uploads)
        told = "" if size_bytes is None else f", {format_size(size_bytes)}"
        is_here = local_path(str(value)) is not None
        other = f"; the file {value} on this computer is not used: write ./{value} for it" if is_here else ""
        return FileReference("upload", f"upload {_OWN_FOLDER.sub('', value)}{told}{other}", error)
    return FileReference("upload", f"taken as an upload named {value}: there is no such file here", error)


def _ask_for_structure(extensions: tuple[str, ...]) -> str:
    wanted = join_words([f".{extension}" for extension in extensions])
    return (
        f"This is a SMILES, and the tool needs a 3D structure of the molecule as a file ({wanted})."
        " RDKit makes one: AddHs(MolFromSmiles(…)), EmbedMolecule, MolToMolFile(…, 'ligand.sdf')."
    )


def _read_local(text: LocalFile, uploads: tuple[str, ...], error: str | None) -> FileReference:
    path = local_path(text)
    if path is None:
        what = "is a folder" if Path(text).expanduser().is_dir() else "does not exist on this computer"
        return FileReference("unknown", "", f"{text} {what}.")
    other = f"; the upload {text} is not used" if text in uploads else ""
    told = f"file on this computer, {format_size(path.stat().st_size)}; uploaded at Submit{other}"
    return FileReference("local", told, error, path)


def tell_file(value: Any) -> Any:
    """A file setting in a few words, for tables: ``upload x.pdb``; other values as they are."""
    if isinstance(value, list | tuple):
        return [tell_file(item) for item in value]
    if not isinstance(value, str) or "\n" in value:
        return value
    if isinstance(value, LocalFile):
        return f"{value} (on this computer)"
    if isinstance(value, JobFile):
        job, _, member = value.partition("/")
        return f"{member} of the job {job}"
    return f"upload {_OWN_FOLDER.sub('', value)}" if isinstance(value, FileValue) else value


def local_path(text: str) -> Path | None:
    """The file of this computer that ``text`` names; None where it names none, or one at the service."""
    if not text or "\n" in text or len(text) > 4096 or isinstance(text, FileValue):
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
