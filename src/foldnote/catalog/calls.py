"""Parse calls of tools in the code of a cell, without running it, and write the form of each call.

A setting is known if it is a literal or a variable that the cell itself assigns before the call. A variable
of another cell becomes ``fn.variable``, which reads the stored value. Computed settings are listed as unread.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from foldnote.catalog.bundle import list_types, read_tool
from foldnote.catalog.functions import find_python_name, read_arguments
from foldnote.errors import ArgumentError

MAX_CELL_LENGTH: Final = 2_000_000
"""Maximum length of a cell in characters."""
_MAX_PARTS: Final = 200_000
"""Maximum number of parts of an expression that are read, a limit for nested lists."""

_SUBMITTING_FUNCTIONS: Final = ("submit", "quote", "validate", "submit_batch")
TAKEN: Final = ("job_name", "label", "profile")
"""Arguments of ``fn.submit``, other than settings, that ``fn.form`` also accepts."""
LEFT: Final = ("project_tag", "extensions", "webhook", "max_runtime_s", "weighted_hours_budget", "again")
"""Arguments of ``fn.submit`` that ``fn.form`` does not accept."""
TABLE: Final = ("columns", "names", "sheet", "sweep", "on_failure", "retries")
"""Arguments of ``fn.submit_batch`` that ``form.add_table`` also accepts."""
LEFT_OF_BATCHES: Final = ("batch_name", "preview", "ask")
"""Arguments of ``fn.submit_batch`` that neither accepts."""

_NO_CALL = (
    "This cell submits no job: it has none of fn.submit, fn.submit_batch, fn.quote, fn.validate and functions"
    " of tools, such as fn.tools.anarci."
)


@dataclass(frozen=True, slots=True)
class FormCell:
    """A cell that shows the form of one call."""

    label: str
    """Tool and line of the call, to choose it from a list."""
    code: str
    unread: tuple[str, ...]
    """Arguments that the form lacks, each with the reason."""


def read_form_cells(source: str) -> tuple[FormCell, ...]:
    """Return the form of each call of a tool in a cell, in the order of the calls.

    Args:
        source: the cell; lines with magics and shell commands are skipped.

    Raises:
        ArgumentError: the cell is not Python, has no such call, or has none whose tool is known without
            running it.
    """
    if len(source) > MAX_CELL_LENGTH:
        raise ArgumentError("This cell is too long to be read.")
    try:
        module = ast.parse(_skip_magics(source))
        reader = _CellReader(module)
        calls = reader.calls
    except SyntaxError as exc:
        raise ArgumentError(f"This cell is not valid Python: line {exc.lineno}, {exc.msg}.") from exc
    except (ValueError, RecursionError, MemoryError) as exc:
        raise ArgumentError("This cell cannot be read as Python.") from exc
    if not calls:
        raise ArgumentError(_NO_CALL)
    cells, faults = [], []
    for call in calls:
        try:
            cells.append(reader.write(call))
        except _UnreadError as exc:
            faults.append(f"The tool of the call in line {call.node.lineno} {exc}.")
        except RecursionError:
            faults.append(f"The call in line {call.node.lineno} is too deeply nested to be read.")
    if not cells:
        raise ArgumentError(faults[0])
    return tuple(cells)


Position = tuple[float, int]
"""Line and column."""


class _UnreadError(Exception):
    """A value cannot be read without running the cell; the message is the end of a sentence about it."""


@dataclass(frozen=True, slots=True)
class _Code:
    """A value that is inserted as source code."""

    text: str

    def __repr__(self) -> str:
        return self.text


class _Binding(NamedTuple):
    """A place where a cell assigns a value to a name."""

    position: Position
    value: ast.expr | None
    """The assigned expression; None unless the cell contains a plain assignment."""


@dataclass(slots=True)
class _Call:
    node: ast.Call
    function: str
    """Name of the called function, such as ``submit`` or ``tools.anarci``."""
    position: Position
    """Where the call reads variables: for a call in a function, the end of the cell."""
    is_client: bool = False
    """Whether it is a method of a client, which takes the settings as one mapping."""


@dataclass(slots=True)
class _Draft:
    """The parts of one call that were read."""

    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    table: dict[str, Any] = field(default_factory=dict)
    """Arguments of ``form.add_table``; the table itself is ``""``."""
    unread: list[str] = field(default_factory=list)


class _CellReader:
    """The names and calls of one cell."""

    def __init__(self, module: ast.Module) -> None:
        self._bindings: dict[str, list[_Binding]] = {}
        self._loads: dict[str, list[Position]] = {}
        self._modules = {"fn", "foldnote"}
        self._functions: dict[str, str] = {}
        self._module = module
        self._parts = 0
        plain = {id(each): each for each in module.body}
        for node in ast.walk(module):
            self._note(node, id(node) in plain)
        self._modules -= {name for name in ("fn", "foldnote") if name in self._bindings}
        self._calls = sorted(self._find_calls(), key=lambda call: _get_position(call.node))
        self._own = {
            _get_position(each)
            for call in self._calls
            for each in ast.walk(call.node)
            if isinstance(each, ast.Name)
        }
        self._limit: Position = (math.inf, 0)

    def _note(self, node: ast.AST, is_plain: bool) -> None:
        """Record the names that a node binds and reads."""
        match node:
            case ast.Import(names=names):
                for each in names:
                    bound = each.asname or each.name.partition(".")[0]
                    if each.name == "foldnote":
                        self._modules.add(bound)
                    else:
                        self._bind(bound, node)
            case ast.ImportFrom(module="foldnote", names=names):
                for each in names:
                    self._functions[each.asname or each.name] = each.name
            case ast.ImportFrom(names=names):
                for each in names:
                    self._bind(each.asname or each.name, node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_plain:
                self._bind(name, node, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if is_plain:
                self._bind(name, node, value)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                self._bind(name, node)
            case ast.Name(id=name):
                self._loads.setdefault(name, []).append(_get_position(node))
            case ast.arg(arg=name):
                self._bind(name, node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self._bind(name, node)
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                self._bind(name, node)
            case ast.MatchMapping(rest=str(name)):
                self._bind(name, node)
            case _:
                pass

    def _bind(self, name: str, node: Any, value: ast.expr | None = None) -> None:
        found = self._bindings.setdefault(name, [])
        position = _get_position(node)
        if any(each.position == position and each.value is not None for each in found):
            return  # the target of a plain assignment
        found.append(_Binding(position, value))

    @property
    def calls(self) -> list[_Call]:
        """The calls of tools, in order."""
        return self._calls

    def _find_calls(self) -> Iterator[_Call]:
        functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        later = {
            id(each)
            for node in ast.walk(self._module)
            if isinstance(node, functions)
            for each in ast.walk(node)
        }
        for node in ast.walk(self._module):
            if isinstance(node, ast.Call):
                position: Position = (math.inf, 0) if id(node) in later else _get_position(node)
                if (call := self._recognize(node, position)) is not None:
                    yield call

    def _recognize(self, node: ast.Call, position: Position) -> _Call | None:
        match node.func:
            case ast.Name(id=name) if self._functions.get(name) in _SUBMITTING_FUNCTIONS:
                return _Call(node, self._functions[name], position)
            case ast.Attribute(value=ast.Name(id=name), attr=function) if (
                name in self._modules and function in _SUBMITTING_FUNCTIONS
            ):
                return _Call(node, function, position)
            case ast.Attribute(value=tools, attr=name) if self._is_tools(tools):
                return _Call(node, f"tools.{name}", position)
            case ast.Attribute(
                value=ast.Attribute(attr="jobs"), attr=("submit" | "quote" | "validate") as function
            ):
                return _Call(node, function, position, is_client=True)
        return None

    def _is_tools(self, node: ast.expr) -> bool:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="tools"):
                return name in self._modules
            case ast.Name(id=name):
                return self._functions.get(name) == "tools"
        return False

    def write(self, call: _Call) -> FormCell:
        """Return the cell with the form of a call.

        Raises:
            _UnreadError: the tool cannot be determined.
        """
        self._limit = call.position
        tool = self._read_tool(call)
        draft = _Draft()
        if call.is_client and len(call.node.args) > 1:
            self._spread(call.node.args[1], "settings", draft, call)
        for each in call.node.keywords:
            if each.arg is None:
                self._spread(each.value, f"**{ast.unparse(each.value)}", draft, call)
            else:
                self._take(each.arg, each.value, draft, call)
        if call.function == "submit_batch":
            self._take_rows(call, draft)
        if call.function.startswith("tools."):
            draft.settings = _rename(tool, draft.settings)
        return FormCell(f"{tool}, line {call.node.lineno}", _write(tool, draft), tuple(draft.unread))

    def _read_tool(self, call: _Call) -> str:
        if call.function.startswith("tools."):
            name = call.function.removeprefix("tools.")
            known = {find_python_name(each): each for each in sorted(list_types(), reverse=True)}
            return known.get(name, name.replace("_", "-"))
        if not call.node.args or isinstance(call.node.args[0], ast.Starred):
            raise _UnreadError("is not written out")
        node = call.node.args[0]
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="tool"), args=[only], keywords=[]
            ) if name in self._modules:
                node = only
        found = self._read(node, call.position)
        if not isinstance(found, str):
            raise _UnreadError("is not the name of one")
        return found

    def _spread(self, node: ast.expr, name: str, draft: _Draft, call: _Call) -> None:
        """Read the items of a mapping as arguments."""
        position = call.position
        try:
            mapping, position = self._find_mapping(node, position)
        except _UnreadError as exc:
            draft.unread.append(f"{name}, which {exc}")
            return
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                self._take(key.value, value, draft, call, position)
            elif key is None:
                self._spread(value, f"**{ast.unparse(value)}", draft, call)
            else:
                draft.unread.append(f"{ast.unparse(key)}, which is computed")

    def _find_mapping(self, node: ast.expr, position: Position) -> tuple[ast.Dict, Position]:
        """Return the dict literal of an expression, and its place.

        Raises:
            _UnreadError: the expression is not a dict literal.
        """
        match node:
            case ast.Dict():
                return node, position
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if (
                "dict" not in self._bindings
            ):
                keys: list[ast.expr | None] = [
                    None if each.arg is None else ast.Constant(each.arg) for each in keywords
                ]
                return ast.Dict(keys, [each.value for each in keywords]), position
            case ast.Name(id=name):
                binding = self._find_binding(name, position)
                if binding is None:
                    raise _UnreadError("is a variable of another cell")
                if isinstance(binding.value, ast.Dict | ast.Call):
                    self._require_unused(node, binding)
                    return self._find_mapping(binding.value, binding.position)
        raise _UnreadError("is computed")

    def _take(
        self, name: str, node: ast.expr, draft: _Draft, call: _Call, position: Position | None = None
    ) -> None:
        """Read one argument."""
        is_batch = call.function == "submit_batch"
        into = (
            draft.table if is_batch and name in TABLE else draft.options if name in TAKEN else draft.settings
        )
        if name in LEFT or (is_batch and name in (*LEFT_OF_BATCHES, "job_name")):
            draft.unread.append(f"{name}, which a form does not take")
            return
        try:
            value = self._read(node, position or call.position, may_be_variable=into is draft.settings)
        except _UnreadError as exc:
            draft.unread.append(f"{name}, which {exc}")
            return
        if value is not None:
            into[name] = value

    def _take_rows(self, call: _Call, draft: _Draft) -> None:
        """Read the table of a batch: a path, literal rows, or a variable of another cell."""
        node = call.node.args[1] if len(call.node.args) > 1 else None
        try:
            if node is None or isinstance(node, ast.Starred):
                raise _UnreadError("are computed")
            if isinstance(node, ast.Name) and self._find_binding(node.id, call.position) is None:
                draft.table = {"": _Code(node.id), **draft.table}
                return
            table = self._read(node, call.position)
            is_rows = isinstance(table, list) and all(isinstance(each, dict) for each in table)
            if not is_rows and not isinstance(table, str | _Code):
                raise _UnreadError("are computed")
            draft.table = {"": table, **draft.table}
        except _UnreadError:
            draft.unread.append("the rows, which are computed; Add to batch takes a table")
            draft.unread += [f"{name}, which a form takes with its rows" for name in draft.table]
            draft.table = {}

    def _find_binding(self, name: str, position: Position) -> _Binding | None:
        """Return the assignment that sets a name before ``position``; None if it is set in another cell.

        Raises:
            _UnreadError: the cell computes the value.
        """
        bindings = self._bindings.get(name, ())
        if name in self._functions or name in self._modules or any(each.value is None for each in bindings):
            raise _UnreadError("is computed")
        found = [each for each in bindings if each.position < position]
        if not found:
            return None
        return max(found, key=lambda each: each.position)

    def _require_unused(self, node: ast.Name, binding: _Binding) -> None:
        """Raise if the list or dict of a name may be modified between its assignment and the call."""
        others = {*self._loads.get(node.id, ())} - self._own - {_get_position(node)}
        if any(binding.position < each < self._limit for each in others):
            raise _UnreadError("may be changed between its assignment and the call")

    def _read(self, node: ast.expr, position: Position, *, may_be_variable: bool = False) -> Any:
        """Return the value of an expression at ``position``, or the code with which a form obtains it.

        Raises:
            _UnreadError: it is neither a literal nor stored in a variable.
        """
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise _UnreadError("has too many parts")
        match node:
            case ast.Constant(value=str() | int() | float() | None as value):
                return value
            case ast.UnaryOp(
                op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as number)
            ):
                return -number if isinstance(sign, ast.USub) else number
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._join(self._read(left, position), self._read(right, position))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._read(each, position) for each in items]
            case ast.Dict(keys=keys, values=values):
                return {self._read_key(key, position): self._read(value, position)
                        for key, value in zip(keys, values, strict=True)}  # fmt: skip
            case ast.Call():
                return _Code(self._read_file(node, position))
            case ast.Name(id=name):
                binding = self._find_binding(name, position)
                if binding is not None and binding.value is not None:
                    value = self._read(binding.value, binding.position, may_be_variable=may_be_variable)
                    if isinstance(value, list | dict):
                        self._require_unused(node, binding)
                    return value
        return self._read_variable(node, position, may_be_variable)

    def _read_variable(self, node: ast.expr, position: Position, may_be_variable: bool) -> _Code:
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            if isinstance(root, ast.Attribute) and root.attr.startswith("_"):
                raise _UnreadError("is computed")
            if isinstance(root, ast.Subscript) and not _is_key(root.slice):
                raise _UnreadError("is computed")
            root = root.value
        if not isinstance(root, ast.Name) or self._find_binding(root.id, position) is not None:
            raise _UnreadError("is computed")
        if not may_be_variable:
            raise _UnreadError("is a variable of another cell")
        return _Code(f"fn.variable({ast.unparse(node)!r})")

    def _join(self, left: Any, right: Any) -> str:
        if not isinstance(left, str) or not isinstance(right, str):
            raise _UnreadError("is computed")
        if len(left) + len(right) > MAX_CELL_LENGTH:
            raise _UnreadError("is too long")
        return left + right

    def _read_key(self, key: ast.expr | None, position: Position) -> str:
        found = None if key is None else self._read(key, position)
        if not isinstance(found, str):
            raise _UnreadError("is computed")
        return found

    def _read_file(self, node: ast.Call, position: Position) -> str:
        """Return a file as the value of a form's field.

        Raises:
            _UnreadError: it is another call.
        """
        name, texts = self._name_call(node.func), []
        for each in node.args:
            text = self._read(each, position)
            if not isinstance(text, str):
                raise _UnreadError("is computed")
            texts.append(text)
        if len(texts) == 1 and not node.keywords:
            if name in ("uploaded", "inline", "variable"):
                return f"fn.{name}({texts[0]!r})"
            if name in ("upload", "Path"):
                return repr(texts[0] if re.match(r"[./~\\]|\w:", texts[0]) else f"./{texts[0]}")
            match node.func:
                case ast.Attribute(value=ast.Call(func=found, args=[job], keywords=[]), attr="file") if (
                    self._name_call(found) == "job"
                ):
                    job_name = self._read(job, position)
                    if isinstance(job_name, str):
                        return f"fn.job({job_name!r}).file({texts[0]!r})"
        raise _UnreadError("is computed")

    def _name_call(self, node: ast.expr) -> str:
        """Return the name of the called function without foldnote's or pathlib's prefix; else empty."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=function) if name in self._modules:
                return function
            case ast.Attribute(value=ast.Name(id="pathlib"), attr="Path"):
                return "Path"
            case ast.Name(id="Path"):
                return "Path"
            case ast.Name(id=name):
                return self._functions.get(name, "")
        return ""


