"""The columns of JSON lines, as their first records show them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.pairing.records.columns.choosing import divided_column, is_name_pattern
from beam_bleu.transforms.pairing.records.columns.column_paths import parse_column_path
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath, Wanted
from beam_bleu.transforms.pairing.records.text.json_record import BadLineError, record_of

_DEEPEST_COLUMN = 50
"""The largest number of objects and lists around a value that can be a column."""

_ANY = "*"


class _Scalar:
    """The last step of a way: the value there must not be a list or an object."""


_Step = str | int | _Scalar
_Way = tuple[_Step, ...]
"""The steps of a wanted path, with `_ANY` for a name that is a pattern."""


@dataclasses.dataclass(slots=True)
class _Place:
    """The values that records have at one place. Values of one place can have different types.

    Attributes:
      scalars: the number of strings, integers, floats and booleans.
      fields: the places in its objects; None if it has no object.
      items: the place of all items of its lists; None if it has no list.
    """

    scalars: dict[type, int] = dataclasses.field(default_factory=dict)
    fields: dict[str, _Place] | None = None
    items: _Place | None = None

    def add(self, value: Any, depth: int = 0) -> None:
        """Adds a value."""
        if value is None or depth > _DEEPEST_COLUMN:
            return
        if isinstance(value, dict):
            if self.fields is None:
                self.fields = {}
            for name, field in _named_fields(value):
                self.fields.setdefault(name, _Place()).add(field, depth + 1)
        elif isinstance(value, list):
            if self.items is None:
                self.items = _Place()
            for item in value:
                self.items.add(item, depth + 1)
        else:
            kind = float if isinstance(value, float) else type(value)
            self.scalars[kind] = self.scalars.get(kind, 0) + 1

    def type_for(self, ways: Sequence[_Way]) -> pa.DataType:
        """The type by which wanted paths that come to this place can find their texts.

        Each record is judged when it is read. So this is the type of any values that suit a path,
        and other values at the place are bad records.
        """
        firsts = [way[0] for way in ways if way]
        if self.fields is not None and any(isinstance(step, str) for step in firsts):
            return self._struct(ways)
        if self.items is not None and any(isinstance(step, int) for step in firsts):
            return self._list(ways)
        if str in self.scalars:
            return pa.large_string()
        is_scalar = bool(self.scalars) and any(isinstance(step, _Scalar) for step in firsts)
        if self.items is not None and not is_scalar:
            return self._list(ways)
        if self.fields is not None and not is_scalar:
            return self._struct(ways)
        types = [(float, pa.float64()), (int, pa.int64()), (bool, pa.bool_())]
        return next((arrow_type for of, arrow_type in types if of in self.scalars), pa.null())

    def _struct(self, ways: Sequence[_Way]) -> pa.DataType:
        return pa.struct(self.columns(ways).items())

    def _list(self, ways: Sequence[_Way]) -> pa.DataType:
        items = self.items or _Place()
        return pa.large_list(items.type_for([way[1:] for way in ways if way]))

    def columns(self, ways: Sequence[_Way]) -> dict[str, pa.DataType]:
        """The types of the fields of the objects."""
        after: dict[_Step, list[_Way]] = {}
        for way in ways:
            if way:
                after.setdefault(way[0], []).append(way[1:])
        for_any = after.get(_ANY, [])
        return {
            name: place.type_for([*after.get(name, []), *for_any])
            for name, place in (self.fields or {}).items()
        }


@dataclasses.dataclass(frozen=True)
class JsonColumns:
    """The columns of records.

    Attributes:
      root: the place of the records.
      wanted: the columns that the user asks for.
    """

    root: _Place
    wanted: Wanted

    def schema(self) -> pa.Schema:
        """The columns as a schema in which the wanted ones can be found."""
        names = list(self.root.fields or {})
        return pa.schema(self.root.columns(list(_ways(self.wanted, names))).items())

    def has_integers(self, path: ColumnPath) -> bool:
        """Whether a column has more numbers than strings. Then a float is a bad value.

        Booleans do not count: no id is one.
        """
        place: _Place | None = self.root if path.steps else None
        for step in path.steps:
            if place is None:
                return False
            place = place.items if isinstance(step, int) else (place.fields or {}).get(step)
        if place is None:
            return False
        numbers = place.scalars.get(int, 0) + place.scalars.get(float, 0)
        return numbers > place.scalars.get(str, 0)


def columns_of(lines: Sequence[bytes], wanted: Wanted) -> JsonColumns:
    """The columns of the first records of a file: the keys, and the types of their values.

    Args:
      lines: the records.
      wanted: the columns that the user asks for.

    Raises:
      ValueError: no line is a record. The message says what is wrong with the first one.
    """
    root = _Place()
    error: BadLineError | None = None
    for line in lines:
        try:
            root.add(record_of(line))
        except BadLineError as raised:
            error = error or raised
    if root.fields is None and error:
        raise ValueError(error.what)
    return JsonColumns(root, wanted)


def _named_fields(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of an object, with names that Arrow takes: no halves of surrogate pairs."""
    for key, value in record.items():
        yield key.encode("utf-8", "replace").decode(), value


def _ways(wanted: Wanted, names: Sequence[str]) -> Iterator[_Way]:
    """The steps of all wanted columns. A text that is not a path is judged when it is chosen."""
    for text in wanted.candidates:
        yield _way(text if text in names else divided_column(text)[1], names)
    for text in (*wanted.references, *wanted.labels):
        if wanted.path_label(text) is None:
            yield _way(text, names)
    for condition in wanted.where:
        yield _way(condition.column.text, names)
    for _, column in wanted.kept:
        yield (*_way(column, names), _Scalar())
    for value in wanted.values:
        way = _way(value.of_system(_ANY), names)
        yield (*way, _Scalar()) if value.takes("number") else way
    for name in (*wanted.ids, wanted.system):
        if name is not None and wanted.path_label(name) is None:
            yield _way(name, names)


def _way(text: str, names: Sequence[str]) -> _Way:
    if is_name_pattern(text) and text not in names:
        return tuple(_ANY if is_name_pattern(name) else name for name in text.split("."))
    try:
        return parse_column_path(text, names).steps
    except ValueError:
        return ()
