"""The model router: which tools fit a task that is described in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foldnote.client.core.connection import Resource
from foldnote.client.core.error_mapping import understand
from foldnote.client.core.operations import AsyncApi, Operation, SyncApi, operation
from foldnote.errors import SettingsError
from foldnote.models import Problem, Recommendation, read_recommendation

_TIMEOUT_S = 60.0  # an answer takes 15 to 25 seconds at a deployment
_KINDS = ("sequence", "smiles", "ccd")
_ROLES = ("heavy", "light", "antigen", "target", "enzyme")


class RouterOperations(Resource):
    """POST /model-router."""

    @operation
    def ask(self, prompt: str, inputs: Iterable[Mapping[str, str]] = ()) -> Operation[Recommendation]:
        """The tools that fit a task described in words, best first; it may take half a minute.

        Args:
            prompt: what is wanted; sequences in it are used.
            inputs: molecules, each with one of ``sequence``, ``smiles`` and ``ccd``, and perhaps a ``role``:
                ``heavy``, ``light``, ``antigen``, ``target`` or ``enzyme``.

        Raises:
            SettingsError: the prompt is empty, or an input is none; nothing was sent.
            RouterDisabledError: the service recommends nothing to this account.
            ServiceError: the service refused.
            TransportError: no answer came.
        """
        molecules = _check(prompt, inputs)
        body = {"prompt": prompt} | ({"inputs": molecules} if molecules else {})
        answer = yield from self._connection.ask(
            "POST", "/model-router", json=body, repeatable=True, timeout_s=_TIMEOUT_S
        )
        return understand(read_recommendation, answer)


def _check(prompt: str, inputs: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """The inputs, where all of them are molecules.

    Raises:
        SettingsError: one is none, or there is no prompt.
    """
    has_prompt = isinstance(prompt, str) and bool(prompt.strip())
    problems = [] if has_prompt else [Problem(field="prompt", message="Describe the task in words.")]
    is_list = isinstance(inputs, Iterable) and not isinstance(inputs, str | Mapping)
    listed = list(inputs) if is_list else [None]
    if not all(isinstance(given, Mapping) for given in listed):
        told = 'Give a list of molecules, such as [{"sequence": "EVQL…", "role": "heavy"}].'
        raise SettingsError([*problems, Problem(field="inputs", message=told)])
    molecules = [dict(given) for given in listed if given is not None]
    for position, given in enumerate(molecules):
        kinds = [kind for kind in _KINDS if given.get(kind)]
        if len(kinds) != 1 or given.keys() - {*_KINDS, "role"}:
            told = "Give exactly one of sequence, smiles and ccd, and perhaps a role."
            problems.append(Problem(field=f"inputs[{position}]", message=told))
        elif given.get("role", _ROLES[0]) not in _ROLES:
            told = f"{given['role']!r} is no role. Roles are {', '.join(_ROLES)}."
            problems.append(Problem(field=f"inputs[{position}].role", message=told))
    if problems:
        raise SettingsError(problems)
    return molecules


class Router(SyncApi, RouterOperations):
    """The service's recommendations."""


class AsyncRouter(AsyncApi, RouterOperations):
    """The service's recommendations, awaited."""
