"""Lines of JSON have the values of Python's json module, or are bad records; fields are split's."""

from __future__ import annotations

import json
import random
from typing import Any
from unittest import mock

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.records import json_lines
from beam_bleu.transforms.pairing.records.column_paths import parse_column_path
from beam_bleu.transforms.pairing.records.json_lines import schema_of_lines
from beam_bleu.transforms.pairing.records.line_records import LineRecords
from beam_bleu.transforms.pairing.records.wanted import (
    Chosen,
    ColumnPath,
    RawRecords,
    ReadRecords,
    Wanted,
)


def read_lines(format_name, lines, chosen):
    """What is read of lines, and all bad records."""
    column = padded(pa.array(lines, pa.large_binary()).cast(pa.large_string()))
    source = LineRecords(Stream("input", "records"), Wanted(), format_name, header=False)
    raw = RawRecords(column, "input", "records", "line", 0, 1, chosen)
    read = source.parsed(raw, digest=False)
    return read, [read.bad_record(row, fault) for row, fault in read.faults.items()]


def chosen_columns(candidates, references, labels=(), id=None):
    """The choice of these columns. Each system has the name of its column."""
    return Chosen(
        tuple((text, parse_column_path(text)) for text in candidates),
        tuple(parse_column_path(text) for text in references),
        tuple(parse_column_path(text) for text in labels),
        ids=() if id is None else (parse_column_path(id),),
    )


def rows_of(read: ReadRecords) -> list[dict[str, object]]:
    """The values of each record that could be read, by column; None for a bad one."""
    columns = {path.text: column.to_pylist() for path, column in read.columns.items()}
    count = len(next(iter(columns.values())))
    rows = [{name: values[i] for name, values in columns.items()} for i in range(count)]
    for row in read.faults:
        rows[row] = None
    return rows


PLAIN = chosen_columns(["hyp"], ["ref"])
PATHS = chosen_columns(["hyp", "tr.de", "out[0][1]"], ["refs"], ["label", "meta.n"])

BAD = object()


def in_json(line: bytes, path: ColumnPath) -> Any:
    """The value of a path by the json module alone; BAD if the record cannot be used."""
    try:
        # Of bytes, it would drop a byte order mark. NaN and Infinity name nothing.
        value = json.loads(line.decode(), parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return BAD
    if not isinstance(value, dict):
        return BAD
    for step in path.steps:
        if value is None:
            return None
        if not isinstance(value, list if isinstance(step, int) else dict):
            return BAD
        try:
            value = value[step]
        except (KeyError, IndexError):
            return None
    is_label = path.text in ("label", "meta.n")
    if path.text == "refs":  # a text is a list with this text
        values = value if isinstance(value, list) else [value]
        texts = [text(each, is_label) for each in values]
        return BAD if BAD in texts else None if value is None else texts
    return text(value, is_label)


def text(value: Any, is_label: bool) -> Any:
    if is_label and isinstance(value, int | float):
        return json.dumps(value)
    try:
        return value if value is None or value.encode() is not None else BAD
    except (AttributeError, UnicodeEncodeError):
        return BAD


def check(lines: list[bytes]) -> None:
    rows = rows_of(read_lines("jsonl", lines, PATHS)[0])
    for line, row in zip(lines, rows, strict=True):
        expected = {path.text: in_json(line, path) for path in PATHS.columns}
        if row is not None and isinstance(row["refs"], str):
            row["refs"] = [row["refs"]]
        assert row == (None if BAD in expected.values() else expected), line


def test_texts_of_all_items_are_a_list() -> None:
    """The answers of SQuAD's own files."""
    lines = [
        *(b'{"hyp": "a", "answers": [{"text": "b", "at": 3}, {"text": "c"}, {}]}',),
        *(b'{"hyp": "a", "answers": []}', b'{"hyp": "a"}', b'{"hyp": "a", "answers": [3]}'),
        *(b'{"hyp": "a", "answers": [null, {"text": 3}]}', b'{"hyp": "a", "answers": "b"}'),
    ]
    read, bad = read_lines("jsonl", lines, chosen_columns(["hyp"], ["answers[].text"]))
    assert [row and row["answers[].text"] for row in rows_of(read)] == [
        *(["b", "c", None], [], None, None, None, None)
    ]
    assert [record.place for record in bad] == ["line 4", "line 5", "line 6"]


TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)  # with surrogates
LONG = st.sampled_from(["x" * 70, '"\\' * 40])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | LONG
NAMES = ["hyp", "ref", "refs", "tr", "de", "out", "label", "meta", "n", "h\u00ff", '"']
KEYS = st.one_of(st.sampled_from(NAMES), TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(KEYS, each, max_size=3),
    max_leaves=6,
)
RIGHT = st.fixed_dictionaries(
    {"hyp": st.text(), "refs": st.lists(st.none() | st.text(), max_size=3) | st.text()},
    optional={
        "tr": st.fixed_dictionaries({"de": st.text()}),
        "out": st.just([["a", "b"]]) | st.just([[]]) | st.lists(st.lists(st.text(), max_size=3)),
        "label": st.text() | st.integers() | st.floats() | st.booleans(),
        "meta": st.fixed_dictionaries({"n": st.integers(-10, 10)}) | st.none(),
        "more": VALUES,
    },
)
RECORDS = st.one_of(RIGHT, st.dictionaries(KEYS, VALUES, max_size=5), VALUES)


