"""Implement ``foldnote engines``: ``list``, ``install``, ``check`` and ``remove``, without parsing arguments.

The functions write plain text, or JSON with ``as_json``, to a stream and return an exit status. The list has
every tool of the catalog, including tools without an engine.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from threading import Event
from typing import Any, TextIO, TypedDict

from foldnote import settings
from foldnote.errors import EngineInstallError
from foldnote.service.engines.checking import check_engine, find_case
from foldnote.service.engines.engine import ENVIRONMENT, Engine, find_python, read_ready
from foldnote.service.engines.install import InstallEvent, Report, install, list_unaccepted, remove
from foldnote.service.engines.licences import LicenceTerms, find_acceptance, read_acceptances
from foldnote.service.engines.registry import engine_for, get_engine, load_engines
from foldnote.service.engines.unserved import WAYS_ON, explain_unserved, unserved_tools
from foldnote.service.engines.weights.state import RECORD
from foldnote.service.engines.weights.store import Offer, WeightStore
from foldnote.service.runner.gpus import find_gpus
from foldnote.text import format_size

_KIND_IN_WORDS = {"genuine-task": "same task", "substitute": "SUBSTITUTE", "adapter": "adapter"}
_PLAIN_PAUSE_S = 10.0
_MAX_AT_ONCE = 3
_NO_HASH = "none published; recorded at the first installation, and checked from then on"
_INSTALLED = "installed"
_MIN_LAST_COLUMN = 40
_INDENT = "    "
_SPINNER = "|/-\\"

Ask = Callable[[Engine, Sequence[LicenceTerms]], bool]
"""Whether the user accepts the terms of an engine."""


class _InstallOptions(TypedDict):
    """What to install in addition to the packages of an engine."""

    offer: Offer | None
    with_weights: bool
    with_optional: bool


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool and how it runs here."""

    tool: str
    """Empty for an add-on, which serves no tool."""
    runs: bool
    status: str
    """``runs``: here, now; ``installable``: once its engine is installed; ``adapter``: once your own copy of
    the program is configured; ``elsewhere``."""
    engine: str | None = None
    method: str | None = None
    kind: str | None = None
    """``genuine``, ``genuine-task``, ``substitute`` or ``adapter``; None without an engine."""
    licence: str | None = None
    licence_note: str = ""
    """What a user must accept or know beyond the names of the licences."""
    disk_mb: int = 0
    """Minimum disk space in MB (packages with CUDA need more); 0 if unknown."""
    installed_mb: int = 0
    """Size of the installed environment in MB (2**20 bytes, at least 1), without weights; 0 if unknown."""
    weights: tuple[dict[str, Any], ...] = ()
    """Files that are downloaded from their authors.

    Each has ``name``, ``file``, ``url``, ``licence``, ``source`` and ``optional`` (whether the engine runs
    without it); ``size_bytes`` of the download (exact if ``is_exact``, 0 if unknown); ``state``
    (``published``, ``stand-in``, or null if not installed), ``sha256`` (declared or recorded, else empty) and
    ``disk_bytes`` (null if not installed).
    """
    terms: tuple[dict[str, Any], ...] = ()
    """Terms that must be accepted before the program or its weights are installed.

    Each has ``name``, ``licence``, ``source``, ``url`` (empty if unknown), ``optional`` (whether it concerns
    optional weights only), ``asked`` (whether this user would be asked to accept it now), and ``user`` and
    ``accepted`` (RFC 3339 UTC) of the newest acceptance, null without one.
    """
    weights_note: str = ""
    """Note on its weights: whether they were checked, and whether they are stand-ins."""
    has_environment: bool = False
    """Whether it has its own environment, which can be installed and removed."""
    has_files: bool = False
    """Whether there is a complete or incomplete installation that can be removed."""
    how: str = ""
    """What to do to make it run; empty if it runs."""
    adds_to: tuple[str, ...] = ()
    """Engines whose runs use it while it is installed."""
    optional_method: str = ""
    """The method with its optional weights, while any of these is missing; else empty."""
    gpus: int = 0
    """GPUs that a run needs."""


def list_tools(tool_types: Sequence[str], engines: Mapping[str, Engine]) -> tuple[ToolRow, ...]:
    """Return a row for each of ``tool_types``, each other tool that an engine serves, and each add-on.

    An add-on that serves a tool is in that tool's row.
    """
    served = {tool for engine in engines.values() for tool in engine.tools}
    names = [*tool_types, *sorted(served.difference(tool_types))]
    add_ons = [engine for engine in engines.values() if engine.adds_to and not engine.tools]
    return (
        *(_tool_row(name, engine_for(name, engines)) for name in names),
        *(_tool_row("", engine) for engine in add_ons),
    )


