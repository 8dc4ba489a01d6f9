"""The columns that are read: those that the user named, or those with the usual names."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.records.choosing import UNCLEAR, choice_notes, choose, has_header
from beam_bleu.transforms.pairing.records.wanted import Chosen, ColumnPath, Condition, Wanted

TEXT = pa.large_string()


def schema(names: str, **others: pa.DataType) -> pa.Schema:
    """Columns of texts, and columns of other types."""
    return pa.schema([*((name, TEXT) for name in names.split()), *others.items()])


def systems(found: Chosen) -> list[tuple[str, str]]:
    return [(name, path.text) for name, path in found.candidates]


@pytest.mark.parametrize(
    ("names", "wanted", "candidates", "expected"),
    [
        *((f"src {name} ref", Wanted(), [name], ["ref"]) for name in ("hypothesis", "mt", "hyp")),
        ("src hyp ref10 ref2 ref0", Wanted(), ["hyp"], ["ref0", "ref2", "ref10"]),
        ("hyp refB refA", Wanted(), ["hyp"], ["refA", "refB"]),
        ("hyp refers refAB ref ref_lang Reference", Wanted(), ["hyp"], ["ref"]),
        ("b a x y", Wanted(("b", "a"), ("y", "x")), ["b", "a"], ["y", "x"]),
        ("hyp_10 hyp_2 hyp_1 hyper ref", Wanted(("hyp_*",)), ["hyp_1", "hyp_2", "hyp_10"], ["ref"]),
        ("hyp_2 hyp_1 ref", Wanted(("hyp_2", "hyp_*")), ["hyp_2", "hyp_1"], ["ref"]),
        ("a ref b", Wanted(("*",)), ["a", "b"], ["ref"]),
        ("x a=b ref", Wanted(("base=x", "a=b")), ["base=x", "a=b"], ["ref"]),
        ("hyp ref", Wanted(system_name="atlas"), ["atlas=hyp"], ["ref"]),
    ],
)
def test_columns_are_chosen_by_their_names(names, wanted, candidates, expected):
    found = choose(wanted, schema(names))
    named = [text if name == text else f"{name}={text}" for name, text in systems(found)]
    assert named == candidates
    assert [path.text for path in found.references] == expected
    is_told = not (wanted.candidates and wanted.references)
    assert len(choice_notes(wanted, found)) == is_told


@pytest.mark.parametrize(
    ("names", "wanted", "message"),
    [
        ("hyp mt ref", Wanted(), "the candidates could be the columns hyp or mt"),
        ("hyp ref0 ref1 refA", Wanted(), "could be the columns ref0, ref1 or refA"),
        ("src ref", Wanted(), "no column has one of the usual names of candidates"),
        ("src hyp", Wanted(), "no column has one of the usual names of references"),
        ("x y ref", Wanted(("x", "y"), system_name="atlas"), "several columns of candidates: x, y"),
        ("x y ref", Wanted(("same=x", "same=y")), "two systems are called same"),
        ("s1 s2 ref", Wanted(("s=s*",)), "two systems are called s"),
        ("hyp ref", Wanted(("a=hyp", "b=hyp")), "the column hyp is given twice"),
        ("hyp ref", Wanted(("missing",)), "there is no column missing .--candidate_columns."),
        ("hyp ref", Wanted(where=(Condition(ColumnPath("lp", ("lp",)), "x"),)), "lp .--where."),
        ("hyp ref", Wanted(ids=("key",)), "key .the id."),
        ("hyp ref", Wanted(("hyp[",)), "begins neither"),
    ],
)
def test_columns_that_are_unclear_or_missing_are_an_error(names, wanted, message):
    with pytest.raises(InputError, match=f"^input: .*{message}") as raised:
        choose(wanted, schema(names))
    assert raised.value.remedy


def test_columns_without_texts():
    lists = pa.large_list(TEXT)
    struct = pa.struct([("de", TEXT), ("a.b", TEXT)])
    for columns, message in (
        ({"hyp": pa.int64(), "ref": TEXT}, "hyp has no texts: it is int64"),
        ({"hyp": lists, "ref": TEXT}, r"hyp has no texts: .*or hyp\[0\]"),
        ({"hyp": TEXT, "ref0": lists, "ref1": TEXT}, "ref0 has no texts: .*ref0.0."),
        ({"hyp": TEXT, "ref": struct}, "ref has no texts: .*such as ref.NAME"),
    ):
        with pytest.raises(InputError, match=message):
            choose(Wanted(), pa.schema(columns.items()))


def test_paths_into_columns_are_chosen():
    texts = pa.struct([("refA", TEXT), ("x", TEXT)])
    wanted = Wanted(("texts.*", "tuned=y[0]"), ("texts.refA",))
    found = choose(wanted, schema("", texts=texts, y=pa.large_list(TEXT)))
    assert systems(found) == [("texts.x", "texts.x"), ("tuned", "y[0]")]


def test_names_that_mean_opposite_things_are_never_taken():
    pairs = (("hyp", "references"), ("ref", "candidates"))
    for name, (other, role) in itertools.product(UNCLEAR, pairs):
        with pytest.raises(InputError, match=f"usual names of {role}") as raised:
            choose(Wanted(), schema(f"source {name} {other}"))
        assert f"the columns are: source, {name}, {other}" in raised.value.remedy


def test_columns_by_number():
    columns = schema("src x 7")
    found = choose(Wanted(("2",), ("7",)), columns, numbered=True)
    assert found.candidates[0][1].steps == (1,)
    assert found.references[0].steps == (2,)  # a name is taken before a number
    for wrong in ("0", "4"):
        with pytest.raises(InputError, match=f"there is no column {wrong} "):
            choose(Wanted((wrong,), ("1",)), columns, numbered=True)
    with pytest.raises(InputError, match="the column x is given"):
        choose(Wanted(("2",), ("x",)), columns, numbered=True)
    with pytest.raises(InputError, match="there is no column 2"):
        choose(Wanted(("2",), ("src",)), columns)


def test_two_columns_with_one_name():
    columns = pa.schema([("hyp", TEXT), ("hyp", TEXT), ("ref", TEXT), ("x", TEXT), ("x", TEXT)])
    with pytest.raises(InputError, match="2 columns are called hyp"):
        choose(Wanted(), columns)
    found = choose(Wanted(("2",)), columns, numbered=True)
    assert found.candidates[0][1].steps == (1,)  # x, which nobody asks for, may be there twice


def test_names_need_a_header_and_numbers_do_not():
    for wanted, header in (
        (Wanted(), True),
        (Wanted(("1",), ("2",)), False),
        (Wanted(("a=1", "3"), ("2",)), False),
        (Wanted(("hyp",), ("2",)), True),
        (Wanted(("1",), ("2",), labels=("domain",)), True),
        (Wanted(("1",), ("2",), labels=("3",)), False),
        (Wanted(("1",), ("2",), where=(Condition(ColumnPath("a", ("a",)), "x"),)), True),
    ):
        assert has_header(wanted) == header
