"""The library's transforms that read files, and the scores of their systems."""

from __future__ import annotations

import dataclasses
import json

import apache_beam as beam
import pytest
import sacrebleu
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from command_line import REFERENCES, SYSTEMS, read_lines

from beam_bleu import (
    CompareSystems,
    CorpusBleu,
    CorpusScores,
    ReadJoinedRecords,
    ReadLineParallel,
    ReadLongRecords,
    ReadPairedRecords,
)
from beam_bleu.transforms.metrics.numbers import MeanConfig

CANDIDATES = {name: read_lines(path) for name, path in SYSTEMS.items()}
REFERENCE_TEXTS = [read_lines(path) for path in REFERENCES]
COUNT = len(REFERENCE_TEXTS[0])
ROWS = [
    {
        "id": row,
        "part": "even" if row % 2 == 0 else "odd",
        **{name: texts[row] for name, texts in CANDIDATES.items()},
        **{f"ref{number}": texts[row] for number, texts in enumerate(REFERENCE_TEXTS)},
    }
    for row in range(COUNT)
]


def write(folder, rows):
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def scores(reading, expected=None):
    """Compares the scores of a transform's segments with the expected ones, by system."""
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        found = pipeline | reading | "Score" >> CorpusBleu.PerSystem()
        assert_that(found | beam.MapTuple(listed), equal_to(expected))


def listed(system, bleu):
    return system, bleu.score, bleu.segments


def expected(rows=range(COUNT)):
    references = [[texts[row] for row in rows] for texts in REFERENCE_TEXTS]
    return [
        (name, sacrebleu.corpus_bleu([texts[row] for row in rows], references).score, len(rows))
        for name, texts in CANDIDATES.items()
    ]


def test_paired_records_that_meet_the_conditions_are_scored_by_texts_and_numbers(tmp_path):
    rows = [
        {**row, **{f"comet_{name}": row["id"] / 8 - place for place, name in enumerate(SYSTEMS)}}
        for row in ROWS
    ]
    reading = ReadPairedRecords(
        write(tmp_path, rows),
        candidate_columns=list(SYSTEMS),
        number_columns=["comet_{system}"],
        where={"part": "odd"},
        where_not={"part": "even", "id": 1},
    )

    def both(name, of):
        return (*listed(name, of["bleu"]), of["mean:comet_{system}"].score)

    kept = range(3, COUNT, 2)
    mean = sum(kept) / len(kept) / 8
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        found = pipeline | reading | CorpusScores.PerSystem(["mean:comet_{system}", "bleu"])
        wanted = [(*each, mean - place) for place, each in enumerate(expected(kept))]
        assert_that(found | beam.MapTuple(both), equal_to(wanted))
    nothing = dataclasses.replace(reading, where={"part": "neither"}, number_columns=())
    told = rf"no segment of system {next(iter(SYSTEMS))} is scored: {COUNT} were read"
    with pytest.raises(Exception, match=told):
        scores(nothing)


def test_long_records_have_the_scores_of_sacrebleu(tmp_path):
    rows = [
        {"id": row["id"], "system": system, "mt": row[system], "r0": row["ref0"], "r1": row["ref1"]}
        for system in SYSTEMS
        for row in ROWS
    ]
    columns = {"id_column": "id", "system_column": "system", "candidate_column": "mt"}
    path = write(tmp_path, rows)
    scores(ReadLongRecords(path, **columns, reference_columns=["r0", "r1"]), expected())


