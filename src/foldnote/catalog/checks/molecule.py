"""Checks of SMILES and of model names, by syntax only.

They detect typing and pasting errors such as names instead of SMILES, missing brackets and open rings; a tool
may still reject a SMILES that passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from foldnote.catalog.checks.row import CheckContext, CheckRow, Finding, shorten
from foldnote.catalog.json_values import MAX_TEXT_LENGTH

_TOKEN = re.compile(r"\[[^\[\]]+\]|Br|Cl|[BCNOPSFIHbcnops]|%\d\d|%\(\d+\)|\d|[-=#$:/\\.~*()]", re.ASCII)
_MODEL_NAME = re.compile(r"[A-Za-z0-9_.\-]+", re.ASCII)


def check_smiles(value: Sequence[str], context: CheckContext) -> Iterator[Finding]:
    """Check that each item is the SMILES of one molecule."""
    for number, text in enumerate(value):
        fault = find_smiles_fault(text)
        if fault:
            yield context.find(fault, "bad_smiles", number)


def find_smiles_fault(text: str) -> str | None:
    """Describe a syntax error in a SMILES, as a sentence; None if there is none."""
    if not text.strip():
        return "This is empty. Give the SMILES of a molecule."
    if len(text.split(None, 1)) > 1:
        return f"{shorten(text)} contains white space. Give one molecule per item, without its name."
    if len(text) > MAX_TEXT_LENGTH:
        return f"This has {len(text):,} characters; a SMILES has at most {MAX_TEXT_LENGTH:,}."
    tokens, end = _tokenize(text.strip())
    if end < len(text.strip()):
        return f"Position {end + 1} of {shorten(text)}: {shorten(text.strip()[end])} is not SMILES."
    return _find_open_pair(tokens, text)


def check_model_names(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check model names separated by commas, each at most once; empty is valid."""
    if not value.strip():
        return
    names = [name.strip() for name in value.split(",")]
    wrong = [name for name in names if not _MODEL_NAME.fullmatch(name)]
    if wrong:
        message = f"{shorten(wrong[0])} is not a model name. Separate names by commas; empty runs all 5."
        yield context.find(message, "bad_word")
    elif len(set(names)) < len(names):
        yield context.find("A model is named twice. Name each model once.", "repeated")


def _tokenize(text: str) -> tuple[list[str], int]:
    tokens: list[str] = []
    end = 0
    while found := _TOKEN.match(text, end):
        tokens.append(found[0])
        end = found.end()
    return tokens, end


def _find_open_pair(tokens: Sequence[str], text: str) -> str | None:
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth < 0:
            break
    if depth:
        return f"{shorten(text)} has an unmatched parenthesis."
    rings = Counter(token for token in tokens if token[0] == "%" or token.isdigit())
    unpaired = sorted(token for token, count in rings.items() if count % 2)
    return f"{shorten(text)} opens ring {unpaired[0]} without closing it." if unpaired else None


ROWS: Final = (
    CheckRow("smiles", check_smiles, "SMILES, one molecule per item", "texts"),
    CheckRow("model-names", check_model_names, "model names separated by commas"),
)
