"""Citations are parsed into references, and written as BibTeX and RIS."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.errors import ConfigurationError, ResultError
from foldnote.results import to_bibtex, write_references
from foldnote.results.provenance.references import merge_references, read_references, to_ris
from foldnote.service.engines import load_engines

VINA = (
    "Eberhardt J., Santos-Martins D. (2021) AutoDock Vina 1.2.0: new docking methods. J. Chem. Inf. Model. 61,"
    " 3891-3898. doi:10.1021/acs.jcim.1c00203"
)
CHARGES = (
    "Jakalian A. et al. (2002) Fast generation of charges. AM1-BCC model: II. Parameterization and validation."
    " Journal of Computational Chemistry 23, 1623-1641. doi:10.1002/jcc.10128"
)
CITED = {name: engine.citation for name, engine in load_engines().items() if engine.citation}


def test_a_citation_is_read_into_its_parts():
    (reference,) = read_references(VINA)
    assert reference.authors == ("Eberhardt, J.", "Santos-Martins, D.")
    assert reference.title == "AutoDock Vina 1.2.0: new docking methods"
    assert (reference.journal, reference.volume, reference.pages) == (
        "J. Chem. Inf. Model.",
        "61",
        "3891-3898",
    )
    assert (reference.year, reference.doi) == ("2021", "10.1021/acs.jcim.1c00203")
    assert reference.short == "Eberhardt & Santos-Martins 2021"


def test_a_full_stop_in_a_title_does_not_end_it():
    (reference,) = read_references(CHARGES)
    assert reference.title.endswith("AM1-BCC model: II. Parameterization and validation")
    assert reference.journal == "Journal of Computational Chemistry"
    assert reference.has_more_authors
    assert reference.short == "Jakalian et al. 2002"


def test_several_citations_are_several_references_and_each_is_kept_once():
    assert [each.year for each in merge_references([f"{VINA}. {CHARGES}", VINA])] == ["2021", "2002"]


def test_a_text_that_is_not_a_citation_is_kept_unchanged():
    (reference,) = read_references("The authors' manual, in print.")
    assert reference.text == "The authors' manual, in print"
    assert "author" not in to_bibtex([reference]).replace("authors", "")
    assert "TY  - GEN" in to_ris([reference])


@pytest.mark.parametrize("name", sorted(CITED))
def test_the_citations_of_every_engine_are_read_completely(name):
    text = CITED[name]
    references = read_references(text)
    assert len(references) == text.count("doi:")
    for reference in references:
        assert min(map(len, (reference.authors, reference.title, reference.year, reference.doi))) > 0
        assert reference.journal or reference.title.startswith("gninatorch")
        assert not re.search(r"\d{4}\)|doi", reference.title + reference.journal)


def test_bibtex_has_a_unique_key_for_each_reference_and_escapes_latex():
    text = "Santos-Júnior C. D. (2020) A & B: 50% of {x}_1. PeerJ 8, e10555. doi:10.7717/peerj.10555"
    bibtex = to_bibtex([*read_references(text), *read_references(text)])
    assert re.findall(r"@article\{(.+),", bibtex) == ["santosjunior2020", "santosjunior2020-2"]
    assert r"title = {{A \& B: 50\% of \{x\}\_1}}" in bibtex
    assert "pages = {e10555}" in bibtex


def test_ris_has_pages_and_ends_each_record():
    ris = to_ris(read_references(f"{VINA}. {CHARGES}"))
    assert ris.count("ER  - ") == 2
    assert "SP  - 3891\r\nEP  - 3898" in ris
    assert "T2  - Journal of Computational Chemistry" in ris


def test_ris_says_that_a_work_has_more_authors_than_it_names():
    citation = "Jumper J. et al. (2021) Highly accurate prediction. Nature 596, 583-589. doi:10.1038/s41586"
    ris = to_ris(read_references(citation))

    assert "AU  - Jumper, J.\r\nAU  - et al.,\r\n" in ris
    assert "N1  - Only the first authors" in ris
    assert "et al." not in to_ris(read_references(VINA))


def test_references_are_written_by_the_suffix(tmp_path):
    references = read_references(VINA)
    assert write_references(references, tmp_path / "x.bib").read_text() == to_bibtex(references)
    assert write_references(references, tmp_path / "x.ris").read_bytes() == to_ris(references).encode()
    with pytest.raises(
        ConfigurationError, match=r"x\.txt: references are written to a file that ends in \.bib"
    ):
        write_references(references, tmp_path / "x.txt")
    assert not (tmp_path / "x.txt").exists()


def test_references_that_cannot_be_written_are_refused_in_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    references = read_references(VINA)

    with pytest.raises(ResultError, match=r"file/x\.bib cannot be written: .*\. Choose another folder"):
        write_references(references, tmp_path / "file" / "x.bib")
    assert write_references(references, tmp_path / "new" / "x.bib").exists()


@given(st.lists(st.text(max_size=60), max_size=4))
def test_no_text_is_lost_or_refused(texts):
    for reference in merge_references(texts):
        assert reference.text
    bibtex = to_bibtex(merge_references(texts))
    keys = re.findall(r"^@\w+\{([^,]*),$", bibtex, re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(merge_references(texts))
