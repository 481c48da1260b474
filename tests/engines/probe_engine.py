"""Make folders with test engines for FOLDNOTE_ENGINE_PATH or ``ServiceConfig.engine_paths``."""

import shutil
from pathlib import Path

PROBE = Path(__file__).parent / "probe"


def release(job_name: str, engine: Path = PROBE) -> None:
    """Let a run of the job with ``hold`` in its name continue; ``engine`` is the folder of the engine that runs it."""
    folder = engine / "released"
    folder.mkdir(exist_ok=True)
    (folder / job_name).touch()


def write_probe_engine(
    folder: Path,
    tools: tuple[str, ...] = ("abodybuilder", "anarci"),
    name: str = "probe",
    *,
    time_limit_s: float = 60,
    cores: int = 1,
    memory_mb: int = 64,
    memory_limit_mb: int = 0,
    kind: str = "substitute",
) -> Path:
    """Write an engine that serves ``tools`` into ``folder/name``; return ``folder``, the path to load."""
    home = folder / name
    home.mkdir(parents=True)
    shutil.copy(PROBE / "run.py", home / "run.py")
    (home / "engine.toml").write_text(
        f'name = "{name}"\nmethod = "Probe of the tests"\nkind = "{kind}"\nversion = "1"\n'
        f"tools = {list(tools)!r}\nnote = 'It computes nothing.'\nlicence = 'BSD-3-Clause'\n"
        f"time_limit_s = {time_limit_s}\n[environment]\nkind = 'host'\n"
        f"[resources]\ncores = {cores}\nmemory_mb = {memory_mb}\nmemory_limit_mb = {memory_limit_mb}\n"
    )
    return folder
