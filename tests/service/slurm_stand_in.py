"""The Slurm commands that foldnote uses, for one machine and without daemons: jobs are process sessions.

This one starts a job in milliseconds; `slurm_cluster.py` starts the real Slurm.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

HOME = "STAND_IN_OF_SLURM"
NAMES = ("sbatch", "squeue", "scancel")
DOWN, HELD, REFUSAL, FORGOTTEN = "down", "held", "refusal", "forgotten"
"""Files in the folder that control it: no response, jobs wait, why jobs are refused, jobs no longer listed."""


def install(folder: Path) -> dict[str, str]:
    """Write the commands into `folder`; return the environment variables by which they are found."""
    for part in ("bin", "jobs"):
        (folder / part).mkdir(parents=True)
    for name in NAMES:
        command = folder / "bin" / name
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -S {__file__} {name} "$@"\n')
        command.chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", HOME: str(folder)}


def submit(folder: Path, script: Path) -> str:
    text = script.read_text()
    numbers = [int(path.name) for path in (folder / "jobs").iterdir()]
    job = folder / "jobs" / str(max(numbers, default=0) + 1)
    draft = folder / f"draft-{os.getpid()}"  # a listed job has all its files
    draft.mkdir()
    (draft / "script").write_text(text)
    (draft / "environment").write_text(json.dumps(dict(os.environ)))
    (draft / "name").write_text(re.search(r'--job-name="?([^"\s]+)', text)[1])
    draft.rename(job)
    if not (folder / HELD).exists():
        start(job)
    return f"Submitted batch job {job.name}"


def start(job: Path) -> None:
    environment = json.loads((job / "environment").read_text()) | {"SLURM_JOB_ID": job.name}
    with Path(os.devnull).open("r+b") as null:
        process = subprocess.Popen(
            ["bash", str(job / "script")], env=environment, stdin=null, stdout=null, stderr=null,
            start_new_session=True,
        )  # fmt: skip
    (job / "pid").write_text(str(process.pid))


def start_all(folder: Path) -> None:
    """Start the waiting jobs."""
    (folder / HELD).unlink(missing_ok=True)
    for job in (folder / "jobs").iterdir():
        if state(job) == "PD":
            start(job)


def state(job: Path) -> str:
    if (job / "cancelled").exists() and not (job / "pid").exists():
        return "CA"
    if not (job / "pid").exists():
        return "PD"
    return "R" if is_alive(int((job / "pid").read_text())) else "CD"


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def cancel(job: Path) -> None:
    (job / "cancelled").touch()
    if state(job) != "R":
        return
    pid = int((job / "pid").read_text())
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        for _ in range(50):
            if state(job) != "R":
                return
            time.sleep(0.1)


def main(name: str, arguments: list[str]) -> None:
    folder = Path(os.environ[HOME])
    if (folder / DOWN).exists():
        sys.exit(f"{name}: error: Unable to contact slurm controller (connect failure)")
    jobs = sorted((folder / "jobs").iterdir(), key=lambda path: int(path.name))
    if name == "sbatch":
        if (folder / REFUSAL).exists():
            sys.exit(f"sbatch: error: {(folder / REFUSAL).read_text()}")
        print(submit(folder, Path(arguments[-1])))
    elif name == "squeue":
        for job in jobs:
            if not (job / FORGOTTEN).exists():
                print(job.name, state(job), (job / "name").read_text())
    else:
        names = [each.removeprefix("--name=") for each in arguments if each.startswith("--name=")]
        numbers = [each for each in arguments if each.isdigit()]
        found = [
            each for each in jobs
            if (not names or (each / "name").read_text() in names) and (not numbers or each.name in numbers)
        ]  # fmt: skip
        if os.fork() == 0:  # Slurm, too, responds before the processes have ended
            for job in found:
                cancel(job)
            os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
