"""Colours show only data that the structure has."""

import io
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from foldnote.errors import ArgumentError
from foldnote.notebook import view
from foldnote.results import Structure
from foldnote.viewers import compose
from foldnote.viewers.render.caption import write_legend
from foldnote.viewers.render.still_image import (
    HEIGHT,
    WIDTH,
    choose_shades,
    draw_picture,
    draw_printed_picture,
)
from foldnote.viewers.render.styles import apply_style, list_style_rules, list_surfaces
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.coloring import choose, color_by_column, find_colorings

DATA = Path(__file__).parents[1] / "results" / "data"
FV = (DATA / "trastuzumab_fv_ca.pdb").read_text()
IMMUNE_BUILDER = DATA / "c143_immunebuilder_ca.pdb"


def make(b_factors=None, header=""):
    """Return the Fv with other B-factors; ``b_factors`` maps the index of the line to its value."""
    lines = [line for line in FV.splitlines() if line.startswith("ATOM")]
    if b_factors:
        lines = [f"{line[:60]}{b_factors(i):6.2f}{line[66:]}" for i, line in enumerate(lines)]
    return Structure("fv.pdb", "pdb", "\n".join([*filter(None, [header]), *lines]))


def keys(structure):
    return [coloring.key for coloring in find_colorings(structure)]


def test_constant_b_factors_give_neither_confidence_nor_b_factors():
    assert keys(make(lambda i: 0.0)) == ["rainbow", "secondary", "hydrophobicity"]


def test_a_column_of_unknown_meaning_has_no_unit():
    found = {coloring.key: coloring for coloring in find_colorings(make(lambda i: 20 + i % 50))}
    assert "confidence" not in found
    assert found["b-factor"].name == "B-factor column (meaning not stated)"
    assert found["b-factor"].legend[-1].label == "69"


def test_b_factors_of_an_experiment_have_their_unit():
    structure = make(lambda i: 20 + i % 50, "EXPDTA    X-RAY DIFFRACTION")
    found = {coloring.key: coloring for coloring in find_colorings(structure)}
    assert (found["b-factor"].name, found["b-factor"].legend[-1].label) == ("B-factor (Å²)", "69 Å²")


def test_an_error_in_the_column_is_shown_with_its_direction():
    scene = compose(Structure.open(IMMUNE_BUILDER))
    assert scene.color == "error"
    assert scene.coloring.name == "Predicted error (Å, lower is better)"
    assert [item.label for item in scene.coloring.legend] == [
        "0.07 Å, smallest error",
        "2.2 Å",
        "4.32 Å, largest error",
    ]
    assert {"b-factor", "confidence"}.isdisjoint(coloring.key for coloring in scene.colorings)
    assert dict(scene.facts)["Confidence"] == "predicted error, mean 0.45 Å (lower is better); no pLDDT"


def test_what_the_user_says_of_the_column_is_in_the_legend():
    scene = view(make(lambda i: 50 + i % 50), b_factors="plddt")
    assert scene.color == "confidence"
    assert scene.coloring.source == "B-factors, taken as pLDDT because the user said so"


@pytest.mark.parametrize(
    ("values", "meaning", "said"),
    [
        (lambda i: 101 + i % 7, "plddt", "range from 101 to 107"),
        (lambda i: 0.0, "plddt", "all equal"),
        (lambda i: 0.0, "error", "negative or all equal"),
        (lambda i: i % 9, "bfactor", "'plddt' or 'error', not 'bfactor'"),
    ],
)
def test_what_the_column_cannot_be_is_refused_in_words(values, meaning, said):
    with pytest.raises(ArgumentError, match=said):
        view(make(values), b_factors=meaning)


def test_errors_declared_by_the_file_cannot_be_stated_to_be_plddt():
    with pytest.raises(ArgumentError, match="errors in Å"):
        view(IMMUNE_BUILDER, b_factors="plddt")


def test_a_statement_on_a_column_applies_to_one_structure():
    with pytest.raises(ArgumentError, match="about one structure"):
        view([make(), make()], b_factors="plddt")


def test_confidence_has_the_bands_of_the_field():
    structure = make(lambda i: (95.0, 80.0, 60.0, 30.0)[i % 4], "REMARK   1 PLDDT IN THE B-FACTOR COLUMN")
    scene = compose(structure)
    bands = scene.coloring.shades[0]["H"]
    assert scene.color == "confidence"
    assert bands[:4] == (0, 1, 2, 3)
    assert [item.color for item in scene.coloring.legend] == ["#0053d6", "#65cbf3", "#ffdb13", "#ff7d45"]
    assert scene.coloring.values[0]["H"][:2] == (95.0, 80.0)


