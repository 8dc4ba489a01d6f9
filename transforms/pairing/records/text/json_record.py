"""One line of JSON, read by Python's json module: its values, or what is wrong with it.

Python's json module makes objects of the whole text. They take up to a hundred times its bytes if
it has very many keys or items, so larger lines are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.pairing.bad_records import BadReason
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ColumnPath
from beam_bleu.transforms.pairing.records.text.json_values import MOST_DIGITS

_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}

_MOST_BYTES = 1 << 24
"""The largest number of bytes of a line of which objects are made."""

_SMALLEST_ID, _LARGEST_ID = -(1 << 63), (1 << 64) - 1


class _LongInteger(float):
    """An integer with more digits than Python reads. It is wrong only where it is asked for."""


def _integer(digits: str) -> int | _LongInteger:
    return int(digits) if len(digits) <= MOST_DIGITS else _LongInteger(digits)


class BadLineError(Exception):
    """A line that cannot be read.

    Attributes:
      reason: why it is bad.
      what: the same for a person.
      names: its id and the name of its system, if they can be read.
    """

    def __init__(self, reason: BadReason, what: str) -> None:
        super().__init__(what)
        self.reason = reason
        self.what = what
        self.names: Mapping[ColumnPath, Any] = {}


class WantedValues:
    """The columns to read, and how to judge a value that was read by the json module."""

    def __init__(self, chosen: Chosen, integer_ids: Sequence[ColumnPath]) -> None:
        self.paths = chosen.columns
        of_values = [(column, path) for column, paths in chosen.values for path in paths]
        self._texts = {
            *(path for _, path in chosen.candidates),
            *chosen.references,
            *(path for column, path in of_values if column.takes("text")),
        }
        self._lists = chosen.references if len(chosen.references) == 1 else ()
        # A path that is a label or a condition, or kept, too, has its values as JSON writes them.
        others = {*chosen.labels, *(condition.column for condition in chosen.where)}
        others |= {path for _, path in chosen.kept}
        numbers = {path for _, path in of_values}
        self._only_numbers = numbers - self._texts - {*chosen.names} - others
        self._number_lists = self._only_numbers & {
            path for column, path in of_values if column.takes("list")
        }
        self._only_lists = self._number_lists & {
            path for column, path in of_values if not column.takes("number")
        }
        self._labels = {*chosen.labels, chosen.system, *(path for _, path in chosen.kept)}
        self._where = chosen.where
        # A join needs the id of a record that is bad or left out, too.
        self._names = chosen.names
        self._integers = {*integer_ids} - self._texts
        self._strings = {*chosen.ids} - self._integers - self._texts
        self._witnesses = {*chosen.witnesses} - {
            *(path for _, path in chosen.kept),
            *chosen.scored_columns,
        }

    def is_text(self, path: ColumnPath) -> bool:
        """Whether only strings are values of a column."""
        return path in self._texts or path in self._strings or path in self._witnesses

    def is_integer(self, path: ColumnPath) -> bool:
        """Whether only integers are values of a column."""
        return path in self._integers

    def has_lists(self, path: ColumnPath) -> bool:
        """Whether a value of a column can be a list of strings, or of numbers."""
        return path in self._lists or path in self._number_lists

    def is_number(self, path: ColumnPath) -> bool:
        """Whether the values of a column are only numbers, which can be written in any way."""
        return path in self._only_numbers

    def is_always_list(self, path: ColumnPath) -> bool:
        """Whether all values of a column are lists of numbers."""
        return path in self._only_lists

    def values_of(self, line: bytes) -> dict[ColumnPath, Any]:
        """The values of a line: strings, None, or lists of them.

        If the conditions leave the record out, its texts and labels are not judged, and None.

        Raises:
          BadLineError: the line is bad.
        """
        record = record_of(line)
        try:
            return self._values_in(record)
        except BadLineError as error:
            error.names = self._names_in(record)
            raise

    def _values_in(self, record: Mapping[str, Any]) -> dict[ColumnPath, Any]:
        if self._where:
            conditions = {
                condition.column: self._condition_value(condition.column, record)
                for condition in self._where
            }
            if not all(
                (conditions[condition.column] == condition.value) != condition.negated
                for condition in self._where
            ):
                return self._names_in(record) | conditions
        return {
            path: self._if_good(path, record)
            if path in self._witnesses
            else self._judged(path, self._value(path, record))
            for path in self.paths
        }

    def _value(self, path: ColumnPath, record: Mapping[str, Any]) -> Any:
        """The value of a column; None for a label that is NaN, as for `named_text`."""
        value = _value_at(record, path)
        return None if value != value and path in self._labels else value

    def _condition_value(self, path: ColumnPath, record: Mapping[str, Any]) -> Any:
        value = _value_at(record, path)
        if self.is_text(path) and isinstance(value, bool | int | float):
            return json.dumps(value)
        return self._judged(path, value)

    def _names_in(self, record: Mapping[str, Any]) -> dict[ColumnPath, Any]:
        return {path: self._if_good(path, record) for path in self._names}

    def _if_good(self, path: ColumnPath, record: Mapping[str, Any]) -> Any:
        """The value at a path; None if it is missing or bad."""
        try:
            return self._judged(path, self._value(path, record))
        except BadLineError:
            return None

    def _judged(self, path: ColumnPath, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, _LongInteger):
            raise BadLineError("wrong-type", f"{path} has more than {MOST_DIGITS} digits")
        if self.is_number(path):
            if isinstance(value, list) and self.has_lists(path):
                return [self._judged_number(f"an item of {path}", item) for item in value]
            if self.is_always_list(path):
                raise _wrong_type(str(path), value, "a list of numbers")
            return self._judged_number(str(path), value)
        if isinstance(value, list) and self.has_lists(path):
            return [self._judged_text(f"an item of {path}", item) for item in value]
        if path in self._strings | self._integers:
            _check_id(str(path), value, self.is_integer(path))
        if self.is_text(path):
            return self._judged_text(str(path), value)
        if self.is_integer(path):
            if not _SMALLEST_ID <= value <= _LARGEST_ID:
                raise BadLineError("wrong-type", f"{path} is not between -2^63 and 2^64 - 1")
            return str(value)
        if isinstance(value, dict | list):
            raise _wrong_type(str(path), value, "a text, a number or a boolean")
        text = value if isinstance(value, str) else json.dumps(value)
        return self._judged_text(str(path), text)

    def _judged_number(self, name: str, value: Any) -> str | None:
        """A number as text. Which texts are numbers is judged later, for all formats."""
        if value is None:
            return None
        if isinstance(value, dict | list):
            raise _wrong_type(name, value, "a number")
        return self._judged_text(name, value if isinstance(value, str) else json.dumps(value))

    @staticmethod
    def _judged_text(name: str, value: Any) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str):
            raise _wrong_type(name, value, "a text")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = ord(value[error.start])
            raise BadLineError(
                "invalid-utf8",
                f"the text of {name} has half of a surrogate pair (\\u{half:04x}), which is not "
                "a character",
            ) from None
        return value


def _check_id(name: str, value: Any, integers: bool) -> None:
    """Checks the type of an id.

    Raises:
      BadLineError: it is neither a string nor an integer, or not what the first ids are.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _wrong_type(name, value, "a string or an integer")
    if isinstance(value, int) != integers:
        kind = "an integer" if integers else "a string"
        raise _wrong_type(name, value, f"{kind}, as other ids are")


