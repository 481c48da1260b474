"""Sources of uploads (paths, bytes, open files, structures and tables), as bytes or a file on disk.

A structure or a table is written in the format of the upload's file extension. Objects of other libraries are
recognised by their types, so a library is imported only if its objects are used.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any

from foldnote.errors import ArgumentError
from foldnote.io import hash_bytes, hash_file, names_path

Source = str | Path | bytes | IO[bytes] | object
_MMCIF = (".cif", ".mmcif", ".pdbx")


def name_source(source: Source) -> str:
    """Return the name of a source.

    Raises:
        ArgumentError: it has none.
    """
    if isinstance(source, str | Path):
        return Path(source).name
    name = getattr(source, "name", None)
    if isinstance(name, str) and name and not isinstance(source, bytes) and _find_writer(source) is None:
        return Path(name).name
    if hasattr(source, "text") and isinstance(name, str) and name:  # a structure from a result
        return PurePosixPath(name).name
    what = "Bytes have" if isinstance(source, bytes) else f"A {type(source).__name__} has"
    raise ArgumentError(f"{what} no name: use upload(..., name='target.pdb').")


def open_source(source: Source, name: str | None = None) -> tuple[bytes | Path, str]:
    """Open a source; returns the bytes or the file to send, and its SHA-256 (hex).

    Args:
        name: the upload's name; its extension sets the format of a structure or a table.

    Raises:
        ArgumentError: the source cannot be read.
    """
    write = _find_writer(source)
    if write is not None:
        source = write(source, PurePosixPath(name or name_source(source)).suffix.lower()).encode()
    if isinstance(source, bytes | bytearray | memoryview):
        content = bytes(source)
        return content, hash_bytes(content)
    if isinstance(source, str | Path):
        if isinstance(source, str) and "\n" in source.strip():
            raise ArgumentError(
                "This text has several lines, so it is the contents of a file: pass it to a file field as"
                " inline(text), or upload it with a name: upload(text.encode(), name='target.pdb')."
            )
        path = Path(source).expanduser() if names_path(str(source)) else None
        if path is not None and path.is_dir():
            raise ArgumentError(f"{str(source)!r:.200} is a folder. Name a file to upload.")
        if path is None or not path.is_file():
            raise ArgumentError(f"There is no file {str(source)!r:.200} to upload.")
    elif isinstance(source, io.IOBase) or hasattr(source, "read"):
        with _explain_unreadable("The open file"):
            path = _spool(source)
    else:
        kind = type(source).__name__
        raise ArgumentError(
            "upload() takes a path, bytes, an open binary file, a gemmi or biotite structure, a structure of"
            f" a result, or a DataFrame, not {kind}."
        )
    with _explain_unreadable(str(path)):
        return path, hash_file(path)


@contextmanager
def _explain_unreadable(what: str) -> Iterator[None]:
    """Convert an OSError while reading or copying a source to an ArgumentError."""
    try:
        yield
    except OSError as exc:
        raise ArgumentError(f"{what} cannot be read: {exc.strerror or exc}.") from exc


def _spool(stream: Any) -> Path:
    """Copy an open file to disk, so that an interrupted upload can be repeated from its beginning."""
    with tempfile.NamedTemporaryFile(prefix="foldnote-upload-", delete=False) as copy:
        place = Path(copy.name)
        try:
            while chunk := stream.read(1 << 20):
                if isinstance(chunk, str):
                    raise ArgumentError("The file is open as text: open it in binary mode, open(path, 'rb').")
                copy.write(chunk)
        except BaseException:
            place.unlink(missing_ok=True)
            raise
        return place


def _find_writer(source: object) -> Callable[[Any, str], str] | None:
    """Find the function that writes an object as text, given a file extension; None for unknown types."""
    kind = type(source)
    library = kind.__module__.partition(".")[0]
    if kind.__module__.startswith("foldnote.results") and kind.__name__ == "Structure":
        return _write_result_structure
    return _WRITERS.get((library, kind.__name__))


def _write_gemmi(structure: Any, ending: str) -> str:
    if ending in _MMCIF:
        return str(structure.make_mmcif_document().as_string())
    return str(structure.make_pdb_string())


def _write_biotite(atoms: Any, ending: str) -> str:
    text = io.StringIO()
    if ending in _MMCIF:
        pdbx: Any = import_module("biotite.structure.io.pdbx")
        file = pdbx.CIFFile()
        pdbx.set_structure(file, atoms)
    else:
        file = import_module("biotite.structure.io.pdb").PDBFile()
        file.set_structure(atoms)
    file.write(text)
    return text.getvalue()


def _write_result_structure(structure: Any, ending: str) -> str:
    wants_mmcif = ending in _MMCIF
    if wants_mmcif == (structure.format == "mmcif") or not ending:
        return str(structure.text)
    return _write_gemmi(structure.to_gemmi(), ending)


def _write_table(table: Any, ending: str) -> str:
    return str(table.to_csv(index=False, sep="\t" if ending in (".tsv", ".tab") else ","))


_WRITERS: dict[tuple[str, str], Callable[[Any, str], str]] = {
    ("gemmi", "Structure"): _write_gemmi,
    ("biotite", "AtomArray"): _write_biotite,
    ("biotite", "AtomArrayStack"): _write_biotite,
    ("pandas", "DataFrame"): _write_table,
}
