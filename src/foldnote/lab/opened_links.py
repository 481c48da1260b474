"""Colleagues' links that this Jupyter server has opened, in its memory only.

A tab of a shared job keeps a mark in place of its link, so that JupyterLab, which stores the arguments of
tabs, stores no link, and yet finds the tab's job again after the page is reloaded.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from foldnote.models.job import Job

_MOST = 500


class OpenedLink(NamedTuple):
    """A link that was opened, and the record of its job."""

    mark: str
    url: str
    job: Job


class OpenedLinks:
    """The links by mark, of which the oldest are forgotten."""

    def __init__(self) -> None:
        """No link has been opened."""
        self._by_mark: dict[str, OpenedLink] = {}

    def note(self, url: str, job: Job) -> OpenedLink:
        """Remember that a link was opened; a link keeps its mark."""
        known = self.find(url)
        opened = OpenedLink(known.mark if known else secrets.token_urlsafe(12), url, job)
        self._by_mark.pop(opened.mark, None)
        self._by_mark[opened.mark] = opened
        while len(self._by_mark) > _MOST:
            del self._by_mark[next(iter(self._by_mark))]
        return opened

    def find(self, url: str) -> OpenedLink | None:
        """What was opened by a link; None if it has not been opened."""
        return next((each for each in self._by_mark.values() if each.url == url), None)

    def recall(self, mark: str) -> OpenedLink | None:
        """The link with this mark; None if this server does not know it."""
        return self._by_mark.get(mark)
