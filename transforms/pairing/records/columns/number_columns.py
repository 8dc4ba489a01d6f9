"""Which columns have the numbers of which system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.pairing.needs import SYSTEM, VALUE_PARTS, ValueColumn
from beam_bleu.transforms.pairing.records.columns.column_paths import type_at
from beam_bleu.transforms.pairing.records.columns.numbers import has_values
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath, Wanted
from beam_bleu.transforms.shown_names import natural_order

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.columns.choosing import FileColumns

WHAT = "a column of numbers"
"""What the columns are for, in messages."""


def systems_of_values(wanted: Wanted, columns: FileColumns) -> tuple[str, ...]:
    """The systems of records without candidates: those whose names are in the names of columns.

    If none of the columns has `{system}`, there is one system, which is named after the first one.

    Raises:
      InputError: a column with `{system}` matches no column, or a system lacks a column.
    """
    patterns = [value for value in wanted.values if _is_pattern(value, columns)]
    if wanted.system is not None or not patterns:
        return (wanted.system_name or wanted.values[0].column,)
    found = {value: _matching(value, columns) for value in patterns}
    systems = found[patterns[0]]
    for value, others in found.items():
        if others != systems:
            raise InputError(
                f"{columns.label}: {patterns[0].column} has the systems {joined(systems)}, and "
                f"{value.column} has {joined(others)} ({WHAT})",
                columns.listed(),
            )
    return systems


def columns_of_values(
    wanted: Wanted, systems: Sequence[str], columns: FileColumns
) -> tuple[tuple[ValueColumn, tuple[ColumnPath, ...]], ...]:
    """For each wanted column of numbers, its column of each system.

    Args:
      wanted: what the user asks for.
      systems: the systems' names; of long records, one name that is not used.
      columns: those of the file.

    Raises:
      InputError: a column is not there or has no numbers, or one column is for several systems.
    """
    return tuple((value, _of_systems(value, wanted, systems, columns)) for value in wanted.values)


def _of_systems(
    value: ValueColumn, wanted: Wanted, systems: Sequence[str], columns: FileColumns
) -> tuple[ColumnPath, ...]:
    has_system = _is_pattern(value, columns)
    if has_system and wanted.system is not None:
        raise InputError(
            f"{columns.label}: {value.column} ({WHAT}) stands for a column of each system, but "
            f"each record has one system, that of the column {wanted.system}",
            f"write the name of the column without {SYSTEM}",
        )
    if len(systems) > 1 and not has_system and not value.is_shared:
        raise InputError(
            f"{columns.label}: {value.column} is {WHAT}, and each record has {len(systems)} "
            f"systems: {joined(systems)}",
            f"write {SYSTEM} in place of the system's name, such as {value.column}_{SYSTEM}; the "
            "columns of candidates give the systems their names: --candidate_columns NAME=COLUMN",
        )
    names = [value.of_system(system) if has_system else value.column for system in systems]
    paths = tuple(columns.named(value.flag or WHAT, name) for name in names)
    for path in paths:
        kind = type_at(columns.schema, path)
        if not has_values(kind, value):
            must_be = VALUE_PARTS[value.part].must_be
            raise InputError(
                f"{columns.label}: each value of the column {path} must be {must_be}, but they are "
                f"{kind}",
                value.remedy or columns.listed(),
            )
    return paths


def _is_pattern(value: ValueColumn, columns: FileColumns) -> bool:
    """Whether a text stands for a column of each system, and is not the name of a column."""
    return SYSTEM in value.column and value.column not in columns.paths()


def _matching(value: ValueColumn, columns: FileColumns) -> tuple[str, ...]:
    """The systems that have a column of numbers."""
    before, *after = map(re.escape, value.column.split(SYSTEM))
    expression = f"{before}(.+){after[0]}" + "".join(rf"\1{text}" for text in after[1:])
    matches = (re.fullmatch(expression, path) for path in columns.paths())
    names = natural_order({match[1] for match in matches if match})
    if not names:
        raise InputError(
            f"{columns.label}: no column matches {value.column} ({WHAT})", columns.listed()
        )
    return tuple(names)
