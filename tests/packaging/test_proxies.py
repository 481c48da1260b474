"""The configurations of nginx and Caddy in `packaging/proxy/`, unchanged except for names and ports, in front of a
service.
"""

import os
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from own_certificate import write_certificate
from service_process import PDB, SETTINGS, ServiceProcess

from foldnote import Client

ROOT = Path(__file__).parent.parent.parent
PROXIES = ROOT / "packaging/proxy"
PATHS = f"{os.environ['PATH']}:/usr/sbin:{ROOT}/build/programs/usr/sbin:{ROOT}/build/programs/usr/bin"
AROUND_NGINX = """
daemon off; pid nginx.pid; error_log stderr;
events {} http { access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path other;
uwsgi_temp_path other; scgi_temp_path other;
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def adapt(name, changes):
    """Return the example with the names and ports of this test; each must occur."""
    text = (PROXIES / name).read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def write_nginx(folder, port, behind):
    names = {"listen 443": f"listen 127.0.0.1:{port}", "127.0.0.1:8800": behind}
    files = {"/etc/ssl/lab.example.org.pem": "cert.pem", "/etc/ssl/lab.example.org.key": "key.pem"}
    files = {old: str(folder / new) for old, new in files.items()}
    text = adapt("nginx.conf", names | files)
    (folder / "nginx.conf").write_text(f"{AROUND_NGINX}{text}}}")
    return "nginx", ["-p", str(folder), "-c", str(folder / "nginx.conf")]


def write_caddy(folder, port, behind):
    host = f"lab.example.org:{port} {{\n\ttls {folder}/cert.pem {folder}/key.pem"
    text = adapt("Caddyfile", {"lab.example.org {": host, "127.0.0.1:8800": behind})
    (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{text}")
    return "caddy", ["run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


class Laboratory:
    """A service behind a proxy, and a client that resolves `lab.example.org` to this machine."""

    def __init__(self, folder, write_proxy):
        port, own_port = free_port(), free_port()
        chain, _, _ = write_certificate(folder, "lab.example.org")
        self.url = f"https://lab.example.org:{port}/foldnote"
        options = ("--port", str(own_port), "--public-url", self.url, "--trusted-proxy", "127.0.0.1")
        self.service = ServiceProcess(
            folder,
            *options,
            "--provisions-per-source",
            "1",
            "--no-rate-limit",
            "--validation-bytes",
            "100000",
        ).start()
        name, arguments = write_proxy(folder, port, f"127.0.0.1:{own_port}")
        program = shutil.which(name, path=PATHS)
        assert program, f"scripts/install-test-programs installs {name}"
        environment = {"PATH": PATHS, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        with (folder / "proxy.log").open("wb") as log:
            self.proxy = subprocess.Popen(
                [program, *arguments], stderr=log, stdout=log, env=environment, cwd=folder
            )
        trust = ssl.create_default_context(cafile=str(chain))
        self.web = httpx.Client(
            base_url=self.url, timeout=120, transport=OnThisMachine(verify=trust), follow_redirects=False
        )
        wait_for(lambda: is_open(port) or self.proxy.poll() is not None)
        assert self.proxy.poll() is None, (folder / "proxy.log").read_text()

    def end(self):
        self.web.close()
        self.proxy.terminate()
        self.proxy.wait(120)
        self.service.end()


class OnThisMachine(httpx.HTTPTransport):
    """Connect to this machine for every name, with the name in the handshake."""

    def handle_request(self, request):
        request.extensions["sni_hostname"] = request.url.host
        request.url = request.url.copy_with(host="127.0.0.1")
        return super().handle_request(request)


def wait_for(condition):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def is_open(port):
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module", params=[write_nginx, write_caddy], ids=["nginx", "caddy"])
def lab(request, tmp_path_factory):
    made = Laboratory(tmp_path_factory.mktemp("proxy"), request.param)
    yield made
    made.end()


@pytest.fixture
def keyed(lab):
    return {"x-api-key": lab.service.key}


def test_a_client_runs_a_job_and_downloads_its_result(lab):
    client = Client(base_url=lab.url, api_key=lab.service.key, http_client=lab.web)
    job = client.jobs.submit("anarci", SETTINGS)
    job.wait()
    assert client.jobs.download(job.record.job_name).is_file()


@pytest.mark.parametrize("name", ["plain.pdb", "two words.pdb", "a%2Fb.pdb", "50%.pdb", "é+&=#.pdb"])
def test_a_signed_link_of_any_name_passes(lab, keyed, name):
    answer = lab.web.put(f"/upload/{quote(name)}", content=PDB.encode(), headers=keyed)
    link = answer.json()["signedUrl"]
    assert link.startswith(f"{lab.url}/")
    assert lab.web.get(link).content == PDB.encode()
    assert name in [each["name"] for each in lab.web.get("/files", headers=keyed).json()["files"]]


def test_bodies_are_limited_by_the_service_only(lab, keyed):
    assert lab.web.put("/upload/large.bin", content=b"x" * (9 << 20), headers=keyed).status_code == 200
    assert lab.web.post("/validate-job", content=b"x" * 150_000, headers=keyed).status_code == 413


def test_a_request_has_the_proxys_identifier(lab, keyed):
    asked = {"jobName": "nobody"}  # refusals are logged
    answer = lab.web.get("/jobs", params=asked, headers=keyed | {"x-request-id": "made-up-by-client"})
    given = answer.headers["x-request-id"]
    assert given != "made-up-by-client"
    log = lab.service.folder / "service.log"
    wait_for(lambda: f'"request_id": "{given}"' in log.read_text())


def test_a_client_cannot_make_up_its_address(lab):
    """Two trial keys for one address are one too many, whatever address the client claims."""
    statuses = [
        lab.web.post("/agent/provision", headers={"x-forwarded-for": address}).status_code
        for address in ("203.0.113.1", "203.0.113.2")
    ]
    assert statuses[-1] == 429


def test_measurements_are_not_for_everybody_behind_the_proxy(lab, keyed):
    assert lab.web.get("/metrics").status_code == 401
    assert b"foldnote_jobs" in lab.web.get("/metrics", headers=keyed).content


def test_a_service_that_is_away_is_reported_as_502(lab):
    lab.service.end()
    assert lab.web.get("/healthz").status_code == 502
    lab.service.start()
    wait_for(lambda: lab.web.get("/healthz").status_code == 200)
