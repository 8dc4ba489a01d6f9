"""Records, joins, slices, languages, rejected records: the same bytes on every engine.

Each job combines several of them, because a job on an engine takes long.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from command_line import REFERENCES, SYSTEMS, Argument, called, read_lines, typed
from pyarrow import parquet
from test_engines_agree import typed_for

from beam_bleu.transforms.pairing.records.joins import joining
from deploy.local.cluster import Cluster
from deploy.local.flink import FlinkCluster

SEGMENTS = 6000
RANGE_BYTES = 1 << 19
"""Small, so that the files are many portions, and engines make several bundles of them."""

CHINESE = ["猫坐在垫子上，重3.5公斤。", "他说：“这是新的”，3.5公斤。", "猫坐在那里。a b c"]
DOMAINS = ["news", "talk", "größe"]


class Corpus:
    """Two systems and two references, in English and Chinese, with labels."""

    def __init__(self) -> None:
        draw = random.Random(12)
        english = [read_lines(path) for path in (*list(SYSTEMS.values())[:2], *REFERENCES)]
        self.languages = draw.choices(["en", "zh"], k=SEGMENTS)
        self.domains = draw.choices(DOMAINS, k=SEGMENTS)
        self.texts: list[list[str]] = [[] for _ in english]
        for number, language in enumerate(self.languages):
            row = draw.randrange(len(english[0]))
            for example, text in zip(english, self.texts, strict=True):
                if language == "zh":
                    text.append(f"{''.join(draw.choices(CHINESE, k=2))} {number}")
                    continue
                words = example[row].split(" ")
                del words[draw.randrange(len(words))]
                text.append(f"{' '.join(words)} {number}")

    def record(self, number: int, *columns: str) -> dict[str, Any]:
        """Columns of a segment."""
        of_segment = {
            "id": f"s{number}",
            "lang": self.languages[number],
            "domain": self.domains[number],
            "first": self.texts[0][number],
            "second": self.texts[1][number],
            "ref0": self.texts[2][number],
            "ref1": self.texts[3][number],
        }
        return {name: of_segment[name] for name in columns}

    def records(self, *columns: str) -> list[dict[str, Any]]:
        """Columns of all segments."""
        return [self.record(number, *columns) for number in range(SEGMENTS)]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus()


def json_lines(records: Sequence[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(record, ensure_ascii=False).encode() for record in records]


def write(path: Path, lines: Sequence[bytes]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


SLICED = ["--language_column=lang", "--slice_by=domain,domain*length", "--format=json"]


def rejected(folder: Path) -> list[bytes]:
    """The lines of all files of rejected records. Their division into files is the engine's."""
    files = folder.glob("rejected-*.jsonl")
    return sorted(line for file in files for line in file.read_bytes().splitlines())


def assert_as_in_process(cluster: Cluster, folder: Path, bad: int, *given: Argument) -> Any:
    """Runs a job here and on the cluster, and compares all files. Returns the result document."""
    here, there = folder / "here", folder / "there"
    expected = called(*given, "--progress=off", "--output", here)
    assert expected.code == 0, expected.err
    run = typed_for(cluster, *given, "--output", there)
    assert run.code == 0, run.err
    assert run.out == expected.out
    assert (there / "scores.json").read_bytes() == (here / "scores.json").read_bytes()
    assert rejected(there) == rejected(here)
    assert len(rejected(there)) == bad
    assert warnings(run.err) == warnings(expected.err)
    return expected.document


def warnings(err: str) -> list[str]:
    """The warnings that do not name the folder of the output."""
    return [line for line in err.splitlines() if "/rejected-" not in line]


def assert_all_slices(document: dict[str, Any]) -> None:
    slices = [each["slice"] for each in document["scores"]]
    assert {each["lang"] for each in slices if each} == {"en", "zh"}
    found = {each["domain"] for each in slices if each and "domain" in each}
    assert found == set(DOMAINS)
    assert any(each and "length" in each for each in slices)


BAD_LINES = {
    700: b'{"first": "\xff\xfe", "second": "a", "ref0": "b", "ref1": "c"}',
    3000: b'{"first": "a" "second": "b"}',
    5900: b'{"first": "a", "second": null, "ref0": "b", "ref1": "c"}',
}


