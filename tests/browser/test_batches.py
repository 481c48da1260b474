"""Batches in a cell: looked at before they are submitted, waited for with a bar, joined with their results."""

from playwright.sync_api import expect

_LOOK = """
import pandas as pd, foldnote as fn
VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
table = pd.DataFrame({"id": [f"panel-{n}.sleep-2.score" for n in range(7)], "VH": [VH[: 121 - n] for n in range(7)]})
preview = fn.submit_batch("anarci", table, columns={"sequence": "VH"}, names="id", scheme="imgt", batch_name="panel",
                          preview=True)
preview
"""
_WAIT = """
batch = preview.submit()
done = fn.connect().jobs.wait(table["id"], progress=True)
"""
_RESULTS = """
batch.wait().results()[["id", "status", "score.probe"]]
"""

_CARD = """
more = table[["VH"]] + "S"
fn.submit_batch("anarci", more, columns={"sequence": "VH"}, scheme="imgt", batch_name="shown")
"""


def test_the_card_of_a_batch_follows_it_and_shows_its_table(lab, server):
    server.write_notebook("card.ipynb", _LOOK, _CARD)
    lab.open("card.ipynb")
    lab.run_all()
    card = lab.page.locator(".foldnote-card", has_text="shown")
    expect(card).to_contain_text("7 of 7 jobs complete", timeout=60_000)
    expect(lab.page.locator(".jp-OutputArea table").last).to_contain_text("shown-7", timeout=30_000)
    card.scroll_into_view_if_needed()
    lab.picture("batch-card")


def test_a_batch_is_looked_at_waited_for_and_joined(lab, server):
    server.write_notebook("batch.ipynb", _LOOK, _WAIT, _RESULTS)
    lab.open("batch.ipynb")
    lab.run_all()
    outputs = lab.page.locator(".jp-OutputArea")
    looked, waited, joined = (outputs.nth(number).inner_text() for number in range(3))
    assert "panel: 7 jobs of anarci" in looked
    assert "It counts as 7 jobs." in looked
    assert "… and 2 more" in looked
    bar = lab.page.locator(".jp-OutputArea progress")
    assert bar.get_attribute("value") == "1.0000"
    assert "7 jobs · 7 complete" in waited
    assert joined.count("Complete") >= 7
    lab.page.locator(".jp-Cell").first.scroll_into_view_if_needed()
    lab.picture("batch-light")
    lab.set_theme("dark")
    lab.picture("batch-dark")
