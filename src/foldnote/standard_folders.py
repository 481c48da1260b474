"""Where a user's folders are by the rules of the operating system, as platformdirs finds them.

On Linux these are the rules of the XDG Base Directory Specification, which are followed here: platformdirs
takes 6 ms to import, a tenth of the time until the first form is shown.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

Kind = Literal["config", "data", "cache"]
_BELOW_HOME: Final = {"config": ".config", "data": ".local/share", "cache": ".cache"}


def find_user_folder(kind: Kind, environment: Mapping[str, str]) -> Path:
    """The user's own folder of a kind; it need not exist."""
    if sys.platform == "linux":
        chosen = Path(environment.get(f"XDG_{kind.upper()}_HOME", ""))
        return (chosen if chosen.is_absolute() else Path.home() / _BELOW_HOME[kind]) / "foldnote"
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")("foldnote", appauthor=False))


def find_site_folder(environment: Mapping[str, str]) -> Path:
    """The folder of the administrator's configuration; it need not exist."""
    if sys.platform == "linux":
        chosen = map(Path, environment.get("XDG_CONFIG_DIRS", "").split(os.pathsep))
        return next(filter(Path.is_absolute, chosen), Path("/etc/xdg")) / "foldnote"
    import platformdirs

    return platformdirs.site_config_path("foldnote", appauthor=False)
