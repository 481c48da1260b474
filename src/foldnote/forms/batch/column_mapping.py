"""Map table columns to settings by their names, and by their contents if the names are not conclusive.

A column feeds one setting, contains the jobs' names, or is kept with the results. No setting is fed by two
columns: if two columns match a setting, the proposal takes the one with the better matching name and notes
that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from typing import Literal

from foldnote.catalog.sequences import is_nucleotide_alphabet
from foldnote.catalog.wording import find_near
from foldnote.client.inputs.table_text import TextTable, fold
from foldnote.errors import ArgumentError
from foldnote.forms.batch.column_contents import Contents, describe_column
from foldnote.forms.schema.spec import FieldSpec
from foldnote.text import join_words


def _split_names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMES = ("jobname", "id", "name")
_OTHER_NAMES = _split_names(
    "identifier accession entry sample sampleid clone cloneid antibody antibodyid antibodyname mab compound"
    " compoundid compoundname molecule moleculename ligand"
)
_CHAINS = {
    "heavy": _split_names("vh hc h heavy heavychain vhsequence heavysequence heavychainsequence vhh"),
    "light": _split_names("vl vk lc l light lightchain vlsequence lightsequence lightchainsequence"),
}
_SEQUENCES = _split_names("sequence seq aa protein") | _CHAINS["heavy"] | _CHAINS["light"]
_SMILES = _split_names("smiles smi canonicalsmiles isomericsmiles structure ligand molecule compound")
_EXACT = 4
"""Rank of a column whose name is exactly that of a setting."""


class Purpose(Enum):
    """Uses of a column that feeds no setting."""

    JOB_NAME = "the job's name"
    KEPT = "kept beside the results"


Target = str | Purpose
"""Name of the setting that a column feeds, or the column's purpose."""


