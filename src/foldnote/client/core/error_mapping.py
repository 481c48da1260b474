"""Map responses to values or exceptions; the only reader of error bodies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from pydantic_core import from_json

from foldnote import errors
from foldnote.client.core.operations import ServiceResponse
from foldnote.models.wire import read_hidden_json

T = TypeVar("T")

_BY_STATUS: dict[int, type[errors.ServiceError]] = {
    400: errors.BadRequestError,
    401: errors.UnauthorizedError,
    403: errors.ForbiddenError,
    404: errors.NotFoundError,
    413: errors.TooLargeError,
    422: errors.BadRequestError,
    429: errors.RateLimitedError,
}
_BY_CODE: dict[str, type[errors.ServiceError]] = {
    "job_name_taken": errors.JobNameTakenError,
    "budget_exceeded": errors.BudgetExceededError,
    "route_restricted": errors.RestrictedRouteError,
    "restricted_route": errors.RestrictedRouteError,
    "allowance_exceeded": errors.AllowanceExceededError,
    "job_limit_reached": errors.JobLimitError,
    "router_disabled": errors.RouterDisabledError,
}
_FORBIDDEN_ROUTES: dict[str, type[errors.ServiceError]] = {
    "/model-router": errors.RouterDisabledError,
    "/submit-pipeline": errors.RestrictedRouteError,
    "/run-pipeline": errors.RestrictedRouteError,
    "/virtual-screening": errors.RestrictedRouteError,
    "/deploy-model": errors.RestrictedRouteError,
}
"""What a 403 means on a route where a deployment gives no code."""
_FORBIDDEN_WORDS: tuple[tuple[str, type[errors.ServiceError]], ...] = (
    (r"\bbudget\b", errors.BudgetExceededError),
    (r"weighted hours|\ballowance\b", errors.AllowanceExceededError),
    (r"\b(job|monthly) (limit|quota)\b|\bquota\b|\bjobs (left|remaining)\b", errors.JobLimitError),
    (r"\bunclaimed\b|claim (the|your|this) account", errors.RestrictedRouteError),
)
"""The same, by what the deployment says, wherever it says it."""
_REFUSAL_WORDS = ("error", "errorMessage")
_REFUSAL_KEYS = {
    *_REFUSAL_WORDS,
    *("message", "detail", "code", "field", "row", "status", "statusCode", "success", "errorType"),
    *("requestId", "stackTrace", "trace", "timestamp", "path"),
}
_PAGE = re.compile(r"\s*<(!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_SENTENCES = {
    401: "The service did not accept the key. Store a valid one with `foldnote profile key NAME`.",
    413: "The request is larger than the service accepts.",
    429: "The service asks for a slower pace.",
}


def read_json(answer: ServiceResponse) -> Any:
    """The JSON of a good answer; plain text where a deployment answers plain text.

    Raises:
        ServiceError: the service refused.
        ProtocolError: it points elsewhere, or a web page came instead.
    """
    if answer.status >= 400:
        raise refusal(answer)
    if answer.status >= 300:
        where = answer.headers.get("location", "nowhere").partition("?")[0]  # a query may be a secret
        raise errors.ProtocolError(
            f"The service redirects to {where}. The key is not sent"
            " there; if that is the right address, make it the profile's base_url."
        )
    try:
        return from_json(answer.body)  # faster than json's, which counts in lists of thousands of jobs
    except ValueError:  # perhaps a letter that is no UTF-8
        text = answer.body.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or brackets without end
        pass
    if _PAGE.match(text):
        raise errors.ProtocolError(
            f"A web page came instead of the service's answer: {_plain(text) or 'an empty one'}. Is this the"
            " address of a job service, and does no page for signing in stand before it?"
        )
    return text.strip()


def find_hidden_refusal(said: Any) -> Mapping[str, Any] | None:
    """The error that a good answer is, and nothing else: some gateways give those with the status 200."""
    fields = read_hidden_json(said)
    if not isinstance(fields, Mapping) or not fields.keys() <= _REFUSAL_KEYS:
        return None
    is_one = fields.get("success") is False or any(fields.get(name) for name in _REFUSAL_WORDS)
    return fields if is_one else None


def hidden_status(said: Mapping[str, Any]) -> int:
    """The status that such an answer should have had."""
    told = next((said[name] for name in ("statusCode", "status") if isinstance(said.get(name), int)), 0)
    if told >= 400:
        return told
    return 502 if "errorMessage" in said else 400  # the first is what is said of a function that broke down


def understand(read: Callable[[Any], T], answer: Any) -> T:
    """What ``read`` makes of an answer.

    Raises:
        ProtocolError: the answer does not have a shape that the interface or a known deployment uses.
    """
    try:
        return read(answer)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as exc:
        raise errors.ProtocolError(
            f"The service's answer has an unknown shape ({type(exc).__name__})."
            " Is this the address of a job service?"
        ) from exc


def refusal(answer: ServiceResponse, path: str = "") -> errors.ServiceError:
    """The exception that ``answer`` to a request of ``path`` means."""
    body = _read_body(answer)
    code = body.get("code") if isinstance(body.get("code"), str) else None
    sentence = _sentence(answer, body)
    kind = _choose(answer.status, code, body)
    if kind is errors.ForbiddenError and code is None:
        kind = _choose_forbidden(sentence, path, body)
    field, row = body.get("field"), body.get("row")
    return kind(
        _advise(kind, sentence),
        status=answer.status,
        code=code,
        field=field if isinstance(field, str) else None,
        row=row if isinstance(row, int) else None,
        body=body,
        retry_after_s=_retry_after_s(answer, body),
    )


def _choose(status: int, code: str | None, body: Mapping[str, Any]) -> type[errors.ServiceError]:
    if code in _BY_CODE:
        return _BY_CODE[code]
    if status == 403 and "estimatedWeightedHours" in body:
        return errors.AllowanceExceededError
    if status >= 500:
        return errors.ServiceFaultError
    return _BY_STATUS.get(status, errors.ServiceError)


def _choose_forbidden(sentence: str, path: str, body: Mapping[str, Any]) -> type[errors.ServiceError]:
    """Which of the 403s it is where no code says so: by the words, by a gateway's bare body, by the route."""
    for words, kind in _FORBIDDEN_WORDS:
        if re.search(words, sentence, re.IGNORECASE):
            return kind
    if set(body) == {"message"}:
        return errors.GatewayForbiddenError
    return _FORBIDDEN_ROUTES.get(path, errors.ForbiddenError)


