"""Commands about tools and jobs; they ask the service of the chosen profile."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldnote.errors import FoldnoteError

if TYPE_CHECKING:
    from foldnote.client import Client
    from foldnote.models import Job


def _connect(options: argparse.Namespace) -> Client:
    from foldnote.client import Client

    return Client(options.profile)


def _add_connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--profile", help="which service; by default the active profile's")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def add_name(parser: argparse.ArgumentParser) -> None:
    """A job's name."""
    parser.add_argument("name", help="the job's name")
    _add_connection(parser)


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Options of ``tools``."""
    parser.add_argument("--available", action="store_true", help="only the tools that run at the service")
    _add_connection(parser)


def run_tools(options: argparse.Namespace) -> int:
    """Print the tools."""
    rows = [tool for tool in _connect(options).tools.list() if tool.available or not options.available]
    if options.json:
        print(json.dumps([tool.to_wire() for tool in rows]))
        return 0
    table = [
        (tool.type, "yes" if tool.available else "no", tool.engine.method if tool.engine else "", tool.family)
        for tool in rows
    ]
    print_table(("TOOL", "RUNS", "METHOD", "FAMILY"), table)
    return 0


def add_submit(parser: argparse.ArgumentParser) -> None:
    """Options of ``submit``."""
    parser.add_argument("tool", help="the tool's type, see `foldnote tools`")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", dest="values",
                        help="a setting; text, or JSON where the field is not text")  # fmt: skip
    parser.add_argument("--file", action="append", default=[], metavar="FIELD=PATH", dest="files",
                        help="a file field: the file is uploaded first")  # fmt: skip
    parser.add_argument("--settings", type=Path, help="a JSON file with the settings; - for standard input")
    parser.add_argument("--name", help="the job's name; by default made of tool and settings")
    parser.add_argument(
        "--again", action="store_true", help="a new job even if this one was submitted before"
    )
    parser.add_argument("--wait", action="store_true", help="wait until it is finished")
    _add_connection(parser)


def run_submit(options: argparse.Namespace) -> int:
    """Submit, and perhaps wait."""
    from foldnote.client.file_values import name_uploads

    client = _connect(options)
    tool = client.tools.get(options.tool)
    fields = tool.settings_schema.get("properties", {})
    settings = _read_settings(options.settings) if options.settings else {}
    values, files = _pairs(options.values, fields), _pairs(options.files, fields)
    settings |= {name: _read_value(fields.get(name, {}), text) for name, text in values}
    for name, path in files:
        stored = client.files.upload(path)
        is_list = fields.get(name, {}).get("type") == "array"
        settings[name] = [*settings.get(name, []), stored] if is_list else stored
    settings = name_uploads(tool, settings)  # a file of this computer is given by --file
    job = client.jobs.submit(tool, settings, job_name=options.name, again=options.again)
    if options.wait:
        job.finish(on_change=_report)
    _print_job(job.record, as_json=options.json)
    return 0


def _pairs(texts: Sequence[str], fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Fields and what is given for them.

    Raises:
        FoldnoteError: a text has another form, or the tool has no such field; nothing was sent yet.
    """
    pairs = [_split(text) for text in texts]
    for name, _ in pairs:
        if fields and name not in fields:
            near = get_close_matches(name, fields, 1)
            hint = f"Did you mean {near[0]}?" if near else f"It has: {', '.join(fields)}."
            raise FoldnoteError(f"The tool has no setting {name!r}. {hint}")
    return pairs


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise FoldnoteError(f"{text!r} should have the form FIELD=VALUE.")
    return name, value


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(sys.stdin.read() if str(path) == "-" else path.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise FoldnoteError(f"The settings in {path} cannot be read as JSON: {exc}") from exc
    if not isinstance(content, dict):
        raise FoldnoteError(f"The settings in {path} should be one JSON object.")
    return content


def _read_value(schema: dict[str, Any], text: str) -> Any:
    """Text stays text for a text field; for any other field it is JSON, or text where it is not."""
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Options of ``jobs``."""
    parser.add_argument("--limit", type=int, default=30, help="how many (default 30)")
    parser.add_argument("--batch", help="the subjobs of this batch")
    _add_connection(parser)


def run_jobs(options: argparse.Namespace) -> int:
    """Print jobs."""
    page = _connect(options).jobs.list(limit=options.limit, batch=options.batch)
    if options.json:
        print(json.dumps([job.to_wire() for job in page.jobs]))
        return 0
    rows = [(job.job_name, job.tool_type, _state(job), _when(job), job.error or "") for job in page.jobs]
    print_table(("JOB", "TOOL", "STATUS", "CREATED", "REASON"), rows)
    if page.start_key:
        print("There are more; --limit shows them.", file=sys.stderr)
    return 0


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Options of ``wait``."""
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end the waiting; the job goes on")
    add_name(parser)


def run_wait(options: argparse.Namespace) -> int:
    """Wait for one job."""
    job = _connect(options).jobs.finish(options.name, options.timeout, _report)
    _print_job(job, as_json=options.json)
    return 0


def add_results(parser: argparse.ArgumentParser) -> None:
    """Options of ``results``."""
    parser.add_argument("--to", type=Path, default=Path(), metavar="FOLDER", help="where to (default: here)")
    parser.add_argument("--file", help="one file of the result instead of the archive")
    add_name(parser)


def run_results(options: argparse.Namespace) -> int:
    """Fetch a result, and say where it lies."""
    source = _connect(options).jobs.download(options.name, options.file)
    options.to.mkdir(parents=True, exist_ok=True)
    target = options.to / source.name
    shutil.copyfile(source, target)
    print(json.dumps({"path": str(target)}) if options.json else target)
    return 0


def add_log(parser: argparse.ArgumentParser) -> None:
    """Options of ``log``."""
    parser.add_argument("--lines", type=int, default=200, help="the last so many lines (default 200)")
    add_name(parser)


def run_log(options: argparse.Namespace) -> int:
    """Print a log's end."""
    text = _connect(options).jobs.log(options.name, options.lines)
    print(json.dumps({"log": text}) if options.json else text)
    return 0


def run_stop(options: argparse.Namespace) -> int:
    """Stop one job."""
    client = _connect(options)
    client.jobs.stop(options.name)
    _print_job(client.jobs.get(options.name).record, as_json=options.json)
    return 0


def run_delete(options: argparse.Namespace) -> int:
    """Delete one job."""
    _connect(options).jobs.delete(options.name)
    print(json.dumps({"deleted": options.name}) if options.json else f"{options.name} is deleted.")
    return 0


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need to be; the last one may run on."""
    widths = [max(len(row[column]) for row in (titles, *rows)) for column in range(len(titles))]
    for row in (titles, *rows):
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def _state(job: Job) -> str:
    percent = f" {job.progress:.0%}" if job.progress is not None and not job.is_final else ""
    return f"{job.status}{percent}"


def _when(job: Job) -> str:
    return job.created.astimezone().strftime("%Y-%m-%d %H:%M:%S") if job.created else ""


def _report(job: Job) -> None:
    print(f"{job.job_name}: {_state(job)}  {job.message or ''}".rstrip(), file=sys.stderr)


def _print_job(job: Job, *, as_json: bool) -> None:
    print(json.dumps(job.to_wire()) if as_json else f"{job.job_name}: {_state(job)}")
