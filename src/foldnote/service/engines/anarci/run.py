"""Run a job of either tool of ANARCI: the numbering of one sequence, or the annotation of an antibody."""

from __future__ import annotations

import sys

from annotation_job import annotate_antibody
from engine_protocol import read_job
from numbering_job import number_sequence

JOBS = {"anarci": number_sequence, "antibody-annotation": annotate_antibody}


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    JOBS[job["type"]](job["settings"])


if __name__ == "__main__":
    sys.exit(main())
