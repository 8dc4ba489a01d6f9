"""Which columns of records are read: those that the user named, or those with the usual names."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence

import pyarrow as pa

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.pairing.canonical import (
    is_text,
    is_texts,
)
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.records.columns.column_paths import (
    parse_column_path,
    quoted_path,
    type_at,
)
from beam_bleu.transforms.pairing.records.columns.numbers import (
    columns_of_values,
    systems_of_values,
)
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ColumnPath,
    Wanted,
)
from beam_bleu.transforms.shown_names import can_be_shown, natural_order

FLAGS: dict[Role, str] = {
    "candidates": "--candidate_columns",
    "references": "--reference_columns",
}
"""The flag of the command that names the columns of a role."""

FIRST: dict[Role, tuple[str, ...]] = {
    "candidates": ("hypothesis", "hyp", "mt", "prediction", "candidate"),
    "references": ("ref", r"ref[0-9]+", r"ref[A-Z]", "reference", "references"),
}
"""The usual names of each role, as regular expressions. A column with such a name has the role
in every corpus that we know. The columns that match one expression are taken together."""

UNCLEAR = ("output", "target", "text", "tgt", "translation")
"""Names that are candidates in some corpora and references in others."""

SYSTEM = ("system", "system_name", "sys", "model")
"""The usual names of the column with the system's name in long records."""

WITNESSES = ("doc_hash", "target_hash", "prompt_hash", r"doc\.query", "source", "src", "src_text")
"""The columns that show which document a record is of, as regular expressions: hashes of lm-eval,
the query of Lighteval, and usual names of the source. With equal ids, their values are equal."""

BOTH: tuple[Role, ...] = ("candidates", "references")

_SHOWN = 30
"""The largest number of columns that a message lists."""


def choose(
    wanted: Wanted,
    schema: pa.Schema,
    label: str = "input",
    roles: Sequence[Role] = BOTH,
    numbered: bool = False,
) -> Chosen:
    """Finds the wanted columns in the columns of a file.

    Args:
      wanted: what the user asks for.
      schema: the canonical columns of the file. Without a header they are called "1", "2", ...
      label: the input, for messages.
      roles: the roles of the texts that the file has: candidates, references, both or none.
      numbered: whether a column can also be named by its number, from 1.

    Raises:
      InputError: a column is not there, a name can mean several columns, the same column is
        wanted for two things, or a column has no texts or no numbers.
    """
    columns = FileColumns(schema, label, numbered)
    references: tuple[ColumnPath, ...] = ()
    if "references" in roles:
        references = tuple(path for _, path in columns.of_role("references", wanted.references))
    candidates: tuple[tuple[str, ColumnPath], ...] = ()
    if "candidates" in roles:
        candidates = _candidates(wanted, references, columns)
    _check_texts(candidates, references, columns)
    without_texts: tuple[str, ...] = ()
    if wanted.values and not candidates:
        without_texts = systems_of_values(wanted, columns)
    _check_systems([name for name, _ in candidates] or without_texts, columns)
    lacking = tuple(
        condition.column.text
        for condition in wanted.where
        if wanted.where_if_there and not columns.has(condition.column.text)
    )
    chosen = Chosen(
        candidates,
        references,
        tuple(columns.or_from_path(wanted, "the label", name) for name in wanted.labels),
        tuple(
            dataclasses.replace(condition, column=columns.named("--where", condition.column.text))
            for condition in wanted.where
            if condition.column.text not in lacking
        ),
        tuple(columns.or_from_path(wanted, "the id", name) for name in wanted.ids),
        None if wanted.system is None else columns.named("--system_column", wanted.system),
        lacking,
        tuple(
            (ColumnPath(path_label.name, ()), path_label)
            for path_label in wanted.path_labels
            if path_label.name in (*wanted.labels, *wanted.ids)
        ),
        values=columns_of_values(
            wanted, [name for name, _ in candidates] or without_texts, columns
        ),
        systems_of_values=without_texts,
        kept=tuple((name, columns.kept(column)) for name, column in wanted.kept),
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
        if name in SYSTEM and not used & {name, number}
    )
    return dataclasses.replace(chosen, unused_system=next(unused, None))


def require_same_columns(stream: Stream, files: Sequence[tuple[str, Chosen]]) -> Chosen:
    """Checks that the same columns are read of all files.

    Args:
      stream: the stream.
      files: the path of each file, and its columns, in order.

    Returns:
      the columns that are read of all files.

    Raises:
      InputError: a file has other columns. It names both files.
    """
    first_path, first = files[0]
    for path, chosen in files:
        if chosen != first:
            names = (
                each.fields or [path.text for path in each.columns] for each in (first, chosen)
            )
            raise InputError(
                f"{stream.label}: two files do not have the same columns: "
                f"{' and '.join(joined(of_file, _SHOWN) for of_file in names)}: "
                f"{stream.shown(first_path)}, {stream.shown(path)}",
                "name columns that all files have, and write null for a missing value; or use a "
                "pattern that matches only files with the same columns; if files of tab-separated "
                "text have no headers, add --no_header",
            )
    in_all = set.intersection(*({*chosen.witnesses} for _, chosen in files))
    return dataclasses.replace(first, witnesses=tuple(filter(in_all.__contains__, first.witnesses)))


