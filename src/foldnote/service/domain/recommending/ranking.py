"""Rank the tools of the catalog for a task, with reasons, or abstain and say what is missing.

A tool scores for its functions, its modalities, the given inputs that it can use, being named in the task,
and slightly for running here. A tool without any requested function, or for other molecules than those given,
is excluded. There is no trained model; the terms with the largest scores appear in the reason.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from foldnote.models.tool import Tool
from foldnote.service.domain.recommending.detection import FoundMolecule, is_heavy_domain

MAX_ROWS = 4
SPECIALITIES = frozenset(
    {
        "conformational-ensemble",
        "conformational-state",
        "crosslink-guided",
        "enhanced-sampling",
        "fine-tuning",
        "molecular-dynamics",
        "template-guided",
    }
)
"""Functions that count only when requested explicitly."""
PROTEIN_LIKE = frozenset({"protein", "antibody", "nanobody", "tcr", "peptide"})
_MAX_PEPTIDE_LENGTH = 50
_NAMED, _FUNCTION, _FIRST_FUNCTION, _MODALITY, _FITS, _RUNS = 12.0, 4.0, 1.0, 2.0, 1.5, 1.0
_UNASKED = 1.0
_MAX_WORDS = 20_000
"""Number of characters of the prompt that are searched for words."""
_KEPT_SHARE = 0.55
_STRUCTURE_FILES = frozenset({"pdb", "cif", "mmcif"})


@dataclass(frozen=True)
class Task:
    """The interpretation of a task.

    Attributes:
        prompt: the prompt.
        molecules: molecules found in the prompt or given as inputs.
        functions: requested functions of the catalog.
        modalities: modalities that the prompt names or the molecules have.
        possible: modalities that are only possible: a single heavy domain may be a nanobody.
        unserved: requested functions of the vocabulary that no tool of this service performs.
        has_structure: whether the prompt implies that a structure is available.
    """

    prompt: str
    molecules: tuple[FoundMolecule, ...]
    functions: frozenset[str]
    modalities: frozenset[str]
    has_structure: bool
    possible: frozenset[str] = frozenset()
    unserved: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RankedTool:
    """A recommended tool with its reason."""

    tool_id: str
    reason: str
    points: float = field(compare=False, default=0.0)
    functions: tuple[str, ...] = ()
    """The requested functions that the tool has."""
    is_running: bool = False


@dataclass(frozen=True)
class Ranking:
    """The result: tools, best first, or none and what is missing."""

    tools: tuple[RankedTool, ...]
    summary: str

    @property
    def is_abstaining(self) -> bool:
        """Whether no tool is recommended."""
        return not self.tools


def read_task(
    prompt: str, molecules: Iterable[FoundMolecule], roles: Collection[str], tools: Iterable[Tool]
) -> Task:
    """Map the words and molecules of a task to functions and modalities of the catalog."""
    molecule_list = tuple(molecules)
    text = _without_molecules(prompt, molecule_list)
    tool_list = list(tools)
    offered = {term for tool in tool_list for term in tool.functions}
    functions = {term for term in offered if _mentions(term, text)}
    unserved = frozenset(term for term in _known_functions() - offered if _mentions(term, text))
    named_modalities = {term for tool in tool_list for term in tool.modalities if _mentions(term, text)}
    modalities = named_modalities | {kind for molecule in molecule_list for kind in _kinds(molecule)}
    if {*roles} & {"heavy", "light", "antigen"}:
        modalities.add("antibody")
    if "structure-prediction" in functions and _is_complex(molecule_list, roles):
        functions.add("complex-prediction")
    if "protein-protein-docking" in functions:
        functions |= _find_docking(text, modalities)
        if "small-molecule" in modalities and not _partner_pattern().search(text):
            functions.remove("protein-protein-docking")
    has_structure = _structure_pattern().search(text) is not None
    possible = frozenset({"nanobody"} & modalities - named_modalities)
    requested, subjects = frozenset(functions), frozenset(modalities)
    return Task(prompt, molecule_list, requested, subjects, has_structure, possible, unserved)


def _find_docking(text: str, modalities: Collection[str]) -> set[str]:
    """Return small-molecule docking if one is named, or if no word implies protein docking."""
    is_meant = "small-molecule" in modalities or not _partner_pattern().search(text)
    return {"small-molecule-docking"} if is_meant else set()


def _is_complex(molecules: Sequence[FoundMolecule], roles: Collection[str]) -> bool:
    """Return whether several chains are given that are not the two of one antibody."""
    if {*roles} & {"heavy", "light"}:
        return "antigen" in roles
    proteins = [molecule for molecule in molecules if molecule.kind == "protein"]
    return "antigen" in roles or sum(molecule.chains for molecule in proteins) > 1


def advise(task: Task, tools: Sequence[Tool]) -> Ranking:
    """Recommend at most four tools, those that run here first, or none."""
    rows = [row for tool in tools if (row := _judge(task, tool)) is not None]
    rows.sort(key=lambda row: (-row.points, row.tool_id))
    if not rows:
        return Ranking((), _missing(task))
    near = [row for row in rows if row.points >= rows[0].points * _KEPT_SHARE][:MAX_ROWS]
    ranked = _cover(near, rows)
    subject = _describe_molecules(task.molecules)
    summary = f"{ranked[0].tool_id} fits best{f' for {subject}' if subject else ''}."
    running = [row.tool_id for row in ranked if row.is_running]
    if running and not ranked[0].is_running:
        summary += (
            f" It does not run at this service now; {_list(running)} {'does' if len(running) == 1 else 'do'}."
        )
    if task.unserved:
        summary += f" No tool here does {_list(sorted(task.unserved))}."
    return Ranking(tuple(sorted(ranked, key=lambda row: not row.is_running)), summary)


def _cover(close: list[RankedTool], rows: Sequence[RankedTool]) -> tuple[RankedTool, ...]:
    """Select the best tools, including one for each requested function and, if possible, one that runs here.

    Tools needed for this replace the lowest-ranked ones that are not.
    """
    covering = [close[0]]
    for function in dict.fromkeys(term for row in rows for term in row.functions):
        doing = [row for row in rows if function in row.functions]
        for row in (doing[0], next((row for row in doing if row.is_running), doing[0])):
            if not any(
                function in covered.functions and covered.is_running >= row.is_running for covered in covering
            ):
                covering.append(row)
    covering = sorted(covering, key=rows.index)[:MAX_ROWS]
    remaining = [row for row in close if row not in covering][: MAX_ROWS - len(covering)]
    return tuple(sorted([*covering, *remaining], key=rows.index))


def _judge(task: Task, tool: Tool) -> RankedTool | None:
    is_named = _is_named(task.prompt, tool)
    requested = [term for term in tool.functions if term in task.functions]
    if not is_named and (not requested or not _covers(task, tool)):
        return None
    shared = [term for term in tool.modalities if term in task.modalities - task.possible]
    points = _NAMED * is_named + _FUNCTION * len(requested) + _MODALITY * len(shared)
    points -= sum(
        _UNASKED if term in SPECIALITIES else _UNASKED / 4 for term in set(tool.functions) - set(requested)
    )
    points += _FIRST_FUNCTION * (bool(requested) and tool.functions[0] == requested[0])
    points += _modality_fit(task, tool) + _FITS * _input_fit(task, tool) + _RUNS * tool.available
    reason = _reason(task, tool, is_named, requested, shared)
    return RankedTool(tool.type, reason, points, tuple(requested), tool.available)


def _covers(task: Task, tool: Tool) -> bool:
    """Return whether the tool works on the given molecules or, without any, on the named modalities."""
    kinds = {kind for molecule in task.molecules for kind in _kinds(molecule)}
    if kinds & PROTEIN_LIKE:
        kinds |= task.modalities & PROTEIN_LIKE
    works_on = set(tool.modalities)
    if kinds and not kinds & works_on and not ("protein" in works_on and kinds & PROTEIN_LIKE):
        return False
    special = works_on & {"antibody", "nanobody", "tcr"}
    if special and not works_on & {"protein", "peptide"}:
        return bool(special & task.modalities) or not task.modalities
    return True


def _modality_fit(task: Task, tool: Tool) -> float:
    """Score the match of modalities: a specific tool is preferred for its own, a general one otherwise."""
    requested = task.modalities & {"antibody", "nanobody", "tcr"}
    own = set(tool.modalities) & {"antibody", "nanobody", "tcr"}
    return 2.0 if requested & own else -2.0 if requested or own else 0.0


def _input_fit(task: Task, tool: Tool) -> float:
    """Score the required fields: 1 if they can be filled, -1 if a structure is missing."""
    roles, extensions = _needs(tool)
    kinds = {molecule.kind for molecule in task.molecules}
    needs_structure = bool(extensions & _STRUCTURE_FILES)
    if needs_structure:
        return 1.0 if task.has_structure else -1.0
    if kinds & {"protein", "antibody", "nucleic-acid"}:
        return 1.0 if roles & {"sequence", "sequences"} else 0.0
    if "small-molecule" in kinds:
        return 1.0 if roles & {"smiles"} else 0.0
    return 0.0


def _needs(tool: Tool) -> tuple[set[str], set[str]]:
    """Return roles and file extensions of the required fields."""
    properties = tool.settings_schema.get("properties", {})
    required = tool.settings_schema.get("required", [])
    hints = [properties.get(name, {}).get("x-foldnote", {}) for name in required]
    roles = {str(hint.get("role")) for hint in hints if hint.get("role")}
    return roles, {str(extension) for hint in hints for extension in hint.get("extensions", ())}


def _reason(task: Task, tool: Tool, is_named: bool, requested: Sequence[str], shared: Sequence[str]) -> str:
    parts = [tool.description.rstrip(".")]
    if is_named:
        parts.append("you named it")
    if requested:
        parts.append(f"it does what you asked for ({_list(requested)})")
    if shared:
        parts.append(f"it works on {_list(shared)}")
    _, extensions = _needs(tool)
    if extensions & _STRUCTURE_FILES and not task.has_structure:
        parts.append("it needs a structure file")
    parts.append("it runs here" if tool.available else "it does not run at this service now")
    return "; ".join(parts) + "."


def _missing(task: Task) -> str:
    """Explain what is missing for a recommendation."""
    subject = _describe_molecules(task.molecules)
    if task.functions or task.unserved:
        doing = _list(sorted(task.functions | task.unserved))
        return (
            f"No tool here does {doing} for {subject or 'what you describe'}. Say what else would help you."
        )
    if subject:
        return (
            f"Found {subject}, but not what to do with it. Say the task, for example to predict its"
            " structure, to number it, to design sequences, to dock it, or to predict a property."
        )
    return (
        "The text names neither a task nor a molecule. Say what is to be done (for example predict a"
        " structure, number an antibody, design a sequence, predict toxicity), and give a sequence,"
        " a SMILES string or a CCD code."
    )


def _describe_molecules(molecules: Sequence[FoundMolecule]) -> str:
    return _list([_describe(molecule) for molecule in molecules[:3]])


def _describe(molecule: FoundMolecule) -> str:
    if molecule.form in ("SMILES", "CCD code"):
        return f"a small molecule ({molecule.form} {molecule.text[:40]})"
    unit = "nucleotides" if molecule.kind == "nucleic-acid" else "residues"
    chains = f" in {molecule.chains} chains" if molecule.chains > 1 else ""
    kind = {"nucleic-acid": "a nucleic acid", "antibody": "an antibody sequence"}.get(
        molecule.kind, "a protein"
    )
    return f"{kind} of {molecule.length} {unit}{chains}"


def _kinds(molecule: FoundMolecule) -> set[str]:
    """Return the modalities of a molecule."""
    if molecule.kind == "antibody":
        is_single = molecule.chains == 1 and is_heavy_domain(molecule.text)
        return {"antibody", "nanobody"} if is_single else {"antibody"}
    if molecule.kind == "protein" and molecule.length <= _MAX_PEPTIDE_LENGTH:
        return {"protein", "peptide"}
    return {molecule.kind}


def _mentions(term: str, text: str) -> bool:
    pattern = patterns().get(term)
    return pattern is not None and pattern.search(text) is not None


def _without_molecules(prompt: str, molecules: Iterable[FoundMolecule]) -> str:
    """Return the prompt without molecules, so that no sequence is read as a word."""
    text = prompt
    for molecule in molecules:
        if molecule.length > 3:
            text = text.replace(molecule.text, " ")
    return text[:_MAX_WORDS]


def _is_named(prompt: str, tool: Tool) -> bool:
    names = {tool.type, tool.name, tool.display_name, tool.display_name.replace("-", "")}
    return any(
        re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", prompt, re.IGNORECASE) for name in names if name
    )


def _list(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """Return patterns of the words that name each function and modality of the catalog."""
    rows = _read()
    return {term: _compile(text) for term, text in (rows["functions"] | rows["modalities"]).items()}


@cache
def _known_functions() -> frozenset[str]:
    """Return the functions that users may request, whether or not a tool of this service performs them."""
    return frozenset(_read()["functions"])


@cache
def _structure_pattern() -> re.Pattern[str]:
    """Return a pattern of the words that imply that a structure is available."""
    return _compile(_read()["structure"])


@cache
def _partner_pattern() -> re.Pattern[str]:
    """Return a pattern of the words that imply docking of proteins to each other."""
    return _compile(_read()["protein_partners"])


def _compile(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _read() -> dict[str, Any]:
    text = files("foldnote.service.domain.recommending").joinpath("vocabulary.toml").read_text("utf-8")
    return tomllib.loads(text)
