"""A form's estimate of a job's cost, from that of earlier jobs."""

import pytest
from form_builders import make_tool

from foldnote.client import Client
from foldnote.client.submission.experience import Experience
from foldnote.forms import Form
from foldnote.forms.submission.checking import describe_cost


@pytest.mark.parametrize(
    ("experience", "said"),
    [
        (Experience(), "1 job of your allowance; the run time is not known yet."),
        (Experience(1, 40.0), "about 40 s (as the previous job)."),
        (Experience(4, 600.0, 0.25), "about 10 min and 0.25 weighted hours (median of 4 earlier jobs)."),
        (Experience(3, 60.0, None, 1024.0), "(median of 3 earlier jobs), with up to 1.07 GB of memory."),
        (Experience(1, 0.2, 3e-5), ", under 1 s and under 0.001 weighted hours (as the previous job)."),
        (Experience(2, 7200.0, 0.0), "about 2 h (median of 2 earlier jobs)."),
    ],
)
def test_the_cost_is_shown_as_far_as_it_is_known(experience, said):
    assert describe_cost(experience).endswith(said)


def test_what_is_left_of_the_allowance_is_reported_where_it_is_known():
    assert describe_cost(Experience(), 7).startswith("Submitting uses 1 job of your remaining 7 jobs")
    assert describe_cost(Experience(1, 40.0), 0).startswith("No jobs are left of your allowance")


@pytest.mark.parametrize(
    ("experience", "said"),
    [
        (Experience(), "the run time is not known yet."),
        (Experience(4, 600.0, 0.25), "without a limit on jobs, about 10 min (median of 4 earlier jobs)."),
    ],
)
def test_the_embedded_service_shows_no_allowance(experience, said):
    told = describe_cost(experience, is_own=True)
    assert told.endswith(said)
    assert "allowance" not in told
    assert "weighted" not in told


def test_a_form_knows_whether_its_service_is_this_computers():
    absent = make_tool({"name": {"type": "string"}})
    tool = absent.model_copy(update={"available": True})
    with Client() as own, Client(base_url="http://127.0.0.1:9", api_key="k" * 20) as other:
        assert "runs on this computer" in Form(tool, own).frame.message.value
        assert "1 job of your allowance" in Form(tool, other).frame.message.value
        assert Form(absent, own).frame.message.value == ""
