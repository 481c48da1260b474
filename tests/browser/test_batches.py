"""Batches in a cell: looked at before they are submitted, waited for with a bar, joined with their results."""

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
