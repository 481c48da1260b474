"""``llms.txt``: the site's pages with one sentence each, for language models (https://llmstxt.org)."""

from __future__ import annotations

import re
from pathlib import Path

_HEAD = """# foldnote

> Protein-analysis jobs in JupyterLab: forms made from schemas, a jobs panel, results with 3D views, a client and a command line,
> for a hosted service or an embedded one that runs real engines on this computer.

Links lead to the Markdown sources of the pages. `schemas/TOOL.json` has the settings of a tool as JSON Schema, `openapi.json` the
service's routes. An assistant can use foldnote by its MCP server, `foldnote mcp`.
"""


def write_llms_text(docs: Path, site: Path) -> None:
    """Write ``llms.txt`` into the built site, listing the pages of its index in their order."""
    lines = [_HEAD]
    index = (docs / "index.md").read_text("utf-8")
    for caption, entries in re.findall(
        r"```\{toctree\}\n:caption: ([^\n]+)\n(?::[^\n]*\n)*\n(.*?)```", index, re.S
    ):
        lines.append(f"## {caption}\n")
        for entry in entries.split("\n"):
            name = re.sub(r".*<(.+)>", r"\1", entry.strip())
            source = next(
                (
                    docs / f"{name}{end}"
                    for end in (".md", ".rst", ".ipynb")
                    if (docs / f"{name}{end}").is_file()
                ),
                None,
            )
            if source is not None:
                title, summary = _describe(source)
                lines.append(
                    f"- [{title}](_sources/{name}{source.suffix}.txt){f': {summary}' if summary else ''}"
                )
        lines.append("")
    lines.append("## Tools\n")
    for source in sorted((docs / "reference" / "tools").glob("*.md")):
        if source.stem != "index":
            title, summary = _describe(source)
            lines.append(f"- [{title}](_sources/reference/tools/{source.name}.txt): {summary}")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def _describe(source: Path) -> tuple[str, str]:
    """Return the title of a page and its first sentence."""
    text = source.read_text("utf-8")
    if source.suffix == ".ipynb":
        title = re.search(r'"# (.+?)(?:\\n)?"', text)
        return (title.group(1) if title else source.stem), "a notebook"
    if source.suffix == ".rst":
        return text.split("\n", 1)[0], ""
    title = re.search(r"^# (.+)$", text, re.M)
    body = text[title.end() :] if title else ""
    paragraph = next((each for each in body.split("\n\n") if re.match(r"\s*(?!```)[A-Z`*]", each)), "")
    sentence = re.split(r"(?<=\.)\s|:\s*$", " ".join(paragraph.split()), maxsplit=1)[0]
    name = title.group(1) if title else source.stem.capitalize()
    return name, re.sub(r"\[(.+?)\]\(.+?\)", r"\1", sentence)