def test_a_column_of_numbers_is_a_scale():
    structure = make()
    chain = structure.chains[0]
    table = pd.DataFrame({"chain": "H", "number": chain.numbers, "burial": range(len(chain))})
    made = color_by_column(table, "burial", structure.chains)
    assert made.shades[0]["H"][0] == 0
    assert made.shades[0]["H"][-1] == len(made.palette) - 1
    assert set(made.shades[0]["L"]) == {-1}, "no statement about the light chain"


def test_a_column_of_words_has_a_colour_for_each():
    structure = make()
    numbers = structure.chains[0].numbers
    table = pd.DataFrame({"chain": "H", "number": numbers, "kind": ["core", "edge"] * (len(numbers) // 2)})
    made = color_by_column(table, "kind", structure.chains)
    assert [item.label for item in made.legend] == ["core", "edge"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pd.DataFrame({"chain": ["H"], "number": ["1"]}), "no column 'kind'; it has chain, number"),
        (pd.DataFrame({"chain": ["Z"], "number": ["1"], "kind": ["x"]}), "whose chains are H, L"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_words(table, said):
    with pytest.raises(ArgumentError, match=said):
        color_by_column(table, "kind", make().chains)


def test_every_residue_is_painted_once_in_a_colouring():
    scene = compose(make())
    rainbow = next(coloring for coloring in scene.colorings if coloring.key == "rainbow")
    paints = list_style_rules(scene, rainbow)
    assert [who["chain"] for who, _, _ in paints] == ["H", "L"]
    assert len(paints[0][1]["colorscheme"]["map"]) == len(set(scene.models[0].chains[0].numbers))


def test_residues_without_a_value_look_other_than_those_whose_value_is_zero():
    numbers = list(compose(make()).models[0].chains[0].numbers)
    frame = pd.DataFrame(
        {"chain": "H", "number": numbers, "score": [-1.0, 0.0, 1.0] + [None] * (len(numbers) - 3)}
    )
    scene = choose(compose(make()), "score", "cartoon", frame)
    rules = list_style_rules(scene, scene.coloring)
    selection, _, options = rules[1]
    assert selection["rescode"] == numbers[3:]
    assert apply_style("cartoon", rules[1])["cartoon"]["opacity"] == options["opacity"] < 1
    assert "opacity" not in apply_style("cartoon", rules[0])["cartoon"]
    assert "no value" in write_legend(scene)
    assert len(list_surfaces(scene, scene.coloring)) == 2, "one for each chain"


def test_sticks_keep_the_colours_of_elements():
    paint = list_style_rules(compose(make()), None)[0]
    assert apply_style("sticks", paint)["stick"]["colorscheme"]["map"]["N"] == "#3050f8"
    assert "cartoon" in apply_style("surface", paint)


def test_the_still_picture_shows_the_colours_of_the_scene():
    png = draw_picture(compose(make()))
    assert png[16:24] == WIDTH.to_bytes(4, "big") + HEIGHT.to_bytes(4, "big")
    start = png.index(b"IDAT") + 4
    length = int.from_bytes(png[start - 8 : start - 4], "big")
    rows = zlib.decompress(png[start : start + length])
    assert len(rows) == HEIGHT * (WIDTH + 1)
    assert sum(1 for place in rows if place) > 0.05 * WIDTH * HEIGHT


@pytest.mark.parametrize("apart", [0, 0.12])
@pytest.mark.parametrize("front", ["#c02020", "#2020c0"], ids=["first", "last"])
@pytest.mark.parametrize(
    "draw", [draw_picture, partial(draw_printed_picture, zoom=3)], ids=["screen", "paper"]
)
def test_the_still_picture_shows_what_is_in_front_and_not_what_is_behind_it(draw, front, apart):
    """Two straight chains, one almost behind the other; the first or the last one is nearer."""
    depths = {"#c02020": (5.0, -5.0), "#2020c0": (-5.0, 5.0)}[front]
    lines = [
        f"ATOM  {number:5d}  CA  ALA {chain}{number:4d}    {3.8 * number:8.3f}{y:8.3f}{z:8.3f}  1.00 50.00           C"
        for chain, y, z in zip("AB", (apart, -apart), depths, strict=True)
        for number in range(1, 11)
    ]
    scene = compose(Structure("two.pdb", "pdb", "\n".join(lines)))
    (model,) = scene.models
    colors = zip(model.chains, ("#c02020", "#2020c0"), strict=True)
    model = model.model_copy(
        update={
            "chains": tuple(chain.model_copy(update={"color": c}) for chain, c in colors),
            "highlights": (),
        }
    )
    scene = scene.model_copy(update={"models": (model,), "coloring": None, "rotation": None})
    picture = Image.open(io.BytesIO(draw(scene))).convert("RGBA")
    red, _, blue, alpha = (band.astype(int) for band in np.moveaxis(np.asarray(picture), 2, 0))
    reds, blues = ((alpha > 200) & (red - blue > 60)).sum(), ((alpha > 200) & (blue - red > 60)).sum()
    seen, hidden = (reds, blues) if front == "#c02020" else (blues, reds)
    assert seen > 500
    assert hidden < 0.4 * seen


def test_the_still_picture_keeps_a_rare_colour_that_no_frequent_one_resembles():
    blues = [[0, 80, 120 + shade, 255] for shade in range(60)]
    shades = np.array([*blues, [255, 125, 69, 255]], dtype=np.float64)
    kept = choose_shades(shades, np.array([1000] * 60 + [5]))
    assert 60 in kept
    assert 2 < len(set(kept.tolist())) == len(kept) < 60


def test_a_still_picture_has_no_colours_that_make_no_difference():
    shades = np.array([[17.0 * step, 100.0, 100.0, 255.0] for step in range(6)] + [[255.0, 0.0, 0.0, 255.0]])
    kept = choose_shades(shades, np.array([40_000, 300, 10, 100, 10, 20_000, 12]))

    assert sorted(kept) == [0, 5, 6], (
        "a few pixels of a neighbour look the same; twelve of another colour do not"
    )


def test_a_look_is_chosen_by_name():
    scene = choose(compose(make()), "rainbow", "surface")
    assert (scene.coloring.key, scene.style) == ("rainbow", "surface")
    assert "addSurface" in scene.py3dmol()._repr_html_()


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"color": "confidence"}, "The result gives no confidence for it. Choose"),
        ({"color": "colour"}, "Choose one of chain, rainbow"),
        ({"style": "ball"}, "Choose one of cartoon, sticks"),
        ({"table": pd.DataFrame()}, "Name the column"),
    ],
)
def test_a_look_that_is_not_there_is_refused_in_words(wish, said):
    with pytest.raises(ArgumentError, match=said):
        choose(compose(make(lambda i: 0.0)), **wish)