@dataclass(frozen=True)
class ColumnMapping:
    """The use of each column of a table."""

    targets: Mapping[str, Target]
    """Use of each column, in the order of the table."""
    notes: tuple[str, ...] = ()
    """Decisions between competing columns, as sentences."""
    rivals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By setting: the columns that could feed it, if there are several; the first one does."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """By column: why its mapping may be wrong, as a sentence."""

    @property
    def columns(self) -> dict[str, str]:
        """The column that feeds each setting."""
        return {target: name for name, target in self.targets.items() if isinstance(target, str)}

    @property
    def job_names(self) -> str | None:
        """The column of the jobs' names, or None."""
        return next((name for name, use in self.targets.items() if use is Purpose.JOB_NAME), None)

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that feed neither a setting nor the names."""
        return tuple(name for name, use in self.targets.items() if use is Purpose.KEPT)

    def with_target(self, column: str, target: Target) -> ColumnMapping:
        """Return the mapping with another use of one column; a column that had this use is kept instead.

        Raises:
            ArgumentError: there is no such column.
        """
        if column not in self.targets:
            raise ArgumentError(f"The table has no column {column!r}. It has: {', '.join(self.targets)}.")
        new_targets = dict(self.targets)
        notes = []
        for other, use in self.targets.items():
            if other != column and use == target and target is not Purpose.KEPT:
                new_targets[other] = Purpose.KEPT
                use_name = target if isinstance(target, str) else target.value
                notes.append(f"{column!r} is now {use_name!r}; {other!r} is kept beside the results.")
        new_targets[column] = target
        return ColumnMapping(new_targets, tuple(notes))


def propose_mapping(
    table: TextTable, specs: Iterable[FieldSpec], assigned: Collection[str] = ()
) -> ColumnMapping:
    """Propose a use for each column; columns without a meaning for the tool are kept.

    Args:
        table: the table.
        specs: the tool's settings.
        assigned: settings that are given by other means; only a column with exactly their name is mapped to
            them.
    """
    specs = tuple(specs)
    contents = {name: describe_column(table.cells(name)) for name in table.columns}
    targets: dict[str, Target] = {}
    rivals: dict[str, tuple[str, ...]] = {}
    _map_names(table.columns, specs, assigned, targets, rivals)
    unassigned = [spec for spec in specs if spec.name not in assigned and not spec.is_secret]
    _map_contents(table, unassigned, contents, targets, rivals)
    name_column = find_name_column(table, targets)
    if name_column is not None:
        targets[name_column] = Purpose.JOB_NAME
    all_targets = {name: targets.get(name, Purpose.KEPT) for name in table.columns}
    titles = {spec.name: spec.title for spec in specs}
    notes = [_describe_rivals(titles[setting], columns) for setting, columns in rivals.items()]
    unfed = [spec.name for spec in specs if spec.name not in targets.values()]
    for name, use in all_targets.items():
        if use is Purpose.KEPT and (similar := find_misspelt(name, unfed)):
            notes.append(f"The column {name[:60]!r} is kept. Did you mean {similar}?")
    return ColumnMapping(
        all_targets,
        tuple(notes),
        rivals,
        _find_doubts(all_targets, contents),
    )


def doubt_mapping(table: TextTable, targets: Mapping[str, Target]) -> dict[str, str]:
    """Return the columns whose contents contradict their mapping, each with a sentence."""
    contents = {name: describe_column(table.cells(name)) for name in table.columns}
    return _find_doubts(targets, contents)


def _describe_rivals(title: str, columns: Sequence[str]) -> str:
    others = join_words([repr(name) for name in columns[1:]], "and")
    verb = "is" if len(columns) == 2 else "are"
    return f"{columns[0]!r} is used for {title}; {others} could be meant as well and {verb} kept."


def _find_doubts(targets: Mapping[str, Target], contents: Mapping[str, Contents]) -> dict[str, str]:
    doubts = {name: _doubt(target, contents[name]) for name, target in targets.items()}
    return {name: doubt for name, doubt in doubts.items() if doubt}


def _map_names(
    columns: Sequence[str],
    specs: tuple[FieldSpec, ...],
    assigned: Collection[str],
    targets: dict[str, Target],
    rivals: dict[str, tuple[str, ...]],
) -> None:
    """Map the columns whose names are conclusive."""
    ranked = [
        (points, position, name, spec.name)
        for position, name in enumerate(columns)
        for spec in specs
        if (points := _rank_name(name, spec)) and (points == _EXACT or spec.name not in assigned)
    ]
    for _, _, name, setting in sorted(ranked, key=lambda entry: (-entry[0], entry[1])):
        if name in targets or any(name in columns for columns in rivals.values()):
            continue
        first = next((other for other, use in targets.items() if use == setting), None)
        if first is None:
            targets[name] = setting
        else:
            rivals[setting] = (*rivals.get(setting, (first,)), name)


def _rank_name(name: str, spec: FieldSpec) -> int:
    """Rank how clearly a column's name means a setting, from 0 (not at all) to 4 (exact name)."""
    folded = fold(name)
    if name == spec.name:
        return _EXACT
    if folded and folded in (fold(spec.name), fold(spec.title)):
        return 3
    if spec.role in ("sequence", "sequences"):
        chain = _find_chain(spec.name)
        if chain:
            return 2 if folded in _CHAINS[chain] else 0
        return 1 if spec.required and folded in _SEQUENCES else 0
    if _takes_smiles(spec) and folded in _SMILES:
        return 2 if "smi" in folded else 1
    return 0


def _takes_smiles(spec: FieldSpec) -> bool:
    """Return whether a setting is a SMILES, or a file that may be given as a SMILES."""
    return spec.role == "smiles" or (spec.type == "string" and "smi" in spec.extensions)


def _find_chain(setting: str) -> Literal["heavy", "light", ""]:
    """Return the chain that a setting is named after."""
    folded = fold(setting)
    return "heavy" if folded.startswith("heavy") else "light" if folded.startswith("light") else ""


def _map_contents(
    table: TextTable,
    specs: Sequence[FieldSpec],
    contents: Mapping[str, Contents],
    targets: dict[str, Target],
    rivals: dict[str, tuple[str, ...]],
) -> None:
    """Map columns by their contents."""
    for spec in specs:
        if spec.name in targets.values():
            continue
        unmapped = [name for name in table.columns if name not in targets]
        fitting = [name for name in unmapped if _fits(spec, contents[name])]
        fitting = fitting or [name for name in unmapped if _has_choices(table.cells(name), spec, specs)]
        if fitting:
            targets[fitting[0]] = spec.name
        if len(fitting) > 1:
            rivals[spec.name] = tuple(fitting)


