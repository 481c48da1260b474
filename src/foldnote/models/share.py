"""Links by which colleagues open a job."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pydantic import Field, ValidationError

from foldnote.errors import ProtocolError
from foldnote.models.html_repr import show_grid, write_grid
from foldnote.models.wire import WireModel, read_object
from foldnote.text import count

LINK_REVOKED = "The link no longer works."
"""Confirmation that a link was revoked, at the service, in the panel and on the command line."""

_SHARE_COLUMNS = ("job", "link", "expires", "opened", "last by")


class ShareOpening(WireModel):
    """A record that a colleague has opened a link."""

    email: str
    """Address of the colleague's account."""
    count: int
    """Number of times."""
    last: datetime
    """Last time (UTC)."""


class Share(WireModel):
    """A link to a job or batch of the user."""

    name: str
    """Identifier with which the link is revoked."""
    job_name: str
    created: datetime
    expires: datetime
    organization: str | None = None
    """The user's organization, whose members can open it; None if every account of the service can."""
    openings: tuple[ShareOpening, ...] = ()
    """Who has opened it, most recent first."""
    url: str | None = Field(default=None, repr=False)
    """The link; present only in the response that creates it, since the service stores only a hash of its
    token."""

    @property
    def opened(self) -> int:
        """Number of times it was opened."""
        return sum(each.count for each in self.openings)

    def __str__(self) -> str:
        until = f"{self.expires:%Y-%m-%d %H:%M} UTC"
        readers = f"members of {self.organization}" if self.organization else "every account of the service"
        opened = f"opened {count(self.opened, 'time')}"
        return f"{self.url or self.name}\n{self.job_name}, for {readers}, until {until}, {opened}"


class ShareList(tuple[Share, ...]):
    """Links, newest first; a cell shows them as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return write_grid(_share_title(self), _SHARE_COLUMNS, map(_share_row, self))

    def _repr_html_(self) -> str:
        return show_grid(_share_title(self), _SHARE_COLUMNS, map(_share_row, self))


def _share_title(shares: ShareList) -> str:
    return count(len(shares), "link") if shares else "No links."


def _share_row(share: Share) -> tuple[object, ...]:
    last = share.openings[0].email if share.openings else ""
    return share.job_name, share.name, share.expires, share.opened, last


def read_share(answer: object) -> Share:
    """Parse a link.

    Raises:
        ProtocolError: it is something else; the message does not repeat its content.
    """
    try:
        return Share.model_validate(read_object(answer, "a link"))
    except ValidationError as exc:
        raise ProtocolError("The service's answer about a link cannot be read.") from exc


def read_shares(answer: object) -> ShareList:
    """Parse the list of links.

    Raises:
        ProtocolError: it is something else.
    """
    rows = read_object(answer, "links").get("shares")
    if not isinstance(rows, Iterable):
        raise ProtocolError("The service's answer has no list of links.")
    return ShareList(read_share(row) for row in rows)
