"""Run the renderer as a subprocess, at most two at a time, each with a time limit."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from foldnote import settings
from foldnote.errors import ResultError

LIMIT_S = 120.0
_AT_ONCE = asyncio.Semaphore(2)


async def lay_out(
    what: str, path: Path, title: str, colors: str = "", *, service: str = "", label: str = ""
) -> bytes:
    """A ``ResultAnswer`` as JSON; ``what`` is ``result``, ``row`` or ``file``, see ``foldnote.lab.renderer``.

    ``colors`` is the initial colour scheme of structures; empty for the one in this computer's options.
    ``service`` is the address of the service of a result that is the user's own, ``label`` its label there.

    Raises:
        ResultError: the file cannot be read, or reading it takes too long.
    """
    async with _AT_ONCE:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "foldnote.lab.renderer", what, str(path), title),
            *([service, label] if what == "result" else []),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=settings.process_environment(view_colors=colors),
        )
        try:
            async with asyncio.timeout(LIMIT_S):
                written, complaint = await process.communicate()
        except TimeoutError as exc:
            sentence = f"Reading {title} takes longer than {LIMIT_S:.0f} s. Open it in a cell."
            raise ResultError(sentence) from exc
        finally:
            if process.returncode is None:
                process.kill()
    if process.returncode:
        lines = complaint.decode(errors="replace").strip().splitlines()
        raise ResultError(lines[-1] if lines else f"{title} cannot be read.")
    return written
