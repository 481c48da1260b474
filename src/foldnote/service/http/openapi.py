"""Print the OpenAPI document, from which the TypeScript types are generated."""

from __future__ import annotations

import json
import sys

from foldnote.service.http.app import build_routes


def main() -> int:
    """Print the document as JSON, the same on every run."""
    sys.stdout.write(json.dumps(build_routes().openapi(), indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
