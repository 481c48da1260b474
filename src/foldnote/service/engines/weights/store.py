"""Store the content of each weights file once for all engines, and link it into the engines that use it.

The weights folder contains

    published/      verified contents, each named by its SHA-256; unpacked archives as folders
    stand-in/       stand-in contents
    partial/        incomplete downloads and copies, invisible to engines
    used-by/        for each engine's home, the contents that it uses
    known.json      SHA-256 recorded at the first installation, for addresses whose authors publish none

A content is renamed into place after its verification. Engines see links to it.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from foldnote.errors import EngineInstallError
from foldnote.io import compare_space, hash_bytes, hash_file, hold_lock, write_atomically
from foldnote.service.engines.waiting_locks import wait_for_lock
from foldnote.service.engines.weights.archives import BadArchiveError, hash_tree, name_git_tree, unpack
from foldnote.service.engines.weights.declared import Weights
from foldnote.service.engines.weights.download import discard, download
from foldnote.service.engines.weights.state import (
    FOLDER,
    RECORD,
    InstalledWeights,
    WeightState,
    measure,
    read_installed,
    write_installed,
)
from foldnote.service.files.conditions import is_full
from foldnote.service.runner.attempt import now
from foldnote.text import format_size

MARKER = "STAND-IN-WEIGHTS.txt"
"""A file that marks a folder of stand-in weights, so that it is never taken for published ones."""
_HASH_RECORD = "known.json"
_LOCK_S = 60.0
_REPORT_INTERVAL_S = 1.0
ProgressReport = Callable[[str, int], None]
"""Called with a message and the number of bytes of this file that are done."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A folder of weights to use instead of a download."""

    folder: Path
    is_stand_in: bool = False


