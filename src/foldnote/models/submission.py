"""What is sent to start a job, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from foldnote.models.wire import WireModel, lower_first


class Submission(WireModel):
    """The body of POST /submit-job."""

    job_name: str
    """See ``models.names`` for the rule; unique for the account."""
    type: str
    """Tool identifier, case-sensitive."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Fields of the tool's schema."""
    project_tag: str | None = None
    """Identifier of the project that the job belongs to; null for none."""

    def to_wire(self) -> dict[str, Any]:
        """The body without a null project."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Receipt(WireModel):
    """The answer of POST /submit-job."""

    message: str
    job_name: str
    type: str
    status: str = "In Queue"


def read_receipt(answer: object, sent: Submission) -> Receipt:
    """The receipt in ``answer``, which some deployments give as a bare sentence.

    What the answer lacks, or has as something else than text, is taken from the submission that was ``sent``:
    the job is there, whatever is said of it.
    """
    known = {"message": "", "jobName": sent.job_name, "type": sent.type, "status": "In Queue"}
    if isinstance(answer, Mapping):
        fields = lower_first(answer)
        odd = {key for key in known if key in fields and not (isinstance(fields[key], str) and fields[key])}
        return Receipt.model_validate(known | {key: fields[key] for key in fields.keys() - odd})
    return Receipt.model_validate(known | {"message": str(answer or "")})
