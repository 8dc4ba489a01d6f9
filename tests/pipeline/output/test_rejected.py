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
from command_line import (
    COMPRESS,
    REFERENCES,
    SYSTEMS,
    Run,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    write_lines,
)
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


def write(path: Path, lines: list[bytes], suffix: str = "") -> Path:
    path = path.with_name(path.name + suffix)
    path.write_bytes(COMPRESS[suffix](b"".join(line + b"\n" for line in lines)))
    return path


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_bad_line_rejects_its_segment_in_every_stream(tmp_path, suffix):
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
        write(tmp_path / name, lines, suffix)
        for name, lines in zip(["a", "b", "r1", "r2"], texts, strict=True)
    ]
    given = [*streams([f"a={files[0]}", f"b={files[1]}"], files[2:]), *REJECT]
    out = tmp_path / "out"
    documents, found = [], []
    for flags in (
        ["--range_bytes=500", "--threads=2"],
        ["--range_bytes=4000", "--segment_scores"],
        ["--threads=1"],
    ):
        run = called(*given, "--max_line_bytes=100", *flags, "--output", out, "--format=json")
        assert run.code == 0, run.err
        document = run.document
        document.pop("segment_scores", None)
        documents.append(document)
        found.append(rejected(out))
        if "--segment_scores" in flags:
            rows = pq.read_table(out / "segment_scores").to_pylist()
    assert documents == [documents[0]] * 3
    assert found == [found[0]] * 3
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


def test_lines_with_the_wrong_number_of_references(tmp_path):
    candidates = write_lines(tmp_path / "a", ["a b c d", "e f g h", "i j k l", "m n o p"])
    lines = ["a b c d\ta b c", "e f g h", "i\tj\tk", "m n o p\tq"]
    references = write_lines(tmp_path / "r", lines)
    out = tmp_path / "out"
    given = streams([candidates], [references], "--num_refs=2", "--output", out)
    run = called(*given)
    run.assert_failed(
        3,
        f"references: line 2 has 1 field, and --num_refs is 2: {references}; "
        f"references: line 3 has 3 fields, and --num_refs is 2: {references}; "
        "2 of 4 segments in this part of the input are bad\n",
    )
    run = called(*given, *REJECT, "--format=json")
    assert [(each["segment"], each["reason"], each["raw"]) for each in rejected(out)] == [
        (1, "wrong-number-of-fields", "e f g h"),
        (2, "wrong-number-of-fields", "i\tj\tk"),
    ]
    assert_equals_sacrebleu(
        run.document, [["a b c d", "m n o p"]], [["a b c d", "m n o p"], ["a b c", "q"]]
    )


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
        (7, "7", True),
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


def test_every_run_removes_the_rejected_records_of_the_run_before(tmp_path):
    given = with_bad_lines(tmp_path, 1)
    out = tmp_path / "out"
    assert called(*given).code == 0
    first = {path.name for path in out.glob("rejected-*")}
    assert called(*given).code == 0
    second = {path.name for path in out.glob("rejected-*")}
    assert len(first) == len(second) == 1
    assert first != second
    assert_files(out, *second)
    called(*given, "--max_rejected=0").assert_failed(3)
    assert {path.name for path in out.glob("rejected-*")} == second
    assert (out / "scores.json").exists()
    assert not (out / ".segment_scores").exists()
    assert called(*streams([SYSTEMS["atlas"]], REFERENCES), "--output", out).code == 0
    assert_files(out)


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


# Records


def record_lines() -> list[bytes]:
    pairs = zip(read_lines(SYSTEMS["atlas"]), read_lines(REFERENCES[0]), strict=True)
    return [
        json.dumps({"hyp": candidate, "ref": reference}, ensure_ascii=False).encode()
        for candidate, reference in pairs
    ]


def scored_without(rows: set[int], run: Run) -> None:
    kept = [
        [line for row, line in enumerate(read_lines(path)) if row not in rows]
        for path in (SYSTEMS["atlas"], REFERENCES[0])
    ]
    assert_equals_sacrebleu(run.document, kept[:1], kept[1:])


def test_json_lines(tmp_path):
    lines = record_lines()
    bad = {
        3: (b'{"hyp": "a"', "invalid-json"),
        5: (b'{"hyp": "\xff", "ref": "a"}', "invalid-utf8"),
        8: (b'{"hyp": null, "ref": "a"}', "missing-candidate"),
        9: (b'{"hyp": "a", "ref": null}', "missing-reference"),
        10: (b"", "invalid-json"),
        71: (b'{"hyp": 1, "ref": "a"}', "wrong-type"),
    }
    for row, (line, _) in bad.items():
        lines[row] = line
    path, out = write(tmp_path / "records.jsonl", lines), tmp_path / "out"
    given = ["--input", path, "--output", out]
    called(*given).assert_failed(3, "6 of 72 segments", "line 4: ", "line 6: ", "line 9 ")
    run = called(*given, *REJECT, "--format=json")
    scored_without(set(bad), run)
    assert [(each["segment"], raw_bytes(each), each["reason"]) for each in rejected(out)] == [
        (row, *expected) for row, expected in sorted(bad.items())
    ]
    assert run.document["counters"]["read"] == 72
