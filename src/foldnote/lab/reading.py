"""A program that lays out one result, or one structure file, for a page: ``python -m foldnote.lab.reading``.

It makes the same HTML that a cell shows, from the same Scene. It is a program of its own because reading
structures takes memory and time that the Jupyter server shall not lose, and because a hostile file may at
most end this program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from foldnote.errors import FoldnoteError
from foldnote.lab.answers import ResultAnswer, ResultFileRecord
from foldnote.results import Result, open_result
from foldnote.results.kinds import FileKind
from foldnote.viewers.bundles import bundle


def lay_out(path: Path, title: str) -> ResultAnswer:
    """The result at ``path``, an archive or a single file, for a page.

    Raises:
        FoldnoteError: it cannot be read.
    """
    result = open_result(path, title)
    rows = [
        ResultFileRecord(name=file.name, size_bytes=file.size_bytes, kind=file.kind.value)
        for file in result.files
    ]
    return ResultAnswer(
        title=title,
        html=bundle(result)["text/html"],
        files=tuple(rows),
        manifest=_read_manifest(result),
    )


def _read_manifest(result: Result) -> str:
    """The text of the manifest, indented; empty when there is none that can be read."""
    names = (file.name for file in result.files if file.kind is FileKind.MANIFEST)
    try:
        contents = [json.loads(result.read(name)) for name in names]
    except (FoldnoteError, ValueError):
        return ""
    return json.dumps(contents[0], indent=2, ensure_ascii=False) if contents else ""


def main(arguments: Sequence[str]) -> int:
    """Write the answer for the file and title in ``arguments`` to standard output."""
    path, title = arguments
    try:
        answer = lay_out(Path(path), title)
    except FoldnoteError as exc:
        sys.stderr.write(exc.message + "\n")
        return 1
    sys.stdout.write(json.dumps(answer.to_wire()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
