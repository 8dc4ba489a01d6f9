"""The columns that are read: those that the user named, or those with the usual names."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.records.columns.choosing import (
    FIRST,
    UNCLEAR,
    choice_notes,
    choose,
    describe_choice,
)
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ColumnPath,
    Condition,
    Wanted,
)

TEXT = pa.string()


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


def test_a_list_of_references() -> None:
    found = chosen("hyp", references=pa.list_(TEXT))
    assert references(found) == ["references"]


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


def test_only_columns_that_are_still_free_are_unclear() -> None:
    with pytest.raises(InputError) as raised:
        chosen("target", "output", wanted=Wanted(references=("target",)))
    assert raised.value.cause.endswith(
        "candidates, and output can be the candidate or the reference"
    )
    languages = pa.struct([("en", TEXT), ("fr", TEXT)])
    with pytest.raises(InputError) as raised:
        choose(Wanted((), ("translation.fr",)), pa.schema([("translation", languages)]))
    assert raised.value.cause == "input: no column has one of the usual names of candidates"
    assert (
        "if no system's output is here, join the records with it: --join_on" in raised.value.remedy
    )


def test_no_usual_name_has_two_roles_or_is_unclear() -> None:
    names = [name for of_role in FIRST.values() for name in of_role]
    assert len(set(names)) == len(names)
    assert not set(names) & set(UNCLEAR)


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


def test_a_pattern_of_fields() -> None:
    outputs = pa.struct([("b", TEXT), ("a", TEXT), ("scores", pa.struct([("c", TEXT)]))])
    found = chosen("ref", wanted=Wanted(("outputs.*",)), outputs=outputs)
    assert systems(found) == [("outputs.a", "outputs.a"), ("outputs.b", "outputs.b")]


def test_a_pattern_leaves_out_the_references() -> None:
    found = chosen("a", "ref", "b", wanted=Wanted(("*",)))
    assert systems(found) == [("a", "a"), ("b", "b")]
    texts = pa.struct([("refA", TEXT), ("x", TEXT)])
    found = chosen(wanted=Wanted(("texts.*",), ("texts.refA",)), texts=texts)
    assert systems(found) == [("texts.x", "texts.x")]


def test_a_pattern_without_matches_lists_the_columns() -> None:
    with pytest.raises(InputError, match="no column matches sys_") as raised:
        chosen("hyp", "ref", wanted=Wanted(("sys_*",)))
    assert raised.value.remedy == "the columns are: hyp, ref"


def test_systems_can_have_other_names_than_their_columns() -> None:
    wanted = Wanted(("base=x", "tuned=y[0]", "a=b"))
    found = choose(
        wanted, pa.schema([("x", TEXT), ("y", pa.list_(TEXT)), ("a=b", TEXT), ("ref", TEXT)])
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
        (Wanted(references=("Ref",)), "there is no column Ref .--reference_columns."),
        (Wanted(labels=("domain",)), "there is no column domain .the label."),
        (Wanted(where=(Condition(ColumnPath("lp", ("lp",)), "x"),)), "lp .--where."),
        (Wanted(ids=("key",)), "key .the id."),
        (Wanted(system="name"), "name .--system_column."),
        (Wanted(("hyp[",)), "after the bracket"),
    ],
)
def test_columns_that_cannot_be_read(wanted: Wanted, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        chosen("hyp", "ref", wanted=wanted)
    assert raised.value.cause.startswith("input: ")
    assert raised.value.remedy


def test_upper_and_lower_case_are_different_but_suggested() -> None:
    with pytest.raises(InputError) as raised:
        chosen("hyp", "Ref", wanted=Wanted(references=("ref",)))
    assert raised.value.remedy == "did you mean Ref? the columns are: hyp, Ref"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (" hyp ", "input: there is no column ' hyp ' (--candidate_columns)"),
        ("a.b", "input: there is no column a.b (--candidate_columns)"),
    ],
)
def test_a_column_that_is_not_there(text: str, cause: str) -> None:
    with pytest.raises(InputError) as raised:
        chosen("hyp", "ref", wanted=Wanted((text,)))
    assert raised.value.cause == cause
    assert raised.value.remedy.endswith("the columns are: hyp, ref")
    assert raised.value.remedy.startswith("did you mean hyp? ") == (text.strip() == "hyp")


def test_a_column_of_systems_that_is_not_used_gives_a_note() -> None:
    names = ("system", "id", "hyp", "ref")
    told = "the column system is not used, so all records are scored together; if it has the "
    wanted = Wanted(("hyp",), ("ref",))
    (note,) = choice_notes(wanted, chosen(*names, wanted=wanted))
    assert chosen(*names, wanted=wanted) == chosen(*names[1:], wanted=wanted)  # of another file
    assert note.startswith(told)
    assert note.endswith("write --system_column system --id_column COLUMN")
    of_one = Condition(ColumnPath("system", ("system",)), "A")
    for used in (
        dataclasses.replace(wanted, ids=("id",), system="system"),
        dataclasses.replace(wanted, where=(of_one,)),
        dataclasses.replace(wanted, labels=("system",)),
        dataclasses.replace(wanted, ids=("id",)),  # a join, whose files have one system each
    ):
        assert choice_notes(used, chosen(*names, wanted=used)) == ()


def test_columns_without_texts() -> None:
    lists, parts = pa.list_(TEXT), pa.struct([("de", TEXT), ("a.b", TEXT)])
    with pytest.raises(InputError, match="the column hyp has no texts: it is int64") as raised:
        choose(Wanted(), pa.schema([("hyp", pa.int64()), ("ref", TEXT)]))
    with pytest.raises(InputError, match="the column hyp has no texts: it is list") as raised:
        choose(Wanted(), pa.schema([("hyp", lists), ("ref", TEXT)]))
    assert "write the place in the list, such as hyp[0]" in raised.value.remedy
    with pytest.raises(InputError, match="the column ref0 has no texts") as raised:
        choose(Wanted(), pa.schema([("hyp", TEXT), ("ref0", lists), ("ref1", TEXT)]))
    assert "only a single column of references can have lists" in raised.value.remedy
    with pytest.raises(InputError, match="the column ref has no texts") as raised:
        choose(Wanted(), pa.schema([("hyp", TEXT), ("ref", parts)]))
    assert raised.value.remedy == 'name one of its fields: ref.de, ref["a.b"]'


def test_all_types_of_text_and_columns_of_nulls_are_taken() -> None:
    types = [pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int32(), TEXT)]
    for kind in [*types, pa.null()]:
        found = choose(Wanted(), pa.schema([("hyp", kind), ("ref", kind)]))
        assert references(found) == ["ref"]


def test_paths_lead_to_fields_and_elements() -> None:
    columns = pa.schema(
        [
            ("translation", pa.struct([("de", TEXT), ("en", TEXT)])),
            ("resps", pa.list_(pa.list_(TEXT))),
            ("a.b", TEXT),
        ]
    )
    found = choose(Wanted(("resps[0][0]", "a.b"), ("translation.de",)), columns)
    assert [path.steps for _, path in found.candidates] == [("resps", 0, 0), ("a.b",)]
    assert found.references[0].steps == ("translation", "de")


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


@pytest.mark.parametrize(
    ("name", "shown"), [("nope", "nope"), ("no-pe", "no-pe"), ("a.b", "a.b"), ("ref ", "'ref '")]
)
def test_the_columns_are_listed_once(name: str, shown: str) -> None:
    with pytest.raises(InputError) as raised:
        chosen("hyp", "ref", wanted=Wanted(labels=(name,)))
    assert raised.value.cause == f"input: there is no column {shown} (the label)"
    meant = "did you mean ref? " if name == "ref " else ""
    assert raised.value.remedy == f"{meant}the columns are: hyp, ref"


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


def test_labels_conditions_and_all_columns() -> None:
    where = (Condition(ColumnPath("year", ("year",)), "24", negated=True),)
    found = chosen(
        "hyp", "ref", "lp", wanted=Wanted(labels=("lp", "year"), where=where), year=pa.int64()
    )
    assert [path.text for path in found.columns] == ["hyp", "ref", "lp", "year"]
    assert found.where == where


def test_what_was_chosen_is_told() -> None:
    found = chosen("hyp", "ref0", "ref1")
    assert describe_choice(found) == "columns: candidates from hyp, references from ref0, ref1"
    assert choice_notes(Wanted(), found) == (describe_choice(found),)
    assert choice_notes(Wanted(("hyp",)), found) == (describe_choice(found),)
    assert choice_notes(Wanted(("hyp",), ("ref*",)), found) == (describe_choice(found),)
    assert choice_notes(Wanted(("hyp",), ("ref0", "ref1")), found) == ()


def test_a_field_whose_path_is_also_a_name_is_listed_in_brackets() -> None:
    schema = pa.schema({"a": pa.struct({"b": pa.string(), "c": pa.string()}), "a.b": pa.string()})
    with pytest.raises(InputError) as caught:
        choose(Wanted(), schema)
    assert '["a"].b, a.c, a.b' in caught.value.remedy
    chosen = choose(Wanted(('["a"].b',), ("a.b",)), schema)
    assert [path.steps for path in chosen.columns] == [("a", "b"), ("a.b",)]


def test_the_usual_names_in_another_case_are_suggested() -> None:
    schema = pa.schema({name: pa.string() for name in ("Hyp", "REF1", "REF0")})
    with pytest.raises(InputError, match="upper and lower case count") as caught:
        choose(Wanted(references=("REF0",)), schema)
    assert "--candidate_columns Hyp;" in caught.value.remedy
    with pytest.raises(InputError) as caught:
        choose(Wanted(("Hyp",)), schema)
    assert "--reference_columns REF0,REF1;" in caught.value.remedy


@pytest.mark.parametrize("numbered", [True, False])
def test_the_remedy_for_two_columns_with_one_name_suits_the_format(numbered: bool) -> None:
    schema = pa.schema([("hyp", pa.string()), ("hyp", pa.string()), ("ref", pa.string())])
    with pytest.raises(InputError, match="2 columns are called hyp") as caught:
        choose(Wanted(), schema, numbered=numbered)
    assert ("number" in caught.value.remedy) == numbered


def test_a_usual_name_has_ascii_digits() -> None:
    schema = pa.schema({name: pa.string() for name in ("hyp", "ref0", "ref\uff11")})
    assert [path.text for path in choose(Wanted(), schema).references] == ["ref0"]
