"""Places that are kept for jobs while these are being claimed, so that the claim also starts the attempt.

It saves the transaction that would start it afterwards. Nothing here has to survive a restart. A place that
is neither used nor let go, because of a fault, is free after the second for which its node waits.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from foldnote.service.queue.executors.protocol import Capacity, Executor, HeldPlace
from foldnote.service.store.jobs.queue import Claim, Waiting


class KeptPlaces:
    """The places of the jobs of one transaction; used by one thread."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[Executor, HeldPlace]] = {}

    def keep(self, job: Waiting, executor: Executor, need: Capacity) -> Waiting:
        """Keep a place that waits for a run with this need, if there is one; the claim starts the attempt."""
        self._places.pop(job.job_id, None)  # of a transaction that failed
        place = executor.hold_place(need)
        if place is None:
            return job
        self._places[job.job_id] = executor, place
        return replace(job, token_sha256=place.token_sha256)

    def settle(self, claims: Collection[Claim]) -> list[Claim]:
        """Let the places of other jobs go; the claims with a place first, so that no other takes it."""
        for job_id in self._places.keys() - {claim.job_id for claim in claims}:
            executor, place = self._places.pop(job_id)
            executor.let_go(place)
        return sorted(claims, key=lambda each: each.job_id not in self._places)

    def take(self, claim: Claim) -> HeldPlace | None:
        """The place that was kept for a claimed job; None if none was."""
        _, place = self._places.pop(claim.job_id, (None, None))
        return place