@pytest.fixture(scope="module")
def json_records(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two files of JSON lines, with three bad records; returns their pattern."""
    folder = tmp_path_factory.mktemp("json")
    columns = ("first", "second", "ref0", "ref1", "lang", "domain")
    lines = json_lines(corpus.records(*columns))
    for number, line in BAD_LINES.items():
        lines[number] = line
    write(folder / "part-1.jsonl", lines[:4000])
    write(folder / "part-2.jsonl", lines[4000:])
    return f"{folder}/part-*.jsonl"


OF_RECORDS = ["--candidate_columns=first,second", "--reference_columns=ref0,ref1"]


def test_json_lines_with_slices_languages_and_rejected_records(
    cluster: Cluster, json_records: str, tmp_path: Path
) -> None:
    ranges = f"--range_bytes={RANGE_BYTES}"
    flags = [*OF_RECORDS, *SLICED, ranges, "--on_bad_record=reject", "--segment_scores"]
    document = assert_as_in_process(
        cluster, tmp_path, len(BAD_LINES), f"--input={json_records}", *flags
    )
    assert document["segments"] == SEGMENTS - len(BAD_LINES)
    assert_all_slices(document)


@pytest.fixture(scope="module")
def joined_files(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> list[Argument]:
    """References in Parquet, a system in JSON lines, a system in tab-separated text.

    Their order differs. The second system lacks segments.
    """
    folder, draw = tmp_path_factory.mktemp("join"), random.Random(5)
    orders = [draw.sample(range(SEGMENTS), SEGMENTS) for _ in range(3)]
    columns = ("id", "ref0", "ref1", "lang", "domain")
    references = [corpus.record(number, *columns) for number in orders[0]]
    parquet.write_table(
        pa.Table.from_pylist(references), folder / "references.parquet", row_group_size=500
    )
    note = {"note": "x" * 6000}  # makes the file large, so that there are several partitions
    first = [{**corpus.record(number, "id", "first"), **note} for number in orders[1]]
    second = [
        f"s{number}\t{corpus.texts[1][number]}".encode() for number in orders[2] if number % 50
    ]
    write(
        folder / "first.jsonl", [line.replace(b'"first"', b'"hyp"') for line in json_lines(first)]
    )
    write(folder / "second.tsv", [b"id\thyp", *second])
    files = list(folder.iterdir())
    assert sum(file.stat().st_size for file in files) > 2 * joining._BUCKET_BYTES
    return [
        folder / "references.parquet",
        *("-i", folder / "first.jsonl", folder / "second.tsv"),
        *("--join_on=id", "--candidate_columns=hyp", "--reference_columns=ref0,ref1"),
    ]


def test_a_join_of_files_of_all_formats(
    cluster: Cluster, joined_files: list[Argument], tmp_path: Path
) -> None:
    flags = [*SLICED, f"--range_bytes={RANGE_BYTES}", "--coverage=each"]
    document = assert_as_in_process(cluster, tmp_path, 0, *joined_files, *flags)
    scored = {
        name: sum(
            each["segments"]
            for each in document["scores"]
            if each["system"] == name and each["slice"] and list(each["slice"]) == ["lang"]
        )
        for name in ("first", "second")
    }
    assert scored == {"first": SEGMENTS, "second": SEGMENTS - SEGMENTS // 50}
    assert_all_slices(document)


def test_bad_records_end_a_job_on_an_engine(
    flink: FlinkCluster, json_records: str, corpus: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    records = [f"--input={json_records}", *OF_RECORDS, "--output", out]
    run = typed_for(flink, *records)
    run.assert_failed(3, "input: line 701: invalid UTF-8 at byte 12", "part-1.jsonl")
    several = typed_for(flink, *records, "--on_bad_record=reject", "--max_rejected=2")
    several.assert_failed(3, "--max_rejected")

    columns = ("id", "first", "ref0")
    twice = [*json_lines(corpus.records(*columns)), *json_lines([corpus.record(7, *columns)])]
    path = write(tmp_path / "twice.jsonl", twice)
    of_join = ["--join_on=id", "--candidate_columns=first", "--reference_columns=ref0"]
    ids = typed_for(flink, path, "-i", path, *of_join, "--output", out)
    ids.assert_failed(3, '"s7"', "line 8", f"line {SEGMENTS + 1}")
    assert not (out / "scores.json").exists()


def test_processes_of_the_in_process_runner(
    json_records: str, joined_files: list[Argument], tmp_path: Path
) -> None:
    """Each worker is a process of its own, as on an engine."""
    processes = ["--direct_running_mode=multi_processing", "--direct_num_workers=2"]
    ranges = f"--range_bytes={RANGE_BYTES}"
    rejecting = ["--on_bad_record=reject", "--output", tmp_path]
    for given in (
        [f"--input={json_records}", *OF_RECORDS, *SLICED, ranges, *rejecting],
        [*joined_files, *SLICED, ranges, "--coverage=common"],
    ):
        expected = called(*given, "--quiet")
        assert expected.code == 0, expected.err
        found = rejected(tmp_path)
        run = typed(*given, *processes, "--quiet", timeout=300)
        assert (run.code, run.out, run.err) == (0, expected.out, "")
        assert rejected(tmp_path) == found