def _fits(spec: FieldSpec, contents: Contents) -> bool:
    if _takes_smiles(spec):
        return contents == "smiles"
    if spec.role not in ("sequence", "sequences") or is_nucleotide_alphabet(spec.notes.get("alphabet")):
        return False
    chain = _find_chain(spec.name)
    if chain:
        return contents == chain
    return spec.required and contents in ("heavy", "light", "protein")


def _has_choices(cells: Sequence[str], spec: FieldSpec, specs: Sequence[FieldSpec]) -> bool:
    """Return whether all cells are allowed values of this setting, and of no other."""
    allowed, filled = _list_choice_texts(spec), {cell for cell in cells if cell}
    if len(allowed) < 2 or not filled or not filled <= allowed:
        return False
    return sum(filled <= _list_choice_texts(other) for other in specs) == 1


def _list_choice_texts(spec: FieldSpec) -> set[str]:
    """Return the allowed values of a setting that are words, and their labels."""
    if spec.type not in ("string", ""):
        return set()
    texts = {text for choice in spec.choices for text in (choice.label, str(choice.value))}
    return {text for text in texts if len(text) > 1 and not text.isdigit()}


def find_name_column(table: TextTable, used: Collection[str]) -> str | None:
    """Return the column with the jobs' names: one with a usual name, or a less usual one if it is unique."""
    unused = [name for name in table.columns if name not in used]
    usual = [
        name
        for usual_name in _NAMES
        for name in unused
        if fold(name) == usual_name and all(table.cells(name))
    ]
    less_usual = [name for name in unused if fold(name) in _OTHER_NAMES and _is_unique(table.cells(name))]
    return next(iter([*usual, *less_usual]), None)


def _is_unique(cells: Sequence[str]) -> bool:
    return bool(cells) and all(cells) and len(set(cells)) == len(cells)


def _doubt(target: Target, contents: Contents) -> str:
    if not isinstance(target, str):
        return ""
    chain = _find_chain(target)
    if chain and contents in ("heavy", "light") and contents != chain:
        return f"These look like {contents} chains: are the columns swapped?"
    return ""


def list_header_words(specs: Iterable[FieldSpec]) -> frozenset[str]:
    """Return names that occur only in header lines, normalised: settings, titles and common column names."""
    own = {fold(word) for spec in specs for word in (spec.name, spec.title)}
    return frozenset(own | {*_NAMES, *_OTHER_NAMES, *_SEQUENCES, *_SMILES}) - {""}


def map_columns(
    table: TextTable, specs: Iterable[FieldSpec], names: str | None = None, assigned: Collection[str] = ()
) -> ColumnMapping:
    """Map the columns of a table that is passed in code: only an unambiguous mapping is accepted.

    Args:
        table: the table.
        specs: the tool's settings.
        names: the column of the jobs' names; by default the column with a usual name.
        assigned: settings that are given by other means.

    Raises:
        ArgumentError: two columns mean one setting, a column's name is similar to that of a setting, or there
            is no column ``names``.
    """
    specs = tuple(specs)
    if names is not None and names not in table.columns:
        raise ArgumentError(f"The table has no column {names!r}. It has: {', '.join(table.columns)}.")
    other_columns = [name for name in table.columns if name != names]
    remaining = TextTable(
        tuple(other_columns), tuple(zip(*(table.cells(name) for name in other_columns), strict=True))
    )
    mapping = propose_mapping(remaining, specs, assigned)
    for setting, rivals in mapping.rivals.items():
        fed = {column: use for use, column in mapping.columns.items() if use != setting}
        choices = [f"columns={ {name: setting, **fed} }" for name in rivals]
        subject = f"{join_words([*rivals], 'and')} {'both' if len(rivals) == 2 else 'all'}"
        raise ArgumentError(
            f"The columns {subject} fit the setting {setting}. Choose one,"
            f" {join_words(choices, 'or')}, or submit the table once with each."
        )
    for name in mapping.kept:
        similar = find_misspelt(name, [spec.name for spec in specs if spec.name not in mapping.columns])
        if similar:
            raise ArgumentError(
                f"The column {name[:60]!r} is not a setting of this tool. Did you mean {similar}? With"
                " columns= the columns that it does not name are kept beside the results."
            )
    if names is None:
        return mapping
    targets = {name: use for name, use in mapping.targets.items() if use is not Purpose.JOB_NAME}
    return ColumnMapping(
        {
            name: Purpose.JOB_NAME if name == names else targets.get(name, Purpose.KEPT)
            for name in table.columns
        }
    )


