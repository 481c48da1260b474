"""Having results laid out by a program of its own, two at a time, each within a limit of time."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from foldnote import settings
from foldnote.errors import ResultError

LIMIT_S = 120.0
_AT_ONCE = asyncio.Semaphore(2)


async def lay_out(what: str, path: Path, title: str, colors: str = "") -> bytes:
    """The answer for a page, as JSON; ``what`` is ``result`` or ``file``: see ``reading``.

    ``colors`` is what structures are coloured by at first; empty for what this computer's options say.

    Raises:
        ResultError: the file cannot be read, or reading it takes too long.
    """
    async with _AT_ONCE:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "foldnote.lab.renderer", what, str(path), title),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=settings.process_environment(view_colors=colors),
        )
        try:
            async with asyncio.timeout(LIMIT_S):
                written, complaint = await process.communicate()
        except TimeoutError as exc:
            sentence = f"{title} takes longer than {LIMIT_S:.0f} s to read. Open it in a cell."
            raise ResultError(sentence) from exc
        finally:
            if process.returncode is None:
                process.kill()
    if process.returncode:
        lines = complaint.decode(errors="replace").strip().splitlines()
        raise ResultError(lines[-1] if lines else f"{title} cannot be read.")
    return written
