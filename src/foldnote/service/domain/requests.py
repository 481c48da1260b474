"""Request bodies: frozen models, camelCase on the wire, no coercion, unknown keys ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from foldnote.catalog.json_values import MAX_TEXT_LENGTH
from foldnote.models.extensions import MAX_RETRIES
from foldnote.models.names import JOB_NAME_PATTERN

MAX_RUNTIME_S = 31_536_000.0
MAX_HOURS = 1e9
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
EMAIL_PATTERN = rf"^{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*$"
"""An address in the interface's `email` format, without quoted and literal forms."""
_LOCAL_PART = 64
Text = Annotated[str, Field(max_length=MAX_TEXT_LENGTH)]
"""Text without a length limit of its own."""
TOOL_PATTERN = r"^[a-z0-9][a-z0-9-]{0,62}$"
"""The type of a registered tool."""
IMAGE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,300}$"
"""The name of a container image."""


def _check_local_part(email: str) -> str:
    if len(email.partition("@")[0]) > _LOCAL_PART:
        raise ValueError(f"the part before the @ has more than {_LOCAL_PART} characters")
    return email


Email = Annotated[
    str,
    Field(pattern=EMAIL_PATTERN, max_length=254, json_schema_extra={"format": "email"}),
    AfterValidator(_check_local_part),
]
NAME_RULE: JsonDict = {"pattern": JOB_NAME_PATTERN}
"""A name in the OpenAPI document; the rule itself, with its messages, is in `models.names`."""


class RequestBody(BaseModel):
    """A request body."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, extra="ignore")


class Extensions(BaseModel):
    """Extensions beside the settings; `GET /tools` lists those that a tool accepts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    external: list[Annotated[str, Field(max_length=100)]] | None = Field(default=None, max_length=10)
    """The purposes, such as `msa-server`, for which the user agrees, for this submission, that inputs leave
    the machine. Without it nothing is sent."""
    alignment: str | None = None
    """The user's own multiple sequence alignment, a file in any of the three forms."""
    label: str | None = Field(default=None, max_length=200)
    """Free text that is kept with the job."""
    retries: int | None = Field(default=None, ge=0, le=MAX_RETRIES)
    """How often a job is run again after its tool failed or exceeded its time limit; runs that are lost with
    a machine are repeated anyway. Each run costs its weighted hours."""
    on_failure: Literal["continue", "stop"] | None = Field(default=None, alias="onFailure")
    """Of a batch: whether its waiting jobs still run after one of its jobs has failed."""
    reuse: bool | None = None
    """Of the run of a pipeline: whether a stage takes the result of a complete stage of this account, of any
    pipeline, with the same tool, settings and file contents."""
    webhook: str | None = Field(default=None, max_length=2000)
    """Of a job or a batch: the address that is called when it has ended, in place of the account's; empty for
    none. The administrator of the service lists what addresses may begin with."""


class JobSubmission(RequestBody):
    """POST /submit-job."""

    job_name: str = Field(json_schema_extra={**NAME_RULE})
    """1 to 100 of `A-Z a-z 0-9 _ . -`, unique in the account."""
    type: str
    """Tool identifier, case-sensitive."""
    settings: dict[str, Any]
    """Fields of the tool's schema."""
    project_tag: str | None = Field(default=None, max_length=200)
    """Identifier of a project."""
    max_runtime_seconds: float | None = Field(default=None, gt=0, le=MAX_RUNTIME_S)
    """Time limit of the run in seconds; the engine's own limit applies, too."""
    foldnote: Extensions | None = None


class JobPayload(RequestBody):
    """POST /validate-job; an array of settings is a batch."""

    job_name: str | None = None
    batch_name: str | None = None
    type: str
    settings: dict[str, Any] | list[Any]
    job_names: list[str] | None = None
    project_tag: str | None = Field(default=None, max_length=200)
    foldnote: Extensions | None = None

    @field_validator("settings", mode="before")
    @classmethod
    def _require_object_or_array(cls, value: Any) -> Any:
        if not isinstance(value, dict | list):
            raise PydanticCustomError("settings_type", "this must be an object, or an array for a batch")
        return value


