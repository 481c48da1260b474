"""Identifiers, docstrings, comments, messages and docs follow docs/glossary.toml."""

import ast
import io
import re
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
GLOSSARY = tomllib.loads((ROOT / "docs/glossary.toml").read_text())
SOURCES = sorted((ROOT / "src/foldnote").rglob("*.py"))
SCRIPTS = sorted(
    [
        *(ROOT / "labextension/src").rglob("*.ts*"),
        *(ROOT / "src/foldnote/viewers/assets").glob("*.js"),
        *(ROOT / "src/foldnote/catalog/tools").glob("*.json"),
        *(ROOT / "notebooks").glob("*.ipynb"),
    ]
)
DOCS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")] + sorted((ROOT / "docs").glob("*.md"))


def name_of(path):
    return str(path.relative_to(ROOT))


def split_words(identifier):
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)]


def list_identifiers(path, tree):
    """Yield the names that a module defines: its own, and those of classes, functions, arguments and variables."""
    yield path.stem
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def list_texts(path):
    """Yield the strings and comments of a Python file."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.string


def find_banned(text):
    flat = " ".join(text.split()).lower()
    return [f"{phrase} → {better}" for phrase, better in GLOSSARY["banned"].items() if phrase.lower() in flat]


def test_identifiers_use_standard_terms(syntax_trees):
    private = [
        f"{name_of(path)}: {name} → {GLOSSARY['standard'][word]}"
        for path, tree in syntax_trees.items()
        for name in list_identifiers(path, tree)
        for word in split_words(name)
        if word in GLOSSARY["standard"]
    ]
    assert private == []


def test_docstrings_comments_and_messages_use_no_banned_phrase():
    assert [
        (name_of(path), found) for path in SOURCES if (found := find_banned("\n".join(list_texts(path))))
    ] == []


def test_scripts_and_docs_use_no_banned_phrase():
    assert [
        (name_of(path), found) for path in (*SCRIPTS, *DOCS) if (found := find_banned(path.read_text()))
    ] == []


def test_a_class_name_exists_once(syntax_trees):
    names = Counter(
        node.name
        for tree in syntax_trees.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, number in names.items() if number > 1] == []


def test_a_word_is_not_both_a_standard_term_and_a_private_one():
    assert not set(GLOSSARY["standard"]) & set(GLOSSARY["domain"])


def test_a_banned_phrase_is_found_across_lines():
    assert find_banned("two parts, laid\n    over each other")
