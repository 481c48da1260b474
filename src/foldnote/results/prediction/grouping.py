"""Group files into models and order the models.

Names and single figures are looked at, and the atoms of a model only where it may be the copy of another
(:mod:`foldnote.results.prediction.drafts`). A rank is taken from a list that the program left, from the file
names where all of them carry one, or from the figure by which programs rank, in that order; where there is
nothing of the kind, the names' own order stands and the model says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from foldnote.results.metrics.registry import (
    ENERGY_NAMES,
    RANK_COLUMNS,
    RANKING_NAMES,
    find_metric,
    has_scores,
)
from foldnote.results.naming.families import (
    LinkKey,
    find_job_folder,
    find_link,
    find_prediction,
    find_step,
    is_chosen,
    is_sample,
    strip_packing,
)
from foldnote.results.naming.file_kinds import is_side_structure, structure_order
from foldnote.results.prediction.drafts import ModelDraft, join_copies
from foldnote.results.prediction.evidence import EvidenceBook
from foldnote.results.prediction.model import Model
from foldnote.results.prediction.ranking_files import SAMPLE_SCORE, Order, SampleScores
from foldnote.results.structure.structure import Structure
from foldnote.results.tables.tabular import Scalar

Rows = Mapping[str, Mapping[str, Scalar]]
"""Figures of score tables by the file name of the structure that a row is about."""


def assemble(
    structures: Sequence[Structure],
    book: EvidenceBook,
    orders: Sequence[Order] = (),
    rows: Rows | None = None,
    samples: Sequence[SampleScores] = (),
    jobs: Container[str] = (),
) -> tuple[Model, ...]:
    """The models, best first within each prediction.

    Args:
        structures: every structure of the result.
        book: the score files.
        orders: lists of models in their order, as some programs leave them.
        rows: figures of score tables that name structures.
        samples: tables of samples with the score by which the program ranked them.
        jobs: the folders of a batch's jobs, whose models are ranked apart.
    """
    drafts = _draft(structures, orders)
    _link(drafts, book)
    _add_figures(drafts, book, orders, rows or {})
    drafts = join_copies(drafts)
    for table in samples:
        _add_sample_scores(drafts, table, is_alone=len([t for t in samples if t.folder == table.folder]) == 1)
    _tell_jobs_apart(drafts, jobs)
    groups: dict[str, list[ModelDraft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.prediction].append(draft)
    ranked = [_rank(groups[prediction]) for prediction in sorted(groups, key=structure_order)]
    _adopt([group[0] for group, _ in ranked], book, {file for draft in drafts for file in draft.files})
    return tuple(
        _finish(draft, rank, by, book) for group, by in ranked for rank, draft in enumerate(group, 1)
    )


def _finish(draft: ModelDraft, rank: int, by: str, book: EvidenceBook) -> Model:
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


def _draft(structures: Sequence[Structure], orders: Sequence[Order]) -> list[ModelDraft]:
    """One draft a model; forms of the same model (relaxed, another format) share one."""
    aliases = {LinkKey(o.folder, ("ranked", str(i))): link for o in orders for i, link in enumerate(o.links)}
    listed = {order.folder for order in orders}
    last = max((step for each in structures if (step := find_step(each.name)) is not None), default=None)
    main = [each for each in structures if last is None or find_step(each.name) == last]
    main = [each for each in main if not is_side_structure(each.name)] or main
    main = [each for each in main if is_chosen(each.name)] or main
    drafts: dict[tuple[LinkKey, frozenset[str]], ModelDraft] = {}
    for structure in sorted(main, key=lambda each: structure_order(each.name)):
        own = find_link(structure.name)
        key = aliases.get(own, own)
        words = frozenset() if key.folder in listed else _model_words(structure.name)
        draft = drafts.get((key, words))
        if draft is None:
            drafts[key, words] = ModelDraft(key, find_prediction(structure.name), [structure])
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


def _link(drafts: Sequence[ModelDraft], book: EvidenceBook) -> None:
    """Give every score file to the drafts that its name means."""
    by_key: dict[LinkKey, list[ModelDraft]] = defaultdict(list)
    by_tokens: dict[tuple[str, ...], list[ModelDraft]] = defaultdict(list)
    by_folder: dict[str, list[ModelDraft]] = defaultdict(list)
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


def _add_figures(
    drafts: Sequence[ModelDraft], book: EvidenceBook, orders: Iterable[Order], rows: Rows
) -> None:
    places = {link: (order, place) for order in orders for place, link in enumerate(order.links)}
    for draft in drafts:
        for name in draft.files:
            _take_figures(draft, book.figures(name))
        if draft.key in places:
            order, draft.order = places[draft.key]
            draft.figures = dict(order.figures[draft.order]) | draft.figures
        for structure in draft.variants:
            row = rows.get(structure.name, {})
            numbers = {key: value for key, value in row.items() if not isinstance(value, str)}
            draft.figures |= {key: value for key, value in numbers.items() if key not in draft.figures}


def _add_sample_scores(drafts: Iterable[ModelDraft], table: SampleScores, *, is_alone: bool) -> None:
    """Give the samples of a table its scores, in place of those that their own files round.

    Where the best sample is not in the archive, its copy at the top of the folder has its score.
    """
    group = [draft for draft in drafts if draft.folder == table.folder]
    if not is_alone:
        group = [draft for draft in group if draft.prediction.lower() == table.prediction]
    for draft in group:
        score = table.scores.get(draft.sample) if draft.sample else None
        if score is not None:
            draft.figures[SAMPLE_SCORE], draft.is_scored = score, True
    tops = [draft for draft in group if draft.sample is None and SAMPLE_SCORE in draft.figures]
    if len(tops) == 1 and table.best not in {draft.sample for draft in group}:
        tops[0].figures[SAMPLE_SCORE], tops[0].is_scored = table.scores[table.best], True


def _take_figures(draft: ModelDraft, figures: Mapping[str, Scalar]) -> None:
    """Add the numbers of a file in which one at least is a known metric; others hold settings."""
    if any(find_metric(name) for name in figures):
        numbers = {key: value for key, value in figures.items() if not isinstance(value, str)}
        draft.figures |= {key: value for key, value in numbers.items() if key not in draft.figures}


def _tell_jobs_apart(drafts: Sequence[ModelDraft], jobs: Container[str]) -> None:
    """Name predictions by their folders where these are of several jobs.

    They are where the archive is a batch's, or where several folders hold files of the same name.
    """
    folders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for draft in drafts:
        if not is_sample(draft.name):
            folders[draft.prediction, PurePosixPath(draft.name).name].add(find_job_folder(draft.name))
    repeated = {prediction for (prediction, _), found in folders.items() if len(found) > 1}
    for draft in drafts:
        job = draft.name.partition("/")[0]
        if job in jobs:
            draft.prediction = job if draft.prediction in ("", job) else f"{job}/{draft.prediction}"
        elif draft.prediction in repeated:
            draft.prediction = "/".join(filter(None, (find_job_folder(draft.name), draft.prediction)))


def _rank(drafts: list[ModelDraft]) -> tuple[list[ModelDraft], str]:
    """The drafts of one prediction, best first, and what ranked them."""
    if any(draft.order is not None for draft in drafts):
        return sorted(drafts, key=lambda draft: _or_last(draft.order)), "the program's list"
    if any(draft.is_scored for draft in drafts):
        return sorted(drafts, key=_by_sample_score), SAMPLE_SCORE
    ranks = [draft.rank for draft in drafts]
    if all(rank is not None for rank in ranks):
        return _sort_by_name(drafts), "file name"
    found = _rank_by_figure(drafts, all) if len(drafts) > 1 else None
    if found is None and any(rank is not None for rank in ranks):
        return _sort_by_name(drafts), "file name"
    return found or (_rank_by_figure(drafts, any) if len(drafts) > 1 else None) or _put_chosen_first(drafts)


def _put_chosen_first(drafts: list[ModelDraft]) -> tuple[list[ModelDraft], str]:
    by = "the program's choice" if len(drafts) > 1 and any(draft.is_chosen for draft in drafts) else ""
    return sorted(drafts, key=lambda draft: not draft.is_chosen), by


def _rank_by_figure(
    drafts: list[ModelDraft], enough: Callable[[Iterable[bool]], bool]
) -> tuple[list[ModelDraft], str] | None:
    """The drafts in the order of the first ranking figure that ``enough`` of them have.

    The sample that the program copied to the top is the best one, whatever rounded figures say.
    """
    for names, key in ((RANK_COLUMNS, _or_last), (RANKING_NAMES, _descending), (ENERGY_NAMES, _or_last)):
        for name in names:
            values = {id(draft): _number(draft.figures.get(name)) for draft in drafts}
            if enough(value is not None for value in values.values()):
                ranked = sorted(drafts, key=lambda draft: (not draft.is_chosen, key(values[id(draft)])))
                return ranked, name
    return None


def _sort_by_name(drafts: list[ModelDraft]) -> list[ModelDraft]:
    return sorted(drafts, key=lambda draft: _or_last(draft.rank))


def _by_sample_score(draft: ModelDraft) -> tuple[float, bool]:
    return (_descending(_number(draft.figures.get(SAMPLE_SCORE))), not draft.is_chosen)


def _adopt(best: Sequence[ModelDraft], book: EvidenceBook, taken: set[str]) -> None:
    """Files named after a prediction alone, such as one affinity, are about its best model."""
    free: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in sorted(book.names - taken, key=structure_order):
        free[find_link(name).tokens].append(name)
    for draft in best:
        tokens, folder = draft.key.tokens, draft.key.folder
        for length in range(1, len(tokens) + 1 if draft.prediction else 0):
            for name in [*free.get(tokens[:length], ())]:
                place = find_link(name).folder
                is_near = place in (folder, ".") or folder.startswith(f"{place}/")
                if is_near and _is_telling(name, book):
                    draft.files.append(name)
                    free[tokens[:length]].remove(name)
                    _take_figures(draft, book.figures(name))


def _or_last(rank: float | None) -> float:
    return float("inf") if rank is None else rank


def _descending(value: float | None) -> float:
    return float("inf") if value is None else -value


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
