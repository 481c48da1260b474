"""Foreign text in a terminal cannot move the cursor or reverse the text direction."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from foldnote.cli.printing import format_table, print_message, show
from foldnote.text import visible


@given(st.text(alphabet=st.characters()))
def test_no_control_or_format_character_is_left(text):
    shown = visible(text)
    kinds = {unicodedata.category(letter) for letter in shown if letter not in "\n\t"}
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    shown.encode()


def test_escapes_are_spelt_out_and_words_stay():
    assert visible("\x1b[31mred\x1b]0;title\x07") == r"\x1b[31mred\x1b]0;title\x07"
    assert visible("a\u202eb\udc80") == r"a\u202eb\udc80"
    assert visible("Fv of “Trastuzumab” 3.2 Å\n\tβ-sheet") == "Fv of “Trastuzumab” 3.2 Å\n\tβ-sheet"
    assert visible("10 %\r20 %\r\n") == "10 %\n20 %\n"


def test_what_the_command_line_prints_is_visible(capsys):
    show("name \x1b[2J")
    print_message("error \u202e")
    out, err = capsys.readouterr()
    assert (out, err) == ("name \\x1b[2J\n", "error \\u202e\n")
    assert format_table(["a"], [["\x1b"]]) == "a\n" + r"\x1b"
