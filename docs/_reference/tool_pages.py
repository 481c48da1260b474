"""Generate a page for each tool: purpose, settings, outputs and example, and the method that runs it here."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from pprint import pformat
from typing import Any

from foldnote.catalog.bundle import list_types, read_tool
from foldnote.catalog.functions import SettingArgument, find_python_name, read_arguments
from foldnote.models.settings_table import list_outputs
from foldnote.service.engines import load_engines
from foldnote.service.engines.engine import Engine
from foldnote.service.engines.engine_file import read_engine
from foldnote.service.engines.unserved import explain_unserved
from foldnote.service.engines.weights.state import UNCHECKED
from foldnote.text import format_duration, format_size

_KINDS = {
    "genuine": "yes",
    "genuine-task": "the named task, by another program",
    "substitute": "no, another method in its place",
    "adapter": "your own copy of the program",
}
_TYPES = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "true or false",
    "array": "list",
    "object": "mapping",
}
_EXAMPLES = Path(str(files("foldnote.catalog") / "examples"))
_FAMILIES_FIRST = ("structure-prediction", "sequence-analysis")


def find_engines() -> dict[str, Engine]:
    """Return the bundled engine of each tool, in its state before anything is installed on this machine."""
    folders = sorted(
        {engine.folder for engine in load_engines().values() if engine.folder.parent.name == "engines"}
    )
    engines = [read_engine(folder) for folder in folders]
    return {tool: engine for engine in engines for tool in engine.tools}


def write_tool_pages(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Write a page for each tool of the catalog and their index; return the schema of each tool."""
    engines = find_engines()
    rows = {name: read_tool(name) for name in list_types()}
    for name, row in rows.items():
        (folder / f"{name}.md").write_text("\n".join(_write_page(row, engines.get(name))) + "\n", "utf-8")
    (folder / "index.md").write_text(_write_index(rows, engines), "utf-8")
    return {name: row["schema"] for name, row in rows.items()}


def write_example(row: Mapping[str, Any]) -> str:
    """Write the tool's example job as Python, with files from the examples in foldnote."""
    settings, schema = row["exampleJob"]["settings"], row["schema"]["properties"]
    arguments, has_files = [], False
    names = {each.setting: each.name for each in read_arguments(row["schema"])}
    for name, value in settings.items():
        text = pformat(value, width=80)
        if schema[name]["x-foldnote"].get("role") in ("file", "files"):
            listed = value if isinstance(value, list) else [value]
            uploads = [_write_file(each) for each in listed]
            has_files |= any("examples" in each for each in uploads)
            text = f"[{', '.join(uploads)}]" if isinstance(value, list) else uploads[0]
        body = textwrap.indent(text, "    ").lstrip()
        arguments.append(f"    {names[name]}={body},\n")
    head = ["from importlib.resources import files\nfrom pathlib import Path\n\n"] if has_files else []
    head.append("import foldnote as fn\n\n")
    if has_files:
        head.append('examples = Path(str(files("foldnote.catalog") / "examples"))\n')
    call = find_python_name(row["type"])
    return "".join([*head, f"job = fn.tools.{call}(\n", *arguments, ")\nresult = job.wait().result()"])


def _write_file(value: str) -> str:
    """Write a file value: the upload of an example in foldnote, or the text itself."""
    return f'fn.upload(examples / "{value}")' if (_EXAMPLES / value).is_file() else f"fn.inline({value!r})"


def _write_page(row: Mapping[str, Any], engine: Engine | None) -> Iterator[str]:
    name = row["type"]
    yield f"# {row['displayName']}\n"
    yield f"{row['description']}\n"
    yield f"Type `{name}` · {_words(row['family'])} · works on {', '.join(map(_words, row['modalities']))}\n"
    if row["schema"].get("x-foldnote", {}).get("beyondReference"):
        yield "The interface's settings reference does not have this tool: its settings are foldnote's own.\n"
    yield "## Where it runs\n"
    yield from _write_engine(name, engine)
    yield "## Settings\n"
    for argument in read_arguments(row["schema"]):
        yield from _write_setting(argument)
    yield f"As JSON Schema: [{name}.json](path:../extra/schemas/{name}.json), or `foldnote schema {name}`.\n"
    yield "## Outputs\n"
    outputs = list(list_outputs(row["outputs"]))
    if outputs:
        yield "| output | what it is | unit | better |\n|---|---|---|---|"
        yield from (f"| {' | '.join(map(_cell, each))} |" for each in outputs)
        yield ""
    if engine and (written := engine.for_tool(name).outputs.get(name) or ()):
        yield "Files of a result:\n"
        yield from (f"- `{_split(each)[0]}`: {_split(each)[1]}" for each in written)
        yield ""
    yield "## Example\n"
    yield f"```python\n{write_example(row)}\n```\n"
    yield "On the command line:\n"
    yield f"```bash\nfoldnote example {name} > settings.json\nfoldnote submit {name} --settings settings.json --wait\n```\n"
    yield "## Citation\n"
    yield f"{_cite(row['citation'])}\n"
    if engine and engine.citation:
        yield f"What runs here: {_link_dois(engine.citation)}\n"


