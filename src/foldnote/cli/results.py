"""The command ``results``: a job's archive, single files, provenance, or the table of a batch."""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from foldnote.cli.connection import add_name, connect
from foldnote.cli.exit_codes import Exit
from foldnote.cli.printing import print_json, report
from foldnote.errors import ArchiveError, ArgumentError
from foldnote.text import visible

if TYPE_CHECKING:
    from foldnote.client import Client, JobHandle
    from foldnote.results import Result


def add_results(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``results``."""
    parser.add_argument(
        "--to", type=Path, default=Path(), metavar="FOLDER", help="target folder (default: the current one)"
    )
    parser.add_argument("--file", help="download one file of the result instead of the archive")
    parser.add_argument("--pdbs-only", action="store_true", help="download the structure files only")
    parser.add_argument("--unpack", action="store_true", help="unpack the archive")
    parser.add_argument("--pattern", action="append", default=[], dest="patterns", metavar="GLOB",
                        help="unpack only matching files, such as '*.pdb'")  # fmt: skip
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--provenance", action="store_true", help="print the provenance of the result as JSON")
    kinds.add_argument("--crate", action="store_true", help="write the result as an RO-Crate")
    kinds.add_argument(
        "--export",
        action="store_true",
        help="write one file that a colleague can open with fn.open_export",
    )
    kinds.add_argument(
        "--report", action="store_true", help="write an HTML page with the result, methods and references"
    )
    kinds.add_argument(
        "--pdf", action="store_true", help="write the same as PDF (needs foldnote[pdf] and the library Pango)"
    )
    kinds.add_argument(
        "--references", choices=("bib", "ris"), help="write the publications to cite as BibTeX or RIS"
    )
    kinds.add_argument("--table", action="store_true", help="print a batch's rows with their results as CSV")
    add_name(parser)


def run_results(options: argparse.Namespace) -> int:
    """Download a result, and print its path."""
    client = connect(options)
    if options.table:
        return _print_table(client, options)
    job = client.jobs.get(options.name)
    if options.provenance:
        print_json(_open(job, options).provenance())
        return Exit.DONE
    _make_folder(options.to)
    if options.crate:
        paths = [_open(job, options).save_crate(options.to / f"{options.name}-crate")]
    elif options.export:
        paths = [_export(options)]
    elif options.report or options.pdf:
        paths = [_write_report(options)]
    elif options.references:
        paths = [_write_references(job, options)]
    elif options.unpack or options.patterns:
        paths = _unpack(_open(job, options), options)
    else:
        source = job.download(options.file, pdbs_only=options.pdbs_only, progress=True)
        paths = [_copy(source, options.to / source.name)]
    names = list(map(str, paths))
    target = names[0] if len(names) == 1 else str(options.to)
    return report(options, {"path": target, "paths": names}, "\n".join(names))


def _make_folder(folder: Path) -> None:
    """Create the target folder.

    Raises:
        OSError: it cannot be created, or is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is not a folder", str(folder))
    folder.mkdir(parents=True, exist_ok=True)


def _write_references(job: JobHandle, options: argparse.Namespace) -> Path:
    from foldnote.results import write_references

    target: Path = options.to / f"{options.name}.{options.references}"
    return write_references(_open(job, options).references(), target)


def _copy(source: Path, target: Path) -> Path:
    """Copy a file atomically."""
    from foldnote.io import saving

    draft = target.with_name(f"{target.name}.{os.getpid()}.part")
    with saving(target, source.stat().st_size):
        try:
            shutil.copyfile(source, draft)
            return draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)


def _open(job: JobHandle, options: argparse.Namespace) -> Result:
    from foldnote.results import open_result

    path = job.download(options.file, pdbs_only=options.pdbs_only, progress=True)
    return open_result(path, origin=job.origin())


def _export(options: argparse.Namespace) -> Path:
    from foldnote.notebook import export
    from foldnote.results.exported import SUFFIX

    return export(options.name, options.to / f"{options.name}{SUFFIX}", profile=options.profile)


def _write_report(options: argparse.Namespace) -> Path:
    from foldnote.notebook import report

    suffix = "pdf" if options.pdf else "html"
    return report(options.name, options.to / f"{options.name}.{suffix}", profile=options.profile)


def _unpack(result: Result, options: argparse.Namespace) -> list[Path]:
    """Write the selected files.

    Raises:
        ArgumentError: no file matches.
        ArchiveError: some files are damaged; the others were written.
    """
    names = result.match(options.patterns)
    if not names:
        patterns = ", ".join(options.patterns)
        examples = ", ".join(result.match()[:20])
        raise ArgumentError(f"No file of the result matches {patterns}. It has: {examples}.")
    result.save_to(options.to, options.patterns)
    damaged = {problem.name for problem in result.problems}
    if damaged & set(names):
        raise ArchiveError(f"Damaged and skipped: {', '.join(sorted(damaged))}. Download the result again.")
    return [options.to / name for name in names]


def _print_table(client: Client, options: argparse.Namespace) -> int:
    frame = client.batches.get(options.name).results()
    if options.json:
        print_json(frame.astype(object).where(frame.notna(), None).to_dict("records"))
    else:
        text = frame.to_csv()
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
    return Exit.DONE
