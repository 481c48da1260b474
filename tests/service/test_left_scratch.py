"""Temporary folders of attempts that no longer run are removed."""

import os
import subprocess
import sys
import time
import uuid

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes through /proc")
OLD_S = 3 * 86_400


def test_old_folders_without_a_process_are_removed_and_all_else_stays(make_service, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    nonces = {name: uuid.uuid4().hex for name in ("left", "young", "running", "link")}
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    for name, nonce in nonces.items():
        folder = temporary / f"foldnote-{nonce}"
        if name == "link":
            folder.symlink_to(tmp_path / "elsewhere")
        else:
            folder.mkdir()
            (folder / "socket").touch()
    (temporary / "foldnote-of-somebody").mkdir()
    before = time.time() - OLD_S
    for folder in temporary.iterdir():
        if nonces["young"] not in folder.name:
            os.utime(folder, (before, before), follow_symlinks=False)
    command = ["sleep", "60"]
    with subprocess.Popen(command, env={**os.environ, "FOLDNOTE_ATTEMPT": nonces["running"]}) as process:
        service = make_service("--no-rate-limit", is_started=False)
        service.environment = {"TMPDIR": str(temporary)}
        service.start()
        until = time.monotonic() + 30
        while (temporary / f"foldnote-{nonces['left']}").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.kill()
    kept = {f"foldnote-{nonces[name]}" for name in ("young", "running", "link")}
    assert {path.name for path in temporary.glob("foldnote-*")} == {*kept, "foldnote-of-somebody"}
    assert (tmp_path / "elsewhere" / "kept").exists()
