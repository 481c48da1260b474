"""The Jupyter server extension, a proxy between JupyterLab in the browser and the job service.

One poller serves every page, and the API key stays on the server: the browser receives jobs, tools and
logs, never a key or a signed link. The service is reached through ``foldnote.client`` only, which is
imported at the first request, not when Jupyter starts.
"""

from __future__ import annotations

from typing import Any


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Return the location of the built front end, for Jupyter."""
    return [{"src": "labextension", "dest": "foldnote"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Return the server extension, for Jupyter's extension manager."""
    from foldnote.lab.extension import FoldnoteExtension

    return [{"module": "foldnote.lab", "app": FoldnoteExtension}]
