"""The command for files of the account: listed, uploaded, deleted."""

from __future__ import annotations

import argparse

from foldnote.cli.connection import add_connection, connect
from foldnote.cli.exit_codes import Exit
from foldnote.cli.printing import print_json, print_table, show, tell
from foldnote.errors import ArgumentError
from foldnote.models.moment import tell_local


def add_files(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``files``."""
    parser.add_argument("action", choices=("list", "upload", "delete"), nargs="?", default="list")
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="files here to upload, or files at the service to delete")  # fmt: skip
    parser.add_argument("--folder", help="the folder at the service")
    parser.add_argument("--name", help="for upload of one file: its name at the service")
    parser.add_argument("--limit", type=int, default=100, help="for list: how many (default 100)")
    add_connection(parser)


def run_files(options: argparse.Namespace) -> int:
    """List, upload or delete files.

    Raises:
        ArgumentError: no file is named.
    """
    if options.action == "list":
        return _list(options)
    if not options.paths:
        raise ArgumentError(f"Say which files: foldnote files {options.action} PATH.")
    return _upload(options) if options.action == "upload" else _delete(options)


def _list(options: argparse.Namespace) -> int:
    from foldnote.text import format_size

    page = connect(options).files.list(limit=options.limit, folder=options.folder)
    if options.json:
        print_json([file.model_dump(mode="json", by_alias=True) for file in page.files])
        return Exit.DONE
    rows = [
        (
            file.path,
            "" if file.file_size is None else format_size(file.file_size),
            tell_local(file.upload_time),
        )
        for file in page.files
    ]
    print_table(("FILE", "SIZE", "UPLOADED"), rows)
    if page.has_more:
        tell(f"There are {page.total}; --limit shows more, at most 100.")
    return Exit.DONE


def _upload(options: argparse.Namespace) -> int:
    if options.name and len(options.paths) > 1:
        raise ArgumentError("--name goes with one file only.")
    client = connect(options)
    stored = [
        str(client.files.upload(path, options.name, options.folder, progress=True)) for path in options.paths
    ]
    print_json({"uploaded": stored}) if options.json else show("\n".join(stored))
    return Exit.DONE


def _delete(options: argparse.Namespace) -> int:
    client = connect(options)
    paths = [f"{options.folder}/{path}" if options.folder else path for path in options.paths]
    for path in paths:
        client.files.delete(path)
        if not options.json:
            show(f"{path} is deleted.")
    if options.json:
        print_json({"deleted": paths})
    return Exit.DONE
