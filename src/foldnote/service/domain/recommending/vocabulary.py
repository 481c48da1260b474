"""The words by which people name what a tool does and what it works on, from `vocabulary.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """For each function and modality of the catalog a pattern of the words that name it."""
    rows = _read()
    return {word: _compile(text) for word, text in (rows["functions"] | rows["modalities"]).items()}


@cache
def structure_pattern() -> re.Pattern[str]:
    """Words of somebody who has a structure."""
    return _compile(_read()["structure"])


@cache
def partner_pattern() -> re.Pattern[str]:
    """Words of somebody who docks proteins to each other."""
    return _compile(_read()["protein_partners"])


def _compile(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _read() -> dict[str, Any]:
    text = files("foldnote.service.domain.recommending").joinpath("vocabulary.toml").read_text("utf-8")
    return tomllib.loads(text)
