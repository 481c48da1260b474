"""Published cases of engines with weights from their authors, run with random numbers instead.

They show that a case names files and columns of the engine's result, and that not every set of weights passes it.
"""

import io
import math

import pytest
from stand_ins import install_stand_ins, run_as_published, skip_unless_installed

from foldnote import catalog
from foldnote.errors import EngineError
from foldnote.service.engines.checking import check_engine, find_case, run_case

ENGINES = ("ablang", "abnativ", "aev_plig", "antifold", "colabfold")

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine]


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=skip_unless_installed(name)) for name in ENGINES]
)
def engine(request, tmp_path_factory):
    with install_stand_ins(request.param, tmp_path_factory.mktemp(request.param)) as made:
        yield made


def read_defaults(engine):
    return catalog.default_settings(catalog.tool(find_case(engine).tool))


def test_random_weights_give_every_figure_and_do_not_reach_the_case(engine, tmp_path):
    case = find_case(engine)
    texts = {field: (engine.folder / name).read_text() for field, name in case.files.items()}
    work, _ = run_as_published(engine.name, tmp_path, read_defaults(engine) | case.settings, case.seed, texts)
    found = [(each, each.find(work)) for each in case.figures]
    for figure, value in found:
        if isinstance(figure.expected, str):
            assert (work / "outputs" / figure.file).exists(), figure
        else:
            assert math.isfinite(float(value)), figure
    reached = [figure for figure, value in found if figure.is_reached(value)]
    assert reached == []


def test_a_known_stand_in_is_refused_and_reaches_no_figure(engine):
    with pytest.raises(EngineError, match="has stand-in weights, whose figures mean nothing"):
        check_engine(engine, read_defaults(engine), io.StringIO())
    compared = run_case(engine, find_case(engine), read_defaults(engine))
    assert not any(each.is_reached for each in compared)
