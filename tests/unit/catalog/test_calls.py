"""Calls of tools in cells are parsed without running them, and what cannot be put into a form is named."""

from inspect import signature

import pytest

import foldnote as fn
from foldnote.catalog.calls import (
    LEFT,
    LEFT_OF_BATCHES,
    MAX_CELL_LENGTH,
    TABLE,
    TAKEN,
    read_form_cells,
)
from foldnote.errors import ArgumentError


def read(source):
    """Return the arguments of the form, one per line, and what it lacks."""
    [cell] = read_form_cells(source)
    lines = cell.code[cell.code.index("'anarci',") :].splitlines()[1:-1]
    return [line.strip().rstrip(",") for line in lines], cell.unread


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ('fn.submit("anarci", sequence="EVQ", job_name="x")', ["sequence='EVQ'", "job_name='x'"]),
        ('job = fn.submit("anarci", sequence="EVQ", label="a b")\njob', ["sequence='EVQ'", "label='a b'"]),
        ('import foldnote\nfoldnote.quote("anarci", sequence="EVQ")', ["sequence='EVQ'"]),
        ('import foldnote as f\nf.validate("anarci", sequence="EVQ")', ["sequence='EVQ'"]),
        ('from foldnote import submit as go\ngo("anarci", sequence="EVQ")', ["sequence='EVQ'"]),
        ('from foldnote import tools\ntools.anarci(sequence="EVQ")', ["sequence='EVQ'"]),
        ('fn.tools.anarci(sequence="EVQ", scheme="imgt")', ["sequence='EVQ'", "scheme='imgt'"]),
        ('fn.submit(fn.tool("anarci"), sequence="EVQ")', ["sequence='EVQ'"]),
        (
            'await client.jobs.submit("anarci", {"sequence": "EVQ"}, job_name="x")',
            ["sequence='EVQ'", "job_name='x'"],
        ),
        ('print(fn.submit("anarci", sequence="EVQ").result())', ["sequence='EVQ'"]),
        (
            'fn.submit("anarci", a=-1.5, b=[1, "x"], c={"k": True}, d=None)',
            ["a=-1.5", "b=[1, 'x']", "c={'k': True}"],
        ),
        (
            'fn.submit("anarci", **{"sequence": "EVQ", "odd-name": 1})',
            ["sequence='EVQ'", "**{'odd-name': 1}"],
        ),
        ('fn.submit("anarci", **dict(sequence="EVQ"))', ["sequence='EVQ'"]),
    ],
)
def test_a_call_becomes_the_form_with_its_arguments(source, arguments):
    assert read(source) == (arguments, ())


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ('h = ("EVQ"\n     "LVE")\nfn.submit("anarci", sequence=h)', ["sequence='EVQLVE'"]),
        ('a = "EVQ"\nh: str = a + "LVE"\nfn.submit("anarci", sequence=h)', ["sequence='EVQLVE'"]),
        ('h = "EVQ"\nh = "QVQ"\nfn.submit("anarci", sequence=h)\nh = "DIQ"', ["sequence='QVQ'"]),
        ('t = "anarci"\ns = {"sequence": "EVQ"}\nfn.submit(t, **s)', ["sequence='EVQ'"]),
        ('fn.submit("anarci", sequence=heavy)', ["sequence=fn.variable('heavy')"]),
        ("""fn.submit("anarci", sequence=df["VH"][3])""", ["sequence=fn.variable(\"df['VH'][3]\")"]),
        ('fn.submit("anarci", sequence=settings.heavy)', ["sequence=fn.variable('settings.heavy')"]),
        ('h = heavy\nfn.submit("anarci", sequence=h)', ["sequence=fn.variable('heavy')"]),
        ('fn.submit("anarci", sequence=heavy)\nheavy = "EVQ"', ["sequence=fn.variable('heavy')"]),
        ('def go():\n    return fn.submit("anarci", sequence=h)\nh = "EVQ"', ["sequence='EVQ'"]),
    ],
)
def test_variables_of_the_cell_are_resolved_and_those_of_other_cells_followed(source, arguments):
    assert read(source) == (arguments, ())


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('fn.upload("a.pdb")', "'./a.pdb'"),
        ('fn.upload("/data/a.pdb")', "'/data/a.pdb'"),
        ('Path("a.pdb")', "'./a.pdb'"),
        ('pathlib.Path("../a.pdb")', "'../a.pdb'"),
        ('fn.uploaded("a.pdb")', "fn.uploaded('a.pdb')"),
        ('fn.inline("ATOM")', "fn.inline('ATOM')"),
        ('fn.job("fold").file("a.pdb")', "fn.job('fold').file('a.pdb')"),
        ('[fn.upload("a.pdb"), fn.uploaded("b.pdb")]', "['./a.pdb', fn.uploaded('b.pdb')]"),
    ],
)
def test_files_become_what_the_field_of_a_form_takes(value, written):
    assert read(f'fn.submit("anarci", file={value})') == ([f"file={written}"], ())


