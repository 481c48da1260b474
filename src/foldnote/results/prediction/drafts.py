"""Models while their files are being gathered, and copies of one model by their content.

A program may write the best of its samples a second time, under another name. Two files hold the same model
where their atoms have the same coordinates and B-factors; figures in score files are rounded, and equal ones
prove nothing.
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
    """One model; ``variants`` holds the structure to show first.

    Attributes:
        key: what the names of its files have in common.
        prediction: what was predicted, by the names.
        variants: its structures.
        files: the score files that are about it.
        figures: single figures by the files' own names.
        order: its place in a list that the program left, from 0.
        is_scored: whether the program's list of samples gives its score.
        is_chosen: whether the program copied it to the top of its folder as the best one.
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
        """File name of the structure to show first."""
        return self.variants[0].name

    @cached_property
    def folder(self) -> str:
        """The job's folder in lower case, without folders of single samples."""
        return find_job_folder(self.name).lower()

    @cached_property
    def sample(self) -> tuple[int, int] | None:
        """Seed and sample by the name."""
        return find_seed_sample(self.name)

    @property
    def rank(self) -> int | None:
        """The best rank that one of its names carries."""
        return min((r for each in self.variants if (r := find_rank(each.name)) is not None), default=None)

    def take_in(self, copy: ModelDraft) -> None:
        """Make another draft's structures and files forms of this one; own figures stay."""
        self.variants += copy.variants
        self.files += [name for name in copy.files if name not in self.files]
        self.figures |= {key: value for key, value in copy.figures.items() if key not in self.figures}


def join_copies(drafts: Sequence[ModelDraft]) -> list[ModelDraft]:
    """The drafts without copies, which become forms of the model that they repeat.

    Within a job's folder a copy of a sample joins the sample, and without samples of seeds a model joins the
    one that carries its rank. Two samples never become one.
    """
    by_folder: dict[str, list[ModelDraft]] = defaultdict(list)
    for draft in drafts:
        by_folder[draft.folder].append(draft)
    gone: set[int] = set()
    for group in by_folder.values():
        samples = [draft for draft in group if draft.sample is not None]
        originals = samples or [draft for draft in group if draft.rank is not None]
        others = [draft for draft in group if draft not in set(originals)]
        if originals and others:
            gone |= _join(originals, others)
            _share_prediction(samples, others)
    return [draft for draft in drafts if id(draft) not in gone]


def _join(originals: list[ModelDraft], others: list[ModelDraft]) -> set[int]:
    """Identities of the ``others`` that are copies of one of ``originals``, which has taken them in."""
    likely: dict[frozenset[tuple[str, Scalar]], list[ModelDraft]] = defaultdict(list)
    for draft in originals:
        likely[frozenset(draft.figures.items())].append(draft)
    by_content: dict[bytes, ModelDraft] = {}
    joined = set()
    for other in others:
        own = _read_contents([other])
        if not own:
            continue
        near = likely.get(frozenset(other.figures.items()), ())
        twin = next((draft for draft in near if own.keys() & _read_contents([draft]).keys()), None)
        if twin is None:
            by_content = by_content or _read_contents(originals)
            twin = next((by_content[content] for content in own if content in by_content), None)
        if twin is not None:
            twin.is_chosen |= twin.sample is not None and _is_top(other)
            twin.take_in(other)
            joined.add(id(other))
    return joined


def _read_contents(drafts: Iterable[ModelDraft]) -> dict[bytes, ModelDraft]:
    """Drafts by the contents of their structures that can be read; the first of several counts."""
    found: dict[bytes, ModelDraft] = {}
    for draft in drafts:
        for structure in draft.variants:
            if structure.content:
                found.setdefault(structure.content, draft)
    return found


def _is_top(draft: ModelDraft) -> bool:
    """Whether the program copied the draft as its best: its name says no rank, or the first."""
    return draft.rank in (None, 0, 1)


def _share_prediction(samples: Sequence[ModelDraft], others: Sequence[ModelDraft]) -> None:
    """Call the samples of a folder and the model at its top one prediction.

    The folder's name counts, or else, where the folder itself was opened, the name of the file at the top.
    """
    tops = [draft for draft in others if PurePosixPath(draft.name.lower()).stem.endswith("model")]
    names = [{draft.prediction for draft in drafts} for drafts in (samples, tops)]
    if all(len(found) == 1 for found in names):
        shared = next(iter(names[0])) or next(iter(names[1]))
        for draft in (*samples, *tops):
            draft.prediction = shared
