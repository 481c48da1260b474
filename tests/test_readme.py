"""Files, make targets and commands that the README names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_every_file_that_the_readme_points_to_is_there():
    pages = {ROOT / "README.md": README} | {page: page.read_text() for page in PAGES}
    # `make docs` generates the pages below reference/: see test_site.py
    missing = [
        (page.name, target)
        for page, text in pages.items()
        for target in re.findall(r"\]\(([^)#]+)\)", text)
        if not target.startswith(("http", "reference/")) and not (page.parent / target).exists()
    ]
    assert missing == []


def test_every_make_target_that_the_docs_name_exists():
    makefile = (ROOT / "Makefile").read_text()
    pages = [README, *((ROOT / name).read_text() for name in ("CONTRIBUTING.md", "docs/testing.md"))]
    named = {name for page in pages for name in re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", page, re.M)}
    named = {either or other for either, other in named}
    assert named
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in named), named


def test_every_command_that_the_readme_names_is_understood():
    from foldnote.cli import build_parser

    known = build_parser().format_help()
    shell = "\n".join(re.findall(r"```bash\n(.*?)```", README, re.S))
    commands = {*re.findall(r"^foldnote ([a-z]+)", shell, re.M), *re.findall(r"`foldnote ([a-z]+)", README)}
    assert commands
    assert all(re.search(rf"^\s+{name}\b", known, re.M) for name in commands), commands
