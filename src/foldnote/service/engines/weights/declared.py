"""Read the ``[[weights]]`` of an ``engine.toml``: files that an engine needs and no package contains."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from foldnote.service.engines.licences import LicenceTerms
from foldnote.text import format_size

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")


@dataclass(frozen=True, slots=True)
class Weights:
    """One file of weights, or one archive of them, or of the program itself at a fixed commit."""

    name: str
    """Name for people."""
    file: str
    """Path below the engine's weights folder, with ``/``; for an archive, the folder to which it is
    unpacked."""
    url: str
    licence: str
    source: str
    """The publisher, with a citation if it is not the engine's."""
    sha256: str = ""
    """Empty if the authors publish none; then the hash of the first installation counts."""
    git_tree: str = ""
    """For an archive of a git commit, the object name of its tree, which its files must have."""
    size_bytes: int = 0
    """Exact size; 0 if the authors do not publish it."""
    about_mb: int = 0
    """Approximate size in MB (10**6 bytes) if the exact one is unknown."""
    must_accept: bool = False
    """Whether its licence must be accepted before the download."""
    licence_url: str = ""
    """Address of the licence; empty if unknown."""
    optional: bool = False
    """Whether the engine runs without it; the engine's ``with_optional_weights`` describes what it runs with
    it."""
    unpack: bool = False
    """Whether it is an archive (tar or zip) that is unpacked."""
    leading_folders: int = 0
    """Number of leading folders to drop from the names in the archive."""
    contains: tuple[str, ...] = ()
    """Files that the unpacked archive must contain."""

    @property
    def terms(self) -> LicenceTerms | None:
        """Terms that must be accepted before the download; None if there are none."""
        return (
            LicenceTerms(self.name, self.licence, self.source, self.licence_url) if self.must_accept else None
        )

    @property
    def expected_bytes(self) -> int:
        """Size of the download, exact or approximate; 0 if unknown."""
        return self.size_bytes or self.about_mb * 1_000_000

    @property
    def size_in_words(self) -> str:
        """Its size, for people."""
        if self.size_bytes:
            return format_size(self.size_bytes)
        return f"about {format_size(self.expected_bytes)}" if self.about_mb else "of unknown size"

    @property
    def host(self) -> str:
        """The server from which it comes."""
        return urlsplit(self.url).hostname or ""


def read_weights(rows: Sequence[Mapping[str, Any]]) -> tuple[Weights, ...]:
    """Read the weights that an ``engine.toml`` declares.

    Raises:
        ValueError: a declaration is invalid; the key is named.
        TypeError: a key is unknown, or missing.
    """
    declared = tuple(
        replace(each, contains=tuple(each.contains)) for each in (Weights(**row) for row in rows)
    )
    for each in declared:
        _check(each)
    files = [each.file for each in declared]
    for file in files:
        if (
            any(other != file and f"{other}/".startswith(f"{file}/") for other in files)
            or files.count(file) > 1
        ):
            raise ValueError(f"weights.file {file!r} is used by two entries")
    return declared


def is_inside(path: str) -> bool:
    """Return whether a relative path of plain names stays in its folder on every system."""
    return all(_PART.fullmatch(part) for part in path.split("/"))


def explain_address(url: str, *, local: bool) -> str:
    """Return why nothing may be downloaded from ``url``; empty if it may be.

    Args:
        url: an absolute URL.
        local: whether a server of this machine is allowed, also without encryption.
    """
    parts = urlsplit(url)
    if parts.username or parts.password:
        return "it contains a user name or a password"
    if parts.scheme == "https" and parts.hostname:
        return ""
    if parts.scheme == "http" and is_local(url):
        return "" if local else "it leads to this machine"
    return "it is not an https address"


def is_local(url: str) -> bool:
    """Return whether the address is a server of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _check(weights: Weights) -> None:
    if not is_inside(weights.file):
        raise ValueError(
            f"weights.file is {weights.file!r}; it must be a plain path below the engine's folder"
        )
    for inner in weights.contains:
        if not is_inside(inner):
            raise ValueError(f"weights.contains names {inner!r}, which is not a plain path below the archive")
    if reason := explain_address(weights.url, local=True):
        raise ValueError(f"weights.url {weights.url!r} cannot be used: {reason}")
    if weights.sha256 and not re.fullmatch(r"[0-9a-f]{64}", weights.sha256):
        raise ValueError(f"weights.sha256 of {weights.file} must be 64 hexadecimal digits in lower case")
    if weights.git_tree and not (re.fullmatch(r"[0-9a-f]{40}", weights.git_tree) and weights.unpack):
        raise ValueError(f"weights.git_tree of {weights.file} must be 40 hexadecimal digits, of an archive")
    if not weights.licence or not weights.source or not weights.name:
        raise ValueError(f"weights.name, licence and source of {weights.file} must say something")
    if weights.contains and not weights.unpack:
        raise ValueError(f"weights.contains of {weights.file} is for archives; set unpack")
