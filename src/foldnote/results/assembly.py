"""Which files belong to one model, and in which order the models stand.

Only names and single figures are looked at; no structure is read to rank it. A rank is taken from the file
names, from a list of the order, or from the figure by which programs rank, in that order; where there is
nothing of the kind, the names' own order stands and the model says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from foldnote.results.evidence import EvidenceBook
from foldnote.results.families import (
    LinkKey,
    find_job_folder,
    find_link,
    find_prediction,
    find_rank,
    find_seed_sample,
    find_step,
    is_chosen,
    is_sample,
    strip_packing,
)
from foldnote.results.kinds import is_side_structure, structure_order
from foldnote.results.metrics import ENERGY_NAMES, RANK_COLUMNS, RANKING_NAMES, find_metric, has_scores
from foldnote.results.model import Model
from foldnote.results.ranking_file import Order
from foldnote.results.structure import Structure
from foldnote.results.tables import Scalar

Rows = Mapping[str, Mapping[str, Scalar]]
"""Figures of score tables by the file name of the structure that a row is about."""


@dataclass
class _Draft:
    """A model while its files are being gathered; ``variants`` holds the structure to show first."""

    key: LinkKey
    prediction: str
    variants: list[Structure]
    files: list[str] = field(default_factory=list)
    figures: dict[str, Scalar] = field(default_factory=dict)
    order: int | None = None

    @property
    def name(self) -> str:
        return self.variants[0].name


def assemble(
    structures: Sequence[Structure],
    book: EvidenceBook,
    orders: Iterable[Order] = (),
    rows: Rows | None = None,
) -> tuple[Model, ...]:
    """The models, best first within each prediction.

    Args:
        structures: every structure of the result.
        book: the score files.
        orders: lists of models in their order, as some programs leave them.
        rows: figures of score tables that name structures.
    """
    aliases = {LinkKey(o.folder, ("ranked", str(i))): o.links[i] for o in orders for i in range(len(o.links))}
    drafts = _draft(structures, aliases)
    _link(drafts, book)
    for draft in drafts:
        _add_figures(draft, book, orders, rows or {})
    drafts = _join_copies(drafts)
    _tell_jobs_apart(drafts)
    groups: dict[str, list[_Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.prediction].append(draft)
    models: list[Model] = []
    for prediction in sorted(groups, key=structure_order):
        ranked, by = _rank(groups[prediction])
        _adopt(ranked, prediction, book, {file for draft in drafts for file in draft.files})
        models += [_finish(draft, rank, by, book) for rank, draft in enumerate(ranked, 1)]
    return tuple(models)


def _finish(draft: _Draft, rank: int, by: str, book: EvidenceBook) -> Model:
    return Model(
        name=draft.name,
        rank=rank,
        ranked_by=by,
        prediction=draft.prediction,
        structure=draft.variants[0],
        variants=tuple(draft.variants[1:]),
        scores=dict(draft.figures),
        files=tuple(draft.files),
        _book=book,
    )


def _draft(structures: Sequence[Structure], aliases: Mapping[LinkKey, LinkKey]) -> list[_Draft]:
    """One draft a model; forms of the same model (relaxed, another format) share one."""
    last = max((step for each in structures if (step := find_step(each.name)) is not None), default=None)
    main = [each for each in structures if last is None or find_step(each.name) == last]
    main = [each for each in main if not is_side_structure(each.name)] or main
    main = [each for each in main if is_chosen(each.name)] or main
    drafts: dict[tuple[LinkKey, frozenset[str]], _Draft] = {}
    for structure in sorted(main, key=lambda each: structure_order(each.name)):
        own = find_link(structure.name)
        key = aliases.get(own, own)
        words = frozenset() if aliases else _model_words(structure.name)
        draft = drafts.get((key, words))
        if draft is None:
            drafts[key, words] = _Draft(key, find_prediction(structure.name), [structure])
        else:
            draft.variants.append(structure)
    return list(drafts.values())


def _model_words(name: str) -> frozenset[str]:
    """Words that tell two structures apart though they are no part of a link.

    All but those of a relaxation.
    """
    stem = PurePosixPath(strip_packing(name)).stem
    words = frozenset(word for word in stem.replace(".", "_").replace("-", "_").split("_") if word)
    return words - {"relaxed", "unrelaxed", "amber", "minimized"} - set(find_link(name).tokens)


def _link(drafts: Sequence[_Draft], book: EvidenceBook) -> None:
    """Give every score file to the drafts that its name means."""
    by_key: dict[LinkKey, list[_Draft]] = defaultdict(list)
    by_tokens: dict[tuple[str, ...], list[_Draft]] = defaultdict(list)
    by_folder: dict[str, list[_Draft]] = defaultdict(list)
    for draft in drafts:
        by_key[draft.key].append(draft)
        by_tokens[draft.key.tokens].append(draft)
        by_folder[draft.key.folder].append(draft)
    for name in sorted(book.names, key=structure_order):
        key = find_link(name)
        owners = by_key.get(key) or (by_tokens[key.tokens] if len(by_tokens.get(key.tokens, [])) == 1 else [])
        if not owners:
            alone = drafts if len(drafts) == 1 else by_folder.get(key.folder, [])
            owners = [*alone] if len(alone) == 1 and _is_telling(name, book) else []
        for draft in owners:
            draft.files.append(name)


def _is_telling(name: str, book: EvidenceBook) -> bool:
    """Whether a file whose name fits no model holds a pLDDT, an aligned error or known figures."""
    if has_scores(dict(book.figures(name))):
        return True
    evidence = book.look_up(name)
    return evidence.pae is not None or evidence.plddt is not None


def _add_figures(draft: _Draft, book: EvidenceBook, orders: Iterable[Order], rows: Rows) -> None:
    for name in draft.files:
        _take_figures(draft, book.figures(name))
    for order in orders:
        if draft.key in order.links:
            draft.order = order.links.index(draft.key)
            draft.figures = dict(order.figures[draft.order]) | draft.figures
    for structure in draft.variants:
        row = rows.get(structure.name, {})
        numbers = {key: value for key, value in row.items() if not isinstance(value, str)}
        draft.figures |= {key: value for key, value in numbers.items() if key not in draft.figures}


def _take_figures(draft: _Draft, figures: Mapping[str, Scalar]) -> None:
    """Add the numbers of a file in which one at least is a known metric; others hold settings."""
    if any(find_metric(name) for name in figures):
        numbers = {key: value for key, value in figures.items() if not isinstance(value, str)}
        draft.figures |= {key: value for key, value in numbers.items() if key not in draft.figures}


def _join_copies(drafts: list[_Draft]) -> list[_Draft]:
    """The best sample that a program copied to the top becomes a form of that sample.

    So does a sample of which there is a copy under its rank.
    """
    kept = []
    ranked = [draft for draft in drafts if find_rank(draft.name) is not None]
    samples = ranked or [draft for draft in drafts if find_seed_sample(draft.name)]
    for draft in drafts:
        twin = next(
            (
                each
                for each in samples
                if draft not in samples
                and each.prediction == draft.prediction
                and draft.figures
                and each.figures == draft.figures
            ),
            None,
        )
        if twin is None:
            kept.append(draft)
        else:
            twin.variants += draft.variants
    return kept


def _tell_jobs_apart(drafts: Sequence[_Draft]) -> None:
    """Name predictions by their folders where several folders hold files of the same name.

    These are several jobs.
    """
    folders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for draft in drafts:
        if not is_sample(draft.name):
            folders[draft.prediction, PurePosixPath(draft.name).name].add(find_job_folder(draft.name))
    repeated = {prediction for (prediction, _), found in folders.items() if len(found) > 1}
    for draft in drafts:
        if draft.prediction in repeated:
            draft.prediction = "/".join(filter(None, (find_job_folder(draft.name), draft.prediction)))


def _rank(drafts: list[_Draft]) -> tuple[list[_Draft], str]:
    """The drafts of one prediction, best first, and what ranked them."""
    listed = [draft for draft in drafts if draft.order is not None]
    if listed:
        return sorted(drafts, key=lambda draft: _or_last(draft.order)), "the program's list"
    named = {id(draft): find_rank(draft.name) for draft in drafts}
    if any(rank is not None for rank in named.values()):
        return sorted(drafts, key=lambda draft: _or_last(named[id(draft)])), "file name"
    for names, key in ((RANK_COLUMNS, _or_last), (RANKING_NAMES, _descending), (ENERGY_NAMES, _or_last)):
        for name in names:
            values = {id(draft): _number(draft.figures.get(name)) for draft in drafts}
            if any(value is not None for value in values.values()) and len(drafts) > 1:
                return sorted(drafts, key=lambda draft: key(values[id(draft)])), name
    return drafts, ""


def _adopt(ranked: list[_Draft], prediction: str, book: EvidenceBook, taken: set[str]) -> None:
    """Files named after the prediction alone, such as one affinity, are about its best model."""
    best = ranked[0]
    for name in sorted(book.names - taken, key=structure_order):
        key = find_link(name)
        is_named = bool(key.tokens) and key.tokens == best.key.tokens[: len(key.tokens)]
        is_near = (
            best.key.folder == key.folder or best.key.folder.startswith(f"{key.folder}/") or key.folder == "."
        )
        if is_named and is_near and prediction and _is_telling(name, book):
            best.files.append(name)
            _take_figures(best, book.figures(name))


def _or_last(rank: float | None) -> float:
    return float("inf") if rank is None else rank


def _descending(value: float | None) -> float:
    return float("inf") if value is None else -value


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
