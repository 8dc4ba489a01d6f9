"""Which columns have the numbers of which system."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.needs import Role, ValueColumn
from beam_bleu.transforms.pairing.records.choosing import BOTH, choose
from beam_bleu.transforms.pairing.records.wanted import Wanted

TEXT, NUMBER = pa.large_string(), pa.float64()


def chosen(
    schema: dict[str, pa.DataType], *columns: str, roles: tuple[Role, ...] = (), **wanted: Any
) -> tuple[tuple[str, ...], list[list[str]]]:
    """The systems, and the columns of each wanted one."""
    values = tuple(map(ValueColumn, columns))
    found = choose(Wanted(values=values, **wanted), pa.schema(schema.items()), roles=roles)
    assert [value for value, _ in found.values] == list(values)
    return found.systems, [[path.text for path in paths] for _, paths in found.values]


def test_one_system_is_named_after_its_column() -> None:
    schema = {"comet": NUMBER, "judge": TEXT, "other": TEXT}
    assert chosen(schema, "comet", "judge") == (("comet",), [["comet"], ["judge"]])
    assert chosen(schema, "judge", system_name="a") == (("a",), [["judge"]])


def test_columns_with_a_system_name_the_systems() -> None:
    schema = {"a10.comet": NUMBER, "a9.comet": NUMBER, "judge_a9": NUMBER, "judge_a10": NUMBER}
    assert chosen(schema, "{system}.comet", "judge_{system}") == (
        ("a9", "a10"),
        [["a9.comet", "a10.comet"], ["judge_a9", "judge_a10"]],
    )


def test_columns_of_candidates_name_the_systems_of_numbers() -> None:
    schema = {"hyp_a": TEXT, "hyp_b": TEXT, "ref": TEXT, "comet_a": NUMBER, "comet_b": NUMBER}
    candidates = ("b=hyp_b", "a=hyp_a")
    found = chosen(schema, "comet_{system}", roles=BOTH, candidates=candidates)
    assert found == (("b", "a"), [["comet_b", "comet_a"]])


@pytest.mark.parametrize(
    ("columns", "wanted", "roles", "message"),
    [
        (["comit"], {}, (), "there is no column comit (a column of numbers); the columns are: "),
        (["tags"], {}, (), "each value of the column tags must be a number above "),
        (["x_{system}"], {}, (), "no column matches x_{system} (a column of numbers)"),
        (
            ["comet_{system}", "judge_{system}"],
            {},
            (),
            "there is no column judge_b (a column of numbers)",
        ),
        (
            ["judge_a"],
            {"candidates": ("hyp_a", "hyp_b")},
            BOTH,
            "judge_a is a column of numbers, and each record has 2 systems: hyp_a, hyp_b; write "
            "{system} in place of the system's name",
        ),
        (
            ["comet_{system}"],
            {"system": "hyp_a", "ids": ("hyp_b",)},
            (),
            "each record has one system, that of the column hyp_a; write the name of the column "
            "without {system}",
        ),
    ],
)
def test_wrong_columns_are_errors(
    columns: list[str], wanted: dict[str, Any], roles: tuple[Role, ...], message: str
) -> None:
    schema = {
        **{"hyp_a": TEXT, "hyp_b": TEXT, "ref": TEXT, "tags": pa.list_(TEXT)},
        **{"comet_a": NUMBER, "comet_b": NUMBER, "judge_a": NUMBER},
    }
    with pytest.raises(InputError) as raised:
        chosen(schema, *columns, roles=roles, **wanted)
    assert message in str(raised.value)
