"""Checks of jobs that ran on other machines, and of their processes there."""

import json
from pathlib import Path

from chaos import marked, rows
from namespaces import Host, Network
from service_process import ServiceProcess
from waiting import wait_until


def wait_for_sleep(service: ServiceProcess, name: str) -> None:
    wait_until(lambda: marked(service), f"the engine of {name}")


def assert_once(service: ServiceProcess, *names: str) -> None:
    """Assert that each job is complete, was committed once, and never ran twice at the same time."""
    ends = dict(
        rows(service, "SELECT j.name, count(*) FROM events e JOIN jobs j ON j.id = e.job_id"
             " WHERE e.kind = 'attempt complete' GROUP BY j.name")
    )  # fmt: skip
    assert {name: service.job(name)["status"] for name in names} == dict.fromkeys(names, "Complete")
    assert {name: ends[name] for name in names} == dict.fromkeys(names, 1)
    evidence = service.engines / "probe" / "alive" / "double"
    assert not evidence.exists(), evidence.read_text()
    wait_until(lambda: not marked(service), "the end of all processes", 10)


def runner_in(path: Path) -> int | None:
    """Return the process of a live runner, unless its id belongs to another process by now."""
    try:
        pid = json.loads(path.read_text())["pid"]
        return pid if Path(f"/proc/{pid}/comm").read_text().strip() == "foldnote-runner" else None
    except (OSError, ValueError):
        return None


def next_runner(service: ServiceProcess, without: set[str]) -> tuple[str, int] | None:
    for path in (service.folder / "node").glob("*/*/runner.json"):
        if path.parent.name not in without:
            return path.parent.name, json.loads(path.read_text())["pid"]
    return None


def find_processes(word: str, service: ServiceProcess) -> list[int]:
    """Find the processes of this service's nodes with `word` in their command."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command, environment = (path / "cmdline").read_bytes(), (path / "environ").read_bytes()
        except OSError:
            continue
        if word.encode() in command and str(service.folder / "node").encode() in environment:
            found.append(int(path.name))
    return found


def find_host(service: ServiceProcess, network: Network, without: str = "") -> Host:
    """Return the host on which an attempt runs."""

    def look() -> Host | None:
        for path in (service.folder / "node").glob("*/*/runner.json"):
            pid = runner_in(path)
            for host in network.hosts.values():
                if host.name != without and pid is not None and host.has(pid):
                    return host
        return None

    return wait_until(look, "a runner on a host")


def runs_on(service: ServiceProcess, host: Host) -> bool:
    """Return whether an attempt runs on the host."""
    pids = [runner_in(path) for path in (service.folder / "node").glob("*/*/runner.json")]
    return any(pid is not None and host.has(pid) for pid in pids)