class WeightStore:
    """The folder of all weights."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is created when something is stored there."""
        self.folder = folder

    def install(
        self, weights: Weights, home: Path, report_progress: ProgressReport, offer: Offer | None = None
    ) -> None:
        """Install one file of weights for the engine with the home ``home``, when no other process does.

        Args:
            weights: the file to install.
            home: the engine's folder, which exists.
            report_progress: receives the progress.
            offer: the folder from which to copy it instead of downloading.

        Raises:
            EngineInstallError: it cannot be downloaded, or is not what was published; nothing incomplete
                counts as installed.
            OSError: a folder cannot be written.
        """
        lock = self._partial(weights).with_suffix(".lock")

        def report_wait(holder: str) -> None:
            report_progress(f"{weights.name}: waiting for {holder}", 0)

        with wait_for_lock(lock, f"fetching {weights.name}", report_wait):
            state: WeightState = "stand-in" if offer and offer.is_stand_in else "published"
            expected = "" if state == "stand-in" else self.expected_hash(weights)
            content = self._find_content(weights, expected)
            if content is not None:
                report_progress(f"{weights.name} is there already", weights.expected_bytes)
                self._link(weights, home, content, expected, state, weights.url)
            elif offer is None:
                part = self._partial(weights)
                download(weights, part, _throttle_progress(weights, report_progress))
                self._verify_and_store(weights, home, part, state, report_progress, weights.url)
                discard(part)
            else:
                self._copy_offered(weights, home, offer, state, report_progress)

    def expected_hash(self, weights: Weights) -> str:
        """Return the SHA-256 that the file must have, declared or recorded at first; else empty.

        An archive of a git commit has the name of its tree instead: servers pack the same files differently.
        """
        declared = weights.sha256 or _name_tree(weights)
        return declared or str(self._read_recorded_hashes().get(weights.url, {}).get("sha256", ""))

    def drop_unused(self) -> int:
        """Remove contents that no engine uses any more; return the bytes that were freed.

        Raises:
            OSError: something cannot be removed.
        """
        if not self.folder.is_dir():
            return 0
        freed = 0
        with self._lock_store():
            used = {content for rows in self._read_uses() for content in rows}
            for kind in ("published", "stand-in"):
                for path in (self.folder / kind).glob("*"):
                    if path.relative_to(self.folder).as_posix() not in used:
                        freed += measure(path)
                        _remove(path)
        return freed

    def find_changed(self, rows: Sequence[InstalledWeights]) -> list[InstalledWeights]:
        """Return the installed weights whose contents differ from the record; reads all of them.

        Raises:
            OSError: a content cannot be read.
        """
        return [row for row in rows if self._is_changed(row)]

    def discard(self, row: InstalledWeights) -> None:
        """Remove a damaged content; no engine that uses it counts as installed until it is fetched again.

        Raises:
            EngineInstallError: another installation holds the folder.
            OSError: it cannot be removed.
        """
        with self._lock_store():
            _remove(self.folder / row.content)

    def _is_changed(self, row: InstalledWeights) -> bool:
        content = self.folder / row.content
        if not content.exists():
            return True
        if content.is_file():
            return hash_file(content) != row.sha256
        return measure(content) != row.size_bytes or row.files_sha256 not in ("", hash_tree(content))

    def _find_record(self, content: Path) -> InstalledWeights | None:
        """Return the record that an engine made of an unpacked content."""
        place = content.relative_to(self.folder).as_posix()
        for path in (self.folder / "used-by").glob("*.json"):
            home = Path(json.loads(path.read_text("utf-8"))["home"])
            for row in read_installed(home):
                if row.content == place:
                    return row
        return None

    def _copy_offered(
        self, weights: Weights, home: Path, offer: Offer, state: WeightState, report_progress: ProgressReport
    ) -> None:
        """Copy the offered file, or folder of a stand-in; then continue as after a download."""
        if state == "published" and (offer.folder / MARKER).exists():
            raise EngineInstallError(
                f"{offer.folder} holds stand-in weights ({MARKER}). To test an engine with them,"
                " add --stand-in."
            )
        source = _require_offered(weights, offer)
        part = self._partial(weights).with_suffix(".copy")
        _remove(part)
        report_progress(f"copying {weights.name} from {offer.folder}", 0)
        try:
            if source.is_dir():
                shutil.copytree(source, part)
            else:
                shutil.copyfile(source, part)
            self._verify_and_store(weights, home, part, state, report_progress, str(source))
        except OSError as exc:
            if not is_full(exc):
                raise
            _remove(part)
            raise EngineInstallError(
                f"The disk has too little space: {weights.name} was not copied to {self.folder}."
                f" {compare_space(part, weights.expected_bytes)}Free space there, or"
                " choose another folder with FOLDNOTE_WEIGHTS_DIR. Then install again."
            ) from exc
        finally:
            _remove(part)

    def _verify_and_store(
        self,
        weights: Weights,
        home: Path,
        part: Path,
        state: WeightState,
        report_progress: ProgressReport,
        origin: str,
    ) -> None:
        """Verify a complete file or folder, name it, and link it."""
        report_progress(f"verifying {weights.name}", weights.expected_bytes)
        found = hash_tree(part) if part.is_dir() else hash_file(part)
        if state == "published":
            self._verify(weights, part, found, origin)
        draft = part
        if weights.unpack and part.is_file():
            report_progress(f"unpacking {weights.name}", weights.expected_bytes)
            draft = self._unpack(weights, part)
        try:
            _check_contents(weights, draft, state)
            name = found if state == "stand-in" else self.expected_hash(weights) or found
            self._link(weights, home, self._content_path(weights, name, state), name, state, origin, draft)
        finally:
            if draft != part:
                _remove(draft)

    def _verify(self, weights: Weights, part: Path, found: str, origin: str) -> None:
        expected = self.expected_hash(weights)
        size = part.stat().st_size
        if expected not in ("", found, _name_tree(weights)):
            when = "" if weights.sha256 else f" when it was first installed ({self.folder / _HASH_RECORD})"
            _remove(part)
            raise EngineInstallError(
                f"{weights.name} from {origin} is not the published file: its SHA-256 is {found}, and"
                f" {expected} was {'published' if weights.sha256 else 'recorded'}{when}. It is not used."
                " Try again; if that gives the same, ask its authors whether the file was replaced."
            )
        if weights.size_bytes and size != weights.size_bytes:
            _remove(part)
            raise EngineInstallError(
                f"{weights.name} from {origin} has {size:,} bytes; {weights.size_bytes:,} were published."
                " It is not used."
            )
        if self._content_path(weights, found, "stand-in").exists():
            raise EngineInstallError(
                f"{weights.name} from {origin} is the stand-in that was installed before, not the"
                " published file."
            )

    def _unpack(self, weights: Weights, archive: Path) -> Path:
        draft = archive.with_name(f"{archive.name}.{uuid4().hex}.files")
        try:
            unpack(archive, draft, weights.leading_folders)
        except BadArchiveError as exc:
            _remove(draft)
            raise EngineInstallError(f"{weights.name} cannot be unpacked: {exc}. It is not used.") from exc
        except OSError as exc:
            _remove(draft)
            if not is_full(exc):
                raise
            raise EngineInstallError(
                f"The disk has too little space: {weights.name} was fetched and cannot be unpacked in"
                f" {self.folder}, where {format_size(shutil.disk_usage(self.folder).free)} are free."
                " Free space there and install again: the download is kept."
            ) from exc
        return draft

    def _link(
        self,
        weights: Weights,
        home: Path,
        content: Path,
        sha256: str,
        state: WeightState,
        origin: str,
        draft: Path | None = None,
    ) -> None:
        """Name the content, link it into the engine and record both, while no other process can remove it."""
        whole = draft or content
        files = hash_tree(whole) if whole.is_dir() else ""
        with self._lock_store():
            if draft is not None and content.exists() and measure(content) != measure(draft):
                _remove(content)  # it was damaged
            if draft is not None and not content.exists():
                content.parent.mkdir(parents=True, exist_ok=True)
                if draft.is_file():
                    draft.chmod(0o444)
                draft.rename(content)
            basis = self._record_hash(weights, sha256, content) if state == "published" else "none"
            place = content.relative_to(self.folder).as_posix()
            row = InstalledWeights(
                weights.file, state, sha256, measure(content), basis, origin, weights.url, now(), place, files
            )
            rows = [row, *(each for each in read_installed(home) if each.file != weights.file)]
            self._write_uses(home, [each.content for each in rows])
            link = home / FOLDER / weights.file
            link.parent.mkdir(parents=True, exist_ok=True)
            draft_link = link.with_name(f".{link.name}.{uuid4().hex}")
            draft_link.symlink_to(content)
            draft_link.replace(link)
            write_installed(home, rows)

    def _record_hash(self, weights: Weights, sha256: str, content: Path) -> str:
        if weights.sha256 or weights.git_tree:
            return "declared"
        known = self._read_recorded_hashes()
        if weights.url in known:
            return "recorded"
        size = measure(content)
        known[weights.url] = {"sha256": sha256, "sizeBytes": size, "recorded": now()}
        write_atomically(
            self.folder / _HASH_RECORD, json.dumps(known, indent=1, sort_keys=True), is_durable=True
        )
        return "first"

    def _read_recorded_hashes(self) -> dict[str, dict[str, Any]]:
        try:
            known = json.loads((self.folder / _HASH_RECORD).read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as exc:
            raise EngineInstallError(
                f"{self.folder / _HASH_RECORD}, which holds the recorded hashes of weights, cannot"
                f" be read: {exc}."
                " Restore it, or remove it: then the next installation records them anew."
            ) from exc
        return dict(known)

    def _content_path(self, weights: Weights, sha256: str, state: WeightState) -> Path:
        """Return the folder of a content; for an unpacked one it depends on the number of dropped folders."""
        name = f"{sha256}.files{weights.leading_folders}" if weights.unpack else sha256
        return self.folder / state / name

    def _find_content(self, weights: Weights, expected: str) -> Path | None:
        """Return the published content, if it is stored here and complete."""
        content = self._content_path(weights, expected, "published")
        if not expected or not content.exists():
            return None
        row = self._find_record(content) if weights.unpack else None
        if self._is_changed(row) if row else not weights.unpack and hash_file(content) != expected:
            _remove(content)  # a damaged disk, or another program wrote to it
            return None
        return content

    def _partial(self, weights: Weights) -> Path:
        folder = self.folder / "partial"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / hash_bytes(weights.url.encode())[:32]

    def _read_uses(self) -> Iterator[list[str]]:
        """Yield the contents that each engine uses; forget those of engines that no longer exist."""
        for path in (self.folder / "used-by").glob("*.json"):
            row = json.loads(path.read_text("utf-8"))
            if (Path(row["home"]) / RECORD).exists() or (Path(row["home"]) / FOLDER).exists():
                yield row["contents"]
            else:
                path.unlink()

    def _write_uses(self, home: Path, contents: list[str]) -> None:
        folder = self.folder / "used-by"
        folder.mkdir(parents=True, exist_ok=True)
        row = {"home": str(home), "contents": sorted(contents)}
        write_atomically(folder / f"{hash_bytes(str(home).encode())[:32]}.json", json.dumps(row, indent=1))

    @contextmanager
    def _lock_store(self) -> Iterator[None]:
        """Keep others from naming, linking and removing contents, for a moment."""
        with hold_lock(self.folder / ".lock", _LOCK_S) as is_held:
            if not is_held:
                raise EngineInstallError(f"{self.folder} is in use by another installation. Try again.")
            yield


def _throttle_progress(weights: Weights, report_progress: ProgressReport) -> Callable[[int, int], None]:
    """Report the progress once a second."""
    last_reported = 0.0

    def progress(have: int, total: int) -> None:
        nonlocal last_reported
        if time.monotonic() - last_reported > _REPORT_INTERVAL_S:
            last_reported = time.monotonic()
            whole = f" of {format_size(total)}" if total else ""
            report_progress(f"fetching {weights.name}: {format_size(have)}{whole}", have)

    return progress


def find_offered(weights: Weights, offer: Offer) -> Path | None:
    """Return the file in the user's folder, by its path, its name, or its name in the URL."""
    return next((path for name in _name_offered(weights) if (path := offer.folder / name).exists()), None)


def _name_offered(weights: Weights) -> tuple[str, ...]:
    return weights.file, Path(weights.file).name, weights.url.rpartition("/")[2].partition("?")[0]


def _require_offered(weights: Weights, offer: Offer) -> Path:
    found = find_offered(weights, offer)
    if found is None:
        wanted = " or ".join(dict.fromkeys(_name_offered(weights)))
        raise EngineInstallError(
            f"{weights.name} is not in {offer.folder}: there is no {wanted}. It is published at"
            f" {weights.url}."
        )
    if found.is_dir() and not (offer.is_stand_in and weights.unpack):
        raise EngineInstallError(
            f"{found} is a folder. Give {weights.name} as the file that is published at {weights.url}, so"
            " that it can be verified."
        )
    return found


def _check_contents(weights: Weights, folder: Path, state: WeightState) -> None:
    lacking = [name for name in weights.contains if not (folder / name).is_file()]
    if lacking:
        raise EngineInstallError(f"{weights.name} has no {', '.join(lacking)}. It is not used.")
    if state == "published" and weights.git_tree and name_git_tree(folder) != weights.git_tree:
        raise EngineInstallError(
            f"The files of {weights.name} are not those of the commit that was pinned (git tree"
            f" {weights.git_tree}). It is not used."
        )


def _name_tree(weights: Weights) -> str:
    return f"git-tree-{weights.git_tree}" if weights.git_tree else ""


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
