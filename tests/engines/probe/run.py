"""A test engine that behaves as the name of its job says.

The job's name is split at dots, and each known part is carried out in order: ``sleep-SECONDS`` (``0_5`` is half a
second), ``hold`` (run until a test calls ``probe_engine.release`` with the job's name), ``fail`` (refuse the input with
a sentence, exit 2), ``crash-CODE``, ``flaky-COUNT`` (fail in the first COUNT attempts of the job), ``alone`` (write to
``alive/double`` beside this file if another run of the job is alive), ``deaf`` (ignore TERM), ``daemon`` (leave a
process in its own session that ignores TERM and has an emptied environment), ``child`` (the same with the environment
kept), ``memory-MB``, ``output-COUNT``, ``chatter-LINES``, ``tell`` (write the settings to the log), ``score``, ``echo``
(write job.json to outputs/job.json), ``silent`` (do not report the seed), ``structure`` (a Fv of Cα atoms),
``numbering-GENE`` (an antibody numbering), ``atom`` (a structure of one atom), ``env`` (write the environment to
outputs/environment.json), ``burn-SECONDS`` (compute in a process of its own), ``strew`` (leave a file in the home
folder), ``call`` (connect to the network, and write to outputs/call.txt what came of it), ``copy`` (copy the input
files to outputs/). Other parts do nothing.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

KEEP_ALIVE = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def say(fraction: float, message: str) -> None:
    print("FOLDNOTE_PROGRESS " + json.dumps({"fraction": fraction, "message": message}), flush=True)


def sleep(seconds: str) -> None:
    total = float(seconds.replace("_", "."))
    end = time.monotonic() + total
    while (left := end - time.monotonic()) > 0:
        say(round(1 - left / total, 3), f"Sleeping, {left:.1f} s left")
        time.sleep(min(0.1, left))


def hold(_: str) -> None:
    say(0.5, "Held by its test")
    mark = Path(__file__).with_name("released") / json.loads(Path("job.json").read_text())["jobName"]
    while not mark.exists():
        time.sleep(0.1)
    mark.unlink()


def fail(_: str) -> None:
    print("FOLDNOTE_ERROR The probe was asked to fail.", file=sys.stderr, flush=True)
    sys.exit(2)


def crash(code: str) -> None:
    print("about to crash", file=sys.stderr, flush=True)
    sys.exit(int(code or 1))


def flaky(count: str) -> None:
    """Return the attempt's number from the start of its folder's name, the parent of the working directory."""
    if int(Path.cwd().parent.name.partition("-")[0]) <= int(count):
        print("FOLDNOTE_ERROR The probe failed by chance.", file=sys.stderr, flush=True)
        sys.exit(1)


def alone(_: str) -> None:
    global LOCK
    folder = Path(__file__).with_name("alive")
    folder.mkdir(exist_ok=True)
    LOCK = (folder / json.loads(Path("job.json").read_text())["jobName"]).open("w")
    try:
        fcntl.flock(LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with (folder / "double").open("a") as evidence:
            evidence.write(f"{LOCK.name}\n")


def deaf(_: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def leave(environment: dict[str, str], name: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KEEP_ALIVE], start_new_session=True, env=environment, stdin=subprocess.DEVNULL
    )
    Path(f"outputs/{name}.pid").write_text(str(process.pid))


def daemon(_: str) -> None:
    leave({}, "daemon")


def child(_: str) -> None:
    leave(dict(os.environ), "child")


def memory(megabytes: str) -> None:
    global HELD
    HELD = bytearray(os.urandom(1 << 20)) * int(megabytes)


def output(count: str) -> None:
    for index in range(int(count or 1)):
        Path(f"outputs/file-{index}.txt").write_text(f"output {index}\n")


def chatter(lines: str) -> None:
    for index in range(int(lines)):
        print(f"line {index}", file=(sys.stdout, sys.stderr)[index % 2], flush=True)


def tell(_: str) -> None:
    print(json.dumps(json.loads(Path("job.json").read_text())["settings"]), flush=True)


def score(_: str) -> None:
    Path("score.json").write_text(json.dumps({"probe": 0.5}))


def structure(_: str) -> None:
    fv = Path(__file__).parents[2] / "unit" / "results" / "data" / "trastuzumab_fv_ca.pdb"
    Path("outputs/model.pdb").write_bytes(fv.read_bytes())


def numbering(germline: str) -> None:
    """Write the tables of an antibody numbering with one CDR; ``germline`` is its V gene."""
    heads = "chain,index,residue,position,region,scheme,cdr_definition"
    rows = [
        f"H,{place},{letter},{104 + place},CDR3,imgt,imgt" for place, letter in enumerate("SRWG", start=1)
    ]
    Path("outputs/numbering.csv").write_text("\n".join([heads, *rows, ""]))
    Path("outputs/summary.csv").write_text(f"chain_type,v_gene\nH,{germline}\n")


def atom(_: str) -> None:
    line = "ATOM      1  CA  ALA A   1       1.000   0.000   0.000  1.00 50.00           C"
    Path("outputs/model.pdb").write_text(line + "\n")


def echo(_: str) -> None:
    Path("outputs/job.json").write_bytes(Path("job.json").read_bytes())


def silent(_: str) -> None:
    Path("used.json").unlink()


def env(_: str) -> None:
    Path("outputs/environment.json").write_text(json.dumps(dict(os.environ)))


def burn(seconds: str) -> None:
    """Compute in a separate process, for seconds of processor time."""
    program = f"import time\nwhile time.process_time() < {float(seconds.replace('_', '.'))}: pass"
    subprocess.run([sys.executable, "-c", program], check=True)


def strew(_: str) -> None:
    (Path.home() / "strewn.txt").write_text("This does not belong here.")


def call(_: str) -> None:
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=5).close()
        told = "connected"
    except OSError as exc:
        told = f"OSError: {exc}"
    Path("outputs/call.txt").write_text(told)


def copy(_: str) -> None:
    for path in Path("inputs").rglob("*"):
        if path.is_file():
            Path("outputs", path.name).write_bytes(path.read_bytes())


DOINGS = {
    each.__name__: each
    for each in (
        sleep,
        hold,
        fail,
        crash,
        flaky,
        alone,
        deaf,
        daemon,
        child,
        memory,
        output,
        chatter,
        tell,
        score,
        structure,
        numbering,
        atom,
        echo,
        silent,
        env,
        burn,
        strew,
        call,
        copy,
    )
}


def main() -> None:
    job = json.loads(Path("job.json").read_text())
    say(0.0, "Probe started")
    Path("used.json").write_text(json.dumps({"seed": job["seed"]}))
    Path("outputs/settings.json").write_text(json.dumps(job["settings"], sort_keys=True))
    for part in job["jobName"].split("."):
        name, _, argument = part.partition("-")
        if name in DOINGS:
            DOINGS[name](argument)
    say(1.0, "Probe done")


if __name__ == "__main__":
    main()
