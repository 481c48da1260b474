"""Fetch structures by id from the Protein Data Bank and the AlphaFold Database.

A request is sent only when a structure is asked for by its id, and each file is fetched once: it stays in the
user's cache folder. Only the id is sent.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from foldnote import settings
from foldnote.errors import ArgumentError, RequestTimeoutError, ServiceUnreachableError, TransportError
from foldnote.io import names_path, write_atomically
from foldnote.ownership import make_own

if TYPE_CHECKING:
    import httpx

_PDB = re.compile(r"(?:pdb_0{4})?[1-9][a-z0-9]{3}", re.I)
_ACCESSION = r"[OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9](?:[A-Z][A-Z0-9]{2}[0-9]){1,2}"
"""UniProt's own pattern of accessions."""
_ALPHAFOLD = re.compile(rf"(?:AF-)?({_ACCESSION})(-F[0-9]+)?", re.I)
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 22
_ADVICE = "check the network, or download the structure on another computer and give the file's path"


@dataclass(frozen=True)
class _Source:
    """The source of one structure.

    Attributes:
        key: the id as the database writes it, such as ``1UBQ`` or ``AF-P69905-F1``.
        database: name of the database.
        base_url: address of the database, without a trailing slash.
    """

    key: str
    database: str
    base_url: str


def find_structure_file(name: str | Path) -> Path:
    """Return the path of a structure, which is fetched if ``name`` is an id and no file has that name.

    Args:
        name: a path; a PDB id (``1ubq``); or an entry of the AlphaFold Database by its name
            (``AF-P69905-F1``) or UniProt accession (``P69905``).

    Returns:
        ``name`` as a path, or the path of the fetched mmCIF file in the user's cache folder.

    Raises:
        ArgumentError: the database has no structure with this id, or ``name`` is the contents of a file.
        ServiceUnreachableError: the database cannot be reached.
        RequestTimeoutError: the database did not answer in time.
        TransportError: the database answered with an error, or with too large a file.
    """
    if isinstance(name, str) and "\n" in name.strip():
        raise ArgumentError(
            "This text has several lines, so it is the contents of a file: save it, and give the file's path."
        )
    source = None if isinstance(name, Path) or names_path(name) else _find_source(name)
    if source is None:
        return Path(name)
    folder = settings.cache_dir() / "structures"
    make_own(folder, below=folder.parent)
    path = folder / f"{source.key}.cif"
    if not path.exists():
        address = _find_address(source)
        write_atomically(path, _unpack(_fetch(address, source), address))
    return path


def _find_source(name: str) -> _Source | None:
    """Return the database entry with the id ``name``; None if ``name`` is not an id."""
    if _PDB.fullmatch(name):
        base = str(settings.option("rcsb_url")).rstrip("/")
        return _Source(name[-4:].upper(), "Protein Data Bank", base)
    found = _ALPHAFOLD.fullmatch(name)
    if found is None:
        return None
    base = str(settings.option("alphafold_db_url")).rstrip("/")
    return _Source(f"AF-{found[1].upper()}{(found[2] or '-F1').upper()}", "AlphaFold Database", base)


def _find_address(source: _Source) -> str:
    """Return the address of the file; that of an AlphaFold entry is requested, since it has a version."""
    if source.database == "Protein Data Bank":
        return f"{source.base_url}/download/{source.key}.cif.gz"
    address = f"{source.base_url}/api/prediction/{source.key.split('-')[1]}"
    content = _fetch(address, source)
    try:
        entries: Any = json.loads(content)
        links = {
            str(entry.get("entryId") or entry["modelEntityId"]): str(entry["cifUrl"]) for entry in entries
        }
    except (ValueError, TypeError, KeyError) as exc:
        raise TransportError(f"{address} did not answer with a list of predictions; {_ADVICE}.") from exc
    if source.key not in links:
        known = ", ".join(sorted(links)) or "none"
        raise ArgumentError(f"The AlphaFold Database has no {source.key} ({address}); it has {known}.")
    return source.base_url + urlsplit(links[source.key]).path


def _fetch(address: str, source: _Source) -> bytes:
    """Return the content at an address.

    Raises:
        ArgumentError: the database has no such entry.
        ServiceUnreachableError: it cannot be reached.
        RequestTimeoutError: it did not answer in time.
        TransportError: it answered with an error, or with too large a file.
    """
    import httpx  # deferred: slow to import

    from foldnote.client.core.http_connections import connect

    timeout_s = float(settings.option("request_timeout_s"))
    try:
        with connect(httpx.Client, httpx.HTTPTransport) as client:
            request = client.build_request("GET", address, timeout=timeout_s)
            answer = client.send(request, stream=True, follow_redirects=True)
            if answer.status_code in (400, 404, 422):
                raise ArgumentError(f"The {source.database} has no entry {source.key} ({address}).")
            if answer.status_code != httpx.codes.OK:
                raise TransportError(f"{address} answered with status {answer.status_code}; {_ADVICE}.")
            return _read(answer, address)
    except httpx.TimeoutException as exc:
        raise RequestTimeoutError(f"{address} did not answer within {timeout_s:g} s; {_ADVICE}.") from exc
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        reason = str(exc) or type(exc).__name__
        raise ServiceUnreachableError(f"{address} cannot be reached ({reason}); {_ADVICE}.") from exc


def _unpack(content: bytes, address: str) -> bytes:
    """Return the content, decompressed if it is compressed."""
    if not content.startswith(_GZIP):
        return content
    limit = int(float(settings.option("largest_answer_mb")) * 1e6)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            whole = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as exc:
        raise TransportError(f"The file at {address} is damaged; {_ADVICE}.") from exc
    return _check_size(whole, address)


def _check_size(content: bytes, address: str) -> bytes:
    limit_mb = float(settings.option("largest_answer_mb"))
    if len(content) > limit_mb * 1e6:
        raise TransportError(
            f"The file at {address} is larger than {limit_mb:g} MB; raise largest_answer_mb to fetch it."
        )
    return content


def _read(answer: httpx.Response, address: str) -> bytes:
    content = b""
    for part in answer.iter_bytes(_CHUNK):
        content = _check_size(content + part, address)
    return content