def _advise(kind: type[errors.ServiceError], sentence: str) -> str:
    """The service's sentence, with what to do next where no service says it."""
    if kind is not errors.GatewayForbiddenError:
        return sentence
    return (
        f"The gateway before the service answered: {sentence.rstrip('.')}. It saw no key that it knows."
        " Look at the profile's address, and store its key with `foldnote profile key NAME`."
    )


def _read_body(answer: ServiceResponse) -> dict[str, Any]:
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        text = answer.body.decode("utf-8", "replace").strip()
        return {"error": _plain(text)} if text else {}
    if isinstance(body, dict):
        return body
    return {"error": body} if isinstance(body, str) else {}


def _plain(text: str) -> str:
    """The words of a page that some proxy answered, at most 300 characters of them."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text)).strip()[:300]


def _sentence(answer: ServiceResponse, body: Mapping[str, Any]) -> str:
    for name in ("error", "message", "detail", "title", "errorMessage"):
        value = body.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, Mapping):
            inner = value.get("message") or value.get("msg")
            if isinstance(inner, str):
                return inner
    return _SENTENCES.get(answer.status, f"The service answered {answer.status} without saying why.")


def _retry_after_s(answer: ServiceResponse, body: Mapping[str, Any]) -> float | None:
    for value in (body.get("retryAfterSeconds"), answer.headers.get("retry-after")):
        try:
            return max(0.0, float(value))  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            continue
    return _seconds_until(answer.headers.get("retry-after"), answer.headers.get("date"))


def _seconds_until(text: str | None, now: str | None) -> float | None:
    """``Retry-After`` as a date, by the service's own clock where it tells it: ours may be wrong."""
    try:
        begin = parsedate_to_datetime(now) if now else datetime.now(UTC)
        return max(0.0, (parsedate_to_datetime(text or "") - begin).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