class BatchSubmission(RequestBody):
    """POST /submit-batch."""

    batch_name: str = Field(json_schema_extra={**NAME_RULE})
    type: str
    settings: list[dict[str, Any]]
    """One object per subjob."""
    job_names: list[str] | None = None
    """Names of the subjobs in the order of `settings`; by default derived from the batch's name."""
    project_tag: str | None = Field(default=None, max_length=200)
    max_runtime_seconds: float | None = Field(default=None, gt=0, le=MAX_RUNTIME_S)
    """Time limit of each run in seconds; the engine's own limit applies, too."""
    weighted_hours_budget: float | None = Field(default=None, gt=0, le=MAX_HOURS)
    """Limit of weighted hours for all runs together; then the queued ones are stopped."""
    foldnote: Extensions | None = None
    """For every row."""


class JobsQuery(RequestBody):
    """The parameters of GET /jobs."""

    job_name: str | None = None
    batch: str | None = None
    start_key: str | None = None
    limit: int = Field(default=1000, ge=1)
    organization: Literal["true"] | None = None
    include_subjobs: Literal["true"] | None = None
    job_email: Email | None = None
    since: str | None = Field(default=None, max_length=40)
    wait_seconds: float = Field(default=0.0, ge=0)

    @property
    def is_own(self) -> bool:
        """Whether it lists the caller's own jobs, not a single job or one batch."""
        values = (self.job_name, self.batch, self.organization, self.job_email)
        return all(value is None for value in values)


class NamedJob(RequestBody):
    """A body with the name of a job or batch."""

    job_name: str


class NamedBatch(RequestBody):
    """A body with the name of a batch."""

    batch_name: str


class NamedTool(RequestBody):
    """A body with the type of a tool."""

    type: str


class ListedJob(RequestBody):
    """One job of the alternative form of POST /submit-batch."""

    job_name: str | None = None
    settings: dict[str, Any]


class ListedBatch(RequestBody):
    """The alternative form of POST /submit-batch: the tool and a list of jobs."""

    batch_name: str = Field(json_schema_extra={**NAME_RULE})
    tool: str
    jobs: list[ListedJob]
    project_tag: str | None = Field(default=None, max_length=200)
    max_runtime_seconds: float | None = Field(default=None, gt=0, le=MAX_RUNTIME_S)
    weighted_hours_budget: float | None = Field(default=None, gt=0, le=MAX_HOURS)
    foldnote: Extensions | None = None
    """For every job."""

    def as_batch(self) -> BatchSubmission:
        """Convert to the first form; without names, default names are made.

        Raises:
            ValueError: some jobs have names and others have none.
        """
        names = [job.job_name for job in self.jobs if job.job_name is not None]
        if names and len(names) != len(self.jobs):
            raise ValueError("Either all jobs or none must have a jobName.")
        return BatchSubmission.model_construct(
            batch_name=self.batch_name,
            type=self.tool,
            settings=[job.settings for job in self.jobs],
            job_names=names or None,
            project_tag=self.project_tag,
            max_runtime_seconds=self.max_runtime_seconds,
            weighted_hours_budget=self.weighted_hours_budget,
            foldnote=self.foldnote,
        )


class PipelineStage(RequestBody):
    """One stage of a pipeline."""

    name: str = Field(json_schema_extra={**NAME_RULE})
    """Unique in the pipeline; file fields of later stages refer to it as `name/path`."""
    type: str
    """Tool identifier."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Fields of the tool's schema; missing ones may be given with a run."""
    foldnote: Extensions | None = None
    """For the stage's jobs, in each run; an alignment may be a file of an earlier stage."""


