"""Read the ``[[weights]]`` of an ``engine.toml``: files that the engine needs and that no package has."""

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
    """What it is, for people."""
    file: str
    """Path below the engine's weights folder, with ``/``; of an archive the folder that it is unpacked to."""
    url: str
    licence: str
    source: str
    """Who publishes it, with the citation where it is not the engine's."""
    sha256: str = ""
    """Empty where the authors publish none: that of the first installation counts then."""
    git_tree: str = ""
    """Of an archive of a git commit the object name of its tree, which its files must have."""
    size_bytes: int = 0
    """Exact size; 0 where the authors do not publish it."""
    about_mb: int = 0
    """Approximate size in MB (10**6 bytes) where the exact one is unknown."""
    must_accept: bool = False
    """Whether its licence has to be accepted before it is fetched."""
    licence_url: str = ""
    """Where the licence can be read; empty where it is not said."""
    optional: bool = False
    """Whether the engine runs without it; the engine's ``with_optional_weights`` says what it runs then."""
    unpack: bool = False
    """Whether it is an archive (tar or zip) that is unpacked."""
    leading_folders: int = 0
    """How many leading folders of the names in the archive are dropped."""
    contains: tuple[str, ...] = ()
    """Files that the unpacked archive must have."""

    @property
    def terms(self) -> LicenceTerms | None:
        """What has to be accepted before it is fetched; None if that is nothing."""
        return (
            LicenceTerms(self.name, self.licence, self.source, self.licence_url) if self.must_accept else None
        )

    @property
    def expected_bytes(self) -> int:
        """Size of the download, exact or approximate; 0 where unknown."""
        return self.size_bytes or self.about_mb * 1_000_000

    @property
    def size_in_words(self) -> str:
        """Its size for people."""
        if self.size_bytes:
            return format_size(self.size_bytes)
        return f"about {format_size(self.expected_bytes)}" if self.about_mb else "of unknown size"

    @property
    def host(self) -> str:
        """The server that it comes from."""
        return urlsplit(self.url).hostname or ""


def read_weights(rows: Sequence[Mapping[str, Any]]) -> tuple[Weights, ...]:
    """The weights that an ``engine.toml`` declares.

    Raises:
        ValueError: one cannot be used; the key is named.
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
    """Whether a relative path of plain names stays in its folder on every system."""
    return all(_PART.fullmatch(part) for part in path.split("/"))


def explain_address(url: str, *, local: bool) -> str:
    """Why nothing is fetched from ``url``; empty if it may be.

    Args:
        url: an absolute address.
        local: whether a server of this machine may be asked, and without encryption.
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
    """Whether the address is a server of this machine."""
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
            raise ValueError(f"weights.contains names {inner!r}, which is no plain path below the archive")
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
