"""Settings from ``--set``, ``--file``, a JSON file or standard input."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldnote.errors import ArgumentError

if TYPE_CHECKING:
    from foldnote.client import Client
    from foldnote.models import Tool


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options for settings."""
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", dest="values",
                        help="a setting; text, or JSON where the field is not text")  # fmt: skip
    parser.add_argument("--file", action="append", default=[], metavar="FIELD=PATH", dest="files",
                        help="a file field: the file is uploaded first")  # fmt: skip
    parser.add_argument("--settings", type=Path, help="a JSON file with the settings; - for standard input")


def read_settings(options: argparse.Namespace, client: Client, tool: Tool) -> Any:
    """Read the settings from the options, uploading files.

    Raises:
        ArgumentError: the options cannot be read, or the tool has no such setting; nothing was sent.
    """
    from foldnote.client.inputs.file_values import name_uploads

    fields = list_fields(tool)
    settings = read_json_file(options.settings) if options.settings else {}
    values, files = split_pairs(options.values, fields), split_pairs(options.files, fields)
    if not isinstance(settings, dict):
        if values or files:
            raise ArgumentError(
                "--set and --file can be combined with one JSON object of settings, but not with a list."
            )
        return settings
    settings |= {name: read_value(fields.get(name, {}), text) for name, text in values}
    lists = [name for name, _ in files if fields.get(name, {}).get("type") == "array"]
    for name in lists:
        if not isinstance(settings.setdefault(name, []), list):
            raise ArgumentError(
                f"{name}: --file adds to a list of files, and this value is not a list. Write a JSON list, or"
                " leave it out."
            )
    for name, path in files:
        stored = client.files.upload(path, progress=True)
        settings[name] = [*settings[name], stored] if name in lists else stored
    return name_uploads(tool, settings)  # local files are passed with --file


def add_extensions(parser: argparse.ArgumentParser) -> None:
    """Add the options for extensions, which are sent beside the settings."""
    parser.add_argument("--agree", action="append", default=[], metavar="PURPOSE",
                        help="allow its inputs to leave the machine; PURPOSE: msa-server")  # fmt: skip
    parser.add_argument(
        "--alignment", type=Path, metavar="PATH", help="your own alignment, which is uploaded"
    )
    parser.add_argument("--label", help="free text stored with the job")
    parser.add_argument("--webhook", metavar="URL",
                        help="address that the service calls when the job ends")  # fmt: skip


def read_extensions(
    options: argparse.Namespace, client: Client, *, with_label: bool = True
) -> dict[str, Any]:
    """Read the extensions that are sent beside the settings; the alignment is uploaded.

    Args:
        with_label: whether to include the label.

    Raises:
        FoldnoteError: the alignment cannot be read.
    """
    from foldnote.models.extensions import ALIGNMENT, EXTERNAL, LABEL, WEBHOOK

    extensions: dict[str, Any] = {}
    if options.agree:
        extensions[EXTERNAL] = options.agree
    if options.alignment is not None:
        extensions[ALIGNMENT] = client.files.upload(options.alignment, progress=True)
    if options.label and with_label:
        extensions[LABEL] = options.label
    if options.webhook is not None:
        extensions[WEBHOOK] = options.webhook
    return extensions


def list_fields(tool: Tool) -> Mapping[str, Any]:
    """Return the schema of each setting."""
    fields = tool.settings_schema.get("properties", {})
    return fields if isinstance(fields, Mapping) else {}


def split_pairs(texts: Sequence[str], fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Split ``FIELD=VALUE`` arguments.

    Raises:
        ArgumentError: an argument has another form, or the tool has no such field; nothing was sent.
    """
    pairs = [_split(text) for text in texts]
    for name, _ in pairs:
        if fields and name not in fields:
            near = get_close_matches(name, fields, 1)
            hint = f"Did you mean {near[0]}?" if near else f"It has: {', '.join(fields)}."
            raise ArgumentError(f"The tool has no setting {name!r}. {hint}")
    return pairs


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ArgumentError(f"{text!r} should have the form FIELD=VALUE.")
    return name, value


def read_value(schema: Mapping[str, Any], text: str) -> Any:
    """Parse a value: a string for a string field; for any other field, JSON if it is valid, else a string."""
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def read_json_file(path: Path) -> Any:
    """Read a JSON object or array from a file, or from standard input.

    Raises:
        ArgumentError: it cannot be read, or is not an object or array.
    """
    place = "standard input" if str(path) == "-" else str(path)
    try:
        text = _read_text(path)
        content = json.loads(text) if text.strip() else None
    except OSError as exc:
        raise ArgumentError(f"{place} cannot be read: {exc.strerror or exc}.") from exc
    except UnicodeDecodeError as exc:
        raise ArgumentError(f"The settings in {place} are not UTF-8 text.") from exc
    except ValueError as exc:
        raise ArgumentError(f"The settings in {place} cannot be read as JSON: {exc}.") from exc
    if not isinstance(content, dict | list):
        found = "There are no settings in" if content is None else "The settings in"
        raise ArgumentError(f"{found} {place}: one JSON object is needed.")
    return content


def _read_text(path: Path) -> str:
    data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    return data.decode("utf-8-sig")
