"""Redact the API key from a service's answers before anything else reads them.

Some gateways repeat a refused key in their sentence, their headers or the address that they redirect to. From
there it would go into messages, logs, notebooks and pages. What was sent as the key is never news, so here is
the one place where it is covered.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from foldnote.client.core.operations import ServiceResponse

COVER = "[key]"
"""What stands in the key's place."""

_SHORTEST = 12
"""Letters of the shortest key that is looked for: a shorter one may be a word of the answer."""


def cover_key(answer: ServiceResponse, key: str) -> ServiceResponse:
    """The answer without the ``key`` that the question was asked with; empty for none."""
    if len(key) < _SHORTEST:
        return answer
    body, headers = answer.body, dict(answer.headers)
    for form in {key, quote(key, safe="")}:
        body = body.replace(form.encode(), COVER.encode())
        headers = {name: value.replace(form, COVER) for name, value in headers.items()}
    return replace(answer, body=body, headers=headers)
