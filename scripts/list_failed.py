"""The files whose tests failed in the last run of pytest, a line each; none if more failed than are to be run again."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def list_failed_files(cache: Path, most: int) -> list[str]:
    """The files of at most ``most`` failed tests, in their order; empty if there are more, or what failed is not a test.

    Args:
        cache: pytest's cache directory (``cache_dir``), new at the start of that run.
        most: the number of failed tests above which a run is not judged again.
    """
    kept = cache / "v/cache/lastfailed"
    tests = list(json.loads(kept.read_text("utf-8"))) if kept.exists() else []
    if len(tests) > most or not all("::" in test for test in tests):
        return []
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))


def main() -> None:
    """Print the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path, help="the cache directory of that run")
    parser.add_argument("--most", type=int, required=True, help="how many failed tests are run again")
    for path in list_failed_files(**vars(parser.parse_args())):
        print(path)


if __name__ == "__main__":
    main()
