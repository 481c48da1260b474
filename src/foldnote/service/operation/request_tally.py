"""Numbers and durations of requests by route, kept by the event loop and read by a scrape.

Adding a request costs two dictionary look-ups; a library's counters would take a lock for each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper limits of the histogram's buckets, in seconds; one more bucket has no limit."""
UNKNOWN = "unknown"
"""Label of requests that no route matched, in place of the route."""
_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})


@dataclass
class RouteTally:
    """The requests of one route.

    Attributes:
        statuses: number of responses by HTTP status.
        buckets: number of requests by bucket of duration, not cumulative.
        seconds: total duration.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    seconds: float = 0.0


class RequestTally:
    """The requests since the start, by method and route."""

    def __init__(self) -> None:
        self._routes: dict[tuple[str, str], RouteTally] = {}

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request, by the template of its route, which names no job or file."""
        row = self._routes.get((method, route))
        if row is None:
            row = self._routes.setdefault((method if method in _METHODS else "other", route), RouteTally())
        row.statuses[status] += 1
        row.buckets[bisect_left(BUCKETS_S, seconds)] += 1
        row.seconds += seconds

    def rows(self) -> list[tuple[str, str, RouteTally]]:
        """Return method, route and numbers of each requested route."""
        return [(method, route, row) for (method, route), row in list(self._routes.items())]
