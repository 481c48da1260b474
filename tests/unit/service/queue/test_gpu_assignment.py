"""The assignment of GPUs to runs, for any machine and any order of starts and ends."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from foldnote.service.queue.executors.protocol import Capacity
from foldnote.service.queue.placement import assign_gpus, fit_on_machine
from foldnote.service.runner.gpus import Gpu

MACHINE = Capacity(64, 64_000, 2, devices=(Gpu("0", 1000), Gpu("1", 1000)))
NEEDS = st.builds(
    Capacity,
    st.just(1),
    st.just(1),
    gpus=st.integers(0, 2),
    gpu_memory_mb=st.sampled_from([0, 100, 400, 1000]),
)


@given(steps=st.lists(st.tuples(NEEDS, st.integers(0, 5)), max_size=30))
def test_no_gpu_is_given_beyond_its_memory_or_to_two_that_need_all_of_it(steps):
    going: list[Capacity] = []
    for need, end in steps:
        room = fit_on_machine(need, going, MACHINE, None)
        if room is not None:
            assert len(set(room.devices)) == len(room.devices) == need.gpus
            going.append(room)
        for gpu in MACHINE.devices:
            users = [each.gpu_memory_mb for each in going if gpu in each.devices]
            assert len(users) < 2 or (all(users) and sum(users) <= gpu.memory_mb)
        if room is None:
            assert any(each.devices for each in going), "an idle machine has room for each of these runs"
        if going and end < 2:
            going.pop(end % len(going))


def test_an_unused_gpu_comes_first():
    need = Capacity(1, 1, 1, 100)
    first = fit_on_machine(need, [], MACHINE, None)
    second = fit_on_machine(need, [first], MACHINE, None)
    third = fit_on_machine(need, [first, second], MACHINE, None)
    assert [each.devices[0].identity for each in (first, second, third)] == ["0", "1", "0"]


def test_an_executor_that_assigns_its_gpus_itself_only_counts():
    whole = Capacity(4, 4000, 2)
    need = Capacity(1, 1, 1)
    assert assign_gpus(need, [need], whole) == ()
    assert assign_gpus(need, [need, replace(need)], whole) is None
