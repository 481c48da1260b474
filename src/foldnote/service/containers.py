"""Running an image: the command line for podman, docker or apptainer, and which of them is here.

The image runs in the attempt's work folder as `/work`, as the user of the service, without a network, without
capabilities, without a way to gain rights, and with at most 2,048 processes. Memory and what it writes beside
`/work` have no limit of ours. It is told of its cores and of nothing else in our environment. Nothing here
starts a process, and no image is fetched beforehand: the program does that at the first job.
"""

from __future__ import annotations

import shutil

from foldnote import settings
from foldnote.service.engines.launch import THREADS
from foldnote.service.runner.attempt import NONCE_VARIABLE

PROGRAMS = ("podman", "docker", "apptainer")
"""What runs an image, the first that is on PATH."""
VARIABLES = (
    *("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS"),
    *("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINER_HOST", "REGISTRY_AUTH_FILE"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"),
)
"""By what these programs find their daemons, files and registries; an image gets none of them."""

_APPTAINER = """
exec "$0" run --containall --net --network none --env FOLDNOTE_ATTEMPT="$FOLDNOTE_ATTEMPT" \\
    --bind "$PWD:/work" --pwd /work "docker://$1"
"""
# Docker gives a container any number of processes; podman has this limit by default, where cgroups allow it.
# Podman without root maps users, and keeps ours when it is asked. A home is to be written to by any user. The
# program's own files do not belong into the attempt's scratch folder, which goes away before they do. A stop
# may come while the container is made, when there is nothing to kill yet, and leave it behind half made.
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
    """The command that runs `image` in an attempt's folder.

    The container has the attempt's name, so that a stop reaches it where it is the child of another program.
    """
    passed_on = " ".join(f"--env {name}" for name in (NONCE_VARIABLE, *THREADS))
    script = _APPTAINER if program == "apptainer" else _CONTAINER % passed_on
    return ("/bin/sh", "-c", script, program, image)


def find_program() -> str | None:
    """The first container program on PATH, or None."""
    search = settings.process_environment().get("PATH")
    return next((each for each in PROGRAMS if shutil.which(each, path=search)), None)
