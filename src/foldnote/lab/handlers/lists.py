"""Routes for jobs that are not polled: older jobs, jobs of a batch or of other members, and single jobs.

Each makes a request to the service; nothing is cached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from tornado import web

from foldnote.lab.handlers.jobs import FoldnoteHandler

if TYPE_CHECKING:
    from foldnote.lab.local_notes import Notes
    from foldnote.lab.responses import PageResponse
    from foldnote.lab.service_session import ServiceSession
    from foldnote.models.job import JobPage

_EVERYBODY = "*"
"""Parameter value that means all members of the organization instead of one address."""


class OlderHandler(FoldnoteHandler):
    """``GET jobs/older?key=``: jobs older than the polled ones."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with a page of older jobs."""
        session = self.session
        self.send(_page(await self.map_errors(session.list_older(self.get_query_argument("key"))), session))


class BatchHandler(FoldnoteHandler):
    """``GET jobs/NAME/subjobs?key=&member=``."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Respond with a page of a batch's jobs."""
        key = self.get_query_argument("key", "") or None
        session, member = self.session, self.member
        self.send(_page(await self.map_errors(session.list_batch(name, key, member)), session, member))


class RecordHandler(FoldnoteHandler):
    """``GET jobs/NAME/record?member=``: one job."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Respond with the current record of the job; null when the service has no job of this name."""
        from foldnote.lab.responses import write_record

        session, member = self.session, self.member
        job = await self.map_errors(session.find_job(name, member))
        self.send(write_record(job, _notes_of(session, member)))


class MembersHandler(FoldnoteHandler):
    """``GET jobs/members?key=``: the jobs of all members of the organization."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Respond with a page of the members' jobs."""
        key = self.get_query_argument("key", "") or None
        session = self.session
        self.send(_page(await self.map_errors(session.list_members(key)), session, _EVERYBODY))


def _page(page: JobPage, session: ServiceSession, member: str | None = None) -> PageResponse:
    from foldnote.lab.responses import write_older

    return write_older(page, _notes_of(session, member))


def _notes_of(session: ServiceSession, member: str | None) -> Notes:
    """Return the local notes for the account's own jobs; none for jobs of other members."""
    from foldnote.lab.local_notes import Notes

    return session.notes if member is None else Notes()
