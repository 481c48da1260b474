"""The command ``files``: list, upload and delete files of the account."""

from __future__ import annotations

import argparse

from foldnote.cli.connection import add_connection, connect
from foldnote.cli.exit_codes import Exit
from foldnote.cli.printing import format_table, print_json, print_message, report, show
from foldnote.errors import ArgumentError
from foldnote.number_arguments import read_positive
from foldnote.text import format_local_time, format_size


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``files``."""
    parser.add_argument("action", choices=("list", "upload", "delete"), nargs="?", default="list")
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="local files to upload, or files at the service to delete")  # fmt: skip
    parser.add_argument("--folder", help="the folder at the service")
    parser.add_argument("--name", help="for `upload` of one file: its name at the service")
    parser.add_argument(
        "--limit", type=read_positive, default=100, help="for `list`: number of files (default 100)"
    )
    add_connection(parser)


def run_files(options: argparse.Namespace) -> int:
    """List, upload or delete files.

    Raises:
        ArgumentError: no file is named, or one is named for `list`.
    """
    if options.action == "list":
        if options.paths:
            raise ArgumentError("`foldnote files list` takes no PATH; --folder FOLDER lists a folder.")
        return _list(options)
    if not options.paths:
        raise ArgumentError(f"Name the files: foldnote files {options.action} PATH.")
    return _upload(options) if options.action == "upload" else _delete(options)


def _list(options: argparse.Namespace) -> int:
    page = connect(options).files.list(limit=options.limit, folder=options.folder)
    if options.json:
        print_json([file.model_dump(mode="json", by_alias=True) for file in page.files])
        return Exit.DONE
    sizes = ["" if file.file_size is None else format_size(file.file_size) for file in page.files]
    rows = [
        (file.path, size, format_local_time(file.upload_time))
        for file, size in zip(page.files, sizes, strict=True)
    ]
    show(format_table(("FILE", "SIZE", "UPLOADED"), rows))
    if page.has_more:
        print_message(f"There are {page.total} in total; --limit shows more, at most 100.")
    return Exit.DONE


def _upload(options: argparse.Namespace) -> int:
    if options.name and len(options.paths) > 1:
        raise ArgumentError("--name can be used with a single file only.")
    upload = connect(options).files.upload
    stored = [str(upload(path, options.name, options.folder, progress=True)) for path in options.paths]
    return report(options, {"uploaded": stored}, "\n".join(stored))


def _delete(options: argparse.Namespace) -> int:
    client = connect(options)
    paths = [f"{options.folder}/{path}" if options.folder else path for path in options.paths]
    for path in paths:
        client.files.delete(path)
        if not options.json:
            show(f"{path} was deleted.")
    if options.json:
        print_json({"deleted": paths})
    return Exit.DONE
