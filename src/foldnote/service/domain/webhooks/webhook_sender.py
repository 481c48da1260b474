"""Deliver webhooks after jobs have ended, in separate threads, which delay no job.

Due webhooks are read from the database, so none is missed after a kill at any moment. An attempt is counted
there before it is made, so that only one of several replicas makes it. A webhook is delivered at least once:
if the receiver answered just before a kill, the request is repeated with the same identity. Each account has
one attempt at a time, and the account that has waited longest comes next, so a slow receiver delays only its
own account.
"""

from __future__ import annotations

import json
import logging
import ssl
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from foldnote.service.domain.webhooks.signing import sign
from foldnote.service.domain.webhooks.webhook_options import WebhookAddress, WebhookOptions
from foldnote.service.domain.webhooks.webhook_request import (
    WebhookFailedError,
    WebhookRefusedError,
    find_ip_address,
    make_context,
    post,
)
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.jobs.webhooks import DueWebhook, WebhookStore

log = logging.getLogger(__name__)
_MAX_CONCURRENT = 4
_POLL_INTERVAL_S = 5.0
_LEASE_MARGIN_S = 5.0
"""Time by which a claim outlasts the request's time limit; if resolving the host takes longer still, the
webhook is delivered twice."""
_AGENT = "foldnote"


@dataclass(frozen=True)
class AttemptReport:
    """The result of one attempt: a sentence for the job, a word for its events, and the time of the next one.

    Attributes:
        delay_s: seconds until the next attempt; None for none.
    """

    status_text: str
    event: str
    delay_s: float | None = None


class WebhookSender:
    """Delivers webhooks.

    Args:
        options: None for a service that calls no webhooks; then nothing is done.
    """

    def __init__(self, store: WebhookStore, options: WebhookOptions | None) -> None:
        self._store = store
        self._options = options
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._busy: set[int] = set()
        self._last_served_at: dict[int, float] = {}
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start; first deliver webhooks that an earlier process left."""
        if self._options is not None:
            context = make_context(self._options.certificates)
            self._thread = threading.Thread(
                target=self._run, args=(self._options, context), name="webhooks", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Begin no more attempts; one in progress is repeated after the next start."""
        self._is_stopping = True
        self._woken.set()
        if self._thread is not None:
            self._thread.join()

    def wake(self) -> None:
        """Signal that a job may have ended."""
        self._woken.set()

    def _run(self, options: WebhookOptions, context: ssl.SSLContext) -> None:
        pause_s = min((_POLL_INTERVAL_S, *options.retry_after_s))
        while not self._is_stopping:
            self._woken.clear()
            try:
                has_begun = self._start_next_attempt(options, context)
            except StorageFaultError as exc:
                has_begun = False
                log.warning("Webhooks wait, since the database cannot be used: %s", exc)
            except Exception:  # outermost handler: later rounds must still run
                has_begun = False
                log.exception("Webhooks could not be looked for.")
            if not has_begun:
                self._woken.wait(pause_s)

    def _start_next_attempt(self, options: WebhookOptions, context: ssl.SSLContext) -> bool:
        """Begin an attempt of the account that has waited longest; return False if none may begin now."""
        with self._lock:
            busy = set(self._busy)
        if len(busy) >= _MAX_CONCURRENT:
            return False
        accounts = [account for account in self._store.due_accounts() if account not in busy]
        for account_id in sorted(accounts, key=lambda account: self._last_served_at.get(account, 0.0)):
            webhook = self._store.next_of(account_id)
            if webhook is not None and self._store.claim(webhook, options.timeout_s + _LEASE_MARGIN_S):
                with self._lock:
                    self._busy.add(account_id)
                self._last_served_at[account_id] = time.monotonic()
                work = (webhook, options, context)
                threading.Thread(target=self._attempt, args=work, name="webhook", daemon=True).start()
                return True
        return False

    def _attempt(self, webhook: DueWebhook, options: WebhookOptions, context: ssl.SSLContext) -> None:
        try:
            report = deliver(webhook, options, context)
            if not self._is_stopping:  # otherwise another attempt follows after the lease
                self._store.record(webhook, report.status_text, report.event, report.delay_s)
                log.info("%s: job %s. %s", report.event, webhook.job_id, report.status_text)
        except StorageFaultError as exc:
            log.warning("What became of the webhook of job %s is not recorded: %s", webhook.job_id, exc)
        except Exception:  # outermost handler: another attempt follows after its lease
            log.exception("The webhook of job %s could not be tried.", webhook.job_id)
        finally:
            with self._lock:
                self._busy.discard(webhook.account_id)
            self._woken.set()


def deliver(webhook: DueWebhook, options: WebhookOptions, context: ssl.SSLContext) -> AttemptReport:
    """Make one attempt; check the URL again, since the administrator may have changed the list."""
    number, host = webhook.attempts + 1, "its address"
    if webhook.attempts > len(options.retry_after_s):
        return AttemptReport(
            f"Not delivered: none of {number - 1} attempts was completed.", "webhook given up"
        )
    try:
        address = _parse_address(webhook)
        host = address.host
        _send(webhook, address, options, context)
    except (WebhookRefusedError, WebhookFailedError) as exc:
        is_last = isinstance(exc, WebhookRefusedError) or number > len(options.retry_after_s)
        if is_last:
            return AttemptReport(f"Not delivered to {host}: {exc}.", "webhook given up")
        delay_s = options.retry_after_s[number - 1]
        status_text = (
            f"Attempt {number} to call {host} failed: {exc}. The next one is due at {_format_time(delay_s)}."
        )
        return AttemptReport(status_text, "webhook failed", delay_s)
    return AttemptReport(f"Delivered to {host} at {_format_time()}.", "webhook delivered")


def _parse_address(webhook: DueWebhook) -> WebhookAddress:
    try:
        return WebhookAddress.read(webhook.url)
    except ValueError as exc:  # an earlier version may have accepted it
        raise WebhookRefusedError(str(exc)) from exc


def _send(
    webhook: DueWebhook, address: WebhookAddress, options: WebhookOptions, context: ssl.SSLContext
) -> None:
    entry = options.find(address)
    if entry is None:
        raise WebhookRefusedError("the administrator of the service does not allow this address any more")
    if webhook.secret is None:
        raise WebhookRefusedError("the account has no secret any more")
    body = make_body(webhook)
    headers = sign(webhook.secret, webhook.delivery_id, int(time.time()), body)
    headers |= {"content-type": "application/json", "user-agent": _AGENT}
    post(address, find_ip_address(address, entry), body, headers, options.timeout_s, context)


def make_body(webhook: DueWebhook) -> bytes:
    """Return the body: which job ended, how and when; nothing of its settings, result or error."""
    content = {
        "type": "job.ended",
        "timestamp": webhook.completed or webhook.created,
        "data": {
            "jobName": webhook.name,
            "type": webhook.type,
            "tool": webhook.tool or webhook.type,
            "status": webhook.state,
            "failed": webhook.has_error or bool(webhook.failed_jobs),
            **({} if webhook.failed_jobs is None else {"failedJobs": webhook.failed_jobs}),
            "created": webhook.created,
            "started": webhook.started,
            "completed": webhook.completed,
        },
    }
    return json.dumps(content, separators=(",", ":")).encode()


def _format_time(delay_s: float = 0.0) -> str:
    moment = datetime.now(UTC) + timedelta(seconds=delay_s)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
