"""Functions shared by all routes: declare responses, read bodies and parameters, find the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

from foldnote.models.verdict import ErrorBody
from foldnote.models.wire import WireModel
from foldnote.service.composition import Service
from foldnote.service.disk import require_space
from foldnote.service.domain.requests import RequestBody
from foldnote.service.http.bodies import parameter_refusal, read_json, read_model
from foldnote.service.store.accounts.accounts import Caller

STATUS_DESCRIPTIONS = {
    400: "Invalid request; `field` names the invalid field.",
    401: "The key is missing or invalid.",
    403: "Not allowed.",
    404: "Not found.",
    413: "The body is too large.",
    429: "Too many requests; retry after `retryAfterSeconds`.",
    500: "The service failed.",
    503: "Temporarily unavailable.",
    507: "The disk of the service is full.",
}
BodyModel = TypeVar("BodyModel", bound=RequestBody)
DECLARED_BODIES: dict[str, type[BaseModel]] = {}
ResponseDeclarations = dict[int | str, dict[str, Any]]


class Message(WireModel):
    """A response with a message only."""

    message: str
    """A sentence on the result of the request."""


def find_service(request: Request) -> Service:
    """Return the service of the application."""
    service: Service = request.app.state.service
    return service


async def _find_service(request: Request) -> Service:  # FastAPI calls other functions in a thread
    return find_service(request)


CurrentService = Annotated[Service, Depends(_find_service)]
"""The service of the application."""


def error_responses(*statuses: int) -> ResponseDeclarations:
    """Declare the errors of a route, in addition to those of every route."""
    return {
        status: {"model": ErrorBody, "description": STATUS_DESCRIPTIONS[status]}
        for status in sorted({*statuses, 500, 503, 507})
    }


def keyed_errors(*statuses: int) -> ResponseDeclarations:
    """Declare the errors of a route that needs a key."""
    return error_responses(401, 429, *statuses)


def success_response(model: Any, description: str, status: int = 200) -> ResponseDeclarations:
    """Declare the successful response of a route."""
    return {status: {"model": model, "description": description}}


def json_body(model: type[RequestBody], *more_types: str) -> dict[str, Any]:
    """Declare a JSON body that the route reads itself, after checking the key and with a limit."""
    DECLARED_BODIES[model.__name__] = model
    schema = {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
    content = dict.fromkeys(("application/json", *more_types), schema)
    return {"requestBody": {"required": True, "content": content}}


def json_body_of_any(*models: type[RequestBody], has_others: bool = False) -> dict[str, Any]:
    """Declare a JSON body of one of several forms; with `has_others`, other bodies are accepted, too."""
    DECLARED_BODIES.update({model.__name__: model for model in models})
    forms = [{"$ref": f"#/components/schemas/{model.__name__}"} for model in models]
    others = [{"description": "Anything else; the response lists the problems."}]
    schema = {"anyOf": [*forms, *(others if has_others else [])]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def query_parameters(model: type[RequestBody]) -> dict[str, Any]:
    """Declare query parameters that the route reads itself, as one model."""
    fields = model.model_json_schema()["properties"]
    return {
        "parameters": [
            {"name": name, "in": "query", "required": False, "schema": schema}
            for name, schema in fields.items()
        ]
    }


def read_query(request: Request, model: type[BodyModel]) -> BodyModel:
    """Read the query parameters.

    Raises:
        RefusalError: 400, naming the first invalid one.
    """
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as exc:
        problem = exc.errors(include_url=False, include_input=False)[0]
        raise parameter_refusal(problem) from exc


async def read_small_body(request: Request, service: Service, model: type[BodyModel]) -> BodyModel:
    """Read the body of a route with a few fields.

    Raises:
        RefusalError: 413 above the limit, 400 naming the invalid field.
    """
    return read_model(await read_json(request, service.config.limits.small_body_bytes), model)


async def read_submission(request: Request, service: Service, model: type[BodyModel]) -> BodyModel:
    """Read the body of a route that stores it, including inline files.

    Raises:
        RefusalError: 413 above the limit, 400 naming the invalid field, 507 without disk space.
    """
    body = read_model(await read_json(request, service.config.limits.submission_bytes), model)
    require_space(service.config)
    return body


async def read_jobs(request: Request, service: Service, model: type[BodyModel]) -> BodyModel:
    """Read the body of a route that queues jobs.

    Raises:
        RefusalError: as `read_submission`, and 503 while the service is draining.
    """
    service.draining.require_off()
    return await read_submission(request, service, model)


def queued_response(subject: str, **fields: object) -> JSONResponse:
    """Build the response to a submission: a message, further fields, and the status."""
    return JSONResponse({"message": f"{subject} submitted to queue.", **fields, "status": "In Queue"})


def absolute_url(request: Request, service: Service, path: str) -> str:
    """Return the URL of a path at this service, with the prefix of the request."""
    base = service.config.public_url or str(request.base_url)
    return base.rstrip("/") + path


def visible_accounts(
    service: Service, caller: Caller, job_email: str | None, *, has_organization: bool = False
) -> tuple[int, ...]:
    """Return the requested accounts that the caller may see; none for an address of another organization."""
    if job_email is None and not has_organization:
        return (caller.account_id,)
    members: Mapping[str, int] = {}
    if caller.organization_id is not None:
        members = service.store.accounts.members(caller.organization_id)
    account_ids = {caller.email: caller.account_id, **members}
    if job_email is None:
        return tuple(account_ids.values())
    alike = {email.lower(): account_id for email, account_id in account_ids.items()}
    owner = account_ids.get(job_email, alike.get(job_email.lower()))
    return () if owner is None else (owner,)