CHANGED = "may be changed between its assignment and the call"


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ('fn.submit("anarci", sequence=f())', ["sequence, which is computed"]),
        ('for s in rows:\n    fn.submit("anarci", sequence=s)', ["sequence, which is computed"]),
        ('[fn.submit("anarci", sequence=s) for s in rows]', ["sequence, which is computed"]),
        (
            'h = "EVQ"\nfor i in x:\n    fn.submit("anarci", sequence=h)\n    h = h + "A"',
            ["sequence, which is computed"],
        ),
        ('def go(h):\n    fn.submit("anarci", sequence=h)', ["sequence, which is computed"]),
        ('h = "EVQ"\nh += "A"\nfn.submit("anarci", sequence=h)', ["sequence, which is computed"]),
        ('fn.submit("anarci", sequence=f"{a}GG")', ["sequence, which is computed"]),
        ('fn.submit("anarci", sequence=df.VH[i])', ["sequence, which is computed"]),
        ('fn.submit("anarci", sequence=["a", heavy])', ["sequence, which is a variable of another cell"]),
        ('fn.submit("anarci", job_name=title)', ["job_name, which is a variable of another cell"]),
        ('fn.submit("anarci", **settings)', ["**settings, which is a variable of another cell"]),
        ('fn.submit("anarci", **read())', ["**read(), which is computed"]),
        ('s = {}\ns["sequence"] = "EVQ"\nfn.submit("anarci", **s)', [f"**s, which {CHANGED}"]),
        ('a = ["E"]\ns = {"b": a}\na.append("V")\nfn.submit("anarci", **s)', [f"b, which {CHANGED}"]),
        ('fn.submit("anarci", again=True)', ["again, which a form does not take"]),
        ('fn.submit("anarci", file=job.file("a.pdb"))', ["file, which is computed"]),
    ],
)
def test_what_is_computed_is_named_above_the_form_and_not_guessed(source, missing):
    arguments, unread = read(source)
    assert (arguments, list(unread)) == ([], missing)
    [cell] = read_form_cells(source)
    assert all(f"# not in this form: {each}\n" in cell.code for each in missing)


def test_two_calls_may_share_their_settings():
    cells = read_form_cells('s = {"sequence": "EVQ"}\nfn.submit("anarci", **s)\nfn.submit("ablang", **s)')
    assert [cell.label for cell in cells] == ["anarci, line 2", "ablang, line 3"]
    assert all("sequence='EVQ'" in cell.code and not cell.unread for cell in cells)


@pytest.mark.parametrize(
    ("table", "written"),
    [
        ('"x.csv"', "form.add_table('x.csv')"),
        ("df", "form.add_table(df)"),
        (
            'df, columns={"VH": "sequence"}, names="id"',
            "form.add_table(df, columns={'VH': 'sequence'}, names='id')",
        ),
        ('[{"sequence": "EVQ"}]', "form.add_table([{'sequence': 'EVQ'}])"),
        (
            'df, sweep={"scheme": ["imgt", "kabat"]}, on_failure="stop", retries=4',
            "form.add_table(df, sweep={'scheme': ['imgt', 'kabat']}, on_failure='stop', retries=4)",
        ),
    ],
)
def test_a_batch_becomes_a_form_with_its_table(table, written):
    [cell] = read_form_cells(f'fn.submit_batch("anarci", {table}, scheme="imgt")')
    assert cell.code.endswith(f"form = fn.form(\n    'anarci',\n    scheme='imgt',\n)\n{written}\nform")
    assert cell.unread == ()


