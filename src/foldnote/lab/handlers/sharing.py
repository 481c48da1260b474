"""Routes for links by which colleagues open a job, and for opening theirs.

Requests have a link in the body, so that no log of this server has its token.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from tornado import web

from foldnote.lab.handlers.files import answer_layout, send_file
from foldnote.lab.handlers.jobs import FoldnoteHandler, fault, now

if TYPE_CHECKING:
    from foldnote.client.resources.shares import OpenedShare


class SharesHandler(FoldnoteHandler):
    """``GET`` and ``POST jobs/NAME/shares``."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """The account's valid links to the job, without their addresses."""
        from foldnote.lab.responses import SharesAnswer

        self.send_record(SharesAnswer(shares=tuple(await self.ask(self.session.list_shares(name)))))

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Make a link that is valid for ``days``; this once, the response has its address."""
        days = (self.get_json_body() or {}).get("days")
        if isinstance(days, bool) or not isinstance(days, int | float):
            raise fault(400, "The request needs 'days', a number.")
        self.set_header("Cache-Control", "no-store")
        self.send_record(await self.ask(self.session.share(name, days)))


class ShareHandler(FoldnoteHandler):
    """``DELETE shares/LINK``."""

    @web.authenticated
    @authorized
    async def delete(self, share: str) -> None:
        """End the link of this name."""
        await self.ask(self.session.revoke_share(share))
        self.finish({"message": "The link leads nowhere now."})


class _SharedHandler(FoldnoteHandler):
    """Base of the routes that open a link."""

    async def open(self) -> OpenedShare:
        """The job and result behind the link ``url``, with the key of the profile that has its address.

        Raises:
            HTTPError: it is no link, or leads nowhere for this account.
        """
        url = self.read_field("url")
        session = await self.ask(now(lambda: self.registry.find_sharing(url)))
        return await self.ask(session.open_shared(url))


class SharedHandler(_SharedHandler):
    """``POST shared``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """The shared job with its rendered result."""
        from foldnote.lab.responses import write_shared
        from foldnote.lab.service_session import write_settings

        opened = await self.open()
        job = opened.job
        await answer_layout(
            *(self, "result", opened.path, job.job_name),
            lambda result: write_shared(job, write_settings(job), result),
        )


class SharedFileHandler(_SharedHandler):
    """``POST shared/result``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """The result archive of the shared job, or the file ``file`` of it."""
        name = (self.get_json_body() or {}).get("file")
        archive = (await self.open()).path
        if name is None:
            with archive.open("rb") as stream:
                await send_file(self, stream, archive.stat().st_size, archive.name)
            return
        with zipfile.ZipFile(archive) as unpacked:
            if name not in unpacked.namelist():
                raise fault(404, f"The result has no file {name!r}.")
            with unpacked.open(name) as stream:
                await send_file(self, stream, unpacked.getinfo(name).file_size, Path(name).name)
