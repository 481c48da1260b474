"""The Jupyter server extension: it stands between JupyterLab's pages and the job service.

It exists so that one poller serves every page, and so that the key stays on the server's side: the page gets
jobs, tools and logs, never a key, never a signed link. It computes nothing and keeps nothing on disk. Only
``foldnote.client`` is used to reach the service, and it is imported when the first page looks, not when
Jupyter starts.
"""

from __future__ import annotations

from typing import Any


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where Jupyter finds the built page side, beside this package."""
    return [{"src": "labextension", "dest": "foldnote"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """What Jupyter's extension manager loads."""
    from foldnote.lab.extension import FoldnoteExtension

    return [{"module": "foldnote.lab", "app": FoldnoteExtension}]
