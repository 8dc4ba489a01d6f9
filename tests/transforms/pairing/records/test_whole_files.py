"""Files that are parsed whole have the rows that were written, or an error that says where."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from test_group_formats import records, rows_of

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.records.whole_files import code_results, comet

OUTCOMES = ("resolved", "unresolved", "empty_patch", "error", "incomplete")
REPORT = json.dumps(
    {"total_instances": 3, **{f"{name}_ids": [] for name in OUTCOMES}, "resolved_ids": ["a", "b"]}
)
ROWS = [
    {"id": 2**64 - 1, "hyp": "a b", "ref": ["a", "c"], "mixed": 1},
    {"id": 2, "hyp": "Käse", "ref": [], "mixed": "x"},
]


def test_rows_of_a_json_document(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    for text in (json.dumps(ROWS).encode(), json.dumps(ROWS).encode("utf-16")):
        path.write_bytes(gzip.compress(text))
        assert rows_of(records(path, ids=("id",))) == [
            ("a b", ["a", "c"], 2**64 - 1),
            ("Käse", [], 2),
        ]
    with pytest.raises(InputError, match="column mixed has no texts: it is of several types: "):
        rows_of(records(path, candidates=("mixed",)))
    with pytest.raises(InputError, match=rf"mixed has neither texts .* several types: {path}"):
        rows_of(records(path, labels=("mixed",)))


def test_keys_of_a_json_document_are_systems(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"a.txt": ROWS, "b.txt": ROWS[1:]}))
    wanted = records(path, candidates=("hyp",), labels=("system", "segment"))
    assert [row[2:] for row in rows_of(wanted)] == [("a.txt", 0), ("a.txt", 1), ("b.txt", 0)]
    own = [{**row, "system": "own", "segment": 7} for row in ROWS]
    path.write_text(json.dumps({"rows": own}))
    assert [row[2:] for row in rows_of(wanted)] == [("own", 7), ("own", 7)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"scores": [0.5, 0.6]}', "it is neither a list of objects, nor an object with a list"),
        (b'[{"hyp": 1},\n{"hyp" 2}]', "line 2 is not JSON: Expecting ':' delimiter"),
        (b'[{"hyp":\n"\xe9"}]', "line 2 is not in utf-8: invalid continuation byte"),
        (b"[]", "it has no rows"),
        (b'[{"hyp": 1}, {"hyp": 1, "x": ["\\ud83d"]}]', "row 2 has half of a surrogate pair"),
        (b'{"a.txt": [{"hyp": 1}], "b.txt": []}', "nor an object with a list"),
        (b'{"hyp": 1}\n{"hyp": 2}', "line 2 is not JSON: .* --input_format jsonl"),
    ],
)
def test_what_is_no_json_document_is_named(tmp_path: Path, text: bytes, said: str) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(text)
    with pytest.raises(InputError, match=said) as error:
        rows_of(records(path))
    assert str(path) in error.value.cause


@pytest.mark.parametrize(
    ("parser", "text", "said"),
    [
        (comet.rows, "a.txt\tSegment 0\tscore: 0.8\na.txt 0.8\n", "line 2 is not like FILE"),
        (comet.rows, "a.txt\tSegment 0 \tscore: 0.8\n", "line 1 is not like FILE"),
        (comet.rows, "a.txt\tSegment 0\tscore: 0.8\n", "segments of a.txt .* is truncated"),
        (code_results.swe_bench, '{"resolved": ["a"]}', "no lists of ids by outcome"),
        (code_results.swe_bench, REPORT, "it has 3 total_instances, and 2 in its lists"),
        (
            code_results.swe_bench,
            REPORT.replace('"unresolved_ids": []', '"unresolved_ids": ["b"]'),
            "3 in its lists, of which 2 are different",
        ),
        (
            code_results.evalplus,
            '{"eval": {"HumanEval/0": [{"base_status": "?", "plus_status": "pass"}]}}',
            "with base_status",
        ),
        (code_results.evalplus, '{"eval": {"HumanEval/0": []}}', "with base_status"),
    ],
)
def test_other_files_than_those_of_the_program_are_named(
    parser: Callable[[bytes], Iterable[object]], text: str, said: str
) -> None:
    with pytest.raises(pa.ArrowInvalid, match=said):
        list(parser(text.encode()))