def test_rejected_records_are_given_and_limited_and_give_a_warning(tmp_path):
    rows = [dict(row) for row in ROWS]
    rows[2]["atlas"] = None
    path = write(tmp_path, rows)
    columns = {"candidate_columns": ["atlas"], "reference_columns": ["ref0", "ref1"]}
    told = f"1 of {COUNT} segments was rejected"
    with pytest.raises(
        Exception, match=rf"{told} \(missing-candidate: 1\), more than .*rows.jsonl"
    ):
        scores(ReadPairedRecords(path, **columns, on_bad_record="reject"))

    def with_warning(system, bleu):
        return listed(system, bleu), bleu.warnings[0]

    kept = [row for row in range(COUNT) if row != 2]
    warning = f"{told} (missing-candidate: 1)"
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        paired = pipeline | ReadPairedRecords(path, **columns, on_bad_record="reject")
        found = paired | CorpusBleu.PerSystem(max_rejected=1) | beam.MapTuple(with_warning)
        assert_that(found, equal_to([(expected(kept)[0], warning)]), label="scores")
        bad = paired.rejected | beam.Map(lambda each: (each.number, each.reason))
        assert_that(bad, equal_to([(2, "missing-candidate")]), label="rejected")
    for number in (-1, 1.5, "x", True, None, float("nan")):
        with pytest.raises(ValueError, match=r"max_rejected must be "):
            CorpusBleu.PerSystem(max_rejected=number)


PAIRED = {"pattern": "rows.jsonl"}
JOINED = {"candidates": {"a": "a.jsonl"}, "references": ["r.jsonl"], "join_on": "id"}
LINES = {"candidates": {"a": "a.txt"}, "references": ["r.txt"]}

WRONG = [
    (ReadPairedRecords, PAIRED, {"pattern": 5}, "input must be a string, got 5"),
    (ReadPairedRecords, PAIRED, {"pattern": "a.txt"}, "give input_format, one of parquet, arrow"),
    (ReadPairedRecords, PAIRED, {"header": True}, "header is for tsv.* is jsonl"),
    (ReadPairedRecords, PAIRED, {"candidate_columns": "a"}, "must be a list of strings, got"),
    (ReadPairedRecords, PAIRED, {"where": "a=b"}, "where must be a mapping of columns and va"),
    (ReadJoinedRecords, JOINED, {"join_on": 5}, "join_on must be a list of strings, got 5"),
    (ReadJoinedRecords, JOINED, {"join_on": ["a", "a"]}, "one or more different columns, got"),
    (ReadJoinedRecords, JOINED, {"allow": "all"}, "allow must be one of .*other-documents.*, got"),
    (ReadLineParallel, LINES, {"candidates": {5: "a"}}, "a name in candidates must be a"),
    (ReadLineParallel, LINES, {"candidates": {}}, "candidates must be a mapping of names and file"),
    (ReadLineParallel, LINES, {"references": "a"}, "references must be a list of strings, got"),
]


def test_wrong_arguments_are_refused_at_once():
    for reading, right, wrong, cause in WRONG:
        reading(**right)
        with pytest.raises(ValueError, match=cause):
            reading(**{**right, **wrong})


def test_files_are_read_at_the_root_of_a_pipeline():
    """With several elements, everything would be read several times."""
    elements = beam.Pipeline() | beam.Create(["hyp.txt", "ref.txt"])
    with pytest.raises(TypeError, match="apply it to the pipeline"):
        _ = elements | ReadLineParallel({"a": "hyp.txt"}, ["ref.txt"])


def test_segments_without_numbers_are_refused_at_once():
    with pytest.raises(ValueError, match="needs numbers of the column comet, and segments have on"):
        CorpusScores.Globally(["bleu", "mean:comet"])
    with pytest.raises(ValueError, match="needs numbers of the column score, and segments have on"):
        CompareSystems.Globally(["a", "b"], MeanConfig())


def test_lost_batches_are_an_error(tmp_path):
    path = write(tmp_path, ROWS)

    def score():
        with beam.Pipeline(runner=FnApiRunner()) as pipeline:
            paired = pipeline | ReadPairedRecords(path, candidate_columns=["atlas"])
            batches = paired.batches | beam.Filter(lambda batch: False)
            _ = dataclasses.replace(paired, batches=batches) | CorpusBleu.PerSystem()

    with pytest.raises(Exception, match=rf"{COUNT} were planned, 0 of system atlas"):
        score()
