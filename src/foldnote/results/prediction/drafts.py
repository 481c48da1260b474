"""Models under construction, and the detection of copies of one model under two names.

A program may write its best sample twice. Two files hold the same model if their atoms have identical
coordinates and B-factors; scores are rounded, so equal scores prove nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from foldnote.results.naming.families import LinkKey, find_job_folder, find_rank, find_seed_sample
from foldnote.results.structure.structure import Structure
from foldnote.results.tables.tabular import Scalar


@dataclass(eq=False)
class ModelDraft:
    """A model whose files are still being collected.

    Attributes:
        key: the common part of its files' names.
        prediction: name of the prediction that it belongs to, from the file names.
        variants: its structures, the one to show first; never empty.
        files: names of its score files.
        figures: scores under the names in the files.
        order: 0-based position in the program's ranking file; None if not listed.
        is_scored: whether a table of sample scores gives its ranking score.
        is_chosen: whether the program copied it to the top of its folder as the best sample.
    """

    key: LinkKey
    prediction: str
    variants: list[Structure]
    files: list[str] = field(default_factory=list)
    figures: dict[str, Scalar] = field(default_factory=dict)
    order: int | None = None
    is_scored: bool = False
    is_chosen: bool = False

    @property
    def name(self) -> str:
        """File name of the first structure."""
        return self.variants[0].name

    @cached_property
    def folder(self) -> str:
        """The job's folder in lower case, without subfolders of single samples."""
        return find_job_folder(self.name).lower()

    @cached_property
    def sample(self) -> tuple[int, int] | None:
        """Seed and sample number in the file name; None if it has none."""
        return find_seed_sample(self.name)

    @property
    def rank(self) -> int | None:
        """The lowest rank in the names of its structures; None if none has one."""
        return min(
            (r for variant in self.variants if (r := find_rank(variant.name)) is not None), default=None
        )

    def merge(self, copy: ModelDraft) -> None:
        """Add a copy's structures, files and figures; existing figures are kept."""
        self.variants += copy.variants
        self.files += [name for name in copy.files if name not in self.files]
        self.figures |= {key: value for key, value in copy.figures.items() if key not in self.figures}


def join_copies(drafts: Sequence[ModelDraft]) -> list[ModelDraft]:
    """Merge copies into the models that they repeat, as further variants.

    Within a job's folder, a copy is merged into its sample or, without samples, into the identical model with
    a rank in its name. Two samples are never merged.

    Returns:
        The remaining drafts, in the order given.
    """
    by_folder: dict[str, list[ModelDraft]] = defaultdict(list)
    for draft in drafts:
        by_folder[draft.folder].append(draft)
    merged: set[int] = set()
    for group in by_folder.values():
        samples = [draft for draft in group if draft.sample is not None]
        originals = samples or [draft for draft in group if draft.rank is not None]
        others = [draft for draft in group if draft not in set(originals)]
        if originals and others:
            merged |= _merge_copies(originals, others)
            _share_prediction(samples, others)
    return [draft for draft in drafts if id(draft) not in merged]


def _merge_copies(originals: list[ModelDraft], others: list[ModelDraft]) -> set[int]:
    """Merge those of ``others`` that are copies into their originals, and return their ids.

    Originals with the same scores are compared first, to read few structures.
    """
    likely: dict[frozenset[tuple[str, Scalar]], list[ModelDraft]] = defaultdict(list)
    for draft in originals:
        likely[frozenset(draft.figures.items())].append(draft)
    by_content: dict[bytes, ModelDraft] = {}
    merged = set()
    for other in others:
        own = _read_contents([other])
        if not own:
            continue
        similar = likely.get(frozenset(other.figures.items()), ())
        original = next((draft for draft in similar if own.keys() & _read_contents([draft]).keys()), None)
        if original is None:
            by_content = by_content or _read_contents(originals)
            original = next((by_content[content] for content in own if content in by_content), None)
        if original is not None:
            original.is_chosen |= original.sample is not None and _is_top(other)
            original.merge(other)
            merged.add(id(other))
    return merged


def _read_contents(drafts: Iterable[ModelDraft]) -> dict[bytes, ModelDraft]:
    """Map the content of each readable structure to its draft; the first draft of several is kept."""
    drafts_by_content: dict[bytes, ModelDraft] = {}
    for draft in drafts:
        for structure in draft.variants:
            if structure.content:
                drafts_by_content.setdefault(structure.content, draft)
    return drafts_by_content


def _is_top(draft: ModelDraft) -> bool:
    """Return whether the draft may be the program's copy of its best model: no rank, or the first."""
    return draft.rank in (None, 0, 1)


def _share_prediction(samples: Sequence[ModelDraft], others: Sequence[ModelDraft]) -> None:
    """Give a folder's samples and the copy of the best model at its top the same prediction name.

    It is the samples' name (the folder's); if that is empty because the folder itself was opened, the copy's.
    """
    tops = [draft for draft in others if PurePosixPath(draft.name.lower()).stem.endswith("model")]
    names = [{draft.prediction for draft in drafts} for drafts in (samples, tops)]
    if all(len(predictions) == 1 for predictions in names):
        shared = next(iter(names[0])) or next(iter(names[1]))
        for draft in (*samples, *tops):
            draft.prediction = shared
