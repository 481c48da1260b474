"""Runs ColabFold with stand-in parameters, random numbers of the right shapes, on proteins of a few residues."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from real_engine import load_engines, prepare_run, run_engine, start_runner

from foldnote import catalog
from foldnote.service.engines.install import install
from foldnote.service.engines.weights.store import Offer
from foldnote.service.runner.attempt import Outcome

skip_without_colabfold = pytest.mark.skipif(
    not load_engines()["colabfold"].environment_state().installed,
    reason="needs: foldnote engines install colabfold --no-weights",
)

# FSD-1, a designed zinc finger without zinc (PDB 1FSD)
FSD = "QQYTAKIKGRTFRNEKELRDFIEKFKGR"
OTHER = "QQYTARIKGRTFRNEKELRDFIEKFRGR"
SMALL = {"numModels": "1", "numRecycles": 0, "useMSA": False, "templateMode": "none"}


def make_stand_in_fixture():
    """The fixture ``stand_in`` of a module: the installed environment with stand-in parameters, for all its tests."""

    @pytest.fixture(scope="module", autouse=True, name="stand_in")
    def stand_in(tmp_path_factory):
        real = load_engines()["colabfold"]
        folder = tmp_path_factory.mktemp("stand-in")
        home, weights = folder / "engines" / "colabfold", folder / "weights"
        home.mkdir(parents=True)
        (home / "env").symlink_to(real.home / "env")
        shutil.copy(real.home / "ready.json", home / "ready.json")
        program = Path(__file__).parent / "stand_ins" / "alphafold_parameters.py"
        subprocess.run([real.python, program, weights], check=True, capture_output=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FOLDNOTE_ENGINES_DIR", str(folder / "engines"))
            patch.setenv("FOLDNOTE_WEIGHTS_DIR", str(folder / "all-weights"))
            install(load_engines()["colabfold"], lambda _event: None, offer=Offer(weights, is_stand_in=True))
            yield weights

    return stand_in


def predict(folder, sequence=FSD, texts=None, extensions=None, seed=7, **settings):
    """A run with all settings; gives the outcome and the folder of outputs."""
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
    """The same as if the parameters were the published ones, so that the files of confidence stay; no network.

    ``environment`` has more variables; with it the network of this machine is not cut.
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
        spec.command, cwd=work, env=variables, capture_output=True, text=True, check=False, timeout=500
    )
    return done, work
