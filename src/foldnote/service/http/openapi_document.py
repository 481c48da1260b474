"""The OpenAPI document, with bodies that routes read themselves and without responses they never send."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from foldnote.service.domain.access.gate import HEADER
from foldnote.service.http.routes.responses import DECLARED_BODIES

INTERFACE_VERSION = "1.0.0"
_REFERENCE = "#/components/schemas/{model}"
_OPEN_PATHS = frozenset({"/tools.json", "/healthz", "/agent/provision", "/claim"})
_OPEN_PREFIXES = ("/download/", "/presigned/")


def build_document(app: FastAPI) -> dict[str, Any]:
    """Build the document, once per application."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            routes=app.routes,
            servers=[{"url": "/"}, {"url": "/v1"}, {"url": "/api"}],
        )
        _add_bodies(document)
        _drop_automatic_errors(document)
        _declare_keys(document)
        app.openapi_schema = document
    return app.openapi_schema


def _add_bodies(document: dict[str, Any]) -> None:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name, model in DECLARED_BODIES.items():
        schema = model.model_json_schema(ref_template=_REFERENCE)
        schemas |= schema.pop("$defs", {})
        schemas[name] = schema


def _drop_automatic_errors(document: dict[str, Any]) -> None:
    """Remove FastAPI's 422 for parameters, for which this service answers 400."""
    for operation in _operations(document):
        operation["responses"].pop("422", None)
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)


def _declare_keys(document: dict[str, Any]) -> None:
    scheme = {"type": "apiKey", "in": "header", "name": HEADER}
    document["components"]["securitySchemes"] = {"apiKey": scheme}
    for path, item in document["paths"].items():
        if path not in _OPEN_PATHS and not path.startswith(_OPEN_PREFIXES):
            for operation in item.values():
                operation["security"] = [{"apiKey": []}]


def _operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for item in document["paths"].values() for operation in item.values()]
