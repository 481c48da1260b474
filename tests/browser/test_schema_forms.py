"""A form over every feature of JSON Schema in real JupyterLab: one page, one form, used by hand."""

import ast
import re

import pytest
from form_schema import FEATURES
from playwright.sync_api import expect

SHARES_SERVER = True
VIEWPORT = (1400, 1000)

NOTEBOOK = f"import foldnote as fn\nform = fn.form({FEATURES!r})\nform"


@pytest.fixture(scope="module")
def lab_page(notebook_page):
    """Open one page with one form for all tests of this module; each fills in its own fields."""
    notebook_page.run_code(NOTEBOOK)
    notebook_page.page.locator(".foldnote-form").wait_for()
    return notebook_page


@pytest.fixture(scope="module")
def form(lab_page):
    return lab_page.page.locator(".foldnote-form")


def field(form, name):
    has_name = form.page.locator(".fn-name, .widget-label-basic", has_text=re.compile(rf"^\s*{name}\W*$"))
    return form.locator(".foldnote-field").filter(has=has_name).last


def control(form, name):
    return field(form, name).locator("input, textarea, select").first


def group(form, name):
    """Return the innermost object, list or map with this title."""
    title = form.page.locator(f':is(.fn-name, .foldnote-subfold):text-matches("^{name}")')
    return form.locator(".foldnote-object").filter(has=title).last


def value_of(form, lab_page):
    """Return what the displayed Python code assigns, once it no longer changes."""
    if not form.locator(".fn-code").count():
        form.get_by_role("button", name="Copy as Python").click()
    seen: list[str] = []
    while len(seen) < 2 or seen[-2] != seen[-1]:
        lab_page.catch_up()
        seen.append(form.locator(".fn-code pre").inner_text())
    return ast.literal_eval(seen[-1].partition("=")[2].strip())


def test_defaults_constants_and_locked_values_are_there_from_the_start(lab_page, form):
    expect(control(form, "Width")).to_have_value("5")
    expect(control(form, "Fixed read-only")).to_be_disabled()
    expect(form.locator(".foldnote-ticks").get_by_label("H3")).to_be_checked()
    expect(field(form, "Elsewhere")).to_contain_text("Written as JSON: its schema is in another document")
    expect(control(form, "Name")).to_have_attribute("placeholder", "e.g. run-1")
    expect(form.locator(".fn-error")).to_have_count(0)
    value = value_of(form, lab_page)
    assert (value["fixed"], value["loops"], value["size"], value["box"]) == ("v1", ["H3"], None, {"y": 2})


def test_bounds_patterns_formats_and_steps_are_reported_as_typed(lab_page, form):
    for name, wrong, said, right in (
        ("Name", "A", "the shortest allowed is 2", "run-1"),
        ("Size", "0", "more than 0", "2.5"),
        ("Started", "21.11.", "Write it like 2026-11-21", "2026-11-21"),
        ("Width", "10", "the most is 9", "4"),
        ("Step", "7", "not a multiple of 5", "10"),
    ):
        control(form, name).fill(wrong)
        expect(field(form, name).locator(".fn-error").first).to_contain_text(said)
        control(form, name).fill(right)
        expect(field(form, name).locator(".fn-error")).to_have_count(0)
    value = value_of(form, lab_page)
    assert [value[name] for name in ("name", "size", "width", "step")] == ["run-1", 2.5, 4, 10]


def test_choices_ticks_switches_lists_and_maps_end_in_the_value(lab_page, form):
    control(form, "Kind").select_option("Light")
    control(form, "Version").select_option("2")
    form.get_by_label("Fast").check()
    form.locator(".foldnote-ticks").get_by_label("H1").check()
    control(form, "Names").fill("a\nb")
    control(form, "Residues").fill("H: 26 27\nL: 50")
    control(form, "Elsewhere").fill('[1, "x"]')
    value = value_of(form, lab_page)
    assert (value["kind"], value["version"], value["fast"]) == ("l", 2, True)
    assert (value["loops"], value["names"]) == (["H1", "H3"], ["a", "b"])
    assert value["residues"] == {"H": "26 27", "L": "50"}
    assert value["elsewhere"] == [1, "x"]


def test_objects_inside_have_fields_of_their_own(lab_page, form):
    control(form, "X").fill("0")
    expect(field(form, "X").locator(".fn-error")).to_contain_text("the least is 1")
    control(form, "X").fill("3")
    form.get_by_role("button", name="Restraints").click()
    control(form, "Force").fill("12")
    value = value_of(form, lab_page)
    assert value["box"] == {"x": 3, "y": 2}
    assert value["restraints"] == {"force": 12}


def test_rows_are_added_moved_and_removed(lab_page, form):
    chains = group(form, "Chains")
    for number, letter in enumerate("HLA", start=1):
        chains.get_by_role("button", name="Add chain").click()
        expect(chains.locator(".foldnote-row")).to_have_count(number)
        chains.locator(".foldnote-row").last.locator("input").first.fill(letter)
    chains.get_by_title("Move Row 3 up").click()
    chains.get_by_title("Remove Row 1").click()
    expect(chains.locator(".foldnote-row")).to_have_count(2)
    masks = group(form, "Masks")
    masks.get_by_role("button", name="Add entry").click()
    masks.get_by_label("Name").fill("H")
    masks.locator(".foldnote-row input").last.fill("7")
    value = value_of(form, lab_page)
    assert value["chains"] == [{"letter": "A"}, {"letter": "L"}]
    assert value["masks"] == {"H": {"start": 7}}


