"""Any value of any generated schema survives the form."""

from form_builders import make_form
from hypothesis import given, settings
from hypothesis import strategies as st

from foldnote.catalog.json_values import parse_value
from foldnote.catalog.keywords import fits
from foldnote.forms import SchemaForm
from foldnote.forms.fields.field import is_same

LINE = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
NUMBER = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.lists(LINE, min_size=1, max_size=4)
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBER | LINE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LINE, inner, max_size=3),
    max_leaves=6,
)


def scalar(kind):
    return {
        "string": LINE,
        "number": NUMBER,
        "integer": st.integers(-(10**9), 10**9),
        "boolean": st.booleans(),
    }[kind]


@st.composite
def fields(draw):
    """Generate a schema of one field, and a value of its type."""
    shape = draw(st.sampled_from(["scalar", "enum", "multi", "list", "words", "map", "nullable", "json"]))
    kind = draw(st.sampled_from(["string", "number", "integer", "boolean"]))
    if shape == "scalar":
        return {"type": kind}, draw(scalar(kind))
    if shape == "nullable":
        return {"type": [kind, "null"]}, draw(st.none() | scalar(kind))
    if shape in ("enum", "multi"):
        options = draw(st.lists(scalar(kind), min_size=1, max_size=5, unique=True))
        if shape == "enum":
            return {"enum": options}, draw(st.sampled_from(options))
        return {"type": "array", "items": {"enum": options}}, draw(st.permutations(options))
    if shape in ("list", "words"):
        kind = "string" if kind == "boolean" else kind
        note = {"x-foldnote": {"role": "chains"}} if shape == "words" else {}
        return {"type": "array", "items": {"type": kind}, **note}, draw(st.lists(scalar(kind), max_size=4))
    if shape == "map":
        value = draw(st.dictionaries(LINE, scalar(kind), max_size=3))
        return {"type": "object", "additionalProperties": {"type": kind}}, value
    return {}, draw(ANYTHING)


def same(one, other):
    return repr(one) == repr(other)


@given(st.lists(fields(), min_size=1, max_size=3), st.booleans())
@settings(max_examples=settings.default.max_examples * 3 // 2)
def test_what_is_set_is_what_is_read(pairs, has_default):
    properties = {f"f{number}": dict(schema) for number, (schema, _) in enumerate(pairs)}
    values = {f"f{number}": value for number, (_, value) in enumerate(pairs)}
    if has_default:
        for name, schema in properties.items():
            schema["default"] = values[name]
    form = make_form(properties, **values)
    assert same({name: form.value[name] for name in values}, values)
    form.set(form.value)
    assert same({name: form.value[name] for name in values}, values)


@given(fields())
@settings(max_examples=settings.default.max_examples * 3 // 2)
def test_what_the_control_shows_reads_back_as_the_value(pair):
    """Except values that look like an empty control, and orders that boxes cannot show."""
    schema, value = pair
    form = make_form({"f": schema}, f=value)
    field = form.fields["f"]
    field.changed()
    read = field.read().value
    is_empty = value in (None, "", [], {}, False) or (isinstance(value, str) and value != value.strip())
    is_unordered = "enum" in schema.get("items", {})
    if not is_empty and not is_unordered:
        assert read == value


NAMES = st.text("abcxyz._-", min_size=1, max_size=4)


@st.composite
def trees(draw, depth=3):
    """Generate a schema of any shape, and a value of it."""
    shapes = ["leaf", "leaf", "object", "rows", "entries", "places", "union", "condition", "again"]
    shape = draw(st.sampled_from(shapes if depth else ["leaf"]))
    if shape == "leaf":
        return draw(fields())
    schema, value = draw(trees(depth - 1))
    if shape == "rows":
        return {"type": "array", "items": schema}, draw(st.sampled_from([[], [value], [value, value]]))
    if shape == "entries":
        return {"type": "object", "additionalProperties": schema}, {draw(NAMES): value}
    other, other_value = draw(trees(depth - 1))
    if shape == "places":
        held = draw(st.sampled_from([[value, other_value], [value], [], [value, other_value, None]]))
        return {"type": "array", "prefixItems": [schema, other]}, held
    if shape == "union":
        return {"anyOf": [schema, other]}, draw(st.sampled_from([value, other_value]))
    first, second = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
    properties = {first: schema, second: other}
    made = {"type": "object", "properties": properties, "required": draw(st.sampled_from([[], [first]]))}
    if shape == "again":
        told = {"title": "Told anew"} | draw(
            st.sampled_from([{}, {"default": value}, {"description": "Now."}])
        )
        made[draw(st.sampled_from(["dependentSchemas", "dependencies"]))] = {
            second: {"properties": {first: told}}
        }
    if shape == "condition":
        del properties[second]
        made |= {"if": {"required": [first]}, "then": {"properties": {second: other}}}
        return made, draw(st.sampled_from([{first: value, second: other_value}, {first: value}]))
    return made, draw(st.sampled_from([{first: value, second: other_value}, {first: value}]))


@given(trees(), st.booleans())
@settings(max_examples=settings.default.max_examples * 2)
def test_a_value_of_any_tree_is_held_exactly(pair, has_default):
    schema, value = pair
    root = {"type": "object", "properties": {"x": schema | ({"default": value} if has_default else {})}}
    form = SchemaForm(root)
    form.set(form.value)
    form.set(x=value)
    held = form.value
    assert is_same(held["x"], value)
    form.set(form.value)
    assert is_same(form.value, held)
    assert is_same(SchemaForm(root, held).value, held)
    names = {}
    exec(form.code(), names)
    assert is_same(names["settings"], held)


def test_an_option_without_its_required_key_is_accepted_if_another_option_fits():
    named = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    union = {"anyOf": [named, {"type": "object", "additionalProperties": {"type": "string"}}]}
    form = SchemaForm({"type": "object", "properties": {"x": union}, "required": ["x"]})
    assert form.value == {"x": {}}
    assert form.problems == ()


@given(trees())
@settings(max_examples=settings.default.max_examples * 3 // 2)
def test_a_form_has_problems_where_its_value_does_not_fit_the_schema_and_nowhere_else(pair):
    schema, value = pair
    root = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    form = SchemaForm(root)
    assert fits(parse_value(form.value).value, root) == (form.problems == ())
    form.set(x=value)
    assert fits(parse_value(form.value).value, root) == (form.problems == ())
