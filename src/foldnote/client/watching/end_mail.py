"""Send a mail to the user when a job has ended, through the user's own mail server.

The account at the mail server is configured in the section ``[mail]`` of the user's ``config.toml``, without
the password. A mail contains the job's name and outcome, but no settings, sequences or results.
"""

from __future__ import annotations

import smtplib
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any, NamedTuple

from foldnote import settings
from foldnote.errors import ArgumentError, ConfigurationError
from foldnote.models import Job
from foldnote.text import visible

if TYPE_CHECKING:
    from pydantic import SecretStr

PORTS = {"tls": 465, "starttls": 587, "none": 25}
"""The standard port of each way to secure the connection."""
_KEYS = ("server", "port", "security", "user", "sender")
_TIMEOUT_S = 30.0
_PAUSES_S = (5.0, 60.0)
"""Seconds before each retry of a mail that the server temporarily refused."""
_PERMANENT = 500
"""From this code on, an SMTP refusal is permanent (RFC 5321, 4.2.1)."""


class MailAccount(NamedTuple):
    """The user's account at a mail server.

    Attributes:
        server: host name of the server.
        port: its port.
        security: ``tls`` from the start, ``starttls``, or ``none``.
        user: name to log in with; empty for a server without login.
        sender: address of the sender; empty for the receiver's address.
        password: the password; None without a user.
    """

    server: str
    port: int
    security: str
    user: str = ""
    sender: str = ""
    password: SecretStr | None = None


def read_account(section: Mapping[str, Any], password: SecretStr | None) -> MailAccount:
    """Return the account in the section ``[mail]`` of ``config.toml``.

    Raises:
        ConfigurationError: the section is missing, or a value is missing, unknown or wrong.
    """
    if not section:
        raise ConfigurationError(
            "No mail server is configured. Add a section [mail] to config.toml, with at least"
            ' server = "smtp.example.org"; see docs/cli.md.'
        )
    unknown = sorted(set(section) - set(_KEYS))
    if unknown:
        raise ConfigurationError(f"[mail] has no option {unknown[0]!r}. The options are: {', '.join(_KEYS)}.")
    texts = {name: section.get(name, "") for name in ("server", "user", "sender")}
    for name, value in texts.items():
        if not isinstance(value, str) or visible(value) != value:
            raise ConfigurationError(f"[mail] {name} is {value!r}; it must be text.")
    if not texts["server"]:
        raise ConfigurationError('[mail] needs server, such as server = "smtp.example.org".')
    security = section.get("security", "tls")
    if security not in PORTS:
        raise ConfigurationError(f"[mail] security is {security!r}; it must be 'tls', 'starttls' or 'none'.")
    port = section.get("port", PORTS[security])
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
        raise ConfigurationError(f"[mail] port is {port!r}; it must be an integer from 1 to 65535.")
    if texts["user"] and security == "none":
        raise ConfigurationError(
            "[mail] has a user and security = 'none', which would send the password unprotected."
            " Use 'tls' or 'starttls', or leave out user."
        )
    if texts["user"] and password is None:
        raise ConfigurationError(f"[mail] has a user; set its password as {settings.MAIL_PASSWORD}.")
    if texts["sender"]:
        check_address(texts["sender"])
    return MailAccount(
        texts["server"], port, security, texts["user"], texts["sender"], password if texts["user"] else None
    )


def check_address(text: str) -> str:
    """Return the mail address, if it is valid.

    Raises:
        ArgumentError: it is not a mail address.
    """
    try:
        address = Address(addr_spec=text)
    except (ValueError, MessageError, IndexError) as exc:
        raise ArgumentError(f"{text!r} is not a mail address, such as ada@example.org.") from exc
    if not address.domain or not address.username:
        raise ArgumentError(f"{text!r} is not a mail address, such as ada@example.org.")
    return text


def check_login(account: MailAccount) -> None:
    """Connect to the server and log in, without sending anything.

    Raises:
        ConfigurationError: the server cannot be reached, has no valid certificate, or refuses the user.
    """
    try:
        with _connect(account) as server:
            server.noop()
    except (OSError, smtplib.SMTPException) as exc:
        fault = f"The mail server {account.server}:{account.port} {_explain(exc, account)}."
        # without the cause, whose message may contain the credentials that were sent
        raise ConfigurationError(f"{fault} Check the section [mail] in config.toml.") from None


