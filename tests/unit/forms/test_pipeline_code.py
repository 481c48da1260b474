"""The generated code of a pipeline run recreates its stages."""

from types import SimpleNamespace

import pytest

from foldnote import catalog
from foldnote.client import Pipeline, Stage, inline, uploaded
from foldnote.client.inputs.file_values import job_file
from foldnote.forms.view.pipeline_code import write_pipeline

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
LONG = "".join(f"ATOM  {i:5d}  CA  ALA A{i:4d}      0.000   0.000   0.000\n" for i in range(1, 101))
TOOLS = catalog.tools()


def execute(code, before=()):
    """Return the name, stages and options that the code passes to ``fn.pipeline``."""
    given = []

    def stage(name, tool, /, *, extensions=None, **settings):
        return Stage(name, tool, settings, extensions)

    def pipeline(name, stages, **options):
        given.append((name, tuple(stages), options))

    def job(name, profile=None):
        assert name == "run-1"
        return SimpleNamespace(
            pipeline=lambda: SimpleNamespace(stages=before), file=lambda path: job_file(name, path)
        )

    fn = SimpleNamespace(stage=stage, pipeline=pipeline, job=job, inline=inline, uploaded=uploaded)
    exec(code.replace("import foldnote as fn", ""), {"fn": fn})
    return given[0]


def make_stages(*names, pasted="HEADER\n"):
    first, second = names
    fold = Stage(first, "abodybuilder", {"heavy": VH, "light": VH[::-1]}, {"label": "Fv"})
    files = [fold.file("*.pdb"), uploaded("a/b.pdb"), inline(pasted), job_file("run-1", "model.pdb")]
    align = Stage(second, "align-pdbs", {"pdbFiles": files})
    return fold, align


@pytest.mark.parametrize(
    "names", [("fold", "align"), ("fold.2", "fold-2"), ("1", "class"), ("fn", "before"), ("ß", "fold")]
)
def test_the_code_makes_the_same_stages(names):
    stages = make_stages(*names)
    code = write_pipeline(Pipeline("p", stages), TOOLS, "run-1", {}, {"label": "It's α", "profile": "lab"})
    assert execute(code) == ("p", stages, {"label": "It's α", "profile": "lab"})


def test_a_long_text_is_taken_from_the_run_that_has_it():
    bind = Stage("bind", "af2bind", {"pdbFile": inline(LONG), "chain": "A"})
    code = write_pipeline(Pipeline("p", (bind,)), TOOLS, "run-1", {}, {})
    assert len(code) < 300
    assert execute(code, before=(bind,)) == ("p", (bind,), {})


def test_the_reason_of_a_failure_is_shown_above_its_stage():
    stages = make_stages("fold", "align")
    notes = {"align": "align failed: first\nimport os\x1b"}
    lines = write_pipeline(Pipeline("p", stages), TOOLS, "run-1", notes, {}).splitlines()
    place = lines.index("align = fn.stage(")
    assert lines[place - 1] == "# align failed: first import os\\x1b"
    assert execute("\n".join(lines)) == ("p", stages, {})
