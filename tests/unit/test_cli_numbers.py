"""Numbers on the command line: a limit that is not a number is refused, since it would have no effect."""

import pytest

from foldnote.cli import build_parser

OPTIONS = {
    "jobs": ("--limit", "--interval"),
    "wait": ("--timeout",),
    "watch": ("--timeout",),
    "logs": ("--lines",),
    "share": ("--days",),
    "files": ("--limit",),
    "batch": ("--max-runtime", "--budget", "--retries"),
    "mcp": ("--max-jobs", "--max-weighted-hours", "--max-runtime-s"),
}
"""Options with a number, by command."""
FIRST = {"wait": ["job"], "watch": ["job", "--then", "true"], "logs": ["job"], "batch": ["anarci", "t.csv"]}
PAIRS = [(command, option) for command, options in OPTIONS.items() for option in options]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e999", "many"])
@pytest.mark.parametrize(("command", "option"), PAIRS)
def test_an_option_refuses_an_invalid_number(command, option, value, capsys):
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args([command, *FIRST.get(command, []), f"{option}={value}"])
    assert ended.value.code == 2
    assert f"argument {option}: {value!r} is not a" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "option"), PAIRS)
def test_an_option_takes_a_number(command, option):
    given = build_parser().parse_args([command, *FIRST.get(command, []), f"{option}=3"])
    assert getattr(given, option.strip("-").replace("-", "_")) == 3


@pytest.mark.parametrize("command", ["wait", "watch", "jobs"])
def test_a_time_too_long_to_wait_for_is_refused(command, capsys):
    option = "--interval" if command == "jobs" else "--timeout"
    with pytest.raises(SystemExit):
        build_parser().parse_args([command, *FIRST.get(command, []), option, "1e300"])
    assert "at most 1,000,000,000 can be given" in capsys.readouterr().err


def test_no_option_of_any_command_takes_numbers_unchecked(monkeypatch):
    import argparse

    bare = []
    add = argparse.ArgumentParser.add_argument

    def note(self, *names, **options):
        bare.extend(names if options.get("type") in (int, float) else ())
        return add(self, *names, **options)

    monkeypatch.setattr(argparse.ArgumentParser, "add_argument", note)
    build_parser()
    assert bare == []
