"""Read citations into references, and write these as BibTeX and RIS.

A citation reads ``Authors (Year) Title. Journal Volume, Pages. doi:10.…``; a text may have several of them,
each with its DOI at the end. Other citations are kept as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.io import save_file

_CITATION = re.compile(r"\s*(.+?doi:\S+?)\.?(?=\s|$)", re.DOTALL)
_RECORD = re.compile(
    r"(?:(?P<label>[^().:,]+): )?(?P<authors>[^()]+) \((?P<year>\d{4})\) (?P<body>.+?)\.? doi:(?P<doi>\S+)",
    re.DOTALL,
)
_VENUE = re.compile(r"(?P<journal>.+?)(?: (?P<volume>\d+))?(?:, (?P<pages>[A-Za-z]?\w+(?:-\w+)?))?")
_PREPRINT = re.compile(r"\s*arXiv:\S+$")
_INITIAL = re.compile(r"[A-Z]\w?\.(?:-[A-Z]\.)*")
_SMALL = frozenset({"of", "the", "and", "in", "for", "on"})
_COLLECTION = re.compile(r"\b(Proceedings|Handbook)\b")
_RIS_OTHERS = (
    ("AU", "et al.,"),
    ("N1", "Only the first authors are named here. The DOI leads to the names of all."),
)
"""RIS has no field for further authors; the comma makes reference managers keep "et al." as one name."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}


@dataclass(frozen=True, slots=True)
class Publication:
    """A published work.

    Attributes:
        text: the citation as it was written.
        authors: family name and initials of each author, as in ``"Deane, C. M."``; empty if unknown.
        has_more_authors: whether the citation names only the first authors ("et al.").
        year: year of publication; "" if unknown.
        title: title of the work; "" if unknown.
        journal: journal, proceedings, book or preprint server; "" for software.
        volume: volume of the journal; "" if there is none.
        pages: first and last page, or the number of the article; "" if there are none.
        doi: digital object identifier, without prefix; "" if there is none.
    """

    text: str
    authors: tuple[str, ...] = ()
    has_more_authors: bool = False
    year: str = ""
    title: str = ""
    journal: str = ""
    volume: str = ""
    pages: str = ""
    doi: str = ""

    @property
    def short(self) -> str:
        """Authors and year as in running text: ``Dunbar & Deane 2016``, ``Swanson et al. 2024``."""
        if not self.authors:
            return self.text
        names = [author.partition(",")[0] for author in self.authors]
        if self.has_more_authors or len(names) > 2:
            return f"{names[0]} et al. {self.year}"
        return f"{' & '.join(names)} {self.year}"


def read_references(text: str) -> tuple[Publication, ...]:
    """Return the references of a text with one or several citations, in order."""
    publications, end = [], 0
    for match in _CITATION.finditer(text):
        publications.append(_read_citation(match[1].strip()))
        end = match.end()
    remainder = text[end:].strip(" .\n\t")
    return (*publications, *([Publication(remainder)] if remainder else []))


def merge_references(texts: Iterable[str]) -> tuple[Publication, ...]:
    """Merge the references of several texts, keeping the first of equal ones."""
    by_key: dict[str, Publication] = {}
    for text in texts:
        for reference in read_references(text):
            by_key.setdefault(reference.doi.lower() or reference.text, reference)
    return tuple(by_key.values())


def _read_citation(text: str) -> Publication:
    match = _RECORD.fullmatch(text)
    if match is None:
        doi = text.rpartition("doi:")[2]
        return Publication(text, doi=doi)
    body, is_preprint = _PREPRINT.subn("", match["body"].strip())
    title, venue = _split_title(body)
    venue_match = _VENUE.fullmatch(venue) if venue else None
    authors, has_more = _read_authors(match["authors"])
    return Publication(
        text=text[match.start("authors") :],
        authors=authors,
        has_more_authors=has_more,
        year=match["year"],
        title=title,
        journal=(venue_match["journal"] if venue_match else venue) or ("arXiv" if is_preprint else ""),
        volume=(venue_match["volume"] if venue_match else "") or "",
        pages=(venue_match["pages"] if venue_match else "") or "",
        doi=match["doi"],
    )


