"""Run ColabFold with stand-in parameters, random numbers of the right shapes, on proteins of a few residues."""

import json
import os
import subprocess

import pytest
from real_engine import load_engines, prepare_run, run_engine, start_runner
from stand_ins import install_stand_ins, skip_unless_installed

from foldnote import catalog
from foldnote.service.runner.attempt import Outcome

skip_without_colabfold = skip_unless_installed("colabfold")

# FSD-1, a designed zinc finger without zinc (PDB 1FSD)
FSD = "QQYTAKIKGRTFRNEKELRDFIEKFKGR"
OTHER = "QQYTARIKGRTFRNEKELRDFIEKFRGR"
SMALL = {"numModels": "1", "numRecycles": 0, "useMSA": False, "templateMode": "none"}


def make_stand_in_fixture():
    """Make a module's fixture ``stand_in``: the installed environment with stand-in parameters."""

    @pytest.fixture(scope="module", autouse=True, name="stand_in")
    def stand_in(tmp_path_factory):
        with install_stand_ins("colabfold", tmp_path_factory.mktemp("stand-in")):
            yield

    return stand_in


def predict(folder, sequence=FSD, texts=None, extensions=None, seed=7, **settings):
    """Run the engine with all settings; return the outcome and the folder of outputs."""
    given = catalog.default_settings(catalog.tool("alphafold")) | SMALL | {"sequence": sequence} | settings
    if extensions is None:
        return run_engine("colabfold", folder, given, seed, texts)
    spec = prepare_run(load_engines()["colabfold"], folder, given, seed, texts)
    job = spec.folder / "work" / "job.json"
    job.write_text(json.dumps(json.loads(job.read_text()) | {"extensions": extensions}))
    with start_runner(spec) as runner:
        assert runner.wait() == 0
    return Outcome.read(spec.folder), spec.folder / "work" / "outputs"


def predict_as_published(folder, sequence, texts=None, environment=None, extensions=None, **settings):
    """Run it as if the parameters were the published ones, so that confidence files stay; without a network.

    ``environment`` has additional variables; with it the network of this machine is not cut.
    """
    given = catalog.default_settings(catalog.tool("alphafold")) | SMALL | {"sequence": sequence} | settings
    spec = prepare_run(load_engines()["colabfold"], folder, given, 7, texts)
    work = spec.folder / "work"
    job = json.loads((work / "job.json").read_text()) | {"extensions": extensions or {}}
    (work / "job.json").write_text(json.dumps(job))
    variables = {**spec.environment, "FOLDNOTE_WEIGHTS_STATE": "published", **(environment or {})}
    if environment is not None:
        variables["PYTHONPATH"] = spec.environment["PYTHONPATH"].split(os.pathsep, 1)[1]
    done = subprocess.run(
        spec.command, cwd=work, env=variables, capture_output=True, text=True, check=False, timeout=1800
    )
    return done, work