def _get_position(node: Any) -> Position:
    return node.lineno, node.col_offset


def _is_key(node: ast.expr) -> bool:
    try:
        return isinstance(ast.literal_eval(node), str | int)
    except (ValueError, TypeError):
        return False


def _skip_magics(source: str) -> str:
    """Replace IPython's own lines by ``pass``; the code of a magic that runs Python is kept."""
    lines = []
    for line in source.splitlines():
        found = re.match(r"(\s*)(%%?time\b(?!it)\s*|[%!?])(.*)", line)
        if found is None:
            lines.append("pass" if line.rstrip().endswith("?") and re.match(r"[\w.]+\?+\s*$", line) else line)
        elif "time" in found[2] and not re.match(r"-\w", found[3]):
            lines.append(f"{found[1]}{found[3] or 'pass'}")
        else:
            lines.append(f"{found[1]}pass")
    return "\n".join(lines)


def _rename(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Map the arguments of a tool's function to the setting names of its schema."""
    if tool not in list_types():
        return dict(given)
    known = {each.name: each.setting for each in read_arguments(read_tool(tool)["schema"], (*TAKEN, *LEFT))}
    return {known.get(name, name): value for name, value in given.items()}


def _write(tool: str, draft: _Draft) -> str:
    """Return the call of ``fn.form``, one argument per line."""
    plain = {name: value for name, value in draft.settings.items() if find_python_name(name) == name}
    lines = [f"    {tool!r},", *(f"    {name}={value!r}," for name, value in plain.items())]
    others = {name: value for name, value in draft.settings.items() if name not in plain}
    lines += [f"    **{others!r},"] if others else []
    lines += [f"    {name}={value!r}," for name, value in draft.options.items()]
    notes = [f"# not in this form: {each}" for each in draft.unread]
    start = ["import foldnote as fn", "", *notes]
    if not draft.table:
        return "\n".join([*start, "fn.form(", *lines, ")"])
    table = ", ".join(f"{name}={value!r}" if name else repr(value) for name, value in draft.table.items())
    return "\n".join([*start, "form = fn.form(", *lines, ")", f"form.add_table({table})", "form"])
