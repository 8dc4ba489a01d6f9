"""Paths of columns, compared with walking through Python values."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.canonical import (
    canonical,
    canonical_schema,
    is_text,
    is_texts,
    label_column,
    without_blanks,
)
from beam_bleu.transforms.pairing.records.column_paths import (
    faulty_texts,
    parse_column_path,
    quoted_path,
    type_at,
    value_of,
)
from beam_bleu.transforms.pairing.records.wanted import EACH

TEXTS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_string()),
]
LISTS = [pa.list_, pa.large_list, pa.list_view, pa.large_list_view]


def test_a_path_has_names_and_indexes_or_the_first_wrong_character_is_named():
    for text, steps in (
        ("hyp", ("hyp",)),
        ("choices[12].message.content", ("choices", 12, "message", "content")),
        ('["a.b"].c', ("a.b", "c")),
        ('a["x[0]"][1]', ("a", "x[0]", 1)),
        ('["]"]', ("]",)),
        ("answers[].text", ("answers", EACH, "text")),
    ):
        path = parse_column_path(text)
        assert (path.text, path.steps) == (text, steps)
    for text, place in (
        *(("a[-1]", 2), ("a..b", 2), ("a[0]b", 5), ("a]", 2), ("a[0", 2), ("a[b]", 2)),
        *(('a["b]', 2), ("[0]", 1), ("a[9999999999]", 2), ("", "empty")),
    ):
        said = f"character {place} of {text} begins neither" if isinstance(place, int) else place
        with pytest.raises(ValueError, match=re.escape(said)):
            parse_column_path(text)
    # A column with the whole text as its name wins.
    assert parse_column_path("a.b[0]", ["a", "a.b[0]"]).steps == ("a.b[0]",)
    assert parse_column_path("a.b[0]", ["a", "a.b"]).steps == ("a", "b", 0)


names = st.text(min_size=1, max_size=5)
paths = st.tuples(names, st.lists(names | st.integers(0, 10**9 - 1), max_size=5))


@given(paths)
def test_any_names_can_be_quoted(path):
    steps = (path[0], *path[1])
    assert parse_column_path(quoted_path(steps)).steps == steps


# Random types, values of these types, and paths into them.


@st.composite
def types(draw, depth=3):
    kinds = ["text", "struct", "list", "fixed", "map"]
    kind = draw(st.sampled_from(kinds if depth else kinds[:1]))
    if kind == "text":
        return draw(st.sampled_from(TEXTS[:3]))
    if kind == "struct":
        fields = draw(st.lists(st.sampled_from(["a", "b.c", "d[0]"]), min_size=1, unique=True))
        return pa.struct([(name, draw(types(depth - 1))) for name in fields])
    inside = draw(types(depth - 1))
    if kind == "map":
        # pyarrow takes no rows of maps with views.
        item = pa.string() if "view" in str(inside) else inside
        return pa.map_(draw(st.sampled_from(TEXTS[:2])), item)
    return pa.list_(inside, 2) if kind == "fixed" else draw(st.sampled_from(LISTS[:2]))(inside)


def values(kind):
    if pa.types.is_struct(kind):
        inside = st.fixed_dictionaries({each.name: values(each.type) for each in kind})
    elif pa.types.is_map(kind):
        keys = st.sampled_from(["a", "b.c"])
        inside = st.lists(st.tuples(keys, values(kind.item_type)), max_size=3)
    elif pa.types.is_fixed_size_list(kind):
        inside = st.lists(values(kind.value_type), min_size=2, max_size=2)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inside = st.lists(values(kind.value_type), max_size=3)
    else:
        inside = st.text(max_size=3)
    return st.none() | inside


@st.composite
def steps_into(draw, kind):
    if pa.types.is_struct(kind):
        field = draw(st.sampled_from(list(kind)))
        return [field.name, *draw(steps_into(field.type))]
    if pa.types.is_map(kind):
        return [draw(st.sampled_from(["a", "b.c"])), *draw(steps_into(kind.item_type))]
    if hasattr(kind, "value_type"):
        return [draw(st.integers(0, 3) | st.just(EACH)), *draw(steps_into(kind.value_type))]
    return []


def walked(value, steps):
    for number, step in enumerate(steps, 1):
        if value is None or (isinstance(step, int) and step >= len(value)):
            return None
        if step == EACH:
            return [walked(item, steps[number:]) for item in value]
        is_map = isinstance(step, str) and isinstance(value, list)
        value = dict(value).get(step) if is_map else value[step]
    return value


@given(st.data(), st.integers(0, 3))
def test_values_are_those_that_python_finds(data, first):
    kind = data.draw(types())
    rows = data.draw(st.lists(values(kind), max_size=8))
    column = pa.array(rows, kind)
    steps = ("column", *data.draw(steps_into(kind)))
    path = parse_column_path(quoted_path(steps))
    records = pa.record_batch({"other": pa.nulls(len(rows)), "column": column}).slice(first)
    found = value_of(records, path)
    assert found.to_pylist() == [walked(row, steps[1:]) for row in rows[first:]]
    assert found.type == type_at(canonical_schema(records.schema), path)


def test_texts_of_every_type_become_large_strings():
    rows = ["", None, "Käse", "a\x00b", "\U0001f600"]
    for text in TEXTS:
        column = pa.array(rows)
        column = column.dictionary_encode() if pa.types.is_dictionary(text) else column.cast(text)
        found = canonical(column.slice(1))
        assert found.type == pa.large_string()
        assert found.to_pylist() == rows[1:]
        assert canonical_schema(pa.schema([("x", text)])).types == [pa.large_string()]


def test_lists_that_overlap_or_are_null_over_elements():
    views = pa.ListViewArray.from_arrays([2, 0, 1], [2, 3, 0], pa.array(["a", "b", "c", "d"]))
    hidden = pa.ListArray.from_arrays([0, 2, 3], ["a", "b", "c"], mask=pa.array([True, False]))
    for lists, place, whole, items in (
        (views, 1, [["c", "d"], ["a", "b", "c"], []], ["d", "b", None]),
        (hidden, 0, [None, ["c"]], [None, "c"]),
    ):
        assert canonical(lists).to_pylist() == whole
        path = parse_column_path(f"v[{place}]")
        assert value_of(pa.record_batch({"v": lists}), path).to_pylist() == items


def test_a_path_that_leads_nowhere_says_at_which_step():
    kinds = {
        "id": pa.int64(),
        "translation": pa.struct([("de", pa.string()), ("en", pa.string())]),
        "resps": pa.list_(pa.list_(pa.string())),
        "twice": pa.struct([("x", pa.string()), ("x", pa.string())]),
    }
    schema = canonical_schema(pa.schema(kinds.items()))
    for text, reason in (
        ("translation.fr", "translation has no field fr: it is struct<de: "),
        ("id.x", "id has no field x: it is int64"),
        ("resps[0][0][0]", "resps[0][0] is large_string, and not a list"),
        ("twice.x", "twice has 2 fields x"),
    ):
        with pytest.raises(ValueError, match=re.escape(reason)):
            type_at(schema, parse_column_path(text))
    assert not is_text(schema.field("id").type)
    assert not is_texts(schema.field("resps").type)


@pytest.mark.parametrize(
    ("binary", "kind"), [(pa.binary(), pa.string()), (pa.large_binary(), pa.large_binary())]
)
def test_bytes_that_are_not_utf8_are_found_in_all_rows(binary, kind):
    rows = [b"good", b"bad \xff", None, b"\xc3", b""]
    column = pa.array(rows, binary).view(kind)  # as from a file: Arrow checks nothing
    assert faulty_texts(canonical(column)) == {
        1: "invalid UTF-8 at byte 5 of the text (0xff)",
        3: "invalid UTF-8 at byte 1 of the text (0xc3)",
    }
    assert [*faulty_texts(canonical(column.slice(1)))] == [0, 2]
    lists = pa.LargeListArray.from_arrays([0, 0, 2, 4, 5], column)
    assert [*faulty_texts(canonical(lists))] == [1, 2]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_label_without_a_visible_character_names_nothing(kind):
    texts = pa.array(["a", "", " \t", "\u00a0\u3000", None, " a", "NaN", "null"], kind)
    named = ["a", None, None, None, None, " a", "NaN", "null"]
    assert without_blanks(texts).to_pylist() == named
    for column in (texts, texts.dictionary_encode()):
        labels = label_column(column)
        assert labels.to_pylist() == named
        assert labels.type == pa.dictionary(pa.int32(), pa.string())
        assert not labels.dictionary.null_count
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["a", None]))
    assert label_column(column).indices.to_pylist() == [None, 0, None]
