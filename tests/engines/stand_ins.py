"""Run an engine with stand-in weights: random numbers of the right shapes, in the test's own home.

The environment is the installed one; weights of the installation are not changed.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from real_engine import load_engines, prepare_run, run_engine

from foldnote import catalog
from foldnote.service.engines import Engine
from foldnote.service.engines.engine import ENVIRONMENT, READY
from foldnote.service.engines.install import install
from foldnote.service.engines.launch import make_environment
from foldnote.service.engines.weights.store import MARKER, Offer
from foldnote.service.runner.attempt import Outcome

MAKERS = Path(__file__).parent / "stand_in_makers"


def skip_unless_installed(name: str) -> pytest.MarkDecorator:
    """Skip tests of an engine without an environment; its weights are not needed."""
    state = load_engines()[name].environment_state()
    return pytest.mark.skipif(
        not state.installed, reason=f"{state.reason} (--no-weights is enough for tests)"
    )


@contextmanager
def install_stand_ins(name: str, folder: Path) -> Iterator[Engine]:
    """Make stand-ins by ``stand_in_makers/make_NAME.py`` in the engine's environment, and install them below ``folder``."""
    engine = load_engines()[name]
    used = engine.environment_home
    home, given = folder / "environments" / used.name, folder / "given"
    home.mkdir(parents=True)
    given.mkdir()
    (home / ENVIRONMENT).symlink_to(used / ENVIRONMENT)
    (home / READY).write_bytes((used / READY).read_bytes())
    (given / MARKER).write_text("Random numbers, to test that an engine runs.\n")
    environment = make_environment(engine, engine.resources.cores)
    maker = [str(engine.python), str(MAKERS / f"make_{name}.py"), str(given)]
    subprocess.run(maker, env=environment, cwd=given, check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDNOTE_ENGINES_DIR", str(folder / "environments"))
        patch.setenv("FOLDNOTE_WEIGHTS_DIR", str(folder / "weights"))
        install(engine, lambda event: None, offer=Offer(given, is_stand_in=True))
        yield engine


def run_as_published(
    name: str, folder: Path, settings: dict, seed: int, texts: dict[str, str | list[str]] | None
) -> tuple[Path, str]:
    """Run the engine as if its stand-ins were the published weights, so that confidence files stay.

    Returns the work folder and the standard output.
    """
    spec = prepare_run(load_engines()[name], folder, settings, seed, texts)
    work, variables = spec.folder / "work", {**spec.environment, "FOLDNOTE_WEIGHTS_STATE": "published"}
    done = subprocess.run(spec.command, cwd=work, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return work, done.stdout


class StandInRuns:
    """Short runs, with stand-in weights, of an engine whose first tool has the engine's name."""

    def __init__(self, name: str, small: dict) -> None:
        """Create the runs; ``small`` has the settings that shorten them."""
        self.name = name
        self._small = small

    def make_engine_fixture(self):
        """Make a module's fixture ``engine``: the engine with its stand-ins."""

        @pytest.fixture(scope="module", autouse=True, name="engine")
        def engine(tmp_path_factory):
            with install_stand_ins(self.name, tmp_path_factory.mktemp(self.name)) as made:
                yield made

        return engine

    def make_run_fixture(self, texts: dict | None = None, **settings: object):
        """Make a module's fixture ``run``: the outputs of one successful run."""

        @pytest.fixture(scope="module", name="run")
        def run(tmp_path_factory):
            outcome, outputs = self.run(tmp_path_factory.mktemp("run"), texts, **settings)
            assert outcome.state == "succeeded", outcome.error
            return outputs

        return run

    def run(self, folder: Path, texts: dict | None = None, **settings: object) -> tuple[Outcome, Path]:
        """Run it through its runner; return the outcome and the folder of outputs."""
        return run_engine(self.name, folder, self._complete(settings), 7, texts)

    def run_as_published(
        self, folder: Path, texts: dict | None = None, **settings: object
    ) -> tuple[Path, str]:
        """Run it as if the weights were the published ones; return the work folder and the standard output."""
        return run_as_published(self.name, folder, self._complete(settings), 7, texts)

    def _complete(self, settings: dict) -> dict:
        return catalog.default_settings(catalog.tool(self.name)) | self._small | settings
