"""The effect of an outcome on its job, fitting archives, and the paths of inputs."""

import pytest

from foldnote.service.config import DispatcherTiming
from foldnote.service.queue.executors import Capacity
from foldnote.service.queue.launching import derive_seed, input_paths
from foldnote.service.queue.outcomes import is_exhausted, make_job_end, weighted_hours
from foldnote.service.queue.placement import fit_on_machine
from foldnote.service.runner.attempt import Outcome
from foldnote.service.store.jobs.insertion import Input
from foldnote.service.store.jobs.queue import Claim


def ending(state, *, has_result=False, is_cancelled=False, error=None):
    outcome = Outcome(state, error=error, result_sha256="ab" if has_result else None)
    return make_job_end(outcome, cores=1, has_result=has_result, is_cancelled=is_cancelled)


def claim(inputs=(), losses=0, normalized="{}"):
    return Claim(1, 1, 1, "n", "job", "anarci", normalized, losses, False, "now", "place", tuple(inputs))


def test_success_is_complete():
    assert ending("succeeded", has_result=True).state == "Complete"


def test_success_without_output_is_a_failure():
    assert ending("succeeded").error == "The tool ended without any output."


@pytest.mark.parametrize("state", ["failed", "timed_out"])
def test_a_fault_of_the_tool_ends_the_job(state):
    done = ending(state, error="No.", has_result=True)
    assert (done.state, done.error, done.result_sha256) == ("Stopped", "No.", "ab")


@pytest.mark.parametrize("state", ["lost", "stopped"])
def test_an_unrequested_end_is_a_loss(state):
    assert ending(state) is None


@pytest.mark.parametrize("state", ["failed", "timed_out", "lost", "stopped"])
def test_a_requested_stop_is_not_a_failure(state):
    done = ending(state, is_cancelled=True)
    assert (done.state, done.error) == ("Stopped", None)


def test_the_third_loss_is_the_last():
    assert [is_exhausted(claim(losses=losses)) for losses in (0, 1, 2)] == [False, False, True]


def test_hours_are_weighted_by_cores():
    assert weighted_hours("2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00.000Z", 4) == 4.0
    assert weighted_hours(None, None, 4) is None


def test_runs_fit_by_cores_memory_and_number():
    whole, need = Capacity(2, 1000), Capacity(1, 400)
    assert fit_on_machine(need, [need], whole, None) == need
    assert fit_on_machine(need, [need, need], whole, None) is None
    assert fit_on_machine(need, [Capacity(1, 700)], whole, None) is None
    assert fit_on_machine(need, [need], whole, 1) is None


def test_inputs_of_one_name_do_not_meet():
    files = [Input("a", "x.pdb", "1"), Input("a", "x.pdb", "2"), Input("b", "x.pdb", "3")]
    assert input_paths(claim(files)) == ["inputs/a/x.pdb", "inputs/a/1/x.pdb", "inputs/b/x.pdb"]


def test_the_same_settings_have_the_same_seed():
    assert derive_seed(claim()) == derive_seed(claim())
    assert derive_seed(claim()) != derive_seed(claim(normalized='{"a":1}'))
    assert 0 <= derive_seed(claim()) < 2**31


def test_a_refused_input_is_distinguished_from_other_failures_and_only_of_a_failure():
    refused = Outcome("failed", error="No.", is_input_refused=True)
    assert make_job_end(refused, cores=1, has_result=False, is_cancelled=False).is_input_refused
    assert not ending("failed", error="No.").is_input_refused
    assert not make_job_end(refused, cores=1, has_result=False, is_cancelled=True).is_input_refused


def test_pauses_between_attempts_double_up_to_a_minute():
    pace = DispatcherTiming()
    assert [pace.delay_s(earlier) for earlier in (0, 1, 2, 3, 4, 50)] == [5, 10, 20, 40, 60, 60]
