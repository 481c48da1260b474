"""Write ``models/results/metrics.ts`` from the table of known metrics; ``--print`` prints it instead.

``npm run metrics`` runs it. Only metrics with a direction are written, since lists sort by these only.
"""

import json
import sys
from pathlib import Path

from foldnote.results.metrics.registry import METRICS, RANKING_NAMES, bare_name, find_metric

HEADER = """\
/**
 * Known metrics of results, the most informative first: label, whether higher is better, and the names that
 * programs use. Generated from `foldnote/results/metrics/metrics.toml`. Do not edit: run `npm run metrics`.
 */
export const METRICS: readonly (readonly [label: string, higher: boolean, ...names: string[]])[] = [
"""
TARGET = Path(__file__).parents[1] / "src/models/results/metrics.ts"


def quoted(text: str) -> str:
    """Return a TypeScript literal in the front end's quotes."""
    return "'" + json.dumps(text, ensure_ascii=False)[1:-1].replace("'", "\\'") + "'"


def main() -> None:
    """Write the table, or print it."""
    telling = [metric for name in RANKING_NAMES if (metric := find_metric(name)) is not None]
    rows = []
    for metric in dict.fromkeys([*telling, *METRICS]):
        if metric.higher_is_better is None:
            continue
        names = ", ".join(quoted(name) for name in dict.fromkeys(map(bare_name, metric.names)))
        rows.append(f"  [{quoted(metric.label)}, {str(metric.higher_is_better).lower()}, {names}]")
    text = HEADER + ",\n".join(rows) + "\n];\n"
    if "--print" in sys.argv:
        sys.stdout.write(text)
    else:
        TARGET.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
