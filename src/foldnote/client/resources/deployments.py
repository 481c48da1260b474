"""Models beyond the catalog: what the account's jobs trained, and tools that an administrator registers."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from foldnote.client.core.connection import Resource
from foldnote.client.core.error_mapping import understand
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
        """The models that the account's jobs made, newest first.

        Raises:
            ServiceError: the service refused.
        """
        return understand(
            read_finetuned_models, (yield from self._connection.ask("GET", "/finetuned-models"))
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
        """Register a command or a container image as a tool; one of the same type is replaced. For admins.

        Args:
            tool_type: identifier of the new tool, in kebab case.
            schema: JSON Schema of its settings; text of format ``binary`` is a file.
            command: program and arguments; it reads ``job.json`` where it runs and writes to ``outputs/``.
            image: a container image whose entry point does the same; either this or ``command``.
            display_name: what people read.
            description: what it does, in a sentence.
            **more: what else the service takes, such as ``family``, ``cores``, ``memoryMb``.

        Raises:
            SettingsError: both or none of command and image were given; nothing was sent.
            ForbiddenError: the key is no administrator's, or registering is off.
            ServiceError: the service refused.
        """
        if (command is None) == (image is None):
            raise SettingsError([Problem(field="command", message="Give either command or image.")])
        given: dict[str, Any] = {
            "type": tool_type,
            "schema": dict(schema),
            "command": None if command is None else builtins.list(command),
            "image": image,
            "displayName": display_name,
            "description": description,
        }
        body = {name: value for name, value in given.items() if value is not None} | more
        answer = yield from self._connection.ask("POST", "/deploy-model", json=body, repeatable=True)
        self._connection.tools = ()  # the catalog is another one now
        return understand(lambda said: read_deployed_tool(said, tool_type), answer)

    @operation
    def registered(self) -> Operation[tuple[RegisteredTool, ...]]:
        """The tools that ``deploy`` registered, the oldest first. For admins.

        Raises:
            ForbiddenError: the key is no administrator's, or registering is off.
            NotFoundError: the service lists none.
            ServiceError: the service refused.
        """
        answer = yield from self._connection.ask("GET", "/deployed-models")
        return understand(read_registered_tools, answer)

    @operation
    def delete(self, tool_type: str) -> Operation[None]:
        """Remove a registered tool. Its waiting jobs end and say why; what it computed stays. For admins.

        Raises:
            BadRequestError: no tool is registered as that.
            ForbiddenError: the key is no administrator's, or registering is off.
            ServiceError: the service refused.
        """
        yield from self._connection.ask("DELETE", "/delete-model", json={"type": tool_type}, repeatable=False)
        self._connection.tools = ()


class Models(SyncApi, ModelsOperations):
    """Models beyond the catalog."""


class AsyncModels(AsyncApi, ModelsOperations):
    """Models beyond the catalog, awaited."""
