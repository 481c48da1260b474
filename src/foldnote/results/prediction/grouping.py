"""Group the files of a result into models and rank them.

Files are grouped by name and by single figures; atoms are read only to detect copies
(:mod:`foldnote.results.prediction.drafts`). Models are ranked by the program's ranking file, by the ranks in
the file names if all have one, or by the score that the program ranks by, in that order. Otherwise they keep
the order of their names, and ``Model.ranked_by`` is "".
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
from foldnote.results.prediction.model import Model
from foldnote.results.prediction.ranking_files import SAMPLE_SCORE, Order, SampleScores
from foldnote.results.prediction.score_files import ScoreFiles
from foldnote.results.structure.structure import Structure
from foldnote.results.tables.tabular import Scalar

Rows = Mapping[str, Mapping[str, Scalar]]
"""Figures of score tables, by the file name of the structure that the row belongs to."""


def assemble(
    structures: Sequence[Structure],
    score_files: ScoreFiles,
    orders: Sequence[Order] = (),
    rows: Rows | None = None,
    samples: Sequence[SampleScores] = (),
    jobs: Container[str] = (),
) -> tuple[Model, ...]:
    """Build the models, best first within each prediction.

    Args:
        structures: all structures of the result.
        score_files: all score files of the result.
        orders: the ranking files.
        rows: figures of score tables that refer to structures.
        samples: tables of samples with the score by which the program ranked them.
        jobs: folders of a batch's jobs; the models of each are ranked separately.
    """
    drafts = _group_structures(structures, orders)
    _assign_files(drafts, score_files)
    _add_figures(drafts, score_files, orders, rows or {})
    drafts = join_copies(drafts)
    for table in samples:
        _add_sample_scores(drafts, table, is_alone=len([t for t in samples if t.folder == table.folder]) == 1)
    _separate_jobs(drafts, jobs)
    groups: dict[str, list[ModelDraft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.prediction].append(draft)
    ranked = [_rank(groups[prediction]) for prediction in sorted(groups, key=structure_order)]
    assigned = {file for draft in drafts for file in draft.files}
    _assign_prediction_files([group[0] for group, _ in ranked], score_files, assigned)
    return tuple(
        _make_model(draft, rank, by, score_files)
        for group, by in ranked
        for rank, draft in enumerate(group, 1)
    )


def _make_model(draft: ModelDraft, rank: int, by: str, score_files: ScoreFiles) -> Model:
    return Model(
        name=draft.name,
        rank=rank,
        ranked_by=by,
        prediction=draft.prediction,
        structure=draft.variants[0],
        variants=tuple(draft.variants[1:]),
        scores=dict(draft.figures),
        files=tuple(draft.files),
        _score_files=score_files,
    )


def _group_structures(structures: Sequence[Structure], orders: Sequence[Order]) -> list[ModelDraft]:
    """Make one draft per model; variants of a model (relaxed, or in another format) share one."""
    aliases = {LinkKey(o.folder, ("ranked", str(i))): link for o in orders for i, link in enumerate(o.links)}
    listed = {order.folder for order in orders}
    last = max(
        (step for candidate in structures if (step := find_step(candidate.name)) is not None), default=None
    )
    main = [candidate for candidate in structures if last is None or find_step(candidate.name) == last]
    main = [candidate for candidate in main if not is_side_structure(candidate.name)] or main
    main = [candidate for candidate in main if is_chosen(candidate.name)] or main
    drafts: dict[tuple[LinkKey, frozenset[str]], ModelDraft] = {}
    for structure in sorted(main, key=lambda candidate: structure_order(candidate.name)):
        own = find_link(structure.name)
        key = aliases.get(own, own)
        tokens = frozenset() if key.folder in listed else _list_model_tokens(structure.name)
        draft = drafts.get((key, tokens))
        if draft is None:
            drafts[key, tokens] = ModelDraft(key, find_prediction(structure.name), [structure])
        else:
            draft.variants.append(structure)
    return list(drafts.values())


def _list_model_tokens(name: str) -> frozenset[str]:
    """Return the words of a file name that distinguish models with the same link, except for relaxation."""
    stem = PurePosixPath(strip_packing(name)).stem
    tokens = frozenset(token for token in stem.replace(".", "_").replace("-", "_").split("_") if token)
    return tokens - {"relaxed", "unrelaxed", "amber", "minimized"} - set(find_link(name).tokens)


def _assign_files(drafts: Sequence[ModelDraft], score_files: ScoreFiles) -> None:
    """Assign every score file to the drafts that match its name.

    A file that matches none but holds scores belongs to the only draft of its folder or of the result.
    """
    by_key: dict[LinkKey, list[ModelDraft]] = defaultdict(list)
    by_tokens: dict[tuple[str, ...], list[ModelDraft]] = defaultdict(list)
    by_folder: dict[str, list[ModelDraft]] = defaultdict(list)
    for draft in drafts:
        by_key[draft.key].append(draft)
        by_tokens[draft.key.tokens].append(draft)
        by_folder[draft.key.folder].append(draft)
    for name in sorted(score_files.names, key=structure_order):
        key = find_link(name)
        owners = by_key.get(key) or (by_tokens[key.tokens] if len(by_tokens.get(key.tokens, [])) == 1 else [])
        if not owners:
            alone = drafts if len(drafts) == 1 else by_folder.get(key.folder, [])
            owners = [*alone] if len(alone) == 1 and _holds_scores(name, score_files) else []
        for draft in owners:
            draft.files.append(name)


def _holds_scores(name: str, score_files: ScoreFiles) -> bool:
    """Return whether a file holds a known score, a pLDDT or a PAE."""
    if has_scores(dict(score_files.figures(name))):
        return True
    contents = score_files.read(name)
    return contents.pae is not None or contents.plddt is not None


def _add_figures(
    drafts: Sequence[ModelDraft], score_files: ScoreFiles, orders: Iterable[Order], rows: Rows
) -> None:
    positions = {link: (order, index) for order in orders for index, link in enumerate(order.links)}
    for draft in drafts:
        for name in draft.files:
            _merge_figures(draft, score_files.figures(name))
        if draft.key in positions:
            order, draft.order = positions[draft.key]
            draft.figures = dict(order.figures[draft.order]) | draft.figures
        for structure in draft.variants:
            row = rows.get(structure.name, {})
            numbers = {key: value for key, value in row.items() if not isinstance(value, str)}
            draft.figures |= {key: value for key, value in numbers.items() if key not in draft.figures}


def _add_sample_scores(drafts: Iterable[ModelDraft], table: SampleScores, *, is_alone: bool) -> None:
    """Replace the rounded ranking scores of samples by those in the table.

    If the best sample itself is not in the archive, its score goes to the copy at the top of the folder.
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