def find_misspelt(name: str, settings: Iterable[str]) -> str | None:
    """Return the setting whose name resembles a column's name; None if there is none."""
    folded = {fold(setting): setting for setting in settings}
    matches = get_close_matches(fold(name), list(folded), n=1, cutoff=0.8) if len(name) > 3 else []
    return folded[matches[0]] if matches else None


def orient_columns(
    columns: Mapping[str, str], heads: Collection[str], settings: Collection[str]
) -> dict[str, str]:
    """Return the column of each setting, from ``{"VH": "heavy"}`` or ``{"heavy": "VH"}``.

    Args:
        columns: settings by column, or columns by setting.
        heads: the table's columns.
        settings: the tool's settings.

    Raises:
        ArgumentError: it is not a mapping, both readings are possible and differ, a setting is unknown, or
            two columns feed one setting.
    """
    if not isinstance(columns, Mapping):
        kind = type(columns).__name__
        raise ArgumentError(f'columns is a mapping such as {{"VH": "heavy"}}, not a {kind}.')
    by_column = all(name in heads and use in settings for name, use in columns.items())
    by_setting = all(name in settings and use in heads for name, use in columns.items())
    if by_column and by_setting and any(columns.get(use) != name for name, use in columns.items()):
        raise ArgumentError(
            f"columns={dict(columns)} can be read in two ways, since columns and settings share these names."
            " Rename the columns of the table first."
        )
    unknown = [use for name, use in columns.items() if name in heads and use not in (*heads, *settings)]
    if unknown and all(name in heads for name in columns):
        similar = find_near(unknown[0], settings)
        hint = f"Did you mean {similar[0]}?" if similar else f"It has: {', '.join(settings)}."
        raise ArgumentError(f"The tool has no setting {unknown[0]!r}. {hint}")
    if not by_column or by_setting:
        is_unknown_column = {*columns.values()} <= {*settings} and not {*columns} <= {*settings}
        return {use: name for name, use in columns.items()} if is_unknown_column else dict(columns)
    column_of: dict[str, str] = {}
    for name, setting in columns.items():
        if setting in column_of:
            raise ArgumentError(
                f"The columns {column_of[setting]} and {name} both mean the setting {setting}."
            )
        column_of[setting] = name
    return column_of


def choose_uses(
    table: TextTable, settings: Collection[str], columns: Mapping[str, str] | None, names: str | None
) -> dict[str, Target]:
    """Return the uses that ``columns`` and ``names`` specify; with ``columns``, all other columns are kept.

    Args:
        table: the table.
        settings: the tool's settings.
        columns: which column feeds which setting, in either direction.
        names: the column of the jobs' names.

    Raises:
        ArgumentError: there is no such column or setting.
    """
    unmapped = ColumnMapping(dict.fromkeys(table.columns, Purpose.KEPT))
    uses: dict[str, Target] = {}
    if columns is not None:
        fed = orient_columns(columns, table.columns, settings)
        names = names or find_name_column(table, fed.values())
        uses |= unmapped.targets
        for setting, column in fed.items():
            if setting not in settings:
                raise ArgumentError(f"The tool has no setting {setting!r}. It has: {', '.join(settings)}.")
            uses[column] = unmapped.with_target(column, setting).targets[column]
    if names is not None:
        uses[names] = unmapped.with_target(names, Purpose.JOB_NAME).targets[names]
    return uses