def _tool_row(tool: str, engine: Engine | None) -> ToolRow:
    if engine is None:
        return ToolRow(tool, runs=False, status="elsewhere", how=explain_unserved(tool))
    state = engine.state()
    return ToolRow(
        tool,
        runs=state.installed,
        status=_status(engine, runs=state.installed),
        engine=engine.name,
        method=engine.method,
        kind=engine.kind,
        licence=engine.licence or None,
        licence_note=engine.licence_note,
        disk_mb=engine.environment.disk_mb + engine.download_mb,
        installed_mb=int((read_ready(engine) or {}).get("installed_mb") or 0) if state.installed else 0,
        weights=tuple(_list_weights(engine)),
        terms=tuple(_list_terms(engine)),
        weights_note=engine.weights_note,
        has_environment=engine.environment.kind != "host" or bool(engine.weights),
        has_files=any((engine.home / name).exists() for name in (ENVIRONMENT, RECORD)),
        how="" if state.installed else state.reason or "",
        adds_to=engine.adds_to,
        optional_method=""
        if engine.has_optional_weights()
        else engine.with_optional_weights.get("method", ""),
        gpus=engine.resources.gpus,
    )


def _status(engine: Engine, *, runs: bool) -> str:
    return "runs" if runs else "adapter" if engine.kind == "adapter" else "installable"


def _list_weights(engine: Engine) -> Iterator[dict[str, Any]]:
    installed = {row.file: row for row in engine.installed_weights()}
    for each in engine.weights:
        row = installed.get(each.file)
        yield {
            "name": each.name,
            "file": each.file,
            "url": each.url,
            "size_bytes": each.expected_bytes,
            "is_exact": bool(each.size_bytes),
            "licence": each.licence,
            "source": each.source,
            "must_accept": each.must_accept,
            "optional": each.optional,
            "state": row.state if row else None,
            "sha256": row.sha256 if row else each.sha256,
            "disk_bytes": row.size_bytes if row else None,
        }


def _list_terms(engine: Engine) -> Iterator[dict[str, Any]]:
    optional = {each.terms for each in engine.weights if each.optional}
    every = [*engine.terms, *filter(None, dict.fromkeys(each.terms for each in engine.weights))]
    asked = list_unaccepted(engine, with_optional=bool(optional)) if every else ()
    acceptances = read_acceptances() if every else []
    for each in every:
        newest = find_acceptance(engine.name, each, acceptances)
        yield {
            **asdict(each),
            "optional": each in optional,
            "asked": each in asked,
            "user": newest.user if newest else None,
            "accepted": newest.accepted if newest else None,
        }


def run_list(tool_types: Sequence[str], *, as_json: bool = False, stream: TextIO | None = None) -> int:
    """Write the table of all tools.

    Args:
        tool_types: the catalog's tools, in the order to show.
        as_json: whether to write a JSON array of rows instead of the table.
        stream: output stream; standard output by default.

    Raises:
        EngineError: an engine's folder cannot be read.
    """
    out = stream or sys.stdout
    rows = list_tools(tool_types, load_engines())
    if as_json:
        _write_json([asdict(row) for row in rows], out)
    else:
        _write_table(rows, out)
    return 0


def _write_table(every: Sequence[ToolRow], out: TextIO) -> None:
    rows = [row for row in every if row.tool]
    running = sum(row.runs for row in rows)
    out.write(f"{running} of {len(rows)} tools run on this machine.\n\n")
    _write_rows(rows, "TOOL", [row.tool for row in rows], out)
    if any(row.status == "adapter" for row in rows):
        _write_note(
            "adapter: runs with your own copy of the program, which is configured in"
            f" {settings.config_dir() / 'config.toml'} (docs/tools.md, Adapters).",
            out,
        )
    if any(row.engine is None for row in rows):
        _write_note(f"elsewhere: foldnote has no engine for the tool. {WAYS_ON}", out)
    if add_ons := [row for row in every if not row.tool]:
        _write_note("While an add-on is installed, runs of another engine use it.", out)
        out.write("\n")
        _write_rows(add_ons, "ADD-ON TO", [", ".join(row.adds_to) for row in add_ons], out)
    found = find_gpus(settings.process_environment())
    lacking = [row.tool for row in rows if row.runs and row.gpus > len(found.gpus)]
    more = f" More are needed by {', '.join(lacking)}." if lacking else ""
    _write_note(f"{found.describe()}{more}", out)