def choice_notes(wanted: Wanted, chosen: Chosen, stream: str | None = None) -> tuple[str, ...]:
    """Notes about the columns that the user did not name one by one, and about one not used.

    Args:
      wanted: what the user asked for.
      chosen: the columns.
      stream: the name of their stream; None if there is only one.
    """
    notes = []
    of_roles = (
        (bool(chosen.candidates), wanted.candidates),
        (bool(chosen.references), wanted.references),
    )
    if len(chosen.systems_of_values) > 1 or any(
        is_read and (not named or any(map(is_name_pattern, named))) for is_read, named in of_roles
    ):
        numbers = (path for _, paths in chosen.values for path in paths)
        said = [
            f"{what} from {joined(list(dict.fromkeys(path.text for path in paths)), 8)}"
            for what, paths in (
                ("candidates", [path for _, path in chosen.candidates]),
                ("references", chosen.references),
                ("numbers", [*numbers] if chosen.systems_of_values else []),
            )
            if paths
        ]
        notes.append(f"columns{'' if stream is None else f' of {stream}'}: {', '.join(said)}")
    if chosen.unused_system is not None:
        name = chosen.unused_system
        notes.append(
            f"the column {name} is not used, so all records are scored together; if it has the "
            f"names of systems, write --system_column {name} --id_column COLUMN"
        )
    return tuple(notes)


def known_systems(wanted: Wanted) -> tuple[str, ...]:
    """The systems' names, if they do not depend on the columns of the files; else none."""
    if wanted.system_name is not None:
        return (wanted.system_name,)
    if any(map(is_name_pattern, wanted.candidates)):
        return ()
    named = (divided_column(text) for text in wanted.candidates)
    return tuple(name or column for name, column in named)


def is_usual_name(text: str) -> bool:
    """Whether a text is a usual name of a column of texts, or an unclear one, in any case."""
    usual = (*FIRST["candidates"], *FIRST["references"], *UNCLEAR)
    return any(re.fullmatch(pattern, text, re.IGNORECASE) for pattern in usual)


def is_column_number(text: str) -> bool:
    """Whether a text is written like the number of a column: ASCII digits, no zero before them."""
    return re.fullmatch(r"0|[1-9][0-9]{0,8}", text) is not None


def has_header(wanted: Wanted, roles: Sequence[Role] = BOTH) -> bool:
    """Whether files have a header, if the user does not say it.

    Names of columns need a header, and so do the usual names. If all columns have numbers, the
    first line is a record.

    Args:
      wanted: the columns that the user asks for.
      roles: the roles of the texts that are read.
    """
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
    """Whether a text is a pattern of columns' names. Brackets are indexes of lists."""
    return "*" in text or "?" in text


def divided_column(text: str) -> tuple[str | None, str]:
    """NAME and COLUMN of [NAME=]COLUMN. A column in brackets can have a "=" in its name."""
    name, equals, column = text.partition("=")
    return (name, column) if equals and not text.startswith('["') else (None, text)


def _candidates(
    wanted: Wanted, references: Sequence[ColumnPath], columns: FileColumns
) -> tuple[tuple[str, ColumnPath], ...]:
    candidates = columns.of_role("candidates", wanted.candidates, references)
    if wanted.system_name is not None:
        if len(candidates) > 1:
            texts = joined([path.text for _, path in candidates])
            raise columns.error(
                f"the system is called {wanted.system_name}, but there are several columns of "
                f"candidates: {texts}",
                f"name one of them: {FLAGS['candidates']} COLUMN",
            )
        return ((wanted.system_name, candidates[0][1]),)
    return tuple(candidates)


def _check_systems(names: Sequence[str], columns: FileColumns) -> None:
    """Checks the names of systems.

    Raises:
      InputError: two are equal, or one cannot be shown.
    """
    remedy = f"give each system its own name: {FLAGS['candidates']} NAME=COLUMN,..."
    for name in names:
        if names.count(name) > 1:
            raise columns.error(f"two systems are called {name}", remedy)
        if not can_be_shown(name) or name != name.strip():
            raise columns.error(
                f"the column {name!a} gives its name to a system, but a system's name has only "
                "printable characters, and no white space around it",
                remedy,
            )


def _check_texts(
    candidates: Sequence[tuple[str, ColumnPath]],
    references: Sequence[ColumnPath],
    columns: FileColumns,
) -> None:
    """Checks the types of the columns of texts, and that no column has two uses."""
    seen: set[tuple[str | int, ...]] = set()
    for path in (*(path for _, path in candidates), *references):
        if path.steps in seen:
            raise columns.error(f"the column {path} is given twice", "name each column once")
        seen.add(path.steps)
        kind = type_at(columns.schema, path)
        is_list = is_texts(kind) and path in references and len(references) == 1
        if not is_text(kind) and not is_list:
            is_nested = pa.types.is_nested(kind)
            remedy = f"name a part of it, such as {path}.NAME or {path}[0]" if is_nested else ""
            raise columns.error(f"the column {path} has no texts: it is {kind}", remedy)


