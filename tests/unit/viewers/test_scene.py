"""A scene is plain data; CDRs are marked only if the numbering fits the structure."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import py3Dmol
import pytest

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure
from foldnote.results.sequences.antibody_numbering import find_regions, read_numbering
from foldnote.viewers import Scene, compose
from foldnote.viewers.render.caption import write_interfaces
from foldnote.viewers.scene import palette

DATA = Path(__file__).parents[1] / "results" / "data"
FV = (DATA / "trastuzumab_fv_ca.pdb").read_text()
REGIONS = find_regions(read_numbering((DATA / "numbering.csv").read_bytes(), "numbering.csv"))
CDRS = ["CDR-H1", "CDR-H2", "CDR-H3", "CDR-L1", "CDR-L2", "CDR-L3"]


@pytest.fixture
def scene():
    return compose(Structure("fv.pdb", "pdb", FV), REGIONS, title="Fv")


def test_a_scene_survives_json(scene):
    assert Scene.from_json(scene.to_json()) == scene


def test_a_chain_of_single_atoms_is_drawn_as_a_trace(scene):
    assert all(chain.is_trace for model in scene.models for chain in model.chains)
    styles = [line for line in scene.py3dmol().startjs.splitlines() if "cartoon" in line]
    assert len(styles) == 8
    assert all('"style": "trace"' in line for line in styles)


def test_a_chain_with_its_backbone_is_drawn_as_a_ribbon():
    atoms = [("N", 0.0), ("CA", 1.5), ("C", 2.4), ("O", 2.8)]
    lines = [
        f"ATOM  {4 * i + j + 1:5d}  {name:<3s} ALA A{i + 1:4d}    {3.8 * i + x:8.3f}{x:8.3f}   0.000  1.00  0.00"
        for i in range(4)
        for j, (name, x) in enumerate(atoms)
    ]
    (model,) = compose(Structure("full.pdb", "pdb", "\n".join(lines))).models
    assert not model.chains[0].is_trace


def test_a_scene_cannot_be_changed(scene):
    with pytest.raises(ValueError, match="frozen"):
        scene.title = "other"


def test_all_six_cdrs_are_marked_with_the_definition(scene):
    assert [mark.label for mark in scene.models[0].highlights] == CDRS
    assert scene.marking == "CDRs by the IMGT definition, IMGT numbering"
    assert len({mark.color for mark in scene.models[0].highlights}) == 6


@pytest.mark.parametrize("names", [{"H": "B", "L": "A"}, {"H": "D", "L": "G"}, {"H": "X", "L": "Y"}])
def test_cdrs_of_other_receptors_and_of_unknown_chains_are_distinguished(scene, names):
    lines = [
        f"{line[:21]}{names.get(line[21:22], ' ')}{line[22:]}"
        for line in FV.splitlines()
        if line[:4] == "ATOM"
    ]
    regions = [replace(region, chain=names[region.chain]) for region in REGIONS]
    (model,) = compose(Structure("receptor.pdb", "pdb", "\n".join(lines)), regions).models
    colors = {mark.label: mark.color for mark in model.highlights}
    for chain in names.values():
        own = [colors[f"CDR-{chain}{number}"] for number in "123"]
        assert sorted(own, key=find_lightness, reverse=True) == own
        assert len(set(own)) == 3
    assert {chain.name for chain in model.chains} == set(names.values())
    assert not {chain.color for chain in model.chains} & set(colors.values())
    if "X" not in names.values():  # like the antibody's chains
        assert [chain.color for chain in model.chains] == [chain.color for chain in scene.models[0].chains]


def find_lightness(color):
    return oklab(color, "full")[0]


def test_the_words_name_chains_and_cdrs_and_no_confidence(scene):
    facts = dict(scene.facts)

    assert facts["Heavy chain H"] == "protein, 120 residues"
    assert facts["CDR-H3"] == "SRWGGDGFYAMDY, residues 105–117"
    assert facts["Confidence"] == "none in this result"
    assert facts["Ligands and ions"] == "none"


def test_a_file_numbered_from_one_is_marked_by_place():
    lines, number, last = [], 0, ""
    for line in FV.splitlines():
        if line.startswith("ATOM"):
            number = number + 1 if line[21] == last else 1
            last = line[21]
            line = f"{line[:22]}{number:4d} {line[27:]}"
        lines.append(line)
    scene = compose(Structure("fv.pdb", "pdb", "\n".join(lines)), REGIONS)

    assert [mark.label for mark in scene.models[0].highlights] == CDRS
    assert scene.models[0].highlights[0].numbers == tuple(map(str, range(26, 34)))


def test_a_numbering_of_another_antibody_marks_nothing_and_says_so():
    other = [
        type(r)(r.chain, r.name, r.sequence[::-1] + "W", r.positions, r.indices, r.scheme, r.definition)
        for r in REGIONS
    ]
    scene = compose(Structure("fv.pdb", "pdb", FV), other)

    assert scene.models[0].highlights == ()
    assert "does not fit" in scene.notes[0]
    assert scene.models[0].chains[0].label == "Chain H"


def test_without_a_numbering_no_cdr_is_guessed():
    scene = compose(Structure("fv.pdb", "pdb", FV))

    assert scene.models[0].highlights == ()
    assert scene.marking == ""


def test_a_structure_without_atoms_is_refused():
    with pytest.raises(UnreadableFileError):
        compose(Structure("x.pdb", "pdb", "END\n"))


def test_the_view_is_a_genuine_py3dmol_view_that_can_be_modified(scene):
    view = scene.py3dmol()
    view.addSurface("VDW", {"opacity": 0.5})

    assert isinstance(view, py3Dmol.view)
    assert 'addSurface("VDW",{"opacity": 0.5})' in view._repr_html_()


def test_insertion_codes_are_distinguished(scene):
    from foldnote.viewers.render.styles import select_highlight

    mark = scene.models[0].highlights[2].model_copy(update={"numbers": ("111", "111A", "112B")})

    assert select_highlight(0, mark)["rescode"] == ["111", "111^A", "112^B"]


# Machado, Oliveira, Fernandes: "A physiologically-based model for simulation of color vision deficiency", 2009.
VISIONS = {
    "full": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def oklab(color, vision):
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    cone = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    lab = [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
    ]
    return 100 * (lab @ np.cbrt(cone @ np.clip(np.array(VISIONS[vision]) @ linear, 0, 1)))


@pytest.mark.parametrize("vision", VISIONS)
def test_antibody_colours_differ_for_every_kind_of_colour_vision(vision):
    colors = [*palette.ANTIBODY_CHAINS.values(), *palette.CDRS.values()]
    nearest = min(
        np.linalg.norm(oklab(a, vision) - oklab(b, vision)) for a, b in itertools.combinations(colors, 2)
    )

    assert nearest > 9


@pytest.mark.parametrize("color", [*palette.CHAINS, *palette.CDRS.values()])
def test_text_on_a_colour_is_readable(color):
    def luminance(value):
        channels = [int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(color), luminance(palette.text_color(color))), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("number", "heading"), [(1, "chains</p>"), (9, "chains: 9</p>"), (60, "chains: the 60 largest</p>")]
)
def test_the_heading_of_interfaces_that_are_not_seen_at_once_has_their_number(number, heading):
    scene = compose(Structure.open(DATA / "complexes" / "5zng.pdb.gz"))
    (interface,) = scene.interfaces

    shown = write_interfaces(scene.model_copy(update={"interfaces": (interface,) * number}))

    assert f"Interfaces between {heading}" in shown