def _write_note(text: str, out: TextIO) -> None:
    """Write a paragraph after an empty line, wrapped for a terminal."""
    columns = _count_columns(out)
    lines = (
        [text]
        if columns is None
        else textwrap.wrap(text, columns - 1, break_long_words=False, break_on_hyphens=False)
    )
    out.writelines(["\n", *(f"{line}\n" for line in lines)])


def _count_columns(out: TextIO) -> int | None:
    """Return the width of the terminal; None if the stream is not one."""
    return shutil.get_terminal_size((120, 24)).columns if out.isatty() else None


def _write_rows(rows: Sequence[ToolRow], title: str, subjects: Sequence[str], out: TextIO) -> None:
    """Write one line per row, unwrapped unless it is for a terminal.

    On a terminal, the last column is wrapped, or placed below its row if the terminal is too narrow for it.
    """
    width = max(len(each) for each in (title, *subjects))
    methods = max([len("METHOD"), *(len(_method(row)) for row in rows)])
    columns = _count_columns(out)
    beside = width + methods + 17
    is_under = columns is not None and columns - beside < _MIN_LAST_COLUMN
    last = "" if is_under else "HOW TO GET IT"
    out.write(f"{title:{width}}  STATUS       {'METHOD':{methods}}  {last}".rstrip() + "\n")
    pairs = zip(rows, subjects, strict=True)
    for row, subject in sorted(pairs, key=lambda pair: (not pair[0].runs, pair[0].engine is None)):
        how = _describe_installation(row) if row.engine else unserved_tools().get(row.tool, row.how)
        head = f"{subject:{width}}  {row.status:11}  "
        if columns is None:
            out.write(f"{head}{_method(row):{methods}}  {how}".rstrip() + "\n")
        elif is_under:
            out.writelines(_lay_out_under(head, _method(row), "" if how == _INSTALLED else how, columns))
        else:
            lines = textwrap.wrap(how, columns - beside - 1)
            out.write(f"{head}{_method(row):{methods}}  {lines[0]}".rstrip() + "\n")
            out.writelines(" " * beside + line + "\n" for line in lines[1:])


def _lay_out_under(head: str, method: str, how: str, columns: int) -> Iterator[str]:
    """Yield the row, then what does not fit in it, on separate lines."""
    fits = len(head) + len(method) < columns
    yield f"{head}{method}".rstrip() + "\n" if fits else head.rstrip() + "\n"
    for text in (how,) if fits else (method, how):
        for line in textwrap.wrap(text, max(_MIN_LAST_COLUMN, columns - 1) - len(_INDENT)):
            yield f"{_INDENT}{line}\n"


def _describe_installation(row: ToolRow) -> str:
    """Say that it runs, and with which weights, or what to do to make it run."""
    if row.how:
        asked = [each["licence"] for each in row.terms if each["asked"] and not each["optional"]]
        terms = f"You must accept its licence: {', '.join(dict.fromkeys(asked))}." if asked else ""
        return " ".join(filter(None, (row.how, row.weights_note, terms)))
    size = sum(each["disk_bytes"] or 0 for each in row.weights)
    begin = f"{_INSTALLED}, with {format_size(size)} of weights" if size else _INSTALLED
    more = [*filter(None, (row.weights_note, _describe_optional(row), *_describe_acceptances(row)))]
    return " ".join([f"{begin}." if size or more else begin, *more])


def _describe_acceptances(row: ToolRow) -> Iterator[str]:
    for each in row.terms:
        if each["accepted"]:
            yield f"Licence of {each['name']} accepted by {each['user']} on {each['accepted'][:10]}."


def _describe_optional(row: ToolRow) -> str:
    """Describe the method with its missing optional weights, and their size; empty if none is missing."""
    if not row.optional_method:
        return ""
    size = sum(each["size_bytes"] for each in row.weights if each["optional"] and each["state"] is None)
    return (
        f"With `foldnote engines install {row.engine} --optional-weights` ({format_size(size)} to fetch):"
        f" {row.optional_method}."
    )


def _method(row: ToolRow) -> str:
    kind = _KIND_IN_WORDS.get(row.kind or "")
    return f"{row.method} [{kind}]" if kind else row.method or "-"


