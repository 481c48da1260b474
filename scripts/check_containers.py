"""Check registered images with a real container program: results, failures, stops, time limits and kills.

The test suite uses a stand-in for the command line, since its machines have no container program. This script runs the
real one: for each of podman and docker that works here it builds an image without a registry, from a static busybox
(`apt-get install busybox-static`), and reports for each claim whether it holds. Run it as root and as an ordinary user,
whom container programs treat differently. It removes containers and data, but keeps the images.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / "service"), str(ROOT / "tests" / "engines")]

from service_process import ServiceProcess  # noqa: E402  shared with the service's tests

from foldnote.service.containers import PROGRAMS  # noqa: E402

IMAGE = "localhost/foldnote-check:1"
RUN_THE_SCRIPT = 'CMD ["/bin/sh", "-c", "exec /bin/sh /work/inputs/script/*"]'
APPLETS = ("sh", "cat", "id", "ls", "sleep", "mkdir", "wc", "touch", "ip", "chmod")
PATIENCE_S = 60.0
LONG = 'echo \'FOLDNOTE_PROGRESS {"fraction": 0.25, "message": "begun"}\'; sleep 600 & sleep 600; wait'
TOOL = {
    "type": "boxed",
    "image": IMAGE,
    "schema": {
        "type": "object",
        "properties": {"script": {"type": "string", "format": "binary"}},
        "required": ["script"],
    },
}


class Bench:
    """A container program, and a service that can use no other."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.service = ServiceProcess(folder, "--no-rate-limit", "--allow-deploy-model")
        self.service.environment["PATH"] = without_others(program, folder / "bin")

    def ask(self, *arguments: str, content: bytes | None = None) -> str:
        """Run the container program and return its output.

        Raises:
            subprocess.CalledProcessError: it failed.
        """
        done = subprocess.run([self.program, *arguments], input=content, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def submit(self, name: str, script: str, tool: str = "boxed") -> None:
        answer = self.service.submit(name, type=tool, settings={"script": f"#!/bin/sh\n{script}\n"})
        assert answer.status_code == 200, answer.text

    def run(self, name: str, script: str, tool: str = "boxed") -> dict[str, object]:
        self.submit(name, script, tool)
        return self.service.wait(name)

    def read(self, name: str) -> dict[str, bytes]:
        content = httpx.get(self.service.result(name).json()).content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {each: archive.read(each) for each in archive.namelist()}

    def containers(self) -> str:
        """Return every container of foldnote, running or not."""
        return self.ask("ps", "--all", "--quiet", "--filter", "name=foldnote-")

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < until, f"Not within {PATIENCE_S:g} s: {what}."
            time.sleep(0.1)

    def wait_until_begun(self, name: str) -> None:
        self.wait_for(lambda: self.service.job(name).get("progress") == 0.25, f"{name} has begun")

    def wait_until_nothing_is_left(self) -> None:
        self.wait_for(lambda: not self.containers(), "no container is left")


def without_others(program: str, folder: Path) -> str:
    """Return a PATH on which `program` is the only container program; links replace folders with others."""
    places: list[str] = []
    for index, place in enumerate(map(Path, os.environ["PATH"].split(os.pathsep))):
        others = {each for each in PROGRAMS if each != program and (place / each).exists()}
        if others:
            mine = folder / str(index)
            mine.mkdir(parents=True)
            for path in place.iterdir():
                if path.name not in others:
                    (mine / path.name).symlink_to(path)
            place = mine
        places.append(str(place))
    return os.pathsep.join(places)


CLAIMS: list[tuple[str, Callable[[Bench], None]]] = []


def claim(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
    """Register a check under its name, which states the claim."""
    CLAIMS.append((function.__name__.replace("_", " "), function))
    return function


@claim
def files_go_in_and_come_out(bench: Bench) -> None:
    script = "cat job.json > outputs/job.json; mkdir outputs/deep; id -u > outputs/deep/id; id >&2; pwd; ls -la >&2"
    job = bench.run("files", script)
    assert job["status"] == "Complete", job
    files = bench.read("files")
    assert b'"jobName": "files"' in files["job.json"], files
    assert "deep/id" in files, files


@claim
def its_files_belong_to_the_user_of_the_service(bench: Bench) -> None:
    bench.submit(
        "owner",
        "touch outputs/mine; mkdir outputs/closed; touch outputs/closed/x; chmod 500 outputs/closed; " + LONG,
    )
    bench.wait_until_begun("owner")
    (mine,) = bench.service.folder.glob("data/**/outputs/mine")
    assert mine.stat().st_uid == os.getuid(), mine.stat()
    bench.service.client.post("/stop-job", json={"jobName": "owner"})
    bench.service.wait("owner")
    bench.wait_for(lambda: not mine.parent.parent.exists(), "the work folder is removed")


@claim
def it_has_no_network(bench: Bench) -> None:
    job = bench.run("network", "ls /sys/class/net > outputs/net")
    assert job["status"] == "Complete", job
    assert bench.read("network")["net"].split() == [b"lo"], bench.read("network")


@claim
def it_keeps_to_its_cores_and_has_a_home_that_it_can_write_to(bench: Bench) -> None:
    job = bench.run(
        "variables",
        'echo "$OMP_NUM_THREADS" > outputs/threads; touch "$HOME/x" && echo "$HOME" > outputs/home',
    )
    assert job["status"] == "Complete", job
    assert bench.read("variables")["threads"] == b"1\n", bench.read("variables")


@claim
def a_failure_says_why(bench: Bench) -> None:
    job = bench.run("failing", "echo 'FOLDNOTE_ERROR The loop is too short.' >&2; exit 2")
    assert (job["status"], job["error"]) == ("Stopped", "The loop is too short."), job
    assert not bench.containers()


@claim
def stopping_a_job_ends_its_container(bench: Bench) -> None:
    bench.submit("stopped", LONG)
    bench.wait_until_begun("stopped")
    assert bench.containers()
    bench.service.client.post("/stop-job", json={"jobName": "stopped"})
    assert bench.service.wait("stopped")["status"] == "Stopped"
    bench.wait_until_nothing_is_left()


@claim
def a_job_that_is_stopped_while_its_container_begins_leaves_none(bench: Bench) -> None:
    for index in range(12):
        bench.submit(f"brief{index}", LONG)
        bench.service.wait(f"brief{index}", ("Running",))
        time.sleep(index / 20)
        bench.service.client.post("/stop-job", json={"jobName": f"brief{index}"})
    for index in range(12):
        bench.service.wait(f"brief{index}")
    bench.wait_until_nothing_is_left()


@claim
def a_container_ends_at_its_time_limit(bench: Bench) -> None:
    answer = bench.service.client.post("/deploy-model", json=TOOL | {"type": "short", "timeLimitSeconds": 3})
    assert answer.status_code == 200, answer.text
    job = bench.run("late", LONG, "short")
    assert "time limit" in str(job["error"]), job
    bench.wait_until_nothing_is_left()


@claim
def a_killed_runner_leaves_no_container(bench: Bench) -> None:
    bench.submit("orphan", LONG)
    bench.wait_until_begun("orphan")
    first = bench.containers()
    (runner,) = (
        path
        for path in bench.service.folder.glob("data/**/runner.json")
        if not (path.parent / "outcome.json").exists()
    )
    os.kill(int(runner.read_text().split('"pid":')[1].split(",")[0]), signal.SIGKILL)
    bench.wait_for(
        lambda: bench.containers() not in ("", first), "another attempt's container is all there is"
    )
    assert len(bench.containers().split()) == 1, bench.containers()
    bench.service.client.post("/stop-job", json={"jobName": "orphan"})
    bench.service.wait("orphan")
    bench.wait_until_nothing_is_left()


@claim
def a_container_outlives_a_killed_service_and_is_taken_over(bench: Bench) -> None:
    bench.submit("adopted", "sleep 5; id > outputs/id; " + LONG.replace("600", "2"))
    bench.wait_for(bench.containers, "it runs")
    first = bench.containers()
    bench.service.kill()
    assert bench.containers() == first
    bench.service.start()
    assert bench.service.wait("adopted")["status"] == "Complete"
    bench.wait_until_nothing_is_left()


@claim
def a_missing_image_is_named(bench: Bench) -> None:
    missing = "localhost/foldnote-none:1"
    answer = bench.service.client.post("/deploy-model", json=TOOL | {"type": "missing", "image": missing})
    assert answer.status_code == 200, answer.text
    job = bench.run("missing", "true", "missing")
    print(f"        {job['error']}")
    assert missing in str(job["error"]), job
    assert "podman" in str(job["error"]) or "docker" in str(job["error"])


@claim
def an_image_is_found_by_its_digest(bench: Bench) -> None:
    identity = bench.ask("inspect", "--format", "{{.Id}}", IMAGE).removeprefix("sha256:")
    names = [f"sha256:{identity}", identity]
    for index, name in enumerate(names):
        answer = bench.service.client.post(
            "/deploy-model", json=TOOL | {"type": f"digest{index}", "image": name}
        )
        assert answer.status_code == 200, answer.text
        job = bench.run(f"digest{index}", "id > outputs/id", f"digest{index}")
        assert job["status"] == "Complete", job


def make_image(program: str) -> None:
    """Build an image of a static busybox that runs the job's script."""
    busybox = shutil.which("busybox")
    if busybox is None:
        raise SystemExit("A static busybox is missing: apt-get install busybox-static")
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name in ("bin", "tmp"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            archive.addfile(folder)
        archive.add(os.path.realpath(busybox), "bin/busybox")
        for applet in APPLETS:
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
    command = [program, "import", "--change", RUN_THE_SCRIPT, "-", IMAGE]
    subprocess.run(command, input=content.getvalue(), check=True, capture_output=True)


def works(program: str) -> bool:
    """Return whether the program is here and responds, including its daemon if it needs one."""
    if shutil.which(program) is None:
        return False
    return subprocess.run([program, "info"], capture_output=True, check=False).returncode == 0


def check(program: str, wanted: str) -> int:
    """Check every claim whose name contains `wanted` with the program; return how many fail."""
    print(f"\n{subprocess.check_output([program, '--version'], text=True).strip()}, user {os.getuid()}")
    make_image(program)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="foldnote-check-") as folder:
        bench = Bench(program, Path(folder))
        bench.service.start()
        answer = bench.service.client.post("/deploy-model", json=TOOL)
        assert answer.json()["available"], answer.text
        try:
            for name, hold in CLAIMS:
                if wanted in name:
                    failed += not report(name, hold, bench)
        finally:
            bench.service.end()
    return failed


def report(name: str, hold: Callable[[Bench], None], bench: Bench) -> bool:
    """Print whether the claim holds."""
    try:
        hold(bench)
    except Exception as failure:  # noqa: BLE001  after any failure the next claim is checked
        print(f"  FAILS  {name}\n         {type(failure).__name__}: {failure}", flush=True)
        return False
    print(f"  holds  {name}", flush=True)
    return True


def main() -> int:
    programs = [each for each in ("podman", "docker") if works(each)]
    if not programs:
        print("Neither podman nor docker works here.", file=sys.stderr)
        return 1
    wanted = " ".join(sys.argv[1:])
    return 1 if sum(check(each, wanted) for each in programs) else 0


if __name__ == "__main__":
    sys.exit(main())
