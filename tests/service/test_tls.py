"""HTTPS of the service itself, and certificates that are renewed while it runs."""

import asyncio
import contextlib
import signal
import socket
import ssl
import time

import httpx
import pytest
from cryptography import x509
from own_certificate import write_certificate

from foldnote.errors import ConfigurationError
from foldnote.service.http.certificates import Certificate, follow_renewals
from foldnote.service.http.handshakes import listen_with_tls


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tls")


@pytest.fixture
def secure(make_service, folder):
    """Start a service with TLS; return it with a client that trusts its certificate."""
    chain, key, _ = write_certificate(folder)
    service = make_service("--no-rate-limit", "--tls-cert", str(chain), "--tls-key", str(key))
    trust = ssl.create_default_context(cafile=str(chain))
    service.client = httpx.Client(
        base_url=service.url, headers={"x-api-key": service.key}, verify=trust, timeout=120
    )
    return service


def serial_of(service):
    host, port = service.url.removeprefix("https://").split(":")
    context = ssl._create_unverified_context()  # noqa: SLF001  the standard library's name for it
    with socket.create_connection((host, int(port)), timeout=10) as bare, context.wrap_socket(bare) as safe:
        assert safe.version() in ("TLSv1.2", "TLSv1.3")
        return x509.load_der_x509_certificate(safe.getpeercert(binary_form=True)).serial_number


def wait_for_serial(service, serial):
    until = time.monotonic() + 20
    while serial_of(service) != serial:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_job_runs_and_its_link_is_https(secure):
    assert secure.url.startswith("https://")
    secure.run("safe")
    link = secure.result("safe").json()
    assert link.startswith(f"{secure.url}/download/")
    assert secure.client.get(link).content[:2] == b"PK"
    with pytest.raises(httpx.TransportError):
        httpx.get(secure.url.replace("https", "http") + "/healthz", timeout=5)


def test_a_renewed_certificate_is_used_and_a_bad_one_is_not(secure, folder):
    _, _, renewed = write_certificate(folder)
    secure.process.send_signal(signal.SIGHUP)
    wait_for_serial(secure, renewed)
    (folder / "key.pem").write_text("no key")
    secure.process.send_signal(signal.SIGHUP)
    until = time.monotonic() + 20
    while "certificate is not used" not in (secure.folder / "service.log").read_text():
        assert time.monotonic() < until
        time.sleep(0.1)
    assert serial_of(secure) == renewed


@pytest.mark.parametrize("is_asked", [False, True], ids=["looked at by itself", "asked by SIGHUP"])
def test_a_certificate_renewed_while_the_service_starts_is_used(folder, monkeypatch, is_asked):
    monkeypatch.setattr("foldnote.service.http.certificates.CHECK_INTERVAL_S", 0.01)
    chain, key, first = write_certificate(folder)
    certificate = Certificate(chain, key)
    used = certificate.version()
    context = certificate.make_context()
    renewed = write_certificate(folder)[2]

    async def follow_for_a_moment():
        asked = asyncio.Event()
        if is_asked:
            asked.set()
        following = asyncio.create_task(follow_renewals(certificate, context, used, asked))
        await asyncio.sleep(0.5)
        following.cancel()

    assert serial_in(context) == first
    asyncio.run(follow_for_a_moment())
    assert serial_in(context) == renewed


def serial_in(context):
    """Return the serial number that this context shows to a client, in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(to_server, to_client, server_side=True)
    trusting = ssl._create_unverified_context()  # noqa: SLF001  the standard library's name for it
    client = trusting.wrap_bio(to_client, to_server)
    for _ in range(4):
        for side in (client, server):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return x509.load_der_x509_certificate(client.getpeercert(binary_form=True)).serial_number


def test_silent_connections_are_limited_and_complete_ones_are_not(tmp_path):
    chain, key, _ = write_certificate(tmp_path)
    trust = ssl.create_default_context(cafile=str(chain))

    async def connect_with_one_place():
        listener = socket.create_server(("127.0.0.1", 0))
        context = Certificate(chain, key).make_context()
        server = await listen_with_tls(listener, context, asyncio.Protocol, limit=1)
        address = listener.getsockname()
        first, second = [await asyncio.open_connection(*address, ssl=trust) for _ in range(2)]
        silent = await asyncio.open_connection(*address)
        with pytest.raises(OSError):
            await asyncio.open_connection(*address, ssl=trust)
        for _, writer in (first, second, silent):
            writer.transport.abort()
        server.close()

    asyncio.run(connect_with_one_place())


@pytest.mark.parametrize("damage", ["missing", "text", "of another"])
def test_unusable_files_are_named(tmp_path, damage):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    chain, key, _ = write_certificate(tmp_path / "a")
    if damage == "missing":
        key.unlink()
    elif damage == "text":
        key.write_text("no key")
    else:
        key = write_certificate(tmp_path / "b")[1]
    with pytest.raises(ConfigurationError) as caught:
        Certificate(chain, key).require_usable()
    assert str(key) in caught.value.message
    assert "--tls-key" in caught.value.message


def test_one_file_may_hold_both(tmp_path):
    chain, key, _ = write_certificate(tmp_path)
    chain.write_bytes(chain.read_bytes() + key.read_bytes())
    Certificate(chain).require_usable()


def test_a_key_needs_a_certificate(make_service, tmp_path):
    service = make_service("--tls-key", str(tmp_path / "key.pem"), is_started=False)
    assert service.spawn().wait(120) == 2
    assert "--tls-key needs --tls-cert" in (service.folder / "service.log").read_text()