def run_install(
    names: Sequence[str],
    *,
    as_json: bool = False,
    with_hashes: bool = True,
    offer: Offer | None = None,
    has_accepted: bool = False,
    ask: Ask | None = None,
    with_weights: bool = True,
    with_optional: bool = False,
    stream: TextIO | None = None,
) -> int:
    """Install the engines ``names``, or all engines if there are none; return the exit status.

    Up to three are installed at once. A failure does not stop the others and is reported at the end. Without
    names, an engine whose packages lack builds for this machine's Pythons is not a failure; adapters, engines
    with gigabytes of weights on other servers, and those whose licence must be accepted are skipped. With
    ``as_json`` each event is a line of JSON. ``ask`` is called, before anything is installed, to ask whether
    the user accepts the terms of an engine. The other arguments are those of `install`.

    Raises:
        UnknownEngineError: a name is not an engine's; nothing was installed.
    """
    out = stream or sys.stdout
    engines = load_engines()
    bundled = [engine for engine in engines.values() if engine.kind != "adapter"]
    by_name = [
        engine
        for engine in bundled
        if (engine.needs_weights and with_weights) or (engine.terms and not has_accepted)
    ]
    every = [engine for engine in bundled if engine not in by_name]
    chosen = [get_engine(name, engines) for name in names] or every
    stop = Event()
    options: _InstallOptions = {
        "offer": offer,
        "with_weights": with_weights,
        "with_optional": with_optional,
    }
    accepted = {each.name for each in chosen if has_accepted or (ask and _is_accepted(each, options, ask))}

    def install_one(engine: Engine) -> bool:
        is_alone = len(chosen) == 1
        reporter = _JsonReporter(out) if as_json else _TextReporter(engine, out, is_alone=is_alone)
        report = _until_stopped(reporter.report, stop)
        has_consent = engine.name in accepted
        try:
            install(engine, report, with_hashes=with_hashes, has_accepted=has_consent, **options)
        except EngineInstallError as exc:
            reporter.fail(engine.name, exc.message)
            return not names and find_python(engine) is None
        return True

    failures = _count_failures(install_one, _group_by_environment(chosen), stop)
    if not names and not as_json and by_name:
        rest = ", ".join(engine.name for engine in by_name)
        out.write(
            "Engines that fetch weights from their authors, or whose licence must be accepted, are installed"
            f" by name: {rest}\n"
        )
    return 1 if failures else 0


def _until_stopped(report: Report, stop: Event) -> Report:
    """Return ``report``, extended to interrupt the installation once ``stop`` is set."""

    def report_or_interrupt(event: InstallEvent) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        report(event)

    return report_or_interrupt


def _is_accepted(engine: Engine, install_options: _InstallOptions, ask: Ask) -> bool:
    """Return whether the user accepts the terms of an installation; False if there is nothing to ask."""
    terms = list_unaccepted(engine, **install_options)
    return bool(terms) and ask(engine, terms)


def _group_by_environment(chosen: Sequence[Engine]) -> list[list[Engine]]:
    """Group engines by environment, since their installations must follow each other; its owner first."""
    groups: dict[str, list[Engine]] = {}
    for each in sorted(chosen, key=lambda engine: engine.owner is not None):
        groups.setdefault(each.environment.same_as or each.name, []).append(each)
    return list(groups.values())


def _count_failures(
    install_one: Callable[[Engine], bool], groups: Sequence[Sequence[Engine]], stop: Event
) -> int:
    """Install groups, a few at once; ``stop`` ends running installations when the user interrupts."""

    def has_failed(group: Sequence[Engine]) -> bool:
        installed = [install_one(each) for each in group]  # a failure does not stop the others
        return not all(installed)

    if len(groups) == 1:
        return int(has_failed(groups[0]))
    with ThreadPoolExecutor(_MAX_AT_ONCE) as pool:
        try:
            return sum(pool.map(has_failed, groups))
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def run_check(
    names: Sequence[str],
    defaults: Callable[[str], Mapping[str, Any]],
    *,
    as_json: bool = False,
    stream: TextIO | None = None,
) -> int:
    """Run the engines ``names`` on their published cases; return the exit status, 1 if a figure differs.

    Args:
        names: the engines.
        defaults: returns the default settings of a tool.
        as_json: whether to write a JSON array with ``engine`` and ``as_published`` of each, and the figures
            to standard error.
        stream: output stream; standard output by default.

    Raises:
        UnknownEngineError: a name is not an engine's.
        EngineError: one has no published case, is not installed, or failed.
        OSError: there is no disk space for a run.
    """
    out = stream or sys.stdout
    engines = load_engines()
    chosen = [get_engine(name, engines) for name in names]
    figures = sys.stderr if as_json else out
    reached = {each.name: check_engine(each, defaults(find_case(each).tool), figures) for each in chosen}
    if as_json:
        _write_json([{"engine": name, "as_published": is_good} for name, is_good in reached.items()], out)
    return 0 if all(reached.values()) else 1


def _write_json(rows: Sequence[Mapping[str, object]], out: TextIO) -> None:
    json.dump(rows, out, indent=1)
    out.write("\n")


