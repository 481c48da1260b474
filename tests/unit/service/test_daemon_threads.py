"""The threads of a node's heartbeats are reused, and survive a failure of what they run."""

import threading

from foldnote.service.node.agent_resources import DaemonThreads


def test_a_thread_that_is_done_is_reused():
    threads, used = DaemonThreads("heartbeat"), []
    for _ in range(50):
        assert threads.start(lambda: used.append(threading.current_thread())).wait(120)
    assert all(each.daemon and each.name == "heartbeat" for each in used)
    assert len(set(used)) < 50  # a thread takes a moment to become idle again


def test_functions_run_at_the_same_time_each_in_its_own_thread():
    threads, meeting = DaemonThreads("heartbeat"), threading.Barrier(20, timeout=120)
    ends = [threads.start(meeting.wait) for _ in range(20)]
    assert all(end.wait(120) for end in ends)


def test_a_failed_function_is_over_and_the_next_one_runs(caplog):
    threads, done = DaemonThreads("heartbeat"), threading.Event()

    def fail() -> None:
        raise ValueError("the disk is gone")

    assert threads.start(fail).wait(120)
    assert "the disk is gone" in caplog.text
    assert threads.start(done.set).wait(120)
    assert done.is_set()
