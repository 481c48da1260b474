"""Mails at the end of jobs, sent to a real SMTP server in this process."""

import contextlib
import ssl
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from free_ports import free_port
from hypothesis import given
from hypothesis import strategies as st
from own_certificate import write_certificate
from pydantic import SecretStr

from foldnote.client.watching.end_mail import (
    check_address,
    check_login,
    read_account,
    send_at_end,
    write_mail,
)
from foldnote.errors import ArgumentError, ConfigurationError
from foldnote.models import Job, JobStatus

PASSWORD = SecretStr("pass-word-1")
ADDRESS = "ada@example.org"


class Mailbox:
    """The mails that a server has received; it sends each response in ``answers`` once before it accepts a mail."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.mails = []

    async def handle_DATA(self, server, session, envelope):  # noqa: N802  the name that aiosmtpd calls
        if self.answers:
            return self.answers.pop(0)
        self.mails.append((envelope, message_from_bytes(envelope.content, policy=policy.default)))
        return "250 taken"


def authenticate(server, session, envelope, mechanism, data):
    is_right = (data.login, data.password) == (b"ada", PASSWORD.get_secret_value().encode())
    return AuthResult(success=is_right, handled=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    chain, key, _ = write_certificate(tmp_path_factory.mktemp("mail"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    return chain, context


@pytest.fixture
def trusted(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))


@contextlib.contextmanager
def run_server(box, certificate, security="tls"):
    """Return the section of ``config.toml`` for a server of this kind."""
    secured = {"tls": {"ssl_context": certificate[1]}, "starttls": {"tls_context": certificate[1]}}
    login = {"authenticator": authenticate, "auth_required": security != "none"}
    server = Controller(
        box,
        hostname="127.0.0.1",
        port=free_port(),
        auth_require_tls=security == "starttls",
        require_starttls=security == "starttls",
        **secured.get(security, {}),
        **login,
    )
    server.start()
    try:
        yield {"server": "127.0.0.1", "port": server.port, "security": security}
    finally:
        server.stop()


def make_job(**fields):
    return Job(job_name="trastuzumab-fv", type="abodybuilder", status=JobStatus.COMPLETE, **fields)


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_mail_says_which_job_ended_and_how(certificate, trusted, security):
    box = Mailbox()
    with run_server(box, certificate, security) as section:
        account = read_account(section | {"user": "ada", "sender": "lab@example.org"}, PASSWORD)
        check_login(account)
        assert send_at_end(account, ADDRESS, make_job(), "Fv of trastuzumab, π") == ""
    [(envelope, mail)] = box.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("lab@example.org", [ADDRESS])
    assert mail["Subject"] == "foldnote: Fv of trastuzumab, π: Complete"
    assert mail.get_content().splitlines() == [
        "Job: trastuzumab-fv",
        "Label: Fv of trastuzumab, π",
        "Tool: abodybuilder",
        "Status: Complete",
        "",
        'In a notebook: fn.job("trastuzumab-fv")',
    ]


def test_a_server_without_users_gets_mails_from_the_address_they_go_to(certificate):
    box = Mailbox()
    with run_server(box, certificate, "none") as section:
        assert send_at_end(read_account(section, None), ADDRESS, make_job()) == ""
    [(envelope, mail)] = box.mails
    assert (envelope.mail_from, mail["From"]) == (ADDRESS, ADDRESS)


def test_a_busy_server_is_retried_and_a_refusing_one_is_not(certificate):
    box = Mailbox("451 try later", "451 try later")
    with run_server(box, certificate, "none") as section:
        assert send_at_end(read_account(section, None), ADDRESS, make_job(), pauses_s=(0.01, 0.01)) == ""
    assert len(box.mails) == 1
    box = Mailbox("554 no such mails here", "554 never asked for")
    with run_server(box, certificate, "none") as section:
        fault = send_at_end(read_account(section, None), ADDRESS, make_job(), pauses_s=(0.01, 0.01))
    assert fault == (
        "The mail about trastuzumab-fv was not sent: the mail server refused (554 no such mails here)."
    )
    assert (box.mails, len(box.answers)) == ([], 1)


def test_a_wrong_password_and_an_untrusted_certificate_are_reported_before_watching(
    certificate, trusted, monkeypatch
):
    with run_server(Mailbox(), certificate) as section:
        wrong = read_account(section | {"user": "ada"}, SecretStr("another-secret"))
        with pytest.raises(ConfigurationError, match="refused the user name or the password") as refused:
            check_login(wrong)
        assert "another-secret" not in f"{refused.value}{refused.value.__context__!r}{wrong!r}"
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(ConfigurationError, match="has no valid certificate"):
            check_login(read_account(section | {"user": "ada"}, PASSWORD))


def test_a_server_that_does_not_answer_or_speaks_otherwise_is_reported(certificate):
    with run_server(Mailbox(), certificate, "none") as section:
        with pytest.raises(ConfigurationError, match="does not speak TLS"):
            check_login(read_account(section | {"security": "tls"}, None))
        with pytest.raises(ConfigurationError, match="does not offer what was configured"):
            check_login(read_account(section | {"security": "starttls"}, None))
    with pytest.raises(ConfigurationError, match=rf"127.0.0.1:{section['port']} cannot be reached"):
        check_login(read_account(section, None))


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "No mail server is configured"),
        ({"user": "ada"}, "needs server"),
        ({"server": 3}, "server is 3; it must be text"),
        ({"server": "smtp.example.org", "host": "x"}, "no option 'host'. The options are: server, port,"),
        ({"server": "smtp.example.org", "port": "465"}, "port is '465'; it must be an integer"),
        ({"server": "smtp.example.org", "port": True}, "port is True"),
        ({"server": "smtp.example.org", "security": "ssl"}, "must be 'tls', 'starttls' or 'none'"),
        ({"server": "smtp.example.org", "user": "ada", "security": "none"}, "password unprotected"),
        ({"server": "smtp.example.org", "user": "ada"}, "set its password as FOLDNOTE_SMTP_PASSWORD"),
        ({"server": "smtp.example.org", "password": "x"}, "no option 'password'"),
    ],
)
def test_an_error_in_the_section_is_reported(section, message):
    with pytest.raises(ConfigurationError) as refused:
        read_account(section, None)
    assert message in str(refused.value)


def test_ports_follow_how_the_connection_is_secured():
    ports = {way: read_account({"server": "a", "security": way}, None).port for way in ("tls", "starttls")}
    assert ports == {"tls": 465, "starttls": 587}


@pytest.mark.parametrize(
    "text", ["", "ada", "ada@", "@example.org", "a b@c", "ada@x\r\nBcc: b@example.org", "a,b@c"]
)
def test_an_invalid_address_is_refused(text):
    with pytest.raises(ArgumentError, match="is not a mail address"):
        check_address(text)


@given(label=st.text(), error=st.text())
def test_no_label_or_reason_adds_a_header_or_line(label, error):
    mail = write_mail(ADDRESS, ADDRESS, make_job(error=error), label)
    sent = message_from_bytes(mail.as_bytes(), policy=policy.default)
    assert set(sent.keys()) == {
        "From", "To", "Subject", "Content-Type", "Content-Transfer-Encoding", "MIME-Version"
    }  # fmt: skip
    assert {line.partition(":")[0] for line in sent.get_content().splitlines()} <= {
        "Job", "Label", "Tool", "Status", "Reason", "In a notebook", ""
    }  # fmt: skip