@st.composite
def lines(draw: Any) -> bytes:
    """A line of JSON in any style, and often damaged."""
    value = draw(RECORDS)
    escaped = draw(st.booleans())
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), ("\t,\r ", " \t:  ")]))
    line = json.dumps(value, ensure_ascii=escaped, separators=separators)
    line = draw(st.sampled_from(["", " ", "\t\r"])) + line + draw(st.sampled_from(["", " ", "\r"]))
    if draw(st.integers(0, 3)) == 0 and line:
        at = draw(st.integers(0, len(line) - 1))
        put = draw(st.sampled_from(["", *'"\\{}[],:0-.eu\x00\x1f']))
        line = line[:at] + put + line[at + draw(st.integers(0, 2)) :]
    return line.replace("\n", " ").encode("utf-8", "replace")


@settings(max_examples=120)
@given(st.lists(lines(), min_size=1, max_size=8))
def test_every_line_means_what_it_means_for_python(given_lines):
    check(given_lines)


HOSTILE = [
    *(b"", b"null", b'{"hyp": "a", "refs": "b"} {"hyp": "c"}', b'{"hyp": "a", "refs": "b"}}'),
    b'{"hyp": "a", "refs": "b"',
    b'{"hyp": "a", "hyp": "b", "refs": "c"}',
    b'{"hyp": "a", "hyp": null, "refs": "c"}',
    b'{"h\\u0079p": "a", "refs": "b"}',
    b'{"hyp": "a\\u0000b", "refs": "\\ud83d\\ude00"}',
    b'\xef\xbb\xbf{"hyp": "a", "refs": "b"}',
    b'{"hyp": "a" "refs": "b"}',
    b'{"hyp": "a", "refs": truE}',
    b'{"hyp": "\\u12',
    *(
        b'{"hyp": %s, "refs": "b"}' % hyp
        for hyp in (b'"\\ud83d"', b'"\\ude00\\ud83d"', b"3", b'"a\tb"', b'"\\u12g4"')
    ),
    b'{"hyp": "' + b"a" * 63 + b'\\"' + b"b" * 200 + b'", "refs": "b"}',
    *(
        b'{"hyp": "a", "refs": %s}' % refs
        for refs in (b'["b", "\\ud83dx"]', b'["b", 3]', b"[]", b"[[]]")
    ),
    *(
        b'{"hyp": "a", "refs": "b", "label": %s}' % label
        for label in (b'NaN, "x": [Infinity, -Infinity]', b"1.50", b"-0", b"1E2", b"true", b"01")
    ),
    *(b'{"hyp": "a", "refs": "b", "label": ' + b"9" * n + b"}" for n in (30, 4000, 5000)),
    *(
        b'{"hyp": "a", "refs": "b", "x": ' + b"[" * depth + b"]" * depth + b"}"
        for depth in (70, 100_000)
    ),
    b'{"hyp": "a", "refs": "b", "tr": "c"}',
    b'{"hyp": "a", "refs": "b", "tr": {"de": {"x": 1}}}',
    b'{"hyp": "a", "refs": "b", "tr": {"d\\u0065": "y"}}',
    b'{"hyp": "a", "refs": "b", "out": [["c"]]}',
    b'{"hyp": "a", "refs": "b", "out": {"0": "c"}}',
]


def test_hostile_lines():
    check(HOSTILE)
    for line in HOSTILE:
        check([b'{"hyp": "a", "refs": "b"}', line, b'{"hyp": "c", "refs": ["d", null]}'])


