"""Resolve file fields: inline contents, the name of an upload, a file of an earlier job, or a SMILES.

A field for files of SMILES (`smi`) treats its value as a SMILES if there is no file of that name.

`locate` finds a value's content and `store_input` stores it for the job, so that a job does not change when
an upload is replaced or an earlier job is deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from foldnote.catalog.checks.molecule import find_smiles_fault, is_file_smiles
from foldnote.catalog.contents import SMILES
from foldnote.models.extensions import ALIGNMENT, ALIGNMENT_PATH
from foldnote.models.problem import Problem
from foldnote.models.tool import Tool
from foldnote.service.domain.direct_uploads import DirectUploads
from foldnote.service.faults import bad_request
from foldnote.service.files import archives
from foldnote.service.files.names import split_path
from foldnote.service.files.objects import ObjectStore
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.jobs.insertion import Input
from foldnote.service.store.store import Store

FILE_ROLES = ("file", "files")


@dataclass(frozen=True)
class ResolvedFile:
    """The content of a file field: inline, stored, or a member of a stored archive."""

    field: str
    name: str
    text: str | None = None
    sha256: str | None = None
    member: str | None = None


class FileResolver:
    """Finds and stores the contents to which settings refer."""

    def __init__(self, store: Store, objects: ObjectStore, uploads: DirectUploads) -> None:
        self._store = store
        self._uploads = uploads
        self._objects = objects

    def locate(
        self, caller: Caller, tool: Tool, settings: Mapping[str, Any]
    ) -> tuple[list[ResolvedFile], list[Problem]]:
        """Locate every file in the settings; return a problem for each that does not exist."""
        located, problems = [], []
        for field, path, value, extensions in file_values(tool, settings):
            outcome = self._locate_one(caller, field, value, extensions)
            if isinstance(outcome, ResolvedFile):
                located.append(outcome)
            else:
                problems.append(Problem(field=path, message=outcome, code="file_not_uploaded"))
        return located, problems

    def locate_alignment(
        self, caller: Caller, extensions: Mapping[str, Any] | None
    ) -> tuple[ResolvedFile, ...] | Problem:
        """Locate the alignment besides the settings, if given; return a problem if it does not exist."""
        value = (extensions or {}).get(ALIGNMENT)
        if value is None:
            return ()
        outcome = self._locate_one(caller, ALIGNMENT_PATH, value, ("a3m",))
        if isinstance(outcome, ResolvedFile):
            return (replace(outcome, name=f"{ALIGNMENT}.a3m") if outcome.text is not None else outcome,)
        return Problem(field=ALIGNMENT_PATH, message=outcome, code="file_not_uploaded")

    def is_uploaded(self, caller: Caller, value: str) -> bool:
        """Return whether the caller has an upload of this name."""
        self._uploads.settle(caller.account_id, *split_path(value))
        return self._store.files.find(caller.account_id, *split_path(value)) is not None

    def store_input(self, located: ResolvedFile) -> Input:
        """Store the content; return the job's input.

        Raises:
            RefusalError: 400 if it cannot be extracted from its archive.
        """
        sha256 = located.sha256 or ""
        if located.text is not None:
            sha256 = self._objects.put_bytes(located.text.encode())
        elif located.member is not None:
            sha256 = self._store_member(located, self._objects.path(sha256), located.member)
        return Input(located.field, located.name, sha256)

    def _store_member(self, located: ResolvedFile, archive: Path, member: str) -> str:
        try:
            with self._objects.draft() as draft:
                archives.read_member(archive, member, draft.write)
                return draft.commit()
        except archives.DamagedArchiveError as exc:
            sentence = f"{located.field}: {member[:200]!r} cannot be extracted from its result: {exc}."
            raise bad_request(sentence, code="result_damaged", field=located.field) from exc

    def _locate_one(
        self, caller: Caller, field: str, value: str, extensions: tuple[str, ...]
    ) -> ResolvedFile | str:
        if "\n" in value:
            return ResolvedFile(field, f"{field}.{extensions[0]}", text=value)
        folder, name = split_path(value)
        self._uploads.settle(caller.account_id, folder, name)
        stored = self._store.files.find(caller.account_id, folder, name)
        if stored is not None:
            return ResolvedFile(field, stored.name, sha256=stored.sha256)
        job_name, _, member = value.strip("/").partition("/")
        row = self._store.jobs.find([caller.account_id], job_name) if member else None
        outcome: ResolvedFile | str = _describe_absence(value, extensions)
        if row is not None:
            outcome = self._locate_member(field, row["name"], row["state"], row["result_sha256"], member)
        if isinstance(outcome, str) and SMILES in extensions and is_file_smiles(value, extensions):
            return ResolvedFile(field, f"{field}.{SMILES}", text=f"{value.strip()}\n")
        return outcome

    def _locate_member(
        self, field: str, job_name: str, state: str, sha256: str | None, member: str
    ) -> ResolvedFile | str:
        if sha256 is None or not self._objects.has(sha256):
            return f"the job {job_name!r} has no result; its status is {state}."
        archive = self._objects.path(sha256)
        try:
            member_name = archives.find_member(archive, member)
        except archives.DamagedArchiveError as exc:
            return f"the result of the job {job_name!r} is damaged: {exc}. Run it again."
        if member_name is None:
            return f"the job {job_name!r} has no file {member[:200]!r}.{suggest_names(archive, member)}"
        return ResolvedFile(field, member_name.rpartition("/")[2], sha256=sha256, member=member_name)


def _describe_absence(value: str, extensions: tuple[str, ...]) -> str:
    """Report that a value is no file, with the interpretations that were tried."""
    fault = find_smiles_fault(value) if SMILES in extensions else None
    if fault is not None:
        return (
            f"{value[:200]!r} is neither an upload, nor a file of one of your jobs, nor a SMILES: {fault}"
            " Upload the file with PUT /upload, refer to <JobName>/<path>, or correct the SMILES."
        )
    return (
        f"{value[:200]!r} is neither an upload nor a file of one of your jobs."
        " Upload it with PUT /upload, refer to <JobName>/<path>, or send the contents inline."
    )


def suggest_names(archive: Path, requested: str) -> str:
    """Return a sentence with up to three similar names of the archive, or an empty string."""
    names = archives.member_names(archive)
    similar = get_close_matches(requested[:200], names, 3, 0.4) or names[:3]
    return f" It has {', '.join(similar)}." if similar else ""


def file_values(tool: Tool, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield field, dotted path, value and extensions of every file in the settings, the usual one first."""
    for field, schema in tool.settings_schema.get("properties", {}).items():
        hints = schema.get("x-foldnote", {})
        value = settings.get(field)
        if hints.get("role") not in FILE_ROLES or not value:
            continue
        extensions = tuple(item.lstrip(".") for item in hints.get("extensions") or ["txt"])
        is_list = isinstance(value, list)
        for position, item in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(item, str):
                yield field, f"{field}.{position}" if is_list else field, item, extensions
