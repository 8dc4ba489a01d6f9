"""`Evaluate` in Beam YAML: pipelines as users write them, and users' mistakes."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import apache_beam as beam
import pytest
import sacrebleu
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.yaml.yaml_provider import load_providers, merge_providers
from apache_beam.yaml.yaml_transform import YamlTransform
from command_line import EXAMPLES, PROJECT, REFERENCES, SYSTEMS, called, read_lines

from beam_bleu.pipeline.library import beam_yaml_evaluate
from beam_bleu.pipeline.library.beam_yaml_evaluate import EvaluatePairedRecords, EvaluateRows

LISTING = PROJECT / "pipeline" / "library" / "beam_yaml_evaluate_provider.yaml"
RECORDS = EXAMPLES / "records" / "paired.jsonl"
OF_FILES = {
    "pattern": str(RECORDS),
    "candidate_columns": ["atlas=outputs.atlas", "birch=outputs.birch"],
    "reference_columns": ["references"],
    "labels": ["domain"],
}
OF_ROWS = {
    "candidates": {"atlas": "atlas", "birch": "birch"},
    "references": "references",
    "labels": ["domain"],
    "ids": "number",
}
ASKED: dict[str, Any] = {
    "metrics": ["bleu", "chrf"],
    "slice_by": ["domain"],
    "examples": 1,
    "save_totals": True,
    "partition": "monday",
    "segment_scores": True,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    out = tmp_path_factory.mktemp("command") / "out"
    columns = ",".join(OF_FILES["candidate_columns"])
    done = called(
        *(f"--input={RECORDS}", f"--candidate_columns={columns}", "--reference_columns=references"),
        *("--metrics", "bleu", "chrf", "--slice_by=domain", "--examples=1", "--save_totals"),
        *("--segment_scores", "--partition=monday", f"--output={out}"),
    )
    assert done.code == 0, done.err
    return (out / "scores.json").read_bytes()


def rows() -> list[beam.Row]:
    records = [json.loads(line) for line in RECORDS.read_text().splitlines()]
    return [
        beam.Row(
            **record["outputs"],
            references=record["references"],
            domain=record["domain"],
            number=number,
        )
        for number, record in enumerate(records)
    ]


def without(document: bytes | str, counters: set[str]) -> dict[str, Any]:
    """A document without some of its counters."""
    parsed = json.loads(document)
    left = {key: value for key, value in parsed["counters"].items() if key not in counters}
    return {**parsed, "counters": left}


@pytest.mark.parametrize("form", ["files", "rows"])
def test_the_outputs_are_those_of_the_command(form, expected):
    document = json.loads(expected)
    evaluation: dict[str, Any] = {
        "type": "EvaluatePairedRecords",
        "name": "Evaluated",
        "config": OF_FILES | ASKED,
    }
    if form == "rows":
        evaluation = {
            "type": "Evaluate",
            "name": "Evaluated",
            "input": "input",
            "config": OF_ROWS | ASKED,
        }
    names = ["document", "scores", "comparisons", "examples", "totals", "segment_scores"]
    text: dict[str, Any] = {
        "type": "composite",
        "transforms": [evaluation],
        "output": {name: f"Evaluated.{name}" for name in names},
    }
    if form == "rows":
        text["input"] = {"input": "input"}
    providers = merge_providers(load_providers(str(LISTING)))
    with beam.Pipeline("FnApiRunner") as pipeline:
        given = {"input": pipeline | beam.Create(rows())} if form == "rows" else pipeline
        outputs = given | YamlTransform(json.dumps(text), providers)
        # Rows are in no files, so there are no counters of what was read.
        of_files = {"read", "filtered", "rejected", "rejected_records"} if form == "rows" else set()
        found = outputs["document"] | beam.Map(lambda row: without(row.document, of_files))
        assert_that(found, equal_to([without(expected, of_files)]), "document")
        scores = outputs["scores"] | beam.Map(
            lambda row: (row.metric, row.system, row.slice and json.loads(row.slice), row.score)
        )
        values = ("metric", "system", "slice", "score")
        assert_that(
            scores,
            equal_to([tuple(each[name] for name in values) for each in document["scores"]]),
            "scores",
        )
        differences = outputs["comparisons"] | beam.Map(
            lambda row: (row.metric, row.interval_low, row.p_value)
        )
        assert_that(
            differences,
            equal_to(
                [
                    (each["metric"], (each["interval"] or [None])[0], each["p_value"])
                    for each in document["comparisons"]
                ]
            ),
            "comparisons",
        )
        examples = outputs["examples"] | "Count examples" >> beam.combiners.Count.Globally()
        assert_that(examples, lambda counts: [counts[0] > 8].index(True), "examples")
        totals = outputs["totals"] | beam.Map(lambda row: sorted(json.loads(row.totals)))
        keys = ["content", "format", "scores_sha256", "sha256", "version"]
        assert_that(totals, equal_to([keys]), "totals")
        segments = outputs["segment_scores"] | "Count segments" >> beam.combiners.Count.Globally()
        assert_that(segments, equal_to([document["segments"] * 4]), "segments")


FROM_FILES = [
    (
        "EvaluateLineParallel",
        {"candidates": {"atlas": "hyp_atlas.txt"}, "references": ["ref0.txt", "ref1.txt"]},
    ),
    (
        "EvaluateLongRecords",
        {"pattern": "long.jsonl", "id_column": "id", "system_column": "system"},
    ),
    (
        "EvaluateJoinedRecords",
        {
            "candidates": {"atlas": "long.jsonl"},
            "references": ["long.jsonl"],
            "reference_columns": ["references"],
            "join_on": "id",
        },
    ),
]


@pytest.mark.parametrize(("transform", "config"), FROM_FILES)
def test_each_form_of_files_is_read(transform, config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hypotheses, *references = (
        read_lines(path)[:20] for path in (SYSTEMS["atlas"], *REFERENCES[:2])
    )
    names = ("hyp_atlas.txt", "ref0.txt", "ref1.txt")
    for name, texts in zip(names, (hypotheses, *references), strict=True):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts))
    rows = zip(hypotheses, zip(*references, strict=True), strict=True)
    records = [
        {"id": number, "system": "atlas", "candidate": candidate, "references": refs}
        for number, (candidate, refs) in enumerate(rows)
    ]
    (tmp_path / "long.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    pipeline_text: dict[str, Any] = {
        "type": "composite",
        "transforms": [{"type": transform, "name": "Evaluated", "config": config}],
        "output": {"scores": "Evaluated.scores"},
    }
    providers = merge_providers(load_providers(str(LISTING)))
    expected = sacrebleu.corpus_bleu(hypotheses, references).score
    with beam.Pipeline("FnApiRunner") as pipeline:
        scores = pipeline | YamlTransform(json.dumps(pipeline_text), providers)
        assert_that(
            scores | beam.Map(lambda row: (row.system, row.score)),
            equal_to([("atlas", expected)]),
        )


@pytest.mark.parametrize(
    ("transform", "config", "message"),
    [
        (EvaluateRows, OF_ROWS | {"metric": "bleu"}, "no key 'metric'; it has candidates, "),
        (EvaluateRows, {"references": "references"}, "needs the key candidates"),
        (EvaluateRows, OF_ROWS | {"candidates": "atlas"}, "candidates must have the field of each"),
        (EvaluateRows, OF_ROWS | {"tokenize": "14a"}, "tokenize"),
        (EvaluateRows, OF_ROWS | {"slice_by": "topic"}, "no label 'topic'"),
        (EvaluatePairedRecords, {"metrics": ["bleu"]}, "missing a required argument: 'pattern'"),
        (EvaluatePairedRecords, OF_FILES | {"candidates": {}}, "no key 'candidates'"),
    ],
)
def test_a_mistake_is_reported_before_the_job_starts(transform, config, message):
    with pytest.raises(ValueError, match=message):
        transform(**config)


def test_the_listing_says_what_the_documentation_says():
    _, *provider = LISTING.read_text().splitlines(keepends=True)
    assert textwrap.indent("".join(provider), " " * 6) in beam_yaml_evaluate.__doc__
