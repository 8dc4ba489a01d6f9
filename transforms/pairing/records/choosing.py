"""Chooses which columns of records to read: those the user named, or those with usual names."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from beam_bleu.transforms.definition.choices import can_be_shown, natural_order
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.pairing.canonical import is_text, is_texts, shown_type
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.needs import SYSTEM, VALUE_PARTS, Needs, Role, ValueColumn
from beam_bleu.transforms.pairing.records.column_paths import (
    parse_column_path,
    quoted_path,
    type_at,
)
from beam_bleu.transforms.pairing.records.number_columns import has_values
from beam_bleu.transforms.pairing.records.wanted import EACH, Chosen, ColumnPath, Wanted

FLAGS: dict[Role, str] = {"candidates": "--candidate_columns", "references": "--reference_columns"}

# Columns with these names have the role in every corpus that we know. All columns that match one
# expression are used together.
FIRST: dict[Role, tuple[str, ...]] = {
    "candidates": ("hypothesis", "hyp", "mt", "prediction", "candidate"),
    "references": ("ref", r"ref[0-9]+", r"ref[A-Z]", "reference", "references"),
}

# Columns with these names are candidates in some corpora, and references in others.
UNCLEAR = ("output", "target", "text", "tgt", "translation")

_SYSTEM_COLUMNS = ("system", "system_name", "sys", "model")

# Regular expressions of columns that show to which document a record belongs: hashes of lm-eval,
# the query of Lighteval, usual names of the source. Records with equal ids should agree in them.
WITNESSES = ("doc_hash", "target_hash", "prompt_hash", r"doc\.query", "source", "src", "src_text")

BOTH: tuple[Role, ...] = ("candidates", "references")

_SHOWN = 30  # the most columns that a message lists

_NUMBERS = "a column of numbers"  # how messages describe these columns


def choose(
    wanted: Wanted,
    schema: pa.Schema,
    label: str = "input",
    roles: Sequence[Role] = BOTH,
    numbered: bool = False,
    needs: Needs | None = None,
) -> Chosen:
    """Finds the wanted columns in a file's; without a header, these are called "1", "2", ...

    Of texts and numbers, it must have what it `needs`; None for all.
    """
    columns = FileColumns(schema, label, numbered, needs)

    def unless_from_path(what: str, name: str) -> ColumnPath:
        if wanted.path_label(name) is None:
            return columns.named(what, name)
        if name in schema.names:
            raise columns.error(
                f"{name} is a label from the paths of the files, and a column, too",
                "give the label another name: --label_from_path NAME=PATTERN",
            )
        return ColumnPath(name)

    references: tuple[ColumnPath, ...] = ()
    if "references" in roles:
        references = tuple(path for _, path in columns.of_role("references", wanted.references))
    candidates: tuple[tuple[str, ColumnPath], ...] = ()
    if "candidates" in roles:
        candidates = tuple(columns.of_role("candidates", wanted.candidates, references))
    if wanted.system_name is not None and candidates:
        if len(candidates) > 1:
            raise columns.error(
                f"the system is called {wanted.system_name}, but there are several columns of "
                f"candidates: {joined([path.text for _, path in candidates])}",
                f"name one of them: {FLAGS['candidates']} COLUMN",
            )
        candidates = ((wanted.system_name, candidates[0][1]),)
    columns.check_texts([path for _, path in candidates], references)
    without_texts = columns.systems_of_values(wanted) if wanted.values and not candidates else ()
    systems = [name for name, _ in candidates] or without_texts
    columns.check_systems(systems)
    lacking = tuple(
        condition.column.text
        for condition in wanted.where
        if wanted.where_if_there and not columns.has(condition.column.text)
    )
    chosen = Chosen(
        candidates,
        references,
        tuple(unless_from_path("the label", name) for name in wanted.labels),
        tuple(
            dataclasses.replace(condition, column=columns.named("--where", condition.column.text))
            for condition in wanted.where
            if condition.column.text not in lacking
        ),
        tuple(unless_from_path("the id", name) for name in wanted.ids),
        None if wanted.system is None else columns.named("--system_column", wanted.system),
        lacking,
        tuple(
            (ColumnPath(path_label.name), path_label)
            for path_label in wanted.path_labels
            if path_label.name in (*wanted.labels, *wanted.ids)
        ),
        values=tuple((value, columns.of_values(value, wanted, systems)) for value in wanted.values),
        systems_of_values=without_texts,
        kept=tuple((name, columns.named("--keep", column)) for name, column in wanted.kept),
        fields=tuple(schema.names) if numbered else (),
    )
    if wanted.witnesses:
        others = [*(path for _, path in candidates), *chosen.names]
        witnesses = columns.texts_matching(wanted.witnesses, others)
        chosen = dataclasses.replace(chosen, witnesses=witnesses)
    if wanted.ids or len(roles) == 1:  # long records, or a join
        return chosen
    used = {path.steps[0] for path in chosen.columns}
    unused = (
        name
        for number, name in enumerate(schema.names)
        if name in _SYSTEM_COLUMNS and not used & {name, number}
    )
    return dataclasses.replace(chosen, unused_system=next(unused, None))


def require_same_columns(stream: Stream, files: Mapping[str, Chosen]) -> None:
    first_path, first = next(iter(files.items()))
    for path, chosen in files.items():
        if chosen.asked_for != first.asked_for:
            names = (
                each.fields or [path.text for path in each.columns] for each in (first, chosen)
            )
            raise InputError(
                f"{stream.label}: two files do not have the same columns: "
                f"{' and '.join(joined(of_file, _SHOWN) for of_file in names)}: "
                f"{stream.shown(first_path)}, {stream.shown(path)}",
                "name columns that all files have, or use a pattern that matches only files with "
                "the same columns; if files of CSV or TSV have no headers, add --no_header",
            )


def choice_notes(wanted: Wanted, chosen: Chosen, stream: str | None = None) -> tuple[str, ...]:
    """Notes for the user: columns that a pattern or a usual name has chosen, and one not used."""
    notes = []
    of_roles = (
        (bool(chosen.candidates), wanted.candidates),
        (bool(chosen.references), wanted.references),
    )
    if len(chosen.systems_of_values) > 1 or any(
        is_read and (not named or any(map(is_name_pattern, named))) for is_read, named in of_roles
    ):
        numbers = (path for _, paths in chosen.values for path in paths)
        parts = [
            f"{what} from {joined(list(dict.fromkeys(path.text for path in paths)), 8)}"
            for what, paths in (
                ("candidates", [path for _, path in chosen.candidates]),
                ("references", chosen.references),
                ("numbers", [*numbers] if chosen.systems_of_values else []),
            )
            if paths
        ]
        notes.append(f"columns{'' if stream is None else f' of {stream}'}: {', '.join(parts)}")
    if chosen.unused_system is not None:
        name = chosen.unused_system
        notes.append(
            f"the column {name} is not used, so all records are scored together; if it has the "
            f"names of systems, write --system_column {name} --id_column COLUMN"
        )
    return tuple(notes)


def is_usual_name(text: str) -> bool:
    usual = (*FIRST["candidates"], *FIRST["references"], *UNCLEAR)
    return any(re.fullmatch(pattern, text, re.IGNORECASE) for pattern in usual)


def is_column_number(text: str) -> bool:
    return re.fullmatch(r"0|[1-9][0-9]{0,8}", text) is not None


def has_header(wanted: Wanted, roles: Sequence[Role] = BOTH) -> bool:
    """Whether to expect a header without --header: yes, unless all columns are given by numbers."""
    columns_of_roles = {"candidates": wanted.candidates, "references": wanted.references}
    if not all(columns_of_roles[role] for role in roles):
        return True
    named = [
        *(text.rpartition("=")[2] for text in wanted.candidates),
        *wanted.references,
        *(name for name in (*wanted.labels, *wanted.ids) if wanted.path_label(name) is None),
        *(column for _, column in wanted.kept),
        *(condition.column.text for condition in wanted.where),
        *(value.column for value in wanted.values),
        *(() if wanted.system is None else (wanted.system,)),
    ]
    return not all(map(is_column_number, named))


def is_name_pattern(text: str) -> bool:
    return "*" in text or "?" in text


def divided_column(text: str) -> tuple[str | None, str]:
    """NAME and COLUMN of [NAME=]COLUMN. The name of a column in brackets can contain "="."""
    name, equals, column = text.partition("=")
    return (name, column) if equals and not text.startswith('["') else (None, text)


@dataclasses.dataclass(frozen=True)
class FileColumns:
    schema: pa.Schema
    label: str
    numbered: bool
    needs: Needs | None = None

    def of_role(
        self, role: Role, named: Sequence[str], others: Sequence[ColumnPath] = ()
    ) -> list[tuple[str, ColumnPath]]:
        """(system, column) pairs. A pattern excludes `others`, and columns named before it."""
        if not named:
            return self._usual(role)
        if self.needs and role not in self.needs.roles and not any(map(is_name_pattern, named)):
            columns = map(divided_column, named)
            return [(name or column, ColumnPath(column)) for name, column in columns]
        chosen: list[tuple[str, ColumnPath]] = []
        for text in named:
            is_pattern = is_name_pattern(text) and text not in self.schema.names
            seen = [*others, *(path for _, path in chosen)] if is_pattern else []
            steps = {path.steps for path in seen}
            chosen += [column for column in self._each(role, text) if column[1].steps not in steps]
        return chosen

    def _each(self, role: Role, text: str) -> Iterator[tuple[str, ColumnPath]]:
        name, column = None, text
        if role == "candidates" and text not in self.schema.names:
            name, column = divided_column(text)
        matching: Sequence[str] = [column]
        if is_name_pattern(column) and column not in self.schema.names:
            stars = {"*": "[^.]*", "?": "[^.]"}
            matching = self._matching("".join(stars.get(c, re.escape(c)) for c in column))
            if not matching:
                raise self.error(f"no column matches {column}")
        for path in matching:
            yield name or path, self.named(FLAGS[role], path)

    def _usual(self, role: Role) -> list[tuple[str, ColumnPath]]:
        matching = (
            natural_order(name for name in self.schema.names if re.fullmatch(expression, name))
            for expression in FIRST[role]
        )
        families = [family for family in matching if family]
        flag = FLAGS[role]
        if len(families) == 1:
            return [(name, self.named(flag, name)) for name in families[0]]
        if families:
            names = " or ".join(joined(family) for family in families)
            what = f"the {role} could be the columns {names}"
            raise self.error(what, f"name them: {flag} COLUMN,...")
        remedy = f"write {flag} COLUMN,..., or join records with them: --join_on; {self.listed()}"
        raise self.error(f"no column has one of the usual names of {role}", remedy)

    def has(self, text: str) -> bool:
        try:
            return text in self.schema.names or bool(self.named("", text))
        except InputError:
            return False

    def named(self, what: str, text: str) -> ColumnPath:
        """The column for a name, a number or a path; `what` is its use, for messages."""
        names = self.schema.names
        is_number = self.numbered and is_column_number(text) and text not in names
        if is_number and 1 <= int(text) <= len(names):
            return ColumnPath(text, (int(text) - 1,))
        try:
            path = parse_column_path(text, names)
            first = path.steps[0]
            if names.count(first) > 1:
                raise ValueError(f"{names.count(first)} columns are called {first}")
            if first in names:
                type_at(self.schema, path)
                return ColumnPath(text, (names.index(first),)) if self.numbered else path
        except ValueError as error:
            raise self.error(f"{text} ({what}): {error}") from error
        shown = text if text == text.strip() else repr(text)
        raise self.error(f"there is no column {shown} ({what})")

    def check_texts(
        self, candidates: Sequence[ColumnPath], references: Sequence[ColumnPath]
    ) -> None:
        paths = [path for path in (*candidates, *references) if path.steps]
        for number, path in enumerate(paths):
            if path.steps in [other.steps for other in paths[:number]]:
                raise self.error(f"the column {path} is given twice", "name each column once")
            kind = type_at(self.schema, path)
            if not is_text(kind) and not (is_texts(kind) and [*references] == [path]):
                part = f"{path}.NAME or {path}[0]"
                if EACH in path.steps:
                    part = path.text.replace("[]", "[0]")
                has_parts = pa.types.is_nested(kind) and not pa.types.is_union(kind)
                of_part = f"name a part with texts, such as {part}; or " if has_parts else ""
                raise self.error(
                    f"the column {path} has no texts: it is {shown_type(kind)}",
                    f"{of_part}score numbers, such as by -m mean:acc, without --keep text",
                )

    def check_systems(self, names: Sequence[str]) -> None:
        for name in names:
            what = f"two systems are called {name}" if names.count(name) > 1 else ""
            if not can_be_shown(name) or name != name.strip():
                what = f"the system name {name!a} cannot be shown, or has white space at an end"
            if what:
                remedy = f"give each system its own name: {FLAGS['candidates']} NAME=COLUMN,..."
                raise self.error(what, remedy)

    def systems_of_values(self, wanted: Wanted) -> tuple[str, ...]:
        """The systems in names of columns of numbers, or else one named after the first column."""
        needed = filter(self._is_needed, wanted.values)
        patterns = [value.column for value in needed if self._has_system(value)]
        if wanted.system is not None or not patterns:
            return (wanted.system_name or wanted.values[0].column,)
        systems: set[str] = set()
        for column in patterns:
            before, *after = map(re.escape, column.split(SYSTEM))
            others = "".join(rf"\1{text}" for text in after[1:])
            matches = re.compile(f"{before}(.+){after[0]}{others}").fullmatch
            matched = {match[1] for match in map(matches, self.paths()) if match}
            if not matched:
                raise self.error(f"no column matches {column} ({_NUMBERS})")
            systems |= matched
        return natural_order(systems)

    def of_values(
        self, value: ValueColumn, wanted: Wanted, systems: Sequence[str]
    ) -> tuple[ColumnPath, ...]:
        """The column of numbers of each system; long records have one column for all systems."""
        has_system = self._has_system(value)
        if has_system and wanted.system is not None:
            raise self.error(
                f"{value.column} ({_NUMBERS}) stands for a column of each system, but "
                f"each record has one system, that of the column {wanted.system}",
                f"write the name of the column without {SYSTEM}",
            )
        if len(systems) > 1 and not has_system and not value.is_shared:
            raise self.error(
                f"{value.column} is {_NUMBERS}, and each record has {len(systems)} "
                f"systems: {joined(systems)}",
                f"write {SYSTEM} in place of the system's name, such as {value.column}_{SYSTEM}",
            )
        names = [value.of_system(system) if has_system else value.column for system in systems]
        if not self._is_needed(value):
            return tuple(ColumnPath(name) for name in names)
        paths = tuple(self.named(value.flag or _NUMBERS, name) for name in names)
        for path in paths:
            kind = type_at(self.schema, path)
            if not has_values(kind, value):
                must_be = VALUE_PARTS[value.part].must_be
                are = shown_type(kind)
                what = f"each value of the column {path} must be {must_be}, but they are {are}"
                raise self.error(what, value.remedy)
        return paths

    def _is_needed(self, value: ValueColumn) -> bool:
        return self.needs is None or value in self.needs.values

    def _has_system(self, value: ValueColumn) -> bool:
        return SYSTEM in value.column and value.column not in self.paths()

    def texts_matching(
        self, expressions: Sequence[str], others: Sequence[ColumnPath]
    ) -> tuple[ColumnPath, ...]:
        used = {path.steps for path in others}
        return tuple(
            path
            for text in self._matching("|".join(expressions))
            if self.schema.names.count(text) < 2
            and (path := self.named("", text)).steps not in used
            and pa.types.is_large_string(type_at(self.schema, path))
        )

    def _matching(self, expression: str) -> Sequence[str]:
        return natural_order(filter(re.compile(expression).fullmatch, self.paths()))

    def paths(self) -> Iterator[str]:
        for field in self.schema:
            is_struct = pa.types.is_struct(field.type)
            parts = _parts((field.name,), field.type) if is_struct else ()
            yield from map(quoted_path, parts) if is_struct else [field.name]

    def error(self, what: str, remedy: str = "") -> InputError:
        return InputError(f"{self.label}: {what}", remedy or self.listed())

    def listed(self) -> str:
        return f"the columns are: {joined(list(self.paths()), _SHOWN)}"


def _parts(steps: tuple[str, ...], of_type: pa.DataType) -> Iterator[tuple[str, ...]]:
    if not pa.types.is_struct(of_type):
        yield steps
        return
    for field in of_type:
        yield from _parts((*steps, field.name), field.type)
