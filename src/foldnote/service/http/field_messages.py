"""What is wrong with one field of a request, in plain words; the checks themselves are in `requests.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.service.domain.requests import EMAIL_PATTERN, IMAGE_PATTERN, TOOL_PATTERN

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
    "too_short": "this must have at least {min_length} of them",
    "too_long": "this may have at most {max_length} of them",
    "literal_error": "this must be {expected}",
    "value_error": "{error}",
}
"""What is said instead of pydantic's words, which are Python's; in braces what its context holds."""
_PATTERNS = {
    EMAIL_PATTERN: "this must be an email address",
    TOOL_PATTERN: "this must be 1 to 63 of a-z, 0-9 and '-', and begin with a letter or digit",
    IMAGE_PATTERN: "this must be the name of a container image, such as registry.example/tool:1",
}


def tell(kind: str, message: str, context: Mapping[str, Any]) -> str:
    """The fault that a model found, as what follows the field's name; `message` where there is no word."""
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(context["pattern"], f"this must match {context['pattern']}")
    words = _WORDS.get(kind)
    return message[:1].lower() + message[1:] if words is None else words.format(**context)