@pytest.mark.parametrize(
    ("option", "missing"),
    [
        ('batch_name="a"', "batch_name, which a form does not take"),
        ("preview=True", "preview, which a form does not take"),
        ("ask=False", "ask, which a form does not take"),
        ("max_runtime_s=60", "max_runtime_s, which a form does not take"),
        ('webhook="https://a.org"', "webhook, which a form does not take"),
        ("sweep=grid", "sweep, which is a variable of another cell"),
        ("retries=n + 1", "retries, which is a variable of another cell"),
    ],
)
def test_options_of_a_batch_that_a_form_cannot_show_are_named(option, missing):
    [cell] = read_form_cells(f'fn.submit_batch("anarci", df, {option})')
    assert cell.unread == (missing,)
    assert f"# not in this form: {missing}\n" in cell.code
    assert cell.code.endswith("form.add_table(df)\nform")


def test_rows_that_are_computed_are_left_to_the_person():
    [cell] = read_form_cells('fn.submit_batch("anarci", df.head(), retries=2, scheme="imgt")')
    assert cell.code.endswith("fn.form(\n    'anarci',\n    scheme='imgt',\n)")
    missing = {each.partition(",")[0] for each in cell.unread}
    assert missing == {"retries", "the rows"}


def test_magics_and_shell_commands_are_passed_over():
    source = (
        '%%time\n!pip list\n%matplotlib inline\nfn.submit?\n%time job = fn.submit("anarci", sequence="EVQ")'
    )
    assert read(source) == (["sequence='EVQ'"], ())


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("print(1)", "This cell submits no job: it has none of fn.submit"),
        ('fn.form("anarci")', "This cell submits no job"),
        ('other.submit("anarci")', "This cell submits no job"),
        ('fn = other()\nfn.submit("anarci")', "This cell submits no job"),
        ("fn.submit(", "This cell is not valid Python: line 1, "),
        ('fn.submit(name, sequence="EVQ")', "The tool of the call in line 1 is a variable of another cell."),
        ("\nfn.submit(choose())", "The tool of the call in line 2 is computed."),
        ("fn.submit()", "The tool of the call in line 1 is not written out."),
        ("x" * (MAX_CELL_LENGTH + 1), "This cell is too long to be read."),
        ("fn.submit('anarci', sequence=" + "+".join(["'E'"] * 2_000) + ")", "too deeply nested"),
        ("(" * 5_000, "This cell"),
    ],
)
def test_a_cell_without_a_form_is_refused_in_one_sentence(source, sentence):
    with pytest.raises(ArgumentError) as caught:
        read_form_cells(source)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lists_of_lists_that_double_at_each_line_end_soon():
    lines = ["a0 = ['E']", *(f"a{n} = [a{n - 1}, a{n - 1}]" for n in range(1, 60))]
    _, unread = read("\n".join([*lines, 'fn.submit("anarci", rows=a59)']))
    assert unread


def test_every_argument_of_submit_is_a_setting_or_is_known():
    options = {
        name for name, each in signature(fn.submit).parameters.items() if each.kind is each.KEYWORD_ONLY
    }
    assert options == {*TAKEN, *LEFT}
    of_form = {name for name, each in signature(fn.form).parameters.items() if each.kind is each.KEYWORD_ONLY}
    assert of_form == {*TAKEN}
    batch = {
        name for name, each in signature(fn.submit_batch).parameters.items() if each.kind is each.KEYWORD_ONLY
    }
    assert batch == {*TAKEN, *LEFT, *TABLE, *LEFT_OF_BATCHES} - {"job_name"}


def test_nothing_of_the_cell_is_run(tmp_path):
    place = tmp_path / "made"
    source = f'open({str(place)!r}, "w").close()\nfn.submit("anarci", sequence=open({str(place)!r}, "w"))'
    assert read(source)[1] == ("sequence, which is computed",)
    assert not place.exists()
