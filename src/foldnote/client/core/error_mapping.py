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
"""The meaning of a 403 by route, where the deployment sends no error code."""
_FORBIDDEN_WORDS: tuple[tuple[str, type[errors.ServiceError]], ...] = (
    (r"\bbudget\b", errors.BudgetExceededError),
    (r"weighted hours|\ballowance\b", errors.AllowanceExceededError),
    (r"\b(job|monthly) (limit|quota)\b|\bquota\b|\bjobs (left|remaining)\b", errors.JobLimitError),
    (r"\bunclaimed\b|claim (the|your|this) account", errors.RestrictedRouteError),
)
"""The meaning of a 403 by the words of its message, on any route."""
_REFUSAL_WORDS = ("error", "errorMessage")
_REFUSAL_KEYS = {
    *_REFUSAL_WORDS,
    *("message", "detail", "code", "field", "row", "status", "statusCode", "success", "errorType"),
    *("requestId", "stackTrace", "trace", "timestamp", "path"),
}
_PAGE = re.compile(r"\s*<(!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_CALLS = {
    "PUT /upload": "fn.upload()",
    "send the contents inline": "pass the contents with fn.inline()",
    "GET /tools": "fn.tools()",
    "POST /agent/provision": "fn.provision()",
}
"""Routes in a service's advice, and the notebook calls that replace them."""
_CALL = re.compile("|".join(rf"{re.escape(name)}(?![\w/-])" for name in _CALLS))
_SENTENCES = {
    401: "The service did not accept the key. Store a valid one with `foldnote profile key NAME`.",
    413: "The request is larger than the service accepts.",
    429: "Too many requests in a short time.",
}


def name_calls(sentence: str) -> str:
    """Replace the routes that a service's message advises by the corresponding notebook calls."""
    return _CALL.sub(lambda found: _CALLS[found[0]], sentence)


def read_json(answer: ServiceResponse) -> Any:
    """Read the JSON of a successful answer; plain text where a deployment answers with plain text.

    Raises:
        ServiceError: the service refused.
        ProtocolError: the answer is a redirect or a web page.
    """
    if answer.status >= 400:
        raise make_error(answer)
    if answer.status >= 300:
        where = answer.headers.get("location", "nowhere").partition("?")[0]  # the query may contain a secret
        raise errors.ProtocolError(
            f"The service redirects to {where}. The key was not sent"
            " there; if that is the right address, set it as the profile's base_url."
        )
    try:
        return from_json(answer.body)  # faster than json for lists of thousands of jobs
    except ValueError:  # perhaps invalid UTF-8
        text = answer.body.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        pass
    if _PAGE.match(text):
        raise errors.ProtocolError(
            f"The service answered with a web page: {_strip_html(text) or '(empty)'}. Check that this is the"
            " address of a job service, and that no sign-in page stands in front of it."
        )
    return text.strip()


def find_hidden_error(body: Any) -> Mapping[str, Any] | None:
    """Return the error that an answer with status 200 contains, as some gateways send it; None otherwise."""
    fields = read_hidden_json(body)
    if not isinstance(fields, Mapping) or not fields.keys() <= _REFUSAL_KEYS:
        return None
    is_one = fields.get("success") is False or any(fields.get(name) for name in _REFUSAL_WORDS)
    return fields if is_one else None


def find_hidden_status(body: Mapping[str, Any]) -> int:
    """Return the HTTP status that a refusal inside an answer with status 200 should have had."""
    status = next((body[name] for name in ("statusCode", "status") if isinstance(body.get(name), int)), 0)
    if status >= 400:
        return status
    return 502 if "errorMessage" in body else 400  # errorMessage: a serverless function crashed


def parse_response(read: Callable[[Any], T], answer: Any) -> T:
    """Parse an answer with ``read``.

    Raises:
        ProtocolError: the answer does not have a shape that the interface or a known deployment uses.
    """
    try:
        return read(answer)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as exc:
        raise errors.ProtocolError(
            f"The service's answer has an unknown format ({type(exc).__name__})."
            " Is this the address of a job service?"
        ) from exc


def make_error(answer: ServiceResponse, path: str = "") -> errors.ServiceError:
    """Map an error response on ``path`` to its exception."""
    body = _read_body(answer)
    code = body.get("code") if isinstance(body.get("code"), str) else None
    sentence = _find_message(answer, body)
    kind = _choose_error(answer.status, code, body)
    if kind is errors.ForbiddenError and code is None:
        kind = _choose_forbidden_error(sentence, path, body)
    field, row = body.get("field"), body.get("row")
    return kind(
        _add_advice(kind, sentence),
        status=answer.status,
        code=code,
        field=field if isinstance(field, str) else None,
        row=row if isinstance(row, int) else None,
        body=body,
        retry_after_s=_retry_after_s(answer, body),
    )


def make_key_error(refused: errors.ServiceError, sentence: str) -> errors.UnauthorizedError:
    """Return a refusal of the key, also one by a gateway, with a more helpful sentence."""
    return errors.UnauthorizedError(sentence, status=refused.status, code=refused.code, body=refused.body)


def _choose_error(status: int, code: str | None, body: Mapping[str, Any]) -> type[errors.ServiceError]:
    if code in _BY_CODE:
        return _BY_CODE[code]
    if status == 403 and "estimatedWeightedHours" in body:
        return errors.AllowanceExceededError
    if status >= 500:
        return errors.ServiceFaultError
    return _BY_STATUS.get(status, errors.ServiceError)


def _choose_forbidden_error(sentence: str, path: str, body: Mapping[str, Any]) -> type[errors.ServiceError]:
    """Choose the exception of a 403 without a code: by its words, a gateway's bare body, or the route."""
    for words, kind in _FORBIDDEN_WORDS:
        if re.search(words, sentence, re.IGNORECASE):
            return kind
    if set(body) == {"message"}:
        return errors.GatewayForbiddenError
    return _FORBIDDEN_ROUTES.get(path, errors.ForbiddenError)


def _add_advice(kind: type[errors.ServiceError], sentence: str) -> str:
    """Return the service's message, completed with advice, and with notebook calls in place of routes."""
    if kind is not errors.GatewayForbiddenError:
        return name_calls(sentence)
    return (
        f"The gateway in front of the service answered: {sentence.rstrip('.')}. It did not recognise the key."
        " Check the profile's address, and store its key with `foldnote profile key NAME`."
    )


def _read_body(answer: ServiceResponse) -> dict[str, Any]:
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        text = answer.body.decode("utf-8", "replace").strip()
        return {"error": _strip_html(text)} if text else {}
    if isinstance(body, dict):
        return body
    return {"error": body} if isinstance(body, str) else {}


def _strip_html(text: str) -> str:
    """Return the text of an HTML page, such as a proxy's, cut to 300 characters."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text)).strip()[:300]


def _find_message(answer: ServiceResponse, body: Mapping[str, Any]) -> str:
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
    return _SENTENCES.get(
        answer.status, f"The service answered with status {answer.status} and gave no reason."
    )


def _retry_after_s(answer: ServiceResponse, body: Mapping[str, Any]) -> float | None:
    for value in (body.get("retryAfterSeconds"), answer.headers.get("retry-after")):
        try:
            return max(0.0, float(value))  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            continue
    return _seconds_until(answer.headers.get("retry-after"), answer.headers.get("date"))


def _seconds_until(text: str | None, now: str | None) -> float | None:
    """Return the seconds until a ``Retry-After`` date, by the service's ``Date`` header where it has one."""
    try:
        begin = parsedate_to_datetime(now) if now else datetime.now(UTC)
        return max(0.0, (parsedate_to_datetime(text or "") - begin).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
