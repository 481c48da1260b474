"""Names of uploads and folders, checked so that they cannot leave their folder.

The service stores names in rows only and never uses them as paths, but clients do.
"""

from __future__ import annotations

import unicodedata

from foldnote.service.faults import bad_request

NAME_BYTES = 255
FOLDER_PARTS = 16
_FORBIDDEN = frozenset('/\\:*?"<>|')


def check_file_name(name: str) -> str:
    """Return the name if it is valid.

    Raises:
        RefusalError: 400, with the reason.
    """
    problem = _fault(name)
    if problem:
        raise bad_request(
            f"The file name {name[:200]!r} cannot be used: {problem}.",
            code="invalid_file_name",
            field="filename",
        )
    return name


def check_folder(folder: str | None, field: str = "folder") -> str:
    """Return the folder without leading and trailing slashes; empty for the top level.

    Raises:
        RefusalError: 400, with the reason.
    """
    parts = (folder or "").strip("/").split("/")
    if parts == [""]:
        return ""
    problem = next((fault for fault in map(_fault, parts) if fault), None)
    if len(parts) > FOLDER_PARTS:
        problem = f"it is more than {FOLDER_PARTS} folders deep"
    if problem:
        raise bad_request(
            f"The folder {(folder or '')[:200]!r} cannot be used: {problem}.",
            code="invalid_folder",
            field=field,
        )
    return "/".join(parts)


def split_path(path: str) -> tuple[str, str]:
    """Return folder and name of `folder/name`; the folder is empty at the top level."""
    folder, _, name = path.strip("/").rpartition("/")
    return folder, name


def _fault(part: str) -> str | None:
    if not part:
        return "a part of it is empty"
    if part in (".", ".."):
        return f"{part[:200]!r} is not a name"
    if len(part.encode("utf-8", "surrogatepass")) > NAME_BYTES:
        return f"it is longer than {NAME_BYTES} bytes"
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Cn", "Zl", "Zp") for letter in part):
        return "it contains control characters"
    bad = next((letter for letter in part if letter in _FORBIDDEN), None)
    if bad is not None:
        return f"{bad!r} is not allowed in it"
    if part != part.strip() or "\ufffd" in part:
        return "it begins or ends with white space, or is not valid text"
    return None