def run_remove(names: Sequence[str], *, as_json: bool = False, stream: TextIO | None = None) -> int:
    """Remove the environments of the engines ``names``; return the exit status.

    With ``as_json``, write a JSON array with ``engine`` and ``removed`` of each, and the sentences to
    standard error.

    Raises:
        UnknownEngineError: a name is not an engine's.
        EngineInstallError: one cannot be removed.
    """
    out = stream or sys.stdout
    engines, removed = load_engines(), []
    for engine in [get_engine(name, engines) for name in names]:
        rows = engine.installed_weights()
        done = remove(engine)
        removed.append({"engine": engine.name, "removed": done})
        freed = WeightStore(settings.weights_dir()).drop_unused() if rows else 0
        kept = sum(row.size_bytes for row in rows) - freed
        weights = f", with {format_size(freed)} of weights" if freed else ""
        shared = f"; {format_size(kept)} of weights stay for other engines" if kept > 0 else ""
        rest = _describe_shared(engine, engines)
        sentence = f"{engine.name}: {f'removed{weights}{shared}{rest}' if done else 'was not installed'}\n"
        (sys.stderr if as_json else out).write(sentence)
    if as_json:
        _write_json(removed, out)
    return 0


def _describe_shared(engine: Engine, engines: Mapping[str, Engine]) -> str:
    """Say what happens to an environment that several engines use when one of them is removed."""
    if engine.owner is not None and engine.owner.home.exists():
        owner = engine.owner.name
        return f"; its environment stays for {owner} (`foldnote engines remove {owner}` removes it)"
    users = [each.name for each in engines.values() if each.owner and each.owner.name == engine.name]
    broken = [name for name in users if engines[name].installed_weights()]
    return f"; {', '.join(broken)} used its environment, too, and cannot run without it" if broken else ""


class _JsonReporter:
    def __init__(self, out: TextIO) -> None:
        self._out = out

    def report(self, event: InstallEvent) -> None:
        self._write(asdict(event))

    def fail(self, engine: str, reason: str) -> None:
        self._write({"engine": engine, "error": reason})

    def _write(self, content: Mapping[str, object]) -> None:
        self._out.write(json.dumps(content) + "\n")
        self._out.flush()


class _TextReporter:
    """Shows progress on one line of a terminal; otherwise, or for several engines, a line every 10 s."""

    def __init__(self, engine: Engine, out: TextIO, *, is_alone: bool) -> None:
        self._out = out
        self._is_terminal = is_alone and out.isatty()
        self._begin = "  " if is_alone else f"  {engine.name}: "
        self._written = 0.0
        self._turns = 0
        size = (
            f", at least {format_size(engine.environment.disk_mb * 1_000_000)}"
            if engine.environment.disk_mb
            else ""
        )
        if engine.owner is not None:
            size = f", in the environment of {engine.owner.name}{size}"
        lines = [f"{engine.name}: {engine.method}{size}", f"  licence: {engine.licence}"]
        lines += [f"  {engine.licence_note}"] if engine.licence_note else []
        for each in engine.weights:
            kind = "optional weights (--optional-weights)" if each.optional else "weights"
            lines.append(f"  {kind}: {each.name}, {each.size_in_words}; licence: {each.licence}")
            lines.append(f"    from {each.url} ({each.source})")
            known = f"git tree: {each.git_tree}" if each.git_tree else f"SHA-256: {each.sha256 or _NO_HASH}"
            lines.append(f"    {known}")
        lines += [f"  {engine.weights_note}"] if engine.weights_note else []
        out.write("".join(f"{line}\n" for line in lines))

    def report(self, event: InstallEvent) -> None:
        share = "" if event.fraction is None else f"{event.fraction:4.0%} "
        clock = f"{int(event.elapsed_s) // 60}:{int(event.elapsed_s) % 60:02}"
        self._turns += 1
        if self._is_terminal:
            line = f"{_SPINNER[self._turns % len(_SPINNER)]} {share}{clock} {event.message}"
            width = shutil.get_terminal_size((100, 24)).columns - 1
            end = "\n" if event.is_milestone else ""
            self._out.write(f"\r\033[K{self._begin}{line[: width - 2]}{end}")
        elif event.is_milestone or time.monotonic() - self._written > _PLAIN_PAUSE_S:
            self._out.write(f"{self._begin}{share}{clock} {event.message}\n")
            self._written = time.monotonic()
        self._out.flush()

    def fail(self, engine: str, reason: str) -> None:
        self._out.write(("\r\033[K" if self._is_terminal else "") + f"{engine}: {reason}\n")
        self._out.flush()