def _split_title(body: str) -> tuple[str, str]:
    """Split title and journal at a full stop; both may contain further ones ("J. Comput. Chem.")."""
    parts = body.rstrip(".").split(". ")
    for at in range(1, len(parts)):
        if all(_is_abbreviated(part) for part in parts[at:-1]):
            return ". ".join(parts[:at]), ". ".join(parts[at:])
    return body.rstrip("."), ""


def _is_abbreviated(part: str) -> bool:
    """Return whether this word can precede a full stop within the name of a journal."""
    return all(word[:1].isupper() or word in _SMALL for word in part.split())


def _read_authors(text: str) -> tuple[tuple[str, ...], bool]:
    listed, has_more = re.subn(r",? et al\.?$", "", text.strip())
    return tuple(_read_author(author) for author in listed.split(", ") if author), bool(has_more)


def _read_author(text: str) -> str:
    parts = text.split()
    first = next(
        (index for index, part in enumerate(parts) if index and _INITIAL.fullmatch(part)), len(parts)
    )
    family, initials = " ".join(parts[:first]), " ".join(parts[first:])
    return f"{family}, {initials}" if initials else family


def to_bibtex(references: Sequence[Publication]) -> str:
    """Format the references as BibTeX (UTF-8), each with a unique key of author, year and title."""
    keys: set[str] = set()
    return "\n".join(_write_bibtex(reference, _make_key(reference, keys)) for reference in references)


def _make_key(reference: Publication, used: set[str]) -> str:
    family = reference.authors[0].partition(",")[0] if reference.authors else "reference"
    word = next(iter(re.findall(r"\w{3,}", reference.title)), "")
    letters = unicodedata.normalize("NFKD", f"{family}{reference.year}{word}".lower())
    plain = re.sub(r"[^a-z0-9]", "", letters.encode("ascii", "ignore").decode())
    key, number = plain, 1
    while key in used:
        number += 1
        key = f"{plain}-{number}"
    used.add(key)
    return key


def _write_bibtex(reference: Publication, key: str) -> str:
    if not reference.authors:
        return f"@misc{{{key},\n  note = {{{_escape(reference.text)}}}\n}}\n"
    is_part = bool(_COLLECTION.search(reference.journal))
    kind = "incollection" if is_part else "article" if reference.journal else "software"
    authors = " and ".join([*reference.authors, *(["others"] if reference.has_more_authors else [])])
    fields = {
        "author": _escape(authors),
        "title": f"{{{_escape(reference.title)}}}",
        "booktitle" if is_part else "journal": _escape(reference.journal),
        "year": reference.year,
        "volume": reference.volume,
        "pages": reference.pages.replace("-", "--"),
        "doi": reference.doi,
    }
    rows = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{rows}\n}}\n"


def _escape(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


def to_ris(references: Sequence[Publication]) -> str:
    """Return the references in the RIS format, which EndNote, Zotero and Mendeley read."""
    return "\n".join(_write_ris(reference) for reference in references)


def _write_ris(reference: Publication) -> str:
    is_part = bool(_COLLECTION.search(reference.journal))
    kind = "CHAP" if is_part else "JOUR" if reference.journal else "COMP" if reference.title else "GEN"
    first, _, last = reference.pages.partition("-")
    others = _RIS_OTHERS if reference.authors and reference.has_more_authors else ()
    rows = [
        ("TY", kind),
        *(("AU", author) for author in reference.authors),
        *others,
        ("TI", reference.title or reference.text),
        ("T2", reference.journal),
        ("PY", reference.year),
        ("VL", reference.volume),
        ("SP", first),
        ("EP", last),
        ("DO", reference.doi),
    ]
    lines = [f"{name}  - {value}" for name, value in rows if value]
    return "\r\n".join([*lines, "ER  - ", ""])


def write_references(references: Sequence[Publication], path: str | Path) -> Path:
    """Write the references to a file: BibTeX for ``.bib``, RIS for ``.ris``.

    Raises:
        ConfigurationError: the path ends in neither of them.
        ResultError: the file cannot be written, for example because the disk is full; an old one is kept.
    """
    target = Path(path)
    writers = {".bib": to_bibtex, ".ris": to_ris}
    writer = writers.get(target.suffix.lower())
    if writer is None:
        raise ConfigurationError(
            f"{target.name}: references are written to a file that ends in .bib (BibTeX) or .ris."
        )
    save_file(target, writer(references).encode())
    return target
