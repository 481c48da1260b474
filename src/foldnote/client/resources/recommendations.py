"""The model router: recommends tools for a task described in prose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foldnote.client.core.connection import Resource
from foldnote.client.core.error_mapping import parse_response
from foldnote.client.core.operations import AsyncApi, Operation, SyncApi, operation
from foldnote.errors import SettingsError
from foldnote.models import Problem, Recommendation, read_recommendation

_TIMEOUT_S = 60.0  # one deployment takes 15 to 25 s to answer
_KINDS = ("sequence", "smiles", "ccd")
_ROLES = ("heavy", "light", "antigen", "target", "enzyme")


class RouterOperations(Resource):
    """POST /model-router."""

    @operation
    def ask(self, prompt: str, inputs: Iterable[Mapping[str, str]] = ()) -> Operation[Recommendation]:
        """Recommend tools for a task described in prose, best first; may take half a minute.

        Args:
            prompt: the task; sequences in it are used.
            inputs: molecules, each with one of ``sequence``, ``smiles`` and ``ccd``, and optionally a
                ``role``: ``heavy``, ``light``, ``antigen``, ``target`` or ``enzyme``.

        Raises:
            SettingsError: the prompt is empty, or an input is invalid; nothing was sent.
            RouterDisabledError: the service does not offer recommendations to this account.
            ServiceError: the service refused.
            TransportError: no answer was received.
        """
        molecules = _check(prompt, inputs)
        body = {"prompt": prompt} | ({"inputs": molecules} if molecules else {})
        answer = yield from self._connection.request(
            "POST", "/model-router", json=body, repeatable=True, timeout_s=_TIMEOUT_S
        )
        return parse_response(read_recommendation, answer)


def _check(prompt: str, inputs: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Validate prompt and inputs; returns the inputs for the request.

    Raises:
        SettingsError: an input is invalid, or the prompt is empty.
    """
    has_prompt = isinstance(prompt, str) and bool(prompt.strip())
    problems = [] if has_prompt else [Problem(field="prompt", message="Describe the task.")]
    is_list = isinstance(inputs, Iterable) and not isinstance(inputs, str | Mapping)
    listed = list(inputs) if is_list else [None]
    if not all(isinstance(molecule, Mapping) for molecule in listed):
        message = 'Give a list of molecules, such as [{"sequence": "EVQL…", "role": "heavy"}].'
        raise SettingsError([*problems, Problem(field="inputs", message=message)])
    molecules = [dict(molecule) for molecule in listed if molecule is not None]
    for position, molecule in enumerate(molecules):
        kinds = [kind for kind in _KINDS if molecule.get(kind)]
        if len(kinds) != 1 or molecule.keys() - {*_KINDS, "role"}:
            message = "Give exactly one of sequence, smiles and ccd, and optionally a role."
            problems.append(Problem(field=f"inputs[{position}]", message=message))
        elif molecule.get("role", _ROLES[0]) not in _ROLES:
            message = f"{molecule['role']!r} is not a role. The roles are {', '.join(_ROLES)}."
            problems.append(Problem(field=f"inputs[{position}].role", message=message))
    if problems:
        raise SettingsError(problems)
    return molecules


class Router(SyncApi, RouterOperations):
    """The service's recommendations (synchronous)."""


class AsyncRouter(AsyncApi, RouterOperations):
    """The service's recommendations (asynchronous)."""
