"""Every route of the extension. No other part of a service can be reached through Jupyter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import FileFindHandler

from foldnote.lab.handlers import cells as cells
from foldnote.lab.handlers import files as files
from foldnote.lab.handlers import jobs as jobs
from foldnote.lab.handlers import lists as lists
from foldnote.lab.handlers import setup as setup
from foldnote.lab.handlers import sharing as sharing

STATIC = Path(__file__).parents[2] / "static"
"""Folder of 3Dmol.js; filled by the build."""

_ROOT = "/foldnote/api"
_NAME = "([^/]+)"

ROUTES: tuple[tuple[Any, ...], ...] = (
    (f"{_ROOT}/jobs", jobs.JobsHandler),
    (f"{_ROOT}/jobs/older", lists.OlderHandler),
    (f"{_ROOT}/jobs/members", lists.MembersHandler),
    (f"{_ROOT}/jobs/stop", jobs.StopHandler),
    (f"{_ROOT}/jobs/delete", jobs.DeleteHandler),
    (f"{_ROOT}/jobs/keep", jobs.KeepHandler),
    (f"{_ROOT}/jobs/tag", jobs.TagHandler),
    (f"{_ROOT}/jobs/{_NAME}/subjobs", lists.BatchHandler),
    (f"{_ROOT}/jobs/{_NAME}/record", lists.RecordHandler),
    (f"{_ROOT}/jobs/{_NAME}/log", jobs.LogHandler),
    (f"{_ROOT}/jobs/{_NAME}/settings", jobs.SettingsHandler),
    (f"{_ROOT}/jobs/{_NAME}/result", files.DownloadHandler),
    (f"{_ROOT}/jobs/{_NAME}/view", files.ResultHandler),
    (f"{_ROOT}/jobs/{_NAME}/shares", sharing.SharesHandler),
    (f"{_ROOT}/shares/{_NAME}", sharing.ShareHandler),
    (f"{_ROOT}/shared", sharing.SharedHandler),
    (f"{_ROOT}/shared/result", sharing.SharedFileHandler),
    (f"{_ROOT}/refresh", jobs.RefreshHandler),
    (f"{_ROOT}/tools", jobs.ToolsHandler),
    (f"{_ROOT}/tools/{_NAME}", jobs.ToolHandler),
    (f"{_ROOT}/advice", jobs.AdviceHandler),
    (f"{_ROOT}/files", files.FilesHandler),
    (f"{_ROOT}/files/uploads", files.UploadsHandler),
    (f"{_ROOT}/files/uploads/{_NAME}", files.UploadHandler),
    (f"{_ROOT}/files/uploads/{_NAME}/finish", files.UploadEndHandler),
    (f"{_ROOT}/files/contents", files.UploadContentsHandler),
    (f"{_ROOT}/cells/forms", cells.FormCellsHandler),
    (f"{_ROOT}/view", files.FileViewHandler),
    (f"{_ROOT}/profiles", setup.ProfilesHandler),
    (f"{_ROOT}/account", setup.AccountHandler),
    (f"{_ROOT}/account/claim", setup.ClaimHandler),
    (f"{_ROOT}/engines", setup.EnginesHandler),
    (f"{_ROOT}/engines/{_NAME}", setup.EngineHandler),
    (rf"{_ROOT}/static/(3Dmol-min\.js|view-script\.js)", FileFindHandler, {"path": [str(STATIC)]}),
)
"""All routes; Jupyter prepends the base URL of the server."""
