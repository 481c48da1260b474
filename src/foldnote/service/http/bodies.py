"""Read request bodies with limits, parse strict JSON (by pydantic_core), and validate it as a model.

JSON may be nested at most 64 levels deep, with a limited number of values and only finite numbers.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from foldnote.models.extensions import KEYS
from foldnote.service.domain.requests import EMAIL_PATTERN, IMAGE_PATTERN, TOOL_PATTERN
from foldnote.service.faults import RefusalError, bad_request, too_large
from foldnote.text import join_words

MAX_DEPTH = 64
MAX_CONTAINERS = 50_000
MAX_VALUES = 250_000
_BLOCK_BYTES = 1 << 16
_UNCOUNTED = bytes(set(range(256)) - set(b'",{['))
_LARGE_BYTES = 256 * 1024
_ROWS = frozenset({"settings", "jobs", "jobNames", "ligands"})
"""Fields of bodies with one element per row of a batch."""
_WORDS = {
    "string_type": "this must be text",
    "bool_type": "this must be true or false",
    "dict_type": "this must be an object",
    "model_type": "this must be an object",
    "list_type": "this must be an array",
    "int_type": "this must be a whole number",
    "int_parsing": "this must be a whole number",
    "int_parsing_size": "this number is too large",
    "int_from_float": "this must be a whole number",
    "float_type": "this must be a number",
    "greater_than": "this must be more than {gt:.10g}",
    "greater_than_equal": "this must be at least {ge:.10g}",
    "less_than_equal": "this must be at most {le:.10g}",
    "string_too_long": "this may have at most {max_length} characters",
    "too_short": "this must have {min_length} or more items",
    "too_long": "this may have at most {max_length} items",
    "literal_error": "this must be {expected}",
    "value_error": "{error}",
    "extra_forbidden": f"unknown key; allowed keys are {join_words(KEYS, 'and')}",
}
"""Messages that replace pydantic's, by type of error; names in braces are keys of the error's context."""
_PATTERNS = {
    EMAIL_PATTERN: "this must be an email address",
    TOOL_PATTERN: "this must be 1 to 63 of a-z, 0-9 and '-', and begin with a letter or digit",
    IMAGE_PATTERN: "this must be the name of a container image, such as registry.example/tool:1",
}
BodyModel = TypeVar("BodyModel", bound=BaseModel)


async def read_chunks(
    request: Request, limit_bytes: int, refuse: Callable[[int], Exception] = too_large
) -> AsyncIterator[bytes]:
    """Yield the body in chunks; refuse it at once if its declared length exceeds the limit.

    Raises:
        RefusalError: 413, or the exception that `refuse` creates for the limit.
    """
    require_length(request, limit_bytes, refuse)
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit_bytes:
            raise refuse(limit_bytes)
        if chunk:
            yield chunk


def require_length(request: Request, limit_bytes: int, refuse: Callable[[int], Exception]) -> None:
    """Accept a request whose declared length is within the limit, or that declares none.

    Raises:
        RefusalError: the exception that `refuse` creates for the limit.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:19]) > limit_bytes:
        raise refuse(limit_bytes)


async def read_json(
    request: Request, limit_bytes: int, refuse: Callable[[int], Exception] = too_large
) -> Any:
    """Read the body as a JSON value.

    Raises:
        RefusalError: 413 above the limit, 400 for anything that is not strict JSON.
    """
    content = b"".join([chunk async for chunk in read_chunks(request, limit_bytes, refuse)])
    if len(content) > _LARGE_BYTES:
        return await run_in_threadpool(parse_json, content)
    return parse_json(content)


def parse_json(content: bytes) -> Any:
    """Parse strict JSON.

    Raises:
        RefusalError: 400, with the reason.
    """
    if not content.strip():
        raise bad_request("The request needs a JSON body.", code="invalid_json")
    _require_few_values(content)
    try:
        value = from_json(content.removeprefix(codecs.BOM_UTF8), allow_inf_nan=False)
    except ValueError as exc:
        raise bad_request(f"The body is not JSON: {exc}.", code="invalid_json") from exc
    _check_value(value)
    return value


def _require_few_values(content: bytes) -> None:
    """Limit the number of values before parsing, since three bytes can become an object of sixty.

    Commas and brackets within strings, such as those of a table, do not count.
    """
    if _has_few_values(content) or _has_few_values(outside_of_texts(content)):
        return
    sentence = f"The body has more than {MAX_VALUES} values or {MAX_CONTAINERS} objects and arrays."
    raise bad_request(sentence, code="invalid_json")


def outside_of_texts(content: bytes) -> bytes:
    """Return the commas and opening brackets outside of strings; escaped quotes are removed first."""
    unescaped = content.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _UNCOUNTED)
    outside, is_text = bytearray(), 0
    for start in range(0, len(unescaped), _BLOCK_BYTES):
        parts = unescaped[start : start + _BLOCK_BYTES].split(b'"')
        outside += b"".join(parts[is_text::2])
        is_text ^= (len(parts) - 1) & 1
    return bytes(outside)


def _has_few_values(content: bytes) -> bool:
    return content.count(b",") <= MAX_VALUES and content.count(b"{") + content.count(b"[") <= MAX_CONTAINERS


def _check_value(value: Any) -> None:
    """Refuse excessive nesting and numbers that a float cannot represent, without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        following: list[Any] = []
        for item in level:
            if isinstance(item, float) and not math.isfinite(item):
                raise bad_request("A number in the body is too large.", code="invalid_json")
            if isinstance(item, dict):
                following.extend(item.values())
            elif isinstance(item, list):
                following.extend(item)
        if not following:
            return
        level = following
    raise bad_request(f"The body is nested deeper than {MAX_DEPTH} levels.", code="invalid_json")


def read_model(value: Any, model: type[BodyModel]) -> BodyModel:
    """Validate the body as its model, without coercion.

    Raises:
        RefusalError: 400, naming the first invalid field.
    """
    if not isinstance(value, dict):
        raise bad_request("The body must be a JSON object.", code="invalid_body")
    try:
        return model.model_validate(value, strict=True)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        message = _describe(first["type"], first["msg"], first.get("ctx", {}))
        raise field_refusal(field, first["type"], message, row=_row_of(first["loc"])) from exc


def _row_of(path: Sequence[int | str]) -> int | None:
    """Return the row of a batch to which the path of a validation error belongs."""
    match path:
        case [str(name), int(row), *_] if name in _ROWS:
            return row
    return None


def parameter_refusal(problem: Mapping[str, Any]) -> RefusalError:
    """Build the refusal (400) for a validation error in a path or query parameter."""
    field = str(problem["loc"][-1])
    message = _describe(problem["type"], problem["msg"], problem.get("ctx", {}))
    return field_refusal(field, problem["type"], message)


def field_refusal(field: str, kind: str, message: str, *, row: int | None = None) -> RefusalError:
    """Build the refusal (400) for one field of a body or query; `message` follows its name."""
    if kind == "extra_forbidden":
        return bad_request(f"{field}: {message}.", code="unknown_field", field=field, row=row)
    if kind == "missing":
        return bad_request(f"{field} is required.", code="missing_field", field=field, row=row)
    return bad_request(f"{field}: {message}.", code="invalid_field", field=field, row=row)


def _describe(kind: str, message: str, context: Mapping[str, Any]) -> str:
    """Return the message for a pydantic error, to follow the field's name; pydantic's own by default."""
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(context["pattern"], f"this must match {context['pattern']}")
    template = _WORDS.get(kind)
    return message[:1].lower() + message[1:] if template is None else template.format(**context)
