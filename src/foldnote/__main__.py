"""Run the command ``foldnote`` with ``python -m foldnote``."""

import sys

from foldnote.cli import main

if __name__ == "__main__":
    sys.exit(main())
