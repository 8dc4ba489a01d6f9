"""The columns that are read: those that the user named, or those with the usual names."""

from __future__ import annotations

import pyarrow as pa
import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.records.columns.choosing import (
    UNCLEAR,
    choice_notes,
    choose,
    describe_choice,
)
from beam_bleu.transforms.pairing.records.columns.column_paths import canonical_schema
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ColumnPath,
    Condition,
    Wanted,
)

TEXT = pa.large_string()


def schema(*names: str, **others: pa.DataType) -> pa.Schema:
    """Columns of texts, and columns of other types."""
    return pa.schema([*((name, TEXT) for name in names), *others.items()])


def chosen(*names: str, wanted: Wanted | None = None, **others: pa.DataType) -> Chosen:
    return choose(wanted or Wanted(), schema(*names, **others))


def systems(found: Chosen) -> list[tuple[str, str]]:
    return [(name, path.text) for name, path in found.candidates]


def references(found: Chosen) -> list[str]:
    return [path.text for path in found.references]


@pytest.mark.parametrize("name", ["hypothesis", "hyp", "mt", "prediction", "candidate"])
def test_usual_names_of_candidates(name: str) -> None:
    assert systems(chosen("src", name, "ref")) == [(name, name)]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["ref"], ["ref"]),
        (["reference"], ["reference"]),
        (["references"], ["references"]),
        (["ref10", "ref2", "ref0"], ["ref0", "ref2", "ref10"]),
        (["refB", "refA"], ["refA", "refB"]),
        (["refers", "refAB", "ref", "ref_lang", "Reference"], ["ref"]),
    ],
)
def test_usual_names_of_references(names: list[str], expected: list[str]) -> None:
    assert references(chosen("src", "hyp", *names)) == expected


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["hyp", "mt", "ref"], "the candidates could be the columns hyp or mt"),
        (["hyp", "ref", "reference"], "the references could be the columns ref or reference"),
        (["hyp", "ref0", "ref1", "refA"], "could be the columns ref0, ref1 or refA"),
        (["src", "ref"], "no column has one of the usual names of candidates"),
        (["src", "hyp"], "no column has one of the usual names of references"),
    ],
)
def test_unclear_columns_are_an_error(names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        chosen(*names)
    role = "candidate" if "candidates" in message else "reference"
    assert f"--{role}_columns COLUMN,..." in raised.value.remedy


@pytest.mark.parametrize("name", UNCLEAR)
def test_names_that_mean_opposite_things_are_never_taken(name: str) -> None:
    for other, role in (("hyp", "references"), ("ref", "candidates")):
        with pytest.raises(InputError) as raised:
            chosen("source", name, other)
        assert f"usual names of {role}" in raised.value.cause
        assert f"{name} can be the candidate or the reference" in raised.value.cause
        flag = f"--{role.removesuffix('s')}_columns"
        assert f"write {flag} {name} if it has the {role}, or {flag} COLUMN" in raised.value.remedy
        assert f"the columns are: source, {name}, {other}" in raised.value.remedy


def test_named_columns_are_in_the_order_of_the_user() -> None:
    found = chosen("b", "a", "x", "y", wanted=Wanted(("b", "a"), ("y", "x")))
    assert systems(found) == [("b", "b"), ("a", "a")]
    assert references(found) == ["y", "x"]
    assert choice_notes(Wanted(("b", "a"), ("y", "x")), found) == ()


def test_a_pattern_takes_all_columns_in_natural_order() -> None:
    names = ["hyp_10", "hyp_2", "hyp_1", "hyper", "ref"]
    found = chosen(*names, wanted=Wanted(("hyp_*",)))
    assert systems(found) == [(name, name) for name in ("hyp_1", "hyp_2", "hyp_10")]
    first = chosen(*names, wanted=Wanted(("hyp_2", "hyp_*")))
    assert systems(first) == [(name, name) for name in ("hyp_2", "hyp_1", "hyp_10")]


def test_a_pattern_leaves_out_the_references() -> None:
    found = chosen("a", "ref", "b", wanted=Wanted(("*",)))
    assert systems(found) == [("a", "a"), ("b", "b")]
    texts = pa.struct([("refA", TEXT), ("x", TEXT)])
    found = chosen(wanted=Wanted(("texts.*",), ("texts.refA",)), texts=texts)
    assert systems(found) == [("texts.x", "texts.x")]


def test_systems_can_have_other_names_than_their_columns() -> None:
    wanted = Wanted(("base=x", "tuned=y[0]", "a=b"))
    found = choose(
        wanted, pa.schema([("x", TEXT), ("y", pa.large_list(TEXT)), ("a=b", TEXT), ("ref", TEXT)])
    )
    assert systems(found) == [("base", "x"), ("tuned", "y[0]"), ("a=b", "a=b")]
    one = chosen("hyp", "ref", wanted=Wanted(system_name="atlas"))
    assert systems(one) == [("atlas", "hyp")]


def test_one_name_cannot_have_several_columns() -> None:
    with pytest.raises(InputError, match="several columns of candidates: x, y"):
        chosen("x", "y", "ref", wanted=Wanted(("x", "y"), system_name="atlas"))
    with pytest.raises(InputError, match="two systems are called same"):
        chosen("x", "y", "ref", wanted=Wanted(("same=x", "same=y")))
    with pytest.raises(InputError, match="two systems are called s"):
        chosen("s1", "s2", "ref", wanted=Wanted(("s=s*",)))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(("hyp",), ("hyp",)), "the column hyp is given for candidates and for references"),
        (Wanted(("a=hyp", "b=hyp")), "the column hyp is given twice"),
        (Wanted(("missing",)), "there is no column missing .--candidate_columns."),
        (Wanted(where=(Condition(ColumnPath("lp", ("lp",)), "x"),)), "lp .--where."),
        (Wanted(ids=("key",)), "key .the id."),
        (Wanted(("hyp[",)), "begins neither"),
    ],
)
def test_columns_that_cannot_be_read(wanted: Wanted, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        chosen("hyp", "ref", wanted=wanted)
    assert raised.value.cause.startswith("input: ")
    assert raised.value.remedy


def test_columns_without_texts() -> None:
    lists, parts = pa.large_list(TEXT), pa.struct([("de", TEXT), ("a.b", TEXT)])
    with pytest.raises(InputError, match="the column hyp has no texts: it is int64") as raised:
        choose(Wanted(), pa.schema([("hyp", pa.int64()), ("ref", TEXT)]))
    with pytest.raises(InputError, match="the column hyp has no texts: it is large_list") as raised:
        choose(Wanted(), pa.schema([("hyp", lists), ("ref", TEXT)]))
    assert "write the place in the list, such as hyp[0]" in raised.value.remedy
    with pytest.raises(InputError, match="the column ref0 has no texts") as raised:
        choose(Wanted(), pa.schema([("hyp", TEXT), ("ref0", lists), ("ref1", TEXT)]))
    assert "only a single column of references can have lists" in raised.value.remedy
    with pytest.raises(InputError, match="the column ref has no texts") as raised:
        choose(Wanted(), pa.schema([("hyp", TEXT), ("ref", parts)]))
    assert raised.value.remedy == 'name one of its fields: ref.de, ref["a.b"]'


def test_all_types_of_text_and_columns_of_nulls_are_taken() -> None:
    types = [pa.string_view(), pa.binary(), pa.dictionary(pa.int32(), pa.string()), pa.null()]
    for kind in types:
        found = choose(Wanted(), canonical_schema(pa.schema([("hyp", kind), ("ref", kind)])))
        assert references(found) == ["ref"]


def test_columns_by_number() -> None:
    columns = schema("src", "x", "7")
    found = choose(Wanted(("2",), ("7",)), columns, numbered=True)
    assert found.candidates[0][1].steps == (1,)
    assert found.references[0].steps == ("7",)  # a name is taken before a number
    for wrong in ("0", "4"):
        with pytest.raises(InputError, match=f"there is no column {wrong} .*: there are 3"):
            choose(Wanted((wrong,), ("1",)), columns, numbered=True)
    with pytest.raises(InputError, match="the column x is given"):
        choose(Wanted(("2",), ("x",)), columns, numbered=True)
    with pytest.raises(InputError, match="there is no column 2"):
        choose(Wanted(("2",), ("src",)), columns)


def test_a_number_that_is_the_name_of_another_column_is_refused() -> None:
    columns = schema("2", "1", "3", "ref", "9")
    with pytest.raises(InputError) as raised:
        choose(Wanted(("1",), ("ref",)), columns, numbered=True)
    assert raised.value.cause == (
        "input: 1 (--candidate_columns) is the name of one column and the number of another, "
        "which is called 2"
    )
    assert raised.value.remedy == (
        """write '["1"]' for the column called 1, or '["2"]' for the column number 1"""
    )
    for text, name in {'["1"]': "1", '["2"]': "2", "3": "3", "9": "9"}.items():
        (candidate,) = choose(Wanted((text,), ("ref",)), columns, numbered=True).candidates
        assert candidate[1].steps == (name,)
    assert len(choose(Wanted(("*",), ("ref",)), columns, numbered=True).candidates) == 4
    assert choose(Wanted(("1",), ("ref",)), columns).candidates[0][1].steps == ("1",)


def test_two_columns_with_one_name() -> None:
    columns = pa.schema([("hyp", TEXT), ("hyp", TEXT), ("ref", TEXT), ("x", TEXT), ("x", TEXT)])
    with pytest.raises(InputError, match="2 columns are called hyp"):
        choose(Wanted(), columns)
    found = choose(Wanted(("2",)), columns, numbered=True)
    assert found.candidates[0][1].steps == (1,)  # x, which nobody asks for, may be there twice


def test_one_role_only() -> None:
    wanted = Wanted(ids=("id",))
    of_system = choose(wanted, schema("id", "hyp"), "candidates atlas", ("candidates",))
    assert (systems(of_system), references(of_system)) == ([("hyp", "hyp")], [])
    of_references = choose(wanted, schema("id", "ref"), "references", ("references",))
    assert of_references.ids == (ColumnPath("id", ("id",)),)
    with pytest.raises(InputError, match=r"^candidates atlas: no column"):
        choose(wanted, schema("id", "ref"), "candidates atlas", ("candidates",))


def test_what_was_chosen_is_told() -> None:
    found = chosen("hyp", "ref0", "ref1")
    assert describe_choice(found) == "columns: candidates from hyp, references from ref0, ref1"
    assert choice_notes(Wanted(), found) == (describe_choice(found),)
    assert choice_notes(Wanted(("hyp",)), found) == (describe_choice(found),)
    assert choice_notes(Wanted(("hyp",), ("ref*",)), found) == (describe_choice(found),)
    assert choice_notes(Wanted(("hyp",), ("ref0", "ref1")), found) == ()
