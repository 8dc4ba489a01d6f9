"""--on_bad_record: bad records end the run, or their segments are left out and they are kept."""

from __future__ import annotations

import base64
import json
import os
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command_line import REFERENCES, SYSTEMS, assert_equals_sacrebleu, called, streams
from result_folder import assert_files

REJECT = ["--on_bad_record=reject", "--max_rejected=1.0"]
BAD_UTF8 = [
    b"\xff",
    b"caf\xe9 noir",
    b"ab\xc3",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80 x",
]


def rejected(out: Path) -> list[dict[str, Any]]:
    """All rejected records, in the order of the input."""
    lines = [line for path in out.glob("rejected-*.jsonl") for line in path.open(encoding="utf-8")]
    return sorted(map(json.loads, lines), key=lambda each: (each["segment"], each["source"]))


def raw_bytes(record: dict[str, Any]) -> bytes:
    """The content of a rejected record."""
    if record["raw_base64"] is None:
        return record["raw"].encode()
    assert record["raw"] == base64.b64decode(record["raw_base64"]).decode(errors="backslashreplace")
    return base64.b64decode(record["raw_base64"])


def write(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def test_a_bad_line_rejects_its_segment_in_every_stream(tmp_path):
    draw = random.Random(1)
    count = 400
    words = ["the", "cat", "sat", "Ünter", "日本", "\\xff", "é"]
    good = [
        [" ".join(draw.choices(words, k=draw.randrange(0, 9))).encode() for _ in range(count)]
        for _ in range(4)
    ]
    names = ["candidates a", "candidates b", "references 1", "references 2"]
    texts, expected = [list(lines) for lines in good], []
    for row in draw.sample(range(count), 60):
        for stream in draw.sample(range(4), draw.choice([1, 1, 1, 2, 4])):
            line = draw.choice([*BAD_UTF8, b"x" * 101, b"\xff" + b"y" * 300])
            texts[stream][row] = line
            reason = "invalid-utf8" if len(line) <= 100 else "line-too-long"
            expected.append((row, names[stream], reason, line[: 101 if len(line) > 100 else None]))
    files = [
        write(tmp_path / name, lines)
        for name, lines in zip(["a", "b", "r1", "r2"], texts, strict=True)
    ]
    given = [*streams([f"a={files[0]}", f"b={files[1]}"], files[2:]), *REJECT]
    out = tmp_path / "out"
    documents, found = [], []
    for flags in (
        ["--range_bytes=500", "--threads=2"],
        ["--range_bytes=4000", "--segment_scores"],
    ):
        run = called(*given, "--max_line_bytes=100", *flags, "--output", out, "--format=json")
        assert run.code == 0, run.err
        document = run.document
        document.pop("segment_scores", None)
        documents.append(document)
        found.append(rejected(out))
        if "--segment_scores" in flags:
            rows = pq.read_table(out / "segment_scores").to_pylist()
    assert documents == [documents[0]] * 2
    assert found == [found[0]] * 2
    bad = {row for row, *_ in expected}
    assert [
        (each["segment"], each["source"], each["reason"], raw_bytes(each)) for each in found[0]
    ] == sorted(expected)
    for each in found[0]:
        assert each["position"] == f"line {each['segment'] + 1}"
        assert Path(each["path"]) == files[names.index(each["source"])]
    kept = [[line.decode() for row, line in enumerate(lines) if row not in bad] for lines in texts]
    assert_equals_sacrebleu(documents[0], kept[:2], kept[2:])
    good_rows = sorted(set(range(count)) - bad)
    assert sorted(row["index"] for row in rows) == sorted([*good_rows, *good_rows])
    counters = documents[0]["counters"]
    assert counters["read"] == count == counters["segments"] + counters["rejected"]
    assert counters["rejected"] == len(bad)
    assert sum(each["records"] for each in counters["rejected_records"]) == len(expected)
    assert documents[0]["warnings"][0].startswith(f"{len(bad)} of 400 segments were rejected")
    assert f"beam-bleu: warning: {len(bad)} of 400 segments were rejected" in run.err


# How many


def with_bad_lines(folder: Path, bad: int, count: int = 100) -> list[Any]:
    lines = [b"\xff" if row < bad else b"a good line %d" % row for row in range(count)]
    text = write(folder / "text", lines)
    return [*streams([text], [text]), "--on_bad_record=reject", "--output", folder / "out"]


@pytest.mark.parametrize(
    ("bad", "most", "allowed"),
    [
        (1, None, True),
        (1, "0", False),
        (30, "0.2999999999999999999999", False),
    ],
)
def test_the_number_of_rejected_segments_is_bounded(tmp_path, bad, most, allowed):
    given = [*with_bad_lines(tmp_path, bad), *([] if most is None else ["--max_rejected", most])]
    run = called(*given)
    out = tmp_path / "out"
    if allowed:
        assert run.code == 0, run.err
        assert len(rejected(out)) == 2 * bad
        return
    run.assert_failed(
        3,
        f"{bad} of 100 segments {'was' if bad == 1 else 'were'} rejected "
        f"(invalid-utf8: {2 * bad}), "
        f"more than --max_rejected {most or '0.01'} allows: candidates text: line 1: invalid UTF-8 "
        f"at byte 1 of the line (0xff): {tmp_path}/text; references: line 1: ",
    )
    assert sorted(os.listdir(out)) == ["metrics.prom", "run.json"]


# The output folder


def test_a_run_without_bad_records_writes_no_file_and_counts_zero(tmp_path):
    plain = called(*streams([SYSTEMS["atlas"]], REFERENCES), "--format=json")
    given = [*streams([SYSTEMS["atlas"]], REFERENCES), *REJECT, "--output", tmp_path / "out"]
    run = called(*given, "--format=json")
    assert run.err == ""
    assert_files(tmp_path / "out")
    document = run.document
    counters = document.pop("counters")
    assert counters == {
        **plain.document["counters"],
        **{"read": 72, "filtered": 0, "rejected": 0, "rejected_records": []},
    }
    expected = plain.document
    del expected["counters"]
    assert document == expected