@dataclasses.dataclass(frozen=True)
class FileColumns:
    """The columns of a file, the input's name in messages, and whether columns have numbers."""

    schema: pa.Schema
    label: str
    numbered: bool

    def of_role(
        self, role: Role, named: Sequence[str], others: Sequence[ColumnPath] = ()
    ) -> list[tuple[str, ColumnPath]]:
        """(the system's name, the column) of the candidates; of references the name is unused.

        A pattern leaves out `others`, and columns that are named before it.
        """
        if not named:
            return self._usual(role)
        chosen: list[tuple[str, ColumnPath]] = []
        for text in named:
            is_pattern = is_name_pattern(text) and text not in self.schema.names
            seen = [*others, *(path for _, path in chosen)] if is_pattern else []
            steps = {path.steps for path in seen}
            chosen += [column for column in self._each(role, text) if column[1].steps not in steps]
        return chosen

    def has(self, text: str) -> bool:
        """Whether a text names a column, or several."""
        if text in self.schema.names:
            return True
        try:
            self.named("", text)
        except InputError:
            return False
        return True

    def or_from_path(self, wanted: Wanted, what: str, name: str) -> ColumnPath:
        """The column of a label or an id, or what stands for a label from the path of the file.

        Raises:
          InputError: there is no such column, or there are two, or the label could be both.
        """
        if wanted.path_label(name) is None:
            return self.named(what, name)
        if name in self.schema.names:
            raise self.error(
                f"{name} is a label from the paths of the files, and a column, too",
                "give the label another name: --label_from_path NAME=PATTERN",
            )
        return ColumnPath(name, ())

    def kept(self, text: str) -> ColumnPath:
        """The column to keep that a text names.

        Raises:
          InputError: there is no such column, or there are two, or it has lists or objects.
        """
        path = self.named("--keep", text)
        kind = type_at(self.schema, path)
        if pa.types.is_nested(kind):
            raise self.error(
                f"the column {path} (--keep) is {kind}, and only texts, numbers and booleans can "
                "be kept"
            )
        return path

    def texts_matching(
        self, expressions: Sequence[str], others: Sequence[ColumnPath]
    ) -> tuple[ColumnPath, ...]:
        """The columns of strings that match an expression, apart from `others`."""
        matches = re.compile("|".join(expressions)).fullmatch
        used = {path.steps for path in others}
        return tuple(
            path
            for text in filter(matches, self.paths())
            if self.schema.names.count(text) < 2
            and (path := self.named("", text)).steps not in used
            and pa.types.is_large_string(type_at(self.schema, path))
        )

    def named(self, what: str, text: str) -> ColumnPath:
        """The column that a text names: a name, a number or a path.

        Args:
          what: what the column is for, in messages.
          text: the text.

        Raises:
          InputError: there is no such column, or there are two.
        """
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

    def _each(self, role: Role, text: str) -> Iterator[tuple[str, ColumnPath]]:
        """(name, column) of each column that a text names: [NAME=]COLUMN or a pattern."""
        name, column = None, text
        if role == "candidates" and text not in self.schema.names:
            name, column = divided_column(text)
        if column in self.schema.names or not is_name_pattern(column):
            yield name or column, self.named(FLAGS[role], column)
            return
        regex = re.compile(
            "".join({"*": "[^.]*", "?": "[^.]"}.get(char, re.escape(char)) for char in column)
        )
        matching = natural_order(filter(regex.fullmatch, self.paths()))
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
        if len(families) == 1:
            return [(name, self.named(FLAGS[role], name)) for name in families[0]]
        flag = FLAGS[role]
        if families:
            names = " or ".join(joined(family) for family in families)
            raise self.error(
                f"the {role} could be the columns {names}", f"name them: {flag} COLUMN,..."
            )
        join = "; or, if no system's output is here, join the records with it: --join_on"
        raise self.error(
            f"no column has one of the usual names of {role}",
            f"write {flag} COLUMN,...{join if role == 'candidates' else ''}; {self.listed()}",
        )

    def paths(self) -> Iterator[str]:
        """All columns, and the parts of those that have named parts."""
        names = set(self.schema.names)
        for field in self.schema:
            if not pa.types.is_struct(field.type):
                yield field.name
                continue
            for steps in _parts((field.name,), field.type):
                path = quoted_path(steps)
                # A whole column can have this text as its name.
                yield f"[{json.dumps(steps[0])}]{path[len(steps[0]) :]}" if path in names else path

    def error(self, what: str, remedy: str = "") -> InputError:
        """An error about the columns. By default, the remedy says which ones there are."""
        return InputError(f"{self.label}: {what}", remedy or self.listed())

    def listed(self) -> str:
        """Which columns there are, as a remedy."""
        return f"the columns are: {joined(list(self.paths()), _SHOWN)}"


def _parts(steps: tuple[str, ...], of_type: pa.DataType) -> Iterator[tuple[str, ...]]:
    if not pa.types.is_struct(of_type):
        yield steps
        return
    for field in of_type:
        yield from _parts((*steps, field.name), field.type)
