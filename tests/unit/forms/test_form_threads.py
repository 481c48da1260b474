"""Two threads use a form: JupyterLab's subshell handles typing while a cell or its tasks use the form."""

import threading

from foldnote import catalog
from foldnote.forms import Form
from foldnote.forms.fields.field import Field


class InterruptedForm(Form):
    """A form in which another thread types during the next refresh, between reading and showing."""

    typing: threading.Thread | None = None

    def note_of(self, field: Field) -> str:
        typing, self.typing = self.typing, None
        if typing is not None:
            typing.start()
            typing.join(timeout=0.3)  # returns sooner unless something blocks it
        return super().note_of(field)


def test_what_is_typed_during_a_refresh_is_judged_after_it():
    form = InterruptedForm(catalog.tool("abmpnn"), values={"temperature": 0.2})
    field = form.fields["temperature"]
    typing = form.typing = threading.Thread(target=field.control.set_state, args=({"value": "3"},))
    form.refresh()
    typing.join()
    assert "the most is 1" in field.control.description
    assert form.frame.attention.description == "1 field needs attention"


def test_what_is_typed_while_code_sets_the_form_counts_as_typed():
    form = InterruptedForm(catalog.tool("abmpnn"))
    field = form.fields["temperature"]
    typing = form.typing = threading.Thread(target=field.control.set_state, args=({"value": "0.25"},))
    form.set(temperature=0.5)
    typing.join()
    assert form.value["temperature"] == 0.25
