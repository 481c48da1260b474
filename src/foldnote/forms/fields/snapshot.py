"""The content that a form would send at one moment, to detect later changes.

A local file is compared by modification time and size, since its contents may change under the same path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from foldnote.client.inputs.file_values import FileValue, LocalFile
from foldnote.forms.fields.field import Field
from foldnote.forms.files.file_reference import local_path
from foldnote.forms.schema.shapes import is_file
from foldnote.models.extensions import ALIGNMENT


class Snapshot(NamedTuple):
    """The typed job name, the settings, and the state of each local file that they may name."""

    job_name: str
    settings: dict[str, Any]
    files: dict[str, tuple[int, int] | None]
    """Modification time (ns) and size (bytes) by path; None if there is no such file."""
    extensions: Mapping[str, Any] = MappingProxyType({})
    """What would be sent beside the settings; empty for nothing."""

    def restamped(self) -> Snapshot:
        """Return the same settings with the files as they are now."""
        return self._replace(files={path: _stamp(path) for path in self.files})


def take_snapshot(
    fields: Mapping[str, Field],
    settings: dict[str, Any],
    job_name: str = "",
    extensions: Mapping[str, Any] = MappingProxyType({}),
) -> Snapshot:
    """Return the snapshot of ``settings``; ``fields`` (by name) determine which settings are files."""
    paths = {
        path
        for name, value in settings.items()
        for path in _find_paths(value, is_open=name in fields and is_file(fields[name].spec))
    }
    paths.update(_find_paths(extensions.get(ALIGNMENT), is_open=True))
    return Snapshot(job_name, settings, {path: _stamp(path) for path in sorted(paths)}, dict(extensions))


def _find_paths(value: Any, *, is_open: bool) -> Iterator[str]:
    """Yield paths of local files in ``value``; with ``is_open`` also texts that may become local paths."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _find_paths(item, is_open=is_open)
    elif isinstance(value, LocalFile) or (
        is_open and isinstance(value, str) and not isinstance(value, FileValue)
    ):
        yield str(value)


def _stamp(path: str) -> tuple[int, int] | None:
    file = local_path(path)
    try:
        state = file.stat() if file is not None else None
    except OSError:
        return None
    return None if state is None else (state.st_mtime_ns, state.st_size)
