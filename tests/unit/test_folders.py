"""Standard folders are those of platformdirs, with and without the specification's variables."""

import os

import platformdirs
import pytest

from foldnote.folders import NAME, site_folder, user_folder

_VARIABLES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS")


@pytest.mark.parametrize("value", [None, "", "/srv/x", "/srv/x:/srv/y", "/srv/Ä b/"])
def test_folders_are_those_that_platformdirs_names(value, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in _VARIABLES:
        monkeypatch.setenv(name, value) if value is not None else monkeypatch.delenv(name, raising=False)
    named = {kind: getattr(platformdirs, f"user_{kind}_path") for kind in ("config", "data", "cache")}
    for kind, path in named.items():
        assert user_folder(kind, os.environ) == path(NAME, appauthor=False)
    assert site_folder(os.environ) == platformdirs.site_config_path(NAME, appauthor=False)


@pytest.mark.skipif("sys.platform != 'linux'")
def test_a_relative_folder_is_ignored_as_the_specification_says(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert user_folder("data", os.environ) == tmp_path / ".local/share" / NAME