def test_unions_are_chosen_and_keep_what_was_typed(lab_page, form):
    control(form, "How").select_option("By distance")
    control(form, "Nm").fill("1.5")
    control(form, "How").select_option("By name")
    expect(field(form, "Nm")).to_be_hidden()
    assert value_of(form, lab_page)["site"] == {"how": "name"}
    control(form, "How").select_option("By distance")
    control(form, "Target").select_option("list")
    group(form, "Target").locator("textarea").fill("a\nb")
    expect(form.locator(".fn-code pre")).to_contain_text("target")
    value = value_of(form, lab_page)
    assert value["site"] == {"how": "distance", "nm": 1.5}
    assert value["target"] == ["a", "b"]


def test_conditions_show_and_hide_fields(lab_page, form):
    expect(field(form, "Range")).to_be_hidden()
    control(form, "Task").select_option("mask")
    control(form, "Range").fill("3-9")
    control(form, "Task").select_option("scan")
    expect(field(form, "Range")).to_be_hidden()
    assert "range" not in value_of(form, lab_page)
    control(form, "Task").select_option("mask")
    expect(control(form, "Range")).to_have_value("3-9")
    control(form, "Card").fill("1")
    expect(field(form, "Address")).to_be_visible()
    expect(field(form, "Partner").locator(".fn-required")).to_be_visible()
    control(form, "Partner").fill("2")
    assert value_of(form, lab_page)["range"] == "3-9"


def test_what_was_changed_can_be_put_back_from_the_list_and_at_its_field(form):
    form.get_by_role("button", name=re.compile(r"^\d+ changed$")).click()
    form.locator(".foldnote-changes").get_by_role("button", name="Reset Width").click()
    expect(control(form, "Width")).to_have_value("5")
    control(form, "Width").fill("4")
    mark = form.get_by_role("button", name="Reset Width. The default is 5")
    mark.focus()
    mark.press("Enter")
    expect(control(form, "Width")).to_have_value("5")
    expect(control(form, "Width")).to_be_focused()
    expect(mark).to_have_count(0)


def test_a_number_of_a_short_range_is_set_on_a_slider_or_typed(form):
    slider = form.get_by_label("Cycles on a slider")
    slider.focus()
    slider.press("ArrowRight")
    expect(control(form, "Cycles")).to_have_value("4")
    expect(field(form, "Cycles").locator(".fn-changed")).to_be_visible()
    control(form, "Cycles").fill("9")
    expect(slider).to_have_value("9")
    control(form, "Cycles").fill("70")
    expect(field(form, "Cycles").locator(".fn-error")).to_contain_text("the most is 20")
    control(form, "Cycles").fill("3")
    expect(slider).to_have_value("3")


def test_places_of_a_list_have_fields_of_their_own(lab_page, form):
    form.get_by_role("button", name="Pair").click()
    control(form, "From").fill("2")
    control(form, "Item 2").fill("x")
    assert value_of(form, lab_page)["pair"] == [2, "x"]


def test_search_leaves_what_was_asked_for(form):
    form.get_by_label("Search").fill("resid")
    expect(field(form, "Residues")).to_be_visible()
    expect(field(form, "Kind")).to_be_hidden()
    form.get_by_label("Search").fill("")
    expect(field(form, "Kind")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_whole_form_is_accessible_at_every_width(lab_page, form, theme):
    lab_page.set_theme(theme)
    for width in (400, 700, 1600):
        lab_page.resize(width, 1000)
        assert lab_page.fits(form, 1)
    assert lab_page.accessibility_faults(".foldnote-form") == []
    lab_page.picture(f"schema-form-{theme}", form)
    assert lab_page.faults == []


def test_rows_are_added_and_filled_in_by_keyboard_alone(lab_page, form):
    lab_page.resize(1400, 1000)
    group(form, "Chains").get_by_role("button", name="Add chain").focus()
    keyboard = lab_page.page.keyboard
    keyboard.press("Enter")
    expect(group(form, "Chains").locator(".foldnote-row")).to_have_count(3)
    expect(group(form, "Chains").locator(".foldnote-row").last.locator("input").first).to_be_focused()
    keyboard.type("K")
    keyboard.press("Tab")
    keyboard.type("9")
    assert value_of(form, lab_page)["chains"][-1] == {"letter": "K", "length": 9}


def test_the_notebook_keeps_what_was_typed_while_the_cursor_stays(lab_page, form):
    control(form, "Name").fill("kept-name")
    control(form, "Name").focus()
    lab_page.page.wait_for_timeout(2200)
    expect(control(form, "Name")).to_be_focused()
    lab_page.save()
    saved = (lab_page.server.notebooks / "schema_forms.ipynb").read_text()
    assert "kept-name" in saved
    lab_page.page.keyboard.type("-2")
    expect(control(form, "Name")).to_have_value("kept-name-2")
