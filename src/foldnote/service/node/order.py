"""The information that a node needs to run an attempt; it contains no key, and no path of the service.

The service keeps it in the attempt's folder as ``order.json`` and sends it once, in exchange for the nonce.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from foldnote.service.runner.attempt import write_json
from foldnote.service.runner.untrusted import read_regular

ORDER = "order.json"
_ORDER_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class NodeInput:
    """One input file."""

    place: str
    """Path below ``work/``."""
    name: str
    sha256: str
    size_bytes: int
    url: str = ""
    """Signed link, valid for an hour; empty in the service's own file."""


@dataclass(frozen=True, slots=True)
class NodeOrder:
    """One attempt, for the node that runs it."""

    job_id: int
    number: int
    nonce: str
    engine: str
    tool: str
    job_name: str
    owner: str
    """Opaque identity of the job's owner: only jobs of one owner share a process."""
    account_id: int
    settings: Mapping[str, Any]
    extensions: Mapping[str, Any]
    seed: int
    time_limit_s: float
    output_limit_bytes: int
    cores: int
    memory_mb: int
    gpus: int
    gpu_memory_mb: int
    machine: str
    """Name of the machine at the executor."""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each file field, the paths below ``work/`` that hold its content."""
    inputs: tuple[NodeInput, ...] = ()
    lease_s: float = 900.0
    """Seconds without an accepted heartbeat after which the node ends the attempt."""
    heartbeat_s: float = 5.0

    def as_content(self) -> dict[str, Any]:
        """Return the order as a JSON object that shares its values, except for the inputs."""
        content = {each.name: getattr(self, each.name) for each in fields(self)}
        content["inputs"] = [asdict(each) for each in self.inputs]
        return content

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Return the order in a JSON object.

        Raises:
            TypeError: it is not an order.
            KeyError: it is not an order.
        """
        row = dict(content)
        row["files"] = {name: tuple(places) for name, places in row["files"].items()}
        row["inputs"] = tuple(NodeInput(**each) for each in row["inputs"])
        return cls(**row)

    def write(self, folder: Path) -> None:
        """Write the order to the attempt's folder at the service.

        Raises:
            OSError: it cannot be written.
        """
        write_json(folder / ORDER, self.as_content(), is_durable=False)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the order in an attempt's folder at the service; None if there is none, or it is damaged."""
        try:
            content = json.loads(read_regular(folder / ORDER, _ORDER_BYTES) or b"null")
            return None if content is None else cls.from_content(content)
        except (OSError, ValueError, TypeError, KeyError):
            return None
