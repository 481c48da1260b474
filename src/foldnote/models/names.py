"""The rule for job names, and functions that propose valid names."""

from __future__ import annotations

import re
import unicodedata

MAX_NAME_LENGTH = 100
"""Maximum length of the name of a job, batch or pipeline."""
STEM_LENGTH = 90
"""Length to which a name is cut before a number is appended."""
JOB_NAME_PATTERN = rf"^[A-Za-z0-9_.\-]{{1,{MAX_NAME_LENGTH}}}$"
_SPELT = {"ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L",
          "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i"}  # fmt: skip
"""Latin letters that Unicode normalisation does not decompose."""
_ALLOWED = re.compile(r"[A-Za-z0-9_.\-]")


def check_job_name(name: object) -> str | None:
    """Explain why ``name`` is not a valid job name; None if it is valid.

    The rule: 1 to 100 of ``A-Z a-z 0-9 _ . -``, and not ``.`` or ``..``.
    """
    if not isinstance(name, str):
        return f"A job name is text, not {type(name).__name__}."
    if not name:
        return "A job needs a name."
    if len(name) > MAX_NAME_LENGTH:
        return f"A job name has at most {MAX_NAME_LENGTH} characters; this one has {len(name):,}."
    if name in (".", ".."):
        return f"{name!r} cannot be a job name."
    for position, letter in enumerate(name, start=1):
        if not _ALLOWED.match(letter):
            return (
                f"Character {position} of the job name, {letter!r}, is not one of A-Z a-z 0-9 _ . -"
                f" Write {clean_job_name(name)!r}."
            )
    return None


def clean_job_name(text: str) -> str:
    """Convert a text to a valid job name.

    ``anti HER2 (v2)`` becomes ``anti-HER2-v2``, and ``α4β7`` becomes ``alpha4beta7``.
    """
    plain = "".join(map(_spell, unicodedata.normalize("NFKD", text))).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_.\-]+", "-", plain).strip("-.")[:MAX_NAME_LENGTH] or "job"


def _spell(letter: str) -> str:
    """Spell a letter in ASCII where that is usual: Greek letters by their names."""
    if letter in _SPELT:
        return _SPELT[letter]
    script, _, name = unicodedata.name(letter, "").rpartition(" LETTER ")
    return name.rpartition(" ")[2].lower() if script in ("GREEK SMALL", "GREEK CAPITAL") else letter


def propose_job_name(tool_type: str, identity: str) -> str:
    """Propose a name from the tool's type and the first eight characters of ``identity``."""
    stem = re.sub(r"[^A-Za-z0-9_.\-]+", "-", tool_type).strip("-.")[:80] or "job"
    tail = re.sub(r"[^A-Za-z0-9]+", "", identity)[:8]
    return f"{stem}-{tail}" if tail else stem
