"""What every engine must keep; each engine's test file inherits it with a run of its own.

A subclass is called after the engine and has a fixture ``run``: the folder of outputs of one successful run.
"""

import json
import zipfile

from foldnote import catalog
from foldnote.service.engines import load_engines


def read_manifest(outputs):
    """The manifest of the attempt to which the folder of outputs belongs."""
    with zipfile.ZipFile(outputs.parents[1] / "result.zip") as archive:
        return json.loads(archive.read("manifest.json"))


class EngineContract:
    """Claims on what the manifest says of a run."""

    engine: str
    needs_seed: bool

    def test_the_manifest_has_the_seed_that_the_engine_says_it_used(self, run):
        job, used = read_manifest(run)["job"], json.loads((run.parent / "used.json").read_text())
        assert job["seed"] == used["seed"]
        assert (job["seed"] is not None) == self.needs_seed
        assert (job["seedNote"] is None) == self.needs_seed

    def test_the_manifest_has_every_setting_as_it_was_used(self, run):
        given = json.loads((run.parent / "job.json").read_text())["settings"]
        used = json.loads((run.parent / "used.json").read_text())["settings"]
        assert read_manifest(run)["settings"] == given | used

    def test_a_setting_that_the_engine_never_reads_is_told_as_ignored(self, run):
        engine = load_engines()[self.engine]
        program = "".join(path.read_text() for path in engine.folder.glob("*.py"))
        ignored = read_manifest(run)["settingsIgnored"]
        for tool in engine.tools:
            for setting in catalog.tool(tool).settings_schema["properties"]:
                assert (f'"{setting}"' in program) != (setting in ignored), setting