def _write_engine(name: str, engine: Engine | None) -> Iterator[str]:
    if engine is None:
        yield f"{explain_unserved(name)} [Where each tool runs](../../tools.md) explains both.\n"
        return
    engine = engine.for_tool(name)
    yield "| what | here |\n|---|---|"
    for title, value in _list_facts(engine):
        yield f"| {title} | {_cell(value)} |"
    yield ""
    if engine.note:
        yield f"{engine.note}\n"
    if engine.kind == "adapter":
        yield "An adapter runs your own copy of the program: [Adapters](../../tools.md#adapters).\n"
    if engine.needs_weights and not engine.checked_with_published_weights:
        yield f"```{{warning}}\n{UNCHECKED}\n```\n"
    if engine.licence_note:
        yield f"{engine.licence_note}\n"


def _list_facts(engine: Engine) -> Iterator[tuple[str, str]]:
    yield "Method", engine.method
    yield "Named method", _KINDS[engine.kind]
    yield "Version", engine.version
    yield "Licence", engine.licence
    needs = engine.resources
    gpu = "an NVIDIA GPU" if needs.gpus else "a GPU where there is one" if needs.may_use_gpu else ""
    cores = f"{needs.cores} core{'s' if needs.cores > 1 else ''}"
    yield "Needs", ", ".join(filter(None, [cores, f"{format_size(needs.memory_mb * 2**20)} of memory", gpu]))
    if engine.environment.disk_mb:
        yield "Disk", f"about {format_size(engine.environment.disk_mb * 10**6)} for its environment"
    for each in engine.weights:
        when = ", optional" if each.optional else ""
        yield "Weights", f"{each.name} ({each.size_in_words}{when}; {each.licence}; {each.source})"
    yield "Time limit", format_duration(engine.time_limit_s)
    if engine.kind != "adapter":
        yield "Install", f"`foldnote engines install {engine.name}`"
    if engine.homepage:
        yield "Program", f"<{engine.homepage}>"


def _write_setting(argument: SettingArgument) -> Iterator[str]:
    kinds = argument.schema.get("type")
    listed = kinds if isinstance(kinds, list) else [kinds] if kinds else []
    kind = " or ".join(_TYPES.get(each, str(each)) for each in listed)
    if (
        argument.schema.get("format") == "binary"
        or (argument.schema.get("items") or {}).get("format") == "binary"
    ):
        kind = "files" if kinds == "array" else "file"
    yield f"`{argument.setting}` ({kind or 'anything'})"
    yield f": {_escape(argument.describe())}{_describe_items(argument.schema)}\n"


def _describe_items(schema: Mapping[str, Any]) -> str:
    """Describe the length of lists and the bounds of their items."""
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return ""
    least, most = schema.get("minItems"), schema.get("maxItems")
    told = f" {least} values." if least is not None and least == most else ""
    if "minimum" in items and "maximum" in items:
        told += f" Each from {items['minimum']} to {items['maximum']}."
    if "enum" in items:
        told += f" Items: {', '.join(f'`{each}`' for each in items['enum'])}."
    return told


def _write_index(rows: Mapping[str, Mapping[str, Any]], engines: Mapping[str, Engine]) -> str:
    families = defaultdict(list)
    for name, row in rows.items():
        families[row["family"]].append(name)
    order = sorted(families, key=lambda each: (each not in _FAMILIES_FIRST, each))
    lines = [
        "# Tools\n",
        f"The {len(rows)} tools of the catalog, by family."
        " **installable** runs on your machine once its engine is installed, **adapter** runs your own copy of the"
        " program, **elsewhere** needs a service that has it; [Where each tool runs](../../tools.md) explains these.\n",
    ]
    for family in order:
        lines.append(f"## {_words(family).capitalize()}\n")
        lines.append("| tool | what it does | here | method here |\n|---|---|---|---|")
        for name in families[family]:
            engine = engines.get(name)
            word = "elsewhere" if engine is None else "adapter" if engine.kind == "adapter" else "installable"
            method = engine.for_tool(name).method if engine else ""
            row = rows[name]
            lines.append(
                f"| [{row['displayName']}]({name}.md) | {_cell(row['description'])} | {word} | {_cell(method)} |"
            )
        lines.append("")
    lines.append("```{toctree}\n:hidden:\n")
    lines.extend(f"{rows[name]['displayName']} <{name}>" for name in sorted(rows))
    return "\n".join([*lines, "```", ""])


def _cite(citation: Mapping[str, Any]) -> str:
    doi = citation.get("doi")
    return f"{citation['text']}{f' [doi:{doi}](https://doi.org/{doi})' if doi else ''}"


def _link_dois(text: str) -> str:
    words = (
        f"[{word}](https://doi.org/{word.removeprefix('doi:').rstrip('.,;')})"
        if word.startswith("doi:10.")
        else word
        for word in text.split(" ")
    )
    return " ".join(words)


def _split(output: str) -> tuple[str, str]:
    name, _, what = output.partition(": ")
    return name, what or ""


def _words(name: str) -> str:
    return name.replace("-", " ").replace("tcr", "T-cell receptor")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _escape(text: str) -> str:
    return text.replace("*", "\\*").replace("_", "\\_").replace("<", "\\<").replace("[", "\\[")
