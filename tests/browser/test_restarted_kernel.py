"""Messages of forms and cards after a kernel restart, until their cells are run again."""

from probe_engine import release

SHARES_SERVER = True

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
JOB = f"""import foldnote as fn
job = fn.submit("anarci", sequence="{VH}", scheme="imgt", job_name="before-restart").wait(progress=False)
job"""
RUNNING = f"""import foldnote as fn
fn.submit("anarci", sequence="{VH}", job_name="in-restart.hold")"""
_RESTART = """
() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => null)
"""
_SAID = """
() => [...document.querySelectorAll('.jupyter-widgets-disconnected')]
  .map(node => getComputedStyle(node, '::before').content).filter(content => content !== 'none')
"""
_IS_TOLD = "() => document.querySelectorAll('.jupyter-widgets-disconnected').length > 2"


def test_form_and_card_say_once_that_their_cell_is_to_be_run_again(lab, server):
    server.write_notebook("restarted.ipynb", JOB, f'fn.form("anarci", sequence="{VH}")')
    lab.open("restarted.ipynb")
    lab.run_all()
    lab.page.locator(".foldnote-form").wait_for()
    lab.page.locator(".foldnote-card").wait_for()
    lab.page.evaluate(_RESTART)
    lab.page.wait_for_function(_IS_TOLD)
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        lab.picture(f"restarted-{theme}")
    assert lab.page.evaluate(_SAID) == [
        '"No longer connected to the kernel: run the cell again to use the buttons."',
        '"No longer connected to the kernel: run the cell again to use the form."',
    ]


def test_the_card_of_a_running_job_says_that_its_state_may_be_old(lab, server):
    server.write_notebook("running.ipynb", RUNNING)
    lab.open("running.ipynb")
    lab.run_all()
    card = lab.page.locator(".foldnote-card")
    card.get_by_text("Held by its test").wait_for()
    lab.page.evaluate(_RESTART)
    lab.page.locator(".foldnote-card.jupyter-widgets-disconnected").wait_for()
    assert lab.page.evaluate(_SAID) == [
        '"No longer connected to the kernel: run the cell again to see the current state."'
    ]
    release("in-restart.hold")