def _merge_figures(draft: ModelDraft, figures: Mapping[str, Scalar]) -> None:
    """Add a file's numbers if at least one is a known metric; other files hold settings."""
    if any(find_metric(name) for name in figures):
        numbers = {key: value for key, value in figures.items() if not isinstance(value, str)}
        draft.figures |= {key: value for key, value in numbers.items() if key not in draft.figures}


def _separate_jobs(drafts: Sequence[ModelDraft], jobs: Container[str]) -> None:
    """Add the folder to the names of predictions of different jobs.

    Folders belong to different jobs if the archive is a batch's or if they hold files of the same name.
    """
    folders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for draft in drafts:
        if not is_sample(draft.name):
            folders[draft.prediction, PurePosixPath(draft.name).name].add(find_job_folder(draft.name))
    repeated = {prediction for (prediction, _), own_folders in folders.items() if len(own_folders) > 1}
    for draft in drafts:
        job = draft.name.partition("/")[0]
        if job in jobs:
            draft.prediction = job if draft.prediction in ("", job) else f"{job}/{draft.prediction}"
        elif draft.prediction in repeated:
            draft.prediction = "/".join(filter(None, (find_job_folder(draft.name), draft.prediction)))


def _rank(drafts: list[ModelDraft]) -> tuple[list[ModelDraft], str]:
    """Sort the drafts of one prediction, best first; also return where the order comes from."""
    if any(draft.order is not None for draft in drafts):
        return sorted(drafts, key=lambda draft: _or_last(draft.order)), "the program's list"
    if any(draft.is_scored for draft in drafts):
        return sorted(drafts, key=_by_sample_score), SAMPLE_SCORE
    ranks = [draft.rank for draft in drafts]
    if all(rank is not None for rank in ranks):
        return _sort_by_rank(drafts), "file name"
    by_figure = _rank_by_figure(drafts, all) if len(drafts) > 1 else None
    if by_figure is None and any(rank is not None for rank in ranks):
        return _sort_by_rank(drafts), "file name"
    return (
        by_figure or (_rank_by_figure(drafts, any) if len(drafts) > 1 else None) or _put_chosen_first(drafts)
    )


def _put_chosen_first(drafts: list[ModelDraft]) -> tuple[list[ModelDraft], str]:
    by = "the program's choice" if len(drafts) > 1 and any(draft.is_chosen for draft in drafts) else ""
    return sorted(drafts, key=lambda draft: not draft.is_chosen), by


def _rank_by_figure(
    drafts: list[ModelDraft], quantifier: Callable[[Iterable[bool]], bool]
) -> tuple[list[ModelDraft], str] | None:
    """Sort by the first ranking figure that ``enough`` (``all`` or ``any``) of the drafts have.

    The sample that the program copied to the top comes first, since the figures may be rounded.
    """
    for names, key in ((RANK_COLUMNS, _or_last), (RANKING_NAMES, _descending), (ENERGY_NAMES, _or_last)):
        for name in names:
            values = {id(draft): _number(draft.figures.get(name)) for draft in drafts}
            if quantifier(value is not None for value in values.values()):
                ranked = sorted(drafts, key=lambda draft: (not draft.is_chosen, key(values[id(draft)])))
                return ranked, name
    return None


def _sort_by_rank(drafts: list[ModelDraft]) -> list[ModelDraft]:
    return sorted(drafts, key=lambda draft: _or_last(draft.rank))


def _by_sample_score(draft: ModelDraft) -> tuple[float, bool]:
    return (_descending(_number(draft.figures.get(SAMPLE_SCORE))), not draft.is_chosen)


def _assign_prediction_files(best: Sequence[ModelDraft], score_files: ScoreFiles, assigned: set[str]) -> None:
    """Assign files named after a prediction but no model, such as an affinity, to its best model."""
    free: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in sorted(score_files.names - assigned, key=structure_order):
        free[find_link(name).tokens].append(name)
    for draft in best:
        tokens, folder = draft.key.tokens, draft.key.folder
        for length in range(1, len(tokens) + 1 if draft.prediction else 0):
            for name in [*free.get(tokens[:length], ())]:
                parent = find_link(name).folder
                is_near = parent in (folder, ".") or folder.startswith(f"{parent}/")
                if is_near and _holds_scores(name, score_files):
                    draft.files.append(name)
                    free[tokens[:length]].remove(name)
                    _merge_figures(draft, score_files.figures(name))


def _or_last(rank: float | None) -> float:
    return float("inf") if rank is None else rank


def _descending(value: float | None) -> float:
    return float("inf") if value is None else -value


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