class PipelineSubmission(RequestBody):
    """POST /submit-pipeline."""

    pipeline_name: str = Field(json_schema_extra={**NAME_RULE})
    stages: list[PipelineStage]
    """The stages in running order."""


class RunPipelineRequest(RequestBody):
    """POST /run-pipeline."""

    pipeline_name: str
    job_name: str
    inputs: dict[str, Any] | None = None
    """`{stage: {field: value}}`; fields of the first stage may be at the top level."""
    initial_inputs: dict[str, Any] | None = None
    """Synonym of `inputs`."""
    project_tag: str | None = Field(default=None, max_length=200)
    foldnote: Extensions | None = None

    def given_inputs(self) -> dict[str, Any]:
        """Return the inputs under either name."""
        return (self.initial_inputs or {}) | (self.inputs or {})


class RouterInput(RequestBody):
    """One molecule: exactly one of `sequence`, `smiles` and `ccd`."""

    sequence: Text | None = None
    smiles: Text | None = None
    ccd: Text | None = None
    role: Literal["heavy", "light", "antigen", "target", "enzyme"] | None = None


class RouterRequest(RequestBody):
    """POST /model-router."""

    prompt: Text
    """The task in prose; molecules in it are recognised."""
    inputs: list[RouterInput] | None = None


class ModelDeployment(RequestBody):
    """POST /deploy-model; exactly one of `command` and `image`."""

    type: str = Field(pattern=TOOL_PATTERN)
    """Identifier of the new tool."""
    display_name: str = Field(default="", max_length=100)
    description: str = Field(default="", max_length=2000)
    family: str = Field(default="registered", max_length=100)
    modalities: list[str] = Field(default_factory=list, max_length=20)
    functions: list[str] = Field(default_factory=list, max_length=20)
    settings_schema: dict[str, Any] = Field(alias="schema")
    """JSON Schema 2020-12 of the settings; a string of format `binary` is a file."""
    command: list[str] | None = Field(default=None, min_length=1, max_length=100)
    """Program and arguments; reads `job.json` and `inputs/` in its working directory, writes `outputs/`."""
    image: str | None = Field(default=None, pattern=IMAGE_PATTERN)
    """A container image whose entry point does the same in `/work`."""
    version: str = Field(default="1", max_length=100)
    cores: int = Field(default=1, ge=1, le=1024)
    memory_mb: int = Field(default=1024, ge=1, le=10_000_000)
    time_limit_seconds: float = Field(default=86_400.0, gt=0, le=MAX_RUNTIME_S)


class ScreeningSubmission(RequestBody):
    """POST /virtual-screening."""

    batch_name: str = Field(json_schema_extra={**NAME_RULE})
    receptor: str
    """A file in any of the three forms."""
    ligands: list[str] = Field(min_length=1)
    """Files in any of the three forms, or SMILES; each becomes a job."""
    tool: str | None = None
    """A docking tool; by default the first that runs here."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Further settings of every job."""
    job_names: list[str] | None = None
    rank_by: str = Field(default="affinity", max_length=100)
    """The score to rank by, lowest first."""
    project_tag: str | None = Field(default=None, max_length=200)


class UploadRequest(RequestBody):
    """POST /getPresignedUploadUrl."""

    filename: str
    """Name of the file, optionally with its folders: `folder/name`."""
    content_type: str | None = None
    """Accepted and ignored."""


class ClaimRequest(RequestBody):
    """POST /claim."""

    email: str
    """Address of the person who claims the account."""
    api_key: str | None = Field(default=None, max_length=200)
    """Key of an existing account of this person, to which the trial's jobs, files and key are moved."""


class ResultRequest(RequestBody):
    """POST /result."""

    job_name: str
    job_email: Email | None = None
    """Another member of the organization."""
    file_name: str | None = None
    """Path of one file in the result."""
    pdbs_only: bool = False
    """Only structure files."""
    no_async: bool = False
    """Answer 400 instead of 202 while a batch's archive is being built."""
