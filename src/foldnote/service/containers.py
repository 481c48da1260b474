"""Run a container image: find podman, docker or apptainer, and build its command line.

The attempt's work folder is mounted as `/work`. The container runs as the user of the service, without
network, capabilities or new privileges, and with at most 2,048 processes. Memory, and files written outside
`/work`, are not limited here. Of our environment it gets only the number of cores. This module starts no
process; the container program pulls the image at the first job.
"""

from __future__ import annotations

import shutil

from foldnote import settings
from foldnote.service.engines.launch import THREADS
from foldnote.service.runner.attempt import NONCE_VARIABLE

PROGRAMS = ("podman", "docker", "apptainer")
"""Container programs in order of preference; the first on PATH is used."""
VARIABLES = (
    *("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS"),
    *("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINER_HOST", "REGISTRY_AUTH_FILE"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"),
)
"""Variables by which these programs find their daemons, files and registries; not passed to containers."""

_APPTAINER = """
exec "$0" run --containall --net --network none --env FOLDNOTE_ATTEMPT="$FOLDNOTE_ATTEMPT" \\
    --bind "$PWD:/work" --pwd /work "docker://$1"
"""
# Docker does not limit the number of processes; podman has this limit by default where cgroups allow it.
# Rootless podman maps user ids unless told to keep ours. HOME must be writable for any user. TMPDIR is unset:
# the program's own files must not be in the attempt's scratch folder, which is removed before them. A stop
# may come while the container is being created: then there is nothing to kill yet, and it must be removed.
_CONTAINER = """
image=$1 name="foldnote-$FOLDNOTE_ATTEMPT" stopped=
unset TMPDIR
set -- --user "$(id -u):$(id -g)" --cap-drop ALL --security-opt no-new-privileges
if [ "$0" = docker ]; then set -- "$@" --pids-limit 2048; fi
if [ "$(id -u)" != 0 ]; then
    set -- "$@" --env HOME=/tmp
    if [ "$0" = podman ]; then set -- "$@" --userns keep-id; fi
fi
trap 'stopped=1; "$0" kill "$name" >/dev/null 2>&1' TERM
"$0" run --rm --name "$name" --network none "$@" %s --volume "$PWD:/work" --workdir /work "$image" &
child=$!
wait "$child"; code=$?
if [ "$stopped" ]; then
    wait "$child"
    "$0" kill "$name" >/dev/null 2>&1
    "$0" rm --force "$name" >/dev/null 2>&1
fi
if [ "$code" = 125 ]; then
    echo "FOLDNOTE_ERROR $0 could not run the image $image; the job's log says why." \\
        "An administrator can try '$0 pull $image' on the machine of the service." >&2
fi
exit "$code"
"""


def make_command(program: str, image: str) -> tuple[str, ...]:
    """Build the command that runs `image` in an attempt's folder.

    The container is named after the attempt, so that it can be stopped even if a daemon is its parent
    process.
    """
    passed_on = " ".join(f"--env {name}" for name in (NONCE_VARIABLE, *THREADS))
    script = _APPTAINER if program == "apptainer" else _CONTAINER % passed_on
    return ("/bin/sh", "-c", script, program, image)


def find_program() -> str | None:
    """Return the first container program on PATH, or None."""
    search = settings.process_environment().get("PATH")
    return next((each for each in PROGRAMS if shutil.which(each, path=search)), None)
