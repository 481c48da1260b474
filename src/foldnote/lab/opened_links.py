"""Colleagues' links that this Jupyter server has opened, kept in memory only.

A tab of a shared job holds a mark instead of the link. JupyterLab stores the arguments of tabs, so it stores
no link, but the tab finds its job again after the page is reloaded.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from foldnote.models.job import Job

_MAX_LINKS = 500


class OpenedLink(NamedTuple):
    """A link that was opened, and the record of its job."""

    mark: str
    url: str
    job: Job


class OpenedLinks:
    """Links by mark; the oldest are dropped."""

    def __init__(self) -> None:
        """Start without links."""
        self._by_mark: dict[str, OpenedLink] = {}

    def add(self, url: str, job: Job) -> OpenedLink:
        """Store an opened link and return its mark; a known link keeps its mark."""
        earlier = self.find(url)
        opened = OpenedLink(earlier.mark if earlier else secrets.token_urlsafe(12), url, job)
        self._by_mark.pop(opened.mark, None)
        self._by_mark[opened.mark] = opened
        while len(self._by_mark) > _MAX_LINKS:
            del self._by_mark[next(iter(self._by_mark))]
        return opened

    def find(self, url: str) -> OpenedLink | None:
        """Return the job that a link opened; None if the link has not been opened."""
        return next((link for link in self._by_mark.values() if link.url == url), None)

    def recall(self, mark: str) -> OpenedLink | None:
        """Return the link with this mark; None if this server does not know it."""
        return self._by_mark.get(mark)
