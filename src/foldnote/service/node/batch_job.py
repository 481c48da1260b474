"""The program of a batch job: it takes the order from a folder shared with the service, and runs it.

The order contains the secret that starts the attempt; it is a file that only its user can read, and the job
removes it. If the order is gone, the job is no longer needed or was started before, so it ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from foldnote.service.node.agent_link import AgentDiedError, close_agents, run_here

_OTHERS = 0o077


def take_order(path: Path) -> dict[str, Any] | None:
    """Return the fields of a ``NodeWork`` in the file ``path``, and remove it; None if it is gone.

    Raises:
        PermissionError: others could read or have written it.
        OSError: it cannot be read or removed.
        ValueError: it is damaged.
    """
    taken = path.with_name(f"{path.name}.{os.uname().nodename}-{os.getpid()}")
    try:
        path.rename(taken)  # only one job succeeds
    except FileNotFoundError:
        return None
    try:
        descriptor = os.open(taken, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, encoding="utf-8") as stream:
            found = os.fstat(stream.fileno())
            if found.st_uid != os.getuid() or found.st_mode & _OTHERS:
                raise PermissionError(f"{path.name} must belong to this user and be private")
            order: dict[str, Any] = json.loads(stream.read())
            return order
    finally:
        taken.unlink(missing_ok=True)


def main() -> int:
    """Run the attempt of the order whose path is the argument; return the exit code."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        order = take_order(Path(sys.argv[1]))
        if order is None:
            sys.stderr.write("The service does not want this job any more.\n")
            return 0
        run_here(order, {})
    except KeyboardInterrupt:
        sys.stderr.write("The batch system ended the job.\n")
        return 1
    except AgentDiedError as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    finally:
        with contextlib.suppress(KeyboardInterrupt):
            close_agents()
    return 0


if __name__ == "__main__":
    sys.exit(main())