@pytest.mark.parametrize(("wished", "shown"), [("secondary", "secondary"), ("confidence", "chain")])
def test_a_user_chooses_the_first_colours_where_a_structure_has_them(monkeypatch, wished, shown):
    monkeypatch.setenv("FOLDNOTE_VIEW_COLORS", wished)
    assert compose(make(lambda i: 0.0)).color == shown


@pytest.mark.parametrize("ground", ["#ffffff", "#212121"])
@pytest.mark.parametrize("key", ["rainbow", "secondary", "hydrophobicity", "b-factor"])
def test_colours_of_a_structure_contrast_with_the_grounds_of_both_themes(key, ground):
    coloring = next(one for one in compose(make(float)).colorings if one.key == key)
    contrasts = [find_contrast(color, ground) for color in coloring.palette]
    assert min(contrasts) >= 3, "WCAG 2.2, 1.4.11, for graphics"


@pytest.mark.parametrize("ground", ["#ffffff", "#212121"])
@pytest.mark.parametrize("region", palette.CDRS)
def test_each_cdr_is_seen_on_the_grounds_of_both_themes(region, ground):
    assert find_contrast(palette.CDRS[region], ground) >= 3


def test_small_errors_and_large_ones_are_the_ends_of_that_ramp():
    (coloring,) = (one for one in compose(Structure.open(IMMUNE_BUILDER)).colorings if one.key == "error")
    ends = coloring.legend[0].color, coloring.legend[-1].color
    assert ends == (palette.MAGNITUDE[0], palette.MAGNITUDE[-1])


def find_contrast(color, ground):
    """Return the WCAG contrast of two colours."""
    low, high = sorted(map(find_luminance, (color, ground)))
    return (high + 0.05) / (low + 0.05)


def find_luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
