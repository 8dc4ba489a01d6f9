"""--on_bad_record: bad records end the run, or their segments are left out and they are kept."""

from __future__ import annotations

import base64
import itertools
import json
import os
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command_line import REFERENCES, SYSTEMS, assert_equals_sacrebleu, called, streams
from result_folder import assert_files

from beam_bleu.pipeline.folder.data_files import WriteRejected
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import BadRecord, Tally
from beam_bleu.transforms.totals.closing import Rejected, check_rejected, most_rejected_of

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


def test_the_number_of_rejected_segments_is_bounded(tmp_path):
    out = tmp_path / "out"
    text = tmp_path / "text"
    asked = streams([text], [text], "--on_bad_record=reject", "--output", out)
    for bad, most in ((30, "0.2999999999999999999999"), (1, "0")):
        write(text, [b"\xff"] * bad + [b"a good line"] * (100 - bad))
        run = called(*asked, f"--max_rejected={most}")
        run.assert_failed(
            3,
            f"{bad} of 100 segments {'was' if bad == 1 else 'were'} rejected "
            f"(invalid-utf8: {2 * bad}), more than --max_rejected {most} allows: candidates text: "
            f"line 1: invalid UTF-8 at byte 1 of the line (0xff): {tmp_path}/text; references: ",
        )
        assert sorted(os.listdir(out)) == ["metrics.prom", "run.json"]
    run = called(*asked)  # 1 % is allowed
    assert run.code == 0, run.err
    assert len(rejected(out)) == 2


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


# What the workers write, and the last step


def bad(number: int, raw: bytes = b"\xff", label: str = "input") -> BadRecord:
    place = f"line {number + 1}"
    return BadRecord(number, label, "a.txt", place, "invalid-utf8", "is bad", "repair it", raw)


def test_only_names_numbers_and_the_first_records_go_to_the_last_step(tmp_path):
    for seed in range(10):
        records = [bad(number, b"x" * 1000) for number in range(50)]
        random.Random(seed).shuffle(records)
        writing = WriteRejected(str(tmp_path), "run")
        writing.start_bundle()
        for record in records:
            writing.process(record)
        (part,) = (each.value for each in writing.finish_bundle())
        assert part.first == tuple(bad(number, b"") for number in range(3))
        assert part.reasons == {"invalid-utf8": 50}


def test_the_parts_add_up_in_any_order_and_their_number_is_checked():
    parts = [Rejected((f"f{n}",), {"invalid-utf8": 1}, (bad(n, b""),)) for n in (9, 4, 7, 1)]

    def added_up(order: Iterable[Rejected], records: int = 4) -> Rejected:
        tally = Tally(100, {"a": 96}, {"rejected": 4}, bad_records=records)
        return check_rejected(list(order), tally, most_rejected_of("1.0"))

    sums = [added_up(order) for order in itertools.permutations(parts)]
    assert sums == [sums[0]] * 24
    assert [each.number for each in sums[0].first] == [1, 4, 7]
    assert sums[0].files == ("f1", "f4", "f7", "f9")
    for records, told in ((3, "3 records are bad, but 4"), (5, "5 records")):
        with pytest.raises(JobError, match=told):
            added_up(parts, records)
