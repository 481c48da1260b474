"""Forms made from the settings of a cell that has not been run."""

from playwright.sync_api import expect

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
UNRUN = """# a cell that has not been run
job = fn.submit("anarci", sequence=heavy, scheme="imgt", job_name="not-yet")
job.result(timeout_s=None)"""
UNRUN_BATCH = 'fn.submit_batch("anarci", "plate.csv", names="clone", scheme="imgt", retries=1, ask=False)'
OPEN_FORM = "Open the Settings of This Cell as a Form"


def test_a_cell_that_was_not_run_opens_as_a_form_with_its_settings(lab, server):
    (server.notebooks / "plate.csv").write_text(f"clone,VH,KD\nAB-1,{VH},1.5\nAB-2,{VH}S,2\n")
    server.write_notebook(
        "unrun.ipynb", f'import foldnote as fn\nheavy = "{VH}"', UNRUN, UNRUN_BATCH, "x = 1"
    )
    lab.open("unrun.ipynb")
    lab.wait_for_kernel()
    page = lab.page
    page.locator(".jp-CodeCell").first.click()
    lab.execute("notebook:run-cell")
    lab.catch_up()
    page.locator(".jp-CodeCell").nth(1).click(button="right")
    lab.picture("form-of-cell-menu")
    page.locator(".lm-Menu").get_by_text(OPEN_FORM).click()
    form = page.locator(".foldnote-form")
    expect(form.get_by_label("Job name")).to_have_value("not-yet")
    expect(form).to_contain_text("heavy")
    expect(form.locator("textarea").first).to_have_value(VH)
    assert lab.cells()[2].endswith("job_name='not-yet',\n)")
    lab.picture("form-of-cell", form)
    page.locator(".jp-CodeCell").nth(3).click()
    lab.execute("foldnote:form-of-cell")
    table = page.locator(".foldnote-form").nth(1).locator(".foldnote-table")
    expect(table).to_contain_text("AB-2")
    expect(
        page.locator(".Toastify__toast", has_text="could not be read from the cell are missing")
    ).to_be_visible()
    assert "# not in this form: ask, which a form does not take" in lab.cells()[4]
    policy = page.locator(".foldnote-form").nth(1).get_by_label("A job that fails")
    expect(policy.locator("option:checked")).to_have_text("retry 1×")
    table.scroll_into_view_if_needed()
    lab.picture("form-of-cell-batch")
    page.locator(".jp-CodeCell").nth(5).click()
    lab.execute("foldnote:form-of-cell")
    expect(page.locator(".Toastify__toast", has_text="This cell submits no job")).to_be_visible()
    assert len(lab.cells()) == 6
    assert lab.page.locator(".foldnote-card").count() == 0