def send_at_end(
    account: MailAccount, receiver: str, job: Job, label: str = "", pauses_s: Sequence[float] = _PAUSES_S
) -> str:
    """Send a mail about a job that has ended; returns an error message, empty on success.

    Args:
        account: the sender's account.
        receiver: the address to send it to.
        job: the job's record.
        label: the job's label.
        pauses_s: seconds before each further attempt, if the server did not answer or said to try later.
    """
    message = write_mail(account.sender or receiver, receiver, job, label)
    for pause_s in (*pauses_s, None):
        try:
            with _connect(account) as server:
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as exc:
            if pause_s is None or _is_permanent(exc):
                return (
                    f"The mail about {job.job_name} was not sent: the mail server {_explain(exc, account)}."
                )
            time.sleep(pause_s)
        else:
            break
    return ""


def write_mail(sender: str, receiver: str, job: Job, label: str = "") -> EmailMessage:
    """Write the mail about a job that has ended."""
    message = EmailMessage()
    message["From"], message["To"] = sender, receiver
    message["Subject"] = f"foldnote: {_line(label) or job.job_name}: {job.word}"
    rows = {
        "Job": job.job_name,
        "Label": _line(label),
        "Tool": job.tool_type,
        "Status": job.word,
        "Reason": _line(job.error or ""),
    }
    lines = [f"{name}: {value}" for name, value in rows.items() if value]
    message.set_content("\n".join([*lines, "", f'In a notebook: fn.job("{job.job_name}")']) + "\n")
    return message


@contextmanager
def _connect(account: MailAccount) -> Iterator[smtplib.SMTP]:
    where = (account.server, account.port)
    if account.security == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            *where, timeout=_TIMEOUT_S, context=ssl.create_default_context()
        )
    else:
        server = smtplib.SMTP(*where, timeout=_TIMEOUT_S)
    with server:
        if account.security == "starttls":
            server.starttls(context=ssl.create_default_context())
        if account.password is not None:
            server.login(account.user, account.password.get_secret_value())
        yield server


def _is_permanent(exc: Exception) -> bool:
    if isinstance(exc, smtplib.SMTPRecipientsRefused):
        return all(code >= _PERMANENT for code, _ in exc.recipients.values())
    if isinstance(exc, smtplib.SMTPResponseException):
        return exc.smtp_code >= _PERMANENT
    return isinstance(exc, smtplib.SMTPNotSupportedError | ssl.SSLCertVerificationError)


def _explain(exc: Exception, account: MailAccount) -> str:
    if isinstance(exc, smtplib.SMTPAuthenticationError):
        said = f"refused the user name or the password ({exc.smtp_code} {_words(exc.smtp_error)})"
    elif isinstance(exc, smtplib.SMTPRecipientsRefused):
        answers = (f"{who}: {code} {_words(text)}" for who, (code, text) in exc.recipients.items())
        said = f"refused the address ({'; '.join(answers)})"
    elif isinstance(exc, smtplib.SMTPNotSupportedError):
        said = "does not offer what was configured: " + visible(str(exc)).rstrip(".")
    elif isinstance(exc, smtplib.SMTPResponseException):
        said = f"refused ({exc.smtp_code} {_words(exc.smtp_error)})"
    elif isinstance(exc, ssl.SSLCertVerificationError):
        said = f"has no valid certificate ({exc.verify_message})"
    elif isinstance(exc, ssl.SSLError):
        said = f"does not speak TLS as configured ({exc.reason})"
    elif isinstance(exc, OSError) and not isinstance(exc, smtplib.SMTPException):
        said = f"cannot be reached ({exc.strerror or exc or type(exc).__name__})"
    else:
        said = f"ended the connection ({visible(str(exc))})"
    secret = account.password.get_secret_value() if account.password is not None else ""
    return said.replace(secret, "(password)") if secret else said


def _words(answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return visible(" ".join(text.split())).rstrip(".")


def _line(text: str) -> str:
    return visible(" ".join(text.split()))
