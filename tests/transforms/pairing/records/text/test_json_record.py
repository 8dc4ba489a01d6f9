"""The needed parts of large lines of JSON, compared with Python's json module."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_records import chosen_columns, raw_lines, rows_of

from beam_bleu.transforms.pairing.records.columns.choosing import choose
from beam_bleu.transforms.pairing.records.columns.wanted import Wanted
from beam_bleu.transforms.pairing.records.text import json_record
from beam_bleu.transforms.pairing.records.text.json_record import NeededKeys, parts_of
from beam_bleu.transforms.pairing.records.text.json_schema import columns_of
from beam_bleu.transforms.pairing.records.text.jsonl import read_json_lines

KEYS = st.sampled_from(["a", "b", "A", "long key", "\n", "ü", ""])
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda each: st.one_of(st.lists(each, max_size=4), st.dictionaries(KEYS, each, max_size=4)),
    max_leaves=12,
)
INDENTS = st.sampled_from([None, 0, 1])
KEYS_OF_MANY = 20_000


def pruned(value: Any) -> Any:
    """The value without the members of objects whose keys are not "a" or "A"."""
    if isinstance(value, dict):
        return {key: pruned(each) for key, each in value.items() if key in ("a", "A")}
    if isinstance(value, list):
        return [pruned(each) for each in value]
    return value


@settings(max_examples=300, deadline=None)
@given(VALUES, INDENTS)
def test_parts_are_those_of_the_json_module(value: Any, indent: int | None) -> None:
    text = f" {json.dumps(value, indent=indent)}\t"
    assert parts_of(text, NeededKeys(["a"]))[0] == pruned(value)
    assert parts_of(text, NeededKeys([], [".*"])) == (value, True)
    assert parts_of(text, NeededKeys([], others=1000)) == (value, True)


@settings(max_examples=500, deadline=None)
@given(VALUES, INDENTS, st.data())
def test_damaged_text_is_refused_as_by_the_json_module(
    value: Any, indent: int | None, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=indent)
    at = data.draw(st.integers(0, len(text)))
    damage = data.draw(st.text('{}[]",:x1 \\', max_size=2))
    text = text[:at] + damage + text[at + data.draw(st.integers(0, 2)) :]
    expected = result(json.loads, text)
    if "trailing comma" in str(expected):  # other words since Python 3.13
        assert isinstance(result(parts_of, text, NeededKeys([])), json.JSONDecodeError)
    else:
        found = result(parts_of, text, NeededKeys([], [".*"]))
        assert repr(found) == repr((expected, True)) or repr(found) == repr(expected)
        assert isinstance(found, tuple) != isinstance(expected, json.JSONDecodeError)


def result(read: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or the `JSONDecodeError` that it raises."""
    try:
        return read(*arguments)
    except json.JSONDecodeError as error:
        return error


def test_other_values_are_kept_while_there_is_room() -> None:
    text = '{"b": 1, "a": [1, {"c": 2}, 3], "d": [4, 5, 6], "e": 7}'
    found = parts_of(text, NeededKeys(["a"], others=4))
    assert found == ({"b": 1, "a": [1, {"c": 2}, 3], "d": [4]}, False)


@pytest.mark.parametrize("end", ["", ',"nan":NaN'], ids=["known", "unknown to the scanner"])
@pytest.mark.parametrize("is_nested", [False, True])
def test_memory_is_bounded_by_the_bytes_of_the_line(is_nested: bool, end: str) -> None:
    many = "".join(f',"key {i}":1' for i in range(KEYS_OF_MANY))
    inside, outside = (many, "") if is_nested else ("", many)
    line = f'{{"hyp":"h","x":{{"y":"z"{inside}}},"ref":"r"{outside}{end}}}'.encode()
    wanted = Wanted(("hyp",), ("ref",), labels=("x.y",))
    lines = raw_lines([line])
    short = b'{"hyp":"h","x":{"y":"z"},"ref":"r"}'
    short_columns = choose(wanted, columns_of([short], wanted).schema())
    read_json_lines(raw_lines([short]), short_columns)  # compiles the scanner
    tracemalloc.start()
    try:
        chosen = choose(wanted, columns_of([line], wanted).schema())
        read = read_json_lines(lines, chosen)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert rows_of(read) == [{"hyp": "h", "ref": "r", "x.y": "z"}]
    assert peak < 10 * len(line)


def test_a_message_does_not_count_columns_that_were_not_kept() -> None:
    wanted = Wanted(("nothing",), ("ref",))
    keys = ",".join(f'"key {i}":1' for i in range(KEYS_OF_MANY))
    schema = columns_of([f'{{{keys},"ref":"r"}}'.encode()], wanted).schema()
    assert len(schema) < 2000
    with pytest.raises(Exception, match="there is no column nothing") as raised:
        choose(wanted, schema)
    assert raised.value.remedy.endswith(" and many more")  # type: ignore[attr-defined]


def test_large_lines_that_are_nested_deeply_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_record, "_LARGE", 0)
    nested = "[" * 700 + "]" * 700
    lines = raw_lines([f'{{"hyp":"h","x":{nested},"ref":"r","n":NaN}}'.encode()])
    read = read_json_lines(lines, chosen_columns(["hyp"], ["ref"]))
    assert rows_of(read) == [{"hyp": "h", "ref": "r"}]
