"""Models beyond the catalog: fine-tuned by the account's jobs, or registered as tools by administrators."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from foldnote.client.core.connection import Resource
from foldnote.client.core.error_mapping import parse_response
from foldnote.client.core.operations import AsyncApi, Operation, SyncApi, operation
from foldnote.errors import SettingsError
from foldnote.models import Problem
from foldnote.models.deployed import (
    DeployedTool,
    FinetunedModel,
    RegisteredTool,
    read_deployed_tool,
    read_finetuned_models,
    read_registered_tools,
)


class ModelsOperations(Resource):
    """GET /finetuned-models; POST /deploy-model, GET /deployed-models, DELETE /delete-model."""

    @operation
    def list(self) -> Operation[tuple[FinetunedModel, ...]]:
        """Get the models that the account's jobs fine-tuned, newest first.

        Raises:
            ServiceError: the service refused.
        """
        return parse_response(
            read_finetuned_models, (yield from self._connection.request("GET", "/finetuned-models"))
        )

    @operation
    def deploy(
        self,
        /,
        tool_type: str,
        schema: Mapping[str, Any],
        *,
        command: Sequence[str] | None = None,
        image: str | None = None,
        display_name: str | None = None,
        description: str | None = None,
        **more: Any,
    ) -> Operation[DeployedTool]:
        """Register a command or container image as a tool, replacing any of the same type (administrators).

        Args:
            tool_type: identifier of the new tool, in kebab case.
            schema: JSON Schema of its settings; a string of format ``binary`` is a file.
            command: program and arguments; it reads ``job.json`` in its working directory and writes to
                ``outputs/``.
            image: a container image whose entry point does the same; give either this or ``command``.
            display_name: name shown to users.
            description: what it does, in one sentence.
            **more: other fields of the request, such as ``family``, ``cores``, ``memoryMb`` (MB).

        Raises:
            SettingsError: not exactly one of command and image was given; nothing was sent.
            ForbiddenError: the key is not an administrator's, or registration is disabled.
            ServiceError: the service refused.
        """
        if (command is None) == (image is None):
            raise SettingsError([Problem(field="command", message="Give either command or image.")])
        fields: dict[str, Any] = {
            "type": tool_type,
            "schema": dict(schema),
            "command": None if command is None else builtins.list(command),
            "image": image,
            "displayName": display_name,
            "description": description,
        }
        body = {name: value for name, value in fields.items() if value is not None} | more
        answer = yield from self._connection.request("POST", "/deploy-model", json=body, repeatable=True)
        self._connection.tools = ()  # the catalog has changed
        return parse_response(lambda receipt: read_deployed_tool(receipt, tool_type), answer)

    @operation
    def registered(self) -> Operation[tuple[RegisteredTool, ...]]:
        """Get the registered tools, oldest first. Administrators only.

        Raises:
            ForbiddenError: the key is not an administrator's, or registration is disabled.
            NotFoundError: the service has no such route.
            ServiceError: the service refused.
        """
        answer = yield from self._connection.request("GET", "/deployed-models")
        return parse_response(read_registered_tools, answer)

    @operation
    def delete(self, tool_type: str) -> Operation[None]:
        """Remove a registered tool. Its queued jobs end with an error; its results stay. Administrators only.

        Raises:
            BadRequestError: no such tool is registered.
            ForbiddenError: the key is not an administrator's, or registration is disabled.
            ServiceError: the service refused.
        """
        yield from self._connection.request(
            "DELETE", "/delete-model", json={"type": tool_type}, repeatable=False
        )
        self._connection.tools = ()


class Models(SyncApi, ModelsOperations):
    """Models beyond the catalog (synchronous)."""


class AsyncModels(AsyncApi, ModelsOperations):
    """Models beyond the catalog (asynchronous)."""
