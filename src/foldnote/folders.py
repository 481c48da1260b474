"""Standard folders for files of this user and of the machine.

On Linux they follow the XDG Base Directory Specification, elsewhere platformdirs. platformdirs is not used on
Linux because importing it takes a tenth of the time of a first form.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

NAME: Final = "foldnote"
Kind = Literal["config", "data", "cache"]
_STANDARD: Final = {"config": ".config", "data": ".local/share", "cache": ".cache"}
_SITE: Final = "/etc/xdg"


def user_folder(kind: Kind, environment: Mapping[str, str]) -> Path:
    """Return the user's folder of this kind, which need not exist; ``environment`` may name another one."""
    if sys.platform == "linux":
        chosen = Path(environment.get(f"XDG_{kind.upper()}_HOME", ""))
        return (chosen if chosen.is_absolute() else Path.home() / _STANDARD[kind]) / NAME
    import platformdirs

    paths = {
        "config": platformdirs.user_config_path,
        "data": platformdirs.user_data_path,
        "cache": platformdirs.user_cache_path,
    }
    return paths[kind](NAME, appauthor=False)


def site_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the administrator's configuration, which need not exist."""
    if sys.platform == "linux":
        chosen = environment.get("XDG_CONFIG_DIRS", "").split(os.pathsep)
        return next((Path(each) for each in chosen if Path(each).is_absolute()), Path(_SITE)) / NAME
    import platformdirs

    return platformdirs.site_config_path(NAME, appauthor=False)
