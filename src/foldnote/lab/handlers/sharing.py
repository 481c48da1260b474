"""Routes for links with which colleagues open a job, and for opening colleagues' links.

Requests contain the link in the body, so that its token appears in no log of this server.
"""

from __future__ import annotations

import asyncio
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from tornado import web

from foldnote.lab.handlers.files import answer_layout, send_file
from foldnote.lab.handlers.jobs import FoldnoteHandler, as_awaitable, http_error

if TYPE_CHECKING:
    from foldnote.lab.opened_links import OpenedLink

_FORGOTTEN = (
    "The Jupyter server keeps links to shared jobs in its memory only, and does not have this one any more:"
    " open the link again."
)


class SharesHandler(FoldnoteHandler):
    """``GET`` and ``POST jobs/NAME/shares``."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Respond with the account's valid links to the job, without their addresses."""
        from foldnote.lab.responses import SharesResponse

        self.send_record(SharesResponse(shares=tuple(await self.map_errors(self.session.list_shares(name)))))

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Make a link that is valid for ``days``; only this response contains its address."""
        days = self.read_body().get("days")
        if isinstance(days, bool) or not isinstance(days, int | float):
            raise http_error(400, "The request needs 'days', a number.")
        self.set_header("Cache-Control", "no-store")
        self.send_record(await self.map_errors(self.session.share(name, days)))


class ShareHandler(FoldnoteHandler):
    """``DELETE shares/LINK``."""

    @web.authenticated
    @authorized
    async def delete(self, share: str) -> None:
        """Revoke the link of this name."""
        from foldnote.models.share import LINK_REVOKED

        await self.map_errors(self.session.revoke_share(share))
        self.finish({"message": LINK_REVOKED})


class _SharedHandler(FoldnoteHandler):
    """Base of the routes about a link; the body has its ``url``, or its ``mark`` if it was opened before."""

    async def open(self, *, is_part: bool) -> tuple[OpenedLink, Path]:
        """Return the link and its result, with the key of the profile that has the link's address.

        The service is asked each time, so that a revoked or expired link opens nothing. Parts of an opened
        job (``is_part``) and restored tabs do not count as another opening.

        Raises:
            HTTPError: it is not a link, or not valid for this account.
        """
        links, earlier = self.registry.links, None
        if "mark" in self.read_body():
            earlier = links.recall(self.read_field("mark"))
            if earlier is None:
                raise http_error(404, _FORGOTTEN)
        url = earlier.url if earlier else self.read_field("url")
        if is_part and earlier is None:
            earlier = links.find(url)
        session = await self.map_errors(as_awaitable(lambda: self.registry.find_sharing(url)))
        if earlier is not None:
            return earlier, await self.map_errors(session.fetch_shared(url, earlier.job))
        opened = await self.map_errors(session.open_shared(url))
        return links.add(url, opened.job), opened.path


class SharedHandler(_SharedHandler):
    """``POST shared``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Respond with the shared job and its rendered result; with ``row``, that job of a shared batch."""
        from foldnote.lab.responses import write_settings, write_shared

        row = self.read_field("row") if "row" in self.read_body() else None
        link, archive = await self.open(is_part=row is not None)
        if row is not None:
            if row not in await asyncio.to_thread(_list_folders, archive):
                raise http_error(
                    404, f"The shared batch {link.job.job_name!r} has no result of {row[:100]!r}."
                )
            await answer_layout(self, "row", archive, row)
            return
        await answer_layout(
            *(self, "result", archive, link.job.job_name),
            lambda result: write_shared(link, write_settings(link.job.settings), result),
            label=link.job.label,
        )


class SharedFileHandler(_SharedHandler):
    """``POST shared/result``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Respond with the result archive of the shared job, or the file ``file`` of it."""
        name = self.read_body().get("file")
        _, archive = await self.open(is_part=True)
        if name is None:
            with archive.open("rb") as stream:
                await send_file(self, stream, archive.stat().st_size, archive.name)
            return
        with await asyncio.to_thread(zipfile.ZipFile, archive) as unpacked:
            if name not in unpacked.namelist():
                raise http_error(404, f"The result has no file {name!r}.")
            with unpacked.open(name) as stream:
                await send_file(self, stream, unpacked.getinfo(name).file_size, Path(name).name)


def _list_folders(archive: Path) -> set[str]:
    """Return the top-level folders of an archive: those of a batch's jobs, and a job's own folders."""
    with zipfile.ZipFile(archive) as opened:
        return {folder for folder, slash, _ in (name.partition("/") for name in opened.namelist()) if slash}
