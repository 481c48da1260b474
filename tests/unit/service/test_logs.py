"""A repeated fault is one entry of the service's log, and one count per minute."""

import errno
import io
import logging

import pytest

from foldnote.service.logs import REPEAT_INTERVAL_S, CountingLogHandler


class Log:
    """A log whose clock the test sets."""

    def __init__(self) -> None:
        self.stream, self.time_s = io.StringIO(), 0.0
        self.handler = CountingLogHandler(self.stream, lambda: self.time_s)
        self.logger = logging.Logger("log of a test")
        self.logger.addHandler(self.handler)

    def fail(self, fault, message="The attempt in %s failed.", *about):
        try:
            raise fault
        except type(fault):
            self.logger.exception(message, *about)

    def entries(self):
        return [line for line in self.stream.getvalue().splitlines() if line.endswith((".", ")"))]


@pytest.fixture
def log():
    return Log()


def full(path):
    return OSError(errno.EMFILE, "Too many open files", path)


def test_a_fault_that_repeats_is_written_once_with_its_trace(log):
    for number in range(50):
        log.fail(full(f"/jobs/{number}"), "The attempt in %s failed.", number)
    assert log.stream.getvalue().count("Traceback") == 1
    assert log.entries() == ["The attempt in 0 failed."]


def test_what_was_counted_is_reported_once_a_minute_without_the_trace(log):
    for number in range(120):
        log.time_s = number
        log.fail(full("/x"), "Failed.")
    told = [line.partition(", last at")[0] for line in log.entries()]
    assert told == ["Failed.", "Failed. (repeated 59 times"]
    assert log.stream.getvalue().count("Traceback") == 1


def test_what_was_counted_is_reported_when_the_service_ends(log):
    for _ in range(3):
        log.fail(full("/x"), "Failed.")
    log.handler.close()
    assert log.entries()[-1].startswith("Failed. (repeated 2 times, last at 2")


def test_a_fault_that_comes_back_later_is_written_with_its_trace(log):
    for _ in range(2):
        log.fail(full("/x"), "Failed.")
        log.time_s += REPEAT_INTERVAL_S
    assert log.stream.getvalue().count("Traceback") == 2


def test_other_faults_and_other_warnings_are_written(log):
    log.fail(full("/x"), "Failed.")
    log.fail(OSError(errno.ENOSPC, "No space left", "/x"), "Failed.")
    log.fail(ValueError("other"), "Failed.")
    for word in ("one", "two", "two"):
        log.logger.warning("The engine %s is missing.", word)
    assert len(log.entries()) == 5


def test_messages_other_than_warnings_are_written_each_time(log):
    for _ in range(3):
        log.logger.info("POST /submit-job 200.")
    assert len(log.entries()) == 3
