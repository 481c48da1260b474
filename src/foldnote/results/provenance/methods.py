"""Write the paragraph on methods that a report or a paper needs, from the manifests of results.

It contains only what the manifests record: method, version, settings, seed and inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from foldnote.results.provenance.manifest import AddOn, Manifest
from foldnote.results.provenance.references import Publication, merge_references
from foldnote.text import count, format_figure, join_words

if TYPE_CHECKING:
    from foldnote.results.result import Result

_LONG = 40
"""Maximum length of a setting that is repeated in a sentence; sequences are mostly longer."""
_SEVERAL = 3


def list_runs(results: Sequence[Result]) -> tuple[Manifest | None, ...]:
    """Return the manifest of every job in these results; None for a job without one."""
    return tuple(
        single.manifest for result in results for single in (tuple(result.jobs.values()) or (result,))
    )


def find_references(results: Sequence[Result]) -> tuple[Publication, ...]:
    """Return the publications of the methods and add-ons that ran, each once; empty without any."""
    parts = (part for run in list_runs(results) if run is not None for part in _cited_parts(run))
    return merge_references(str(part["citation"]) for part in parts if part.get("citation"))


def write_methods(results: Sequence[Result]) -> tuple[str, ...]:
    """Return one paragraph for each method that ran, in the order of the jobs.

    Jobs of the same tool, method and version are described together, with the settings and seeds that they
    have in common. Jobs whose service records no method are counted in a last paragraph.
    """
    runs = list_runs(results)
    groups: dict[tuple[str, str], list[Manifest]] = {}
    for run in runs:
        if run is not None and run.method:
            groups.setdefault((run.tool, run.method_title), []).append(run)
    paragraphs = [" ".join(_describe_group(group)) for group in groups.values()]
    unknown = sum(run is None or not run.method for run in runs)
    if unknown:
        jobs = count(unknown, "job")
        paragraphs.append(f"The service does not record which program ran the other {jobs}." if groups else
                          f"The service does not record which program ran {jobs}.")  # fmt: skip
    return tuple(paragraphs)


def _cited_parts(run: Manifest) -> Iterator[Mapping[str, Any]]:
    engine = run.data.get("engine")
    if isinstance(engine, Mapping):
        yield engine
    yield from (add_on.data for add_on in run.add_ons)


def _describe_group(group: Sequence[Manifest]) -> Iterator[str]:
    first = group[0]
    jobs = f"the job {first.job_name}" if len(group) == 1 and first.job_name else count(len(group), "job")
    tool = f" (tool: {first.tool})" if first.tool else ""
    yield f"{first.method_title}{_cite(first)} was used for {jobs}{tool}."
    if any(run.has_stand_ins for run in group):
        yield "It ran with random stand-in weights: its figures mean nothing."
    if first.is_substitute:
        yield "This method is a substitute for the one that the tool is named after."
    if first.add_ons:
        names = [_name_add_on(add_on) for add_on in first.add_ons]
        yield f"In addition, {join_words(names, 'and')} was used."
    if searched := sorted({title for run in group for title in run.database_titles}):
        yield f"Sequences were searched in {join_words(searched, 'and')}."
    yield from _describe_settings(group)
    yield from _describe_seeds(group)
    if inputs := _list_inputs(group):
        yield f"Input {'file' if len(inputs) == 1 else 'files'}: {'; '.join(inputs)}."


def _cite(run: Manifest) -> str:
    engine = run.data.get("engine")
    text = str(engine.get("citation") or "") if isinstance(engine, Mapping) else ""
    cited = "; ".join(reference.short for reference in merge_references([text]) if reference.authors)
    return f" ({cited})" if cited else ""


def _name_add_on(add_on: AddOn) -> str:
    cited = merge_references([str(add_on.data.get("citation") or "")])
    citation = "; ".join(reference.short for reference in cited if reference.authors)
    return f"{add_on.method_title} ({citation})" if citation else add_on.method_title


def _describe_settings(group: Sequence[Manifest]) -> Iterator[str]:
    recorded = [run.data.get("settings") for run in group]
    settings = [own for own in recorded if isinstance(own, Mapping)]
    if len(settings) < len(group):
        return
    common = {name: value for name, value in _share(settings).items() if value is not None}
    texts = {name: text for name, value in common.items() if (text := _write_value(value))}
    if texts:
        yield f"Settings: {', '.join(f'{name} = {text}' for name, text in texts.items())}."
    if long := [name for name in common if name not in texts and common[name] not in ("", [], {})]:
        yield f"Longer settings ({', '.join(long)}) are in the record of the job."
    varied = sorted({name for own in settings for name in own if name not in common})
    if varied and len(group) > 1:
        yield f"{join_words(varied, 'and')} differed between jobs."
    ignored = sorted({name for run in group for name in run.ignored})
    if ignored:
        yield f"The method has no use for {join_words(ignored, 'and')}."
    for name, change in group[0].changed.items():
        used = change.get("used") if isinstance(change, Mapping) else None
        if len(group) == 1 and used is not None and (text := _write_value(used)):
            yield f"For {name}, {text} was used."


def _write_value(value: object) -> str:
    """Format a value for a sentence; "" if it is too long for one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_figure(value)
    if isinstance(value, int | str):
        text = " ".join(str(value).split())
        return text if 0 < len(text) <= _LONG else ""
    if isinstance(value, list) and value and all(isinstance(item, int | float | str) for item in value):
        text = " and ".join(_write_value(item) for item in value)
        return text if len(text) <= _LONG else ""
    return ""


def _describe_seeds(group: Sequence[Manifest]) -> Iterator[str]:
    seeds = list(dict.fromkeys(run.seed for run in group if run.seed is not None))
    if len(seeds) > _SEVERAL:
        yield f"Each job had a random seed of its own, {min(seeds)} to {max(seeds)}."
    elif seeds:
        yield f"Random {'seed' if len(seeds) == 1 else 'seeds'}: {', '.join(map(str, seeds))}."
    elif group[0].seed_note:
        yield group[0].seed_note


def _list_inputs(group: Sequence[Manifest]) -> list[str]:
    """Return the name and SHA-256 of each input file, once."""
    lines: dict[str, None] = {}
    for run in group:
        for record in run.data.get("inputs") or ():
            if isinstance(record, Mapping) and (name := record.get("name") or record.get("path")):
                digest = record.get("sha256")
                lines[f"{name} (SHA-256 {digest})" if digest else str(name)] = None
    return list(lines)


def _share(contents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entries that all of these have with the same value."""
    first, *others = contents
    return {
        name: value
        for name, value in first.items()
        if all(name in other_mapping and other_mapping[name] == value for other_mapping in others)
    }