def test_ordinary_lines_need_no_python_object(monkeypatch):
    draw = random.Random(1)
    given_lines = []
    for number in range(500):
        record = {
            "id": number,
            "hyp": "".join(draw.choices('ab \u4e2d\U0001f600"\\/\n\t\x01', k=draw.randrange(150))),
            "refs": [["a"], "b", ["c", None, ""]][number % 3],
            "score": 0.5,
            "label": [1, "x", False][number % 3],
            "meta": {"n": number, "deep": [[[{}]]]},
        }
        given_lines.append(json.dumps(record, ensure_ascii=number % 2 == 0).encode())
    monkeypatch.setattr(json_lines, "record_of", mock.Mock(side_effect=AssertionError))
    check(given_lines)


def test_a_line_that_is_too_long_to_be_looked_at_is_refused(monkeypatch):
    monkeypatch.setattr(json_lines, "_MOST_CHARACTERS", 40)
    plain, unusual = (
        b'{"hyp": "a", "ref": "%s"%s}' % (b"b" * 40, end) for end in (b"", b',"x":NaN')
    )
    _, (bad,) = read_lines("jsonl", [plain, unusual], PLAIN)
    assert (bad.place, bad.reason) == ("line 2", "line-too-long")
    assert bad.what == "only plain records can have more than 40 characters"


def test_what_python_cannot_read_is_told_in_plain_words():
    values = {
        b"9" * 5000: "a number has too many digits",
        b"[" * 100_000: "it is nested too deeply",
    }
    lines = [b'{"hyp": "a", "ref": "b", "x": %s}' % value for value in values]
    _, bad = read_lines("jsonl", lines, PLAIN)
    assert [each.what.partition(": ")[2] for each in bad] == [*values.values()]


def test_ids_are_strings_or_integers_and_stay_with_a_bad_record():
    chosen = chosen_columns(["hyp"], ["ref"], id="id")
    ids = [b"1", b'"1"', b"-0", b"1.0", b"true", b"null", b"-7", b"12345678901234567890"]
    lines = [b'{"hyp": "a", "ref": "b", "id": %s}' % each for each in ids]
    lines += [b'{"id": "a", "hyp": 1, "ref": "r"}', b'{"id": "a", "hyp": "h']
    read, _ = read_lines("jsonl", lines, chosen)
    assert sorted(read.faults) == [2, 3, 4, 8, 9]
    values = read.columns[chosen.ids[0]].to_pylist()
    assert values[:2] + values[5:] == ["1", "1", None, "-7", "12345678901234567890", "a", None]
    assert values[3] is None


def test_the_schema_of_the_first_records():
    records = [
        {"id": 1, "tr": {"de": "a"}, "l": [], "x": None, "mixed": "b"},
        {"id": 1.5, "tr": {"en": "b"}, "l": ["c"], "\ud800": 1, "mixed": 1},
        {"tr": "text", "l": "text", "mixed": "a"},
    ]
    schema = schema_of_lines([json.dumps(record).encode() for record in records])
    assert schema.names == ["id", "tr", "l", "x", "mixed", "?"]
    assert schema.field("id").type == pa.int64()
    assert [field.name for field in schema.field("tr").type] == ["de", "en"]
    assert schema.field("l").type == pa.large_list(pa.large_string())
    assert schema.field("mixed").type == pa.large_string()


# Tab-separated text

FIELDS = st.one_of(
    st.sampled_from(["\r", "a\r", "\r\r", "x" * 63 + "\r"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n"), max_size=6),
    st.just("x" * 64),
    st.just('"'),
)
TAB_SEPARATED = st.lists(FIELDS, min_size=1, max_size=5).map("\t".join)


@settings(max_examples=80)
@given(st.lists(TAB_SEPARATED, min_size=1, max_size=12))
def test_fields_are_those_of_split(lines):
    third, first = ColumnPath("3", (2,)), ColumnPath("1", (0,))
    chosen = Chosen((("hyp", third),), (first,), fields=("1", "2", "3"))
    read, bad = read_lines("tsv", [line.encode() for line in lines], chosen)
    split = [line.removesuffix("\r").split("\t") for line in lines]
    assert rows_of(read) == [
        {"3": fields[2], "1": fields[0]} if len(fields) == 3 else None for fields in split
    ]
    assert [record.what for record in bad] == [
        f"has {len(fields)} field{'s' if len(fields) > 1 else ''}, and the first line has 3"
        for fields in split
        if len(fields) != 3
    ]
