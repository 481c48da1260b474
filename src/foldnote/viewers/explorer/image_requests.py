"""Request images from the page, which responds asynchronously.

A kernel receives messages from the page only while no cell is running or the running cell awaits, so requests
are awaited.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any, Literal, get_args

import ipywidgets as widgets

from foldnote.errors import ArgumentError, ResultError

Background = Literal["seen", "white", "transparent"]
ImageRequest = dict[str, int | str]

_MAX_PX = 8000
_WAIT_S = 60.0
_AGAIN_S = 1.0


def make_request(width_px: int, height_px: int, dpi: int, background: Background) -> ImageRequest:
    """Return the request for an image, as sent to the page.

    Raises:
        ArgumentError: an argument is out of range.
    """
    for name, value in (("width_px", width_px), ("height_px", height_px)):
        if not 16 <= value <= _MAX_PX:
            raise ArgumentError(f"{name} is {value}; a picture must have 16 to {_MAX_PX:,} pixels per side.")
    if not 1 <= dpi <= 2400:
        raise ArgumentError(f"dpi is {dpi}; it must be 1 to 2,400.")
    if background not in get_args(Background):
        raise ArgumentError(
            f"background is {background!r}; it must be one of {', '.join(get_args(Background))}."
        )
    ground = "none" if background == "transparent" else background
    return {"width": int(width_px), "height": int(height_px), "dpi": int(dpi), "ground": ground}


class ImageRequester:
    """Requests images from the page of one widget."""

    def __init__(self, widget: widgets.DOMWidget) -> None:
        """Receive the messages of the widget's page."""
        self._widget = widget
        self._waiting: dict[str, asyncio.Future[bytes]] = {}
        self._acknowledged: set[str] = set()
        widget.on_msg(self._receive)

    async def request(self, image: ImageRequest, wait_s: float = _WAIT_S) -> bytes:
        """Return the PNG drawn by the page.

        Raises:
            ResultError: no page responded in time, or drawing failed.
        """
        key = uuid.uuid4().hex
        response = self._waiting[key] = asyncio.get_running_loop().create_future()
        sending = asyncio.create_task(
            self._send_until_received({"kind": "picture", "key": key, "wish": image})
        )
        try:
            return await asyncio.wait_for(response, wait_s)
        except TimeoutError as exc:
            raise ResultError(
                f"No picture was drawn within {wait_s:g} s. "
                "Show the explorer in a cell, and await its picture in a cell below."
            ) from exc
        finally:
            sending.cancel()
            del self._waiting[key]

    async def _send_until_received(self, message: dict[str, Any]) -> None:
        """Send the request until a page responds, since the page may not show the widget yet."""
        while message["key"] not in self._acknowledged:
            self._widget.send(message)
            await asyncio.sleep(_AGAIN_S)
        self._acknowledged.discard(message["key"])

    def _receive(self, _widget: object, content: Mapping[str, Any], buffers: list[Any]) -> None:
        response = self._waiting.get(str(content.get("key")))
        if response is None or response.done():
            return
        self._acknowledged.add(str(content["key"]))
        if content.get("fault"):
            response.set_exception(ResultError(f"The page could not draw the picture: {content['fault']}"))
        elif buffers:
            response.set_result(bytes(buffers[0]))