def _wrong_type(name: str, value: Any, wanted: str) -> BadLineError:
    return BadLineError("wrong-type", f"{name} is {_named(value)}, and must be {wanted}")


def _named(value: Any) -> str:
    return _NAMES.get(type(value), "a number")


def record_of(line: bytes) -> dict[str, Any]:
    """The object in a line.

    Raises:
      BadLineError: the line is not an object of JSON, or has too many bytes.
    """
    if not line.strip(b" \t\r"):
        raise BadLineError("invalid-json", "the line is empty, and each line must be an object")
    if len(line) > _MOST_BYTES:
        raise BadLineError(
            "line-too-long",
            f"the line has {len(line)} bytes, and only plain records can have more than "
            f"{_MOST_BYTES}",
        )
    try:
        record = _value_of(line.decode())
    except UnicodeDecodeError as error:
        raise BadLineError("invalid-utf8", f"invalid UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise BadLineError(
            "invalid-json",
            f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}",
        ) from None
    except RecursionError:
        raise BadLineError("invalid-json", "it is nested too deeply") from None
    if not isinstance(record, dict):
        raise BadLineError("wrong-type", f"the line is {_named(record)}, and must be an object")
    return record


def _value_of(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer has too many digits; the hook makes other integers slow
        return json.loads(text, parse_int=_integer)


def _value_at(record: Mapping[str, Any], path: ColumnPath) -> Any:
    """The value at the end of a path; None if a part of the path is missing.

    Raises:
      BadLineError: a part of the path is of the wrong type.
    """
    value: Any = record
    name = ""
    for step in path.steps:
        if value is None:
            return None
        if isinstance(step, int):
            if not isinstance(value, list):
                raise _wrong_type(name, value, f"a list, for {path}")
            value = value[step] if step < len(value) else None
            name += f"[{step}]"
        else:
            if not isinstance(value, dict):
                raise _wrong_type(name, value, f"an object, for {path}")
            value = value.get(step)
            name += f".{step}" if name else step
    return value
