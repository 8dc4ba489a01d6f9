"""beam-bleu in Beam YAML: pipelines as users write them, and users' mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
import sacrebleu
from apache_beam.portability.api import schema_pb2
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.typehints import schemas
from apache_beam.yaml.yaml_provider import load_providers, merge_providers
from apache_beam.yaml.yaml_transform import YamlTransform, expand_pipeline
from command_line import EXAMPLES, PROJECT, REFERENCES, SYSTEMS, called, read_lines
from scoring import group_totals

from beam_bleu.pipeline.library.beam_yaml import CorpusBleu
from beam_bleu.transforms.chosen_metrics import checked_definition
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig
from beam_bleu.transforms.metrics.ter.metric import TerConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.score.score import fields_in_order
from beam_bleu.transforms.statistics.counting import count_batch

LISTING = PROJECT / "pipeline" / "library" / "beam_yaml_provider.yaml"
INCLUDED = [{"include": str(LISTING)}]

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


ROWS = [
    {"candidate": "The cat sat on the mat.", "references": ["A cat sat on the mat.", None]},
    {"candidate": "a dog ran in the park", "references": ["the dog ran in a park", "A dog ran."]},
    {"candidate": "one", "references": ["one two three"]},
]


def written(transforms: list[dict[str, Any]]) -> str:
    """A pipeline's file; JSON is YAML."""
    chain = {"type": "chain", "transforms": transforms}
    return json.dumps({"pipeline": chain, "providers": INCLUDED}, ensure_ascii=False)


def score(
    config: dict[str, Any],
    check: Callable[[list[dict[str, Any]]], None],
    rows: list[dict[str, Any]] = ROWS,
    transform: str = "CorpusBleu",
) -> None:
    """Scores rows in a pipeline and checks the rows that come out."""
    create = {"type": "Create", "config": {"elements": rows}}
    text = written([create, {"type": transform, "config": config}])
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        found = expand_pipeline(pipeline, text)
        assert_that(found | beam.Map(lambda row: row._asdict()), check)


def directly(rows: list[dict[str, Any]], config: Any) -> dict[str, Any]:
    """The score of rows, computed without Beam, in the form of a row."""
    text, definition = checked_definition(config)
    segments = [(row["candidate"], row["references"]) for row in rows]
    counts = count_batch(to_batch(segments), text, definition.metric)
    scored = definition.score(group_totals(counts, with_products=True))
    values = {name: getattr(scored, name) for name in fields_in_order(type(scored))}
    low, high = values.pop("interval") or (None, None)
    values |= {"interval_low": low, "interval_high": high}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def test_groups_of_two_fields_with_null_among_their_values() -> None:
    keys = [("a", 1), ("a", 2), ("a", None), ("b", 1), ("a", 1)]
    rows = [{**ROWS[i % 3], "who": who, "day": day} for i, (who, day) in enumerate(keys)]

    def check(found: list[dict[str, Any]]) -> None:
        assert {(row["who"], row["day"]): row["segments"] for row in found} == {
            ("a", 1): 2,
            ("a", 2): 1,
            ("a", None): 1,
            ("b", 1): 1,
        }
        for row in found:
            own = [each for each in rows if (each["who"], each["day"]) == (row["who"], row["day"])]
            assert row["score"] == directly(own, BleuConfig())["score"]

    score({"group_by": ["who", "day"]}, check, rows)


def test_rows_are_scored_by_several_metrics_in_one_pass() -> None:
    configs = {"ter": TerConfig(), "chrf": ChrfConfig(word_order=2), "bleu": BleuConfig()}
    metrics = ["ter", {"metric": "chrf", "definition": {"word_order": 2}}, {"metric": "bleu"}]
    expected = {
        f"{name}_{field}": value
        for name, config in configs.items()
        for field, value in directly(ROWS, config).items()
    }

    def check(found: list[dict[str, Any]]) -> None:
        assert found == [expected]
        assert list(found[0]) == list(expected)

    score({"metrics": metrics}, check, transform="CorpusScores")


def test_each_row_gets_the_scores_of_its_own_segment() -> None:
    rows = [{**row, "id": number} for number, row in enumerate(ROWS)]
    metrics = ["bleu", {"metric": "chrf", "definition": {"word_order": 2}}]
    bleu, chrf = sacrebleu.BLEU(effective_order=True), sacrebleu.CHRF(word_order=2)

    def check(found: list[dict[str, Any]]) -> None:
        assert [list(row) for row in found] == [
            ["candidate", "references", "id", "bleu", "chrf"]
        ] * 3
        for row, given in zip(sorted(found, key=lambda row: row["id"]), rows, strict=True):
            texts = [text for text in given["references"] if text is not None]
            for name, metric in (("bleu", bleu), ("chrf", chrf)):
                assert row[name] == metric.sentence_score(given["candidate"], texts).score
            assert {name: row[name] for name in given} == given

    score({"metrics": metrics}, check, rows, "SegmentScores")


def test_a_mistake_is_reported_before_the_job_starts() -> None:
    # Lists without null, whose type Beam knows.
    create = {"type": "Create", "config": {"elements": [{"candidate": "a", "references": ["b"]}]}}
    for transform, settings, cause in (
        ("CorpusScores", {"metrics": "bleu"}, "metrics must be a list, got 'bleu'"),
        ("CorpusScores", {"metrics": [{"name": "ter"}]}, "must be one of metric, definition"),
        ("CorpusScore", {"metric": "chrf", "definition": {"b": 1}}, "must be one of char_or"),
        ("CorpusScores", {"metrics": ["ter"], "group_by": "ter_score"}, "would give the rows of"),
        ("CorpusBleu", {"tokenise": "13a"}, "CorpusBleu has no key 'tokenise'; it has candidate, "),
        ("CorpusBleu", {"tokenize": "spm", "spm_model": "/nowhere"}, "'/nowhere' cannot be read: "),
        ("Evaluate", OF_ROWS | {"metric": "bleu"}, "no key 'metric'; it has candidates, "),
        ("Evaluate", OF_ROWS | {"candidates": "atlas"}, "candidates must have the field of each"),
        ("Evaluate", OF_ROWS | {"slice_by": "topic"}, "no label 'topic'"),
    ):
        text = written([create, {"type": transform, "config": settings}])
        with pytest.raises(ValueError, match=rf'"{transform}" at line 1: ') as failure:
            expand_pipeline(beam.Pipeline(runner=FnApiRunner()), text)
        assert cause in str(failure.value)


def test_the_next_transform_knows_the_types() -> None:
    """They are portable, so that a transform in Java (Sql) knows them, too."""

    def name(field: Any) -> str:
        if field.HasField("array_type"):
            return f"[{name(field.array_type.element_type)}]"
        return str(schema_pb2.AtomicType.Name(field.atomic_type))

    right = {"day": "INT64", "score": "DOUBLE", "precisions": "[DOUBLE]", "matches": "[INT64]"}
    for rule, type_of_length in (("closest", "INT64"), ("average", "DOUBLE")):
        rows = beam.Pipeline(FnApiRunner()) | beam.Create([beam.Row(day=1, **ROWS[1])])
        scores = rows | CorpusBleu(group_by="day", reference_length=rule)
        schema = schemas.schema_from_element_type(scores.element_type)
        types = {field.name: name(field.type) for field in schema.fields}
        right |= {"ref_len": type_of_length, "signature": "STRING", "warnings": "[STRING]"}
        assert {name: types[name] for name in right} == right


def test_the_example_runs_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(EXAMPLES)
    words = ["--runner=FnApiRunner", "--yaml_pipeline_file=examples/beam_yaml/score.yaml"]
    subprocess.run(
        [sys.executable, "-m", "apache_beam.yaml.main", *words], cwd=tmp_path, check=True
    )
    assert {path.name for path in tmp_path.iterdir()} == {"examples", "out"}
    written = read_lines(tmp_path / "out" / "scores.jsonl-00000-of-00001")
    found = {row["system"]: row for row in map(json.loads, written)}
    assert set(found) == set(SYSTEMS)
    references = [*map(read_lines, REFERENCES)]
    for system, row in found.items():
        theirs = sacrebleu.BLEU().corpus_score(read_lines(SYSTEMS[system]), references)
        assert row["bleu"] == round(theirs.score, 1)
        assert row["bp"] == pytest.approx(theirs.bp, abs=1e-9)
        assert row["segments"] == 72
        assert row["signature"].startswith("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:")


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
    return out


def rows_of_records() -> list[beam.Row]:
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


def in_yaml(transform: dict[str, Any], *outputs: str) -> YamlTransform:
    """A transform of a pipeline's file, with these outputs."""
    text: dict[str, Any] = {
        "type": "composite",
        "transforms": [transform],
        "output": {name: f"Evaluated.{name}" for name in outputs},
    }
    if transform["type"] == "Evaluate":
        text |= {"input": {"input": "input"}, "transforms": [{**transform, "input": "input"}]}
    return YamlTransform(json.dumps(text), merge_providers(load_providers(str(LISTING))))


@pytest.mark.parametrize("form", ["files", "rows"])
def test_the_outputs_are_those_of_the_command(form, expected):
    document = json.loads((expected / "scores.json").read_bytes())
    (examples,) = expected.glob("examples*")
    kind, config = ("EvaluatePairedRecords", OF_FILES) if form == "files" else ("Evaluate", OF_ROWS)
    if form == "rows":  # they are in no files, so there are no counters of what was read
        for name in ("read", "filtered", "rejected", "rejected_records"):
            del document["counters"][name]
    evaluation = {"type": kind, "name": "Evaluated", "config": config | ASKED}
    read: dict[str, Callable[[Any], Any]] = {
        "document": lambda row: json.loads(row.document),
        "scores": lambda row: (row.metric, row.slice and json.loads(row.slice), row.score),
        "comparisons": lambda row: (row.metric, row.interval_low, row.p_value),
        "totals": lambda row: sorted(json.loads(row.totals)),
        "examples": lambda row: (row.kind, row.system, row.index),
        "segment_scores": lambda row: 1,
    }
    rights: dict[str, Any] = {
        "document": [document],
        "scores": [(each["metric"], each["slice"], each["score"]) for each in document["scores"]],
        "comparisons": [
            (each["metric"], (each["interval"] or [None])[0], each["p_value"])
            for each in document["comparisons"]
        ],
        "totals": [["content", "format", "scores_sha256", "sha256", "version"]],
        "examples": [
            tuple(json.loads(line)[name] for name in ("kind", "system", "index"))
            for line in read_lines(examples)
        ],
        "segment_scores": [1] * document["segments"] * 4,
    }
    with beam.Pipeline("FnApiRunner") as pipeline:
        rows = {"input": pipeline | beam.Create(rows_of_records())} if form == "rows" else pipeline
        outputs = rows | in_yaml(evaluation, *read)
        for name, right in rights.items():
            assert_that(
                outputs[name] | name >> beam.Map(read[name]), equal_to(right), f"{name} found"
            )


def test_joined_files_are_read():
    folder = EXAMPLES / "records"
    config = {
        **{"candidates": {"atlas": str(folder / "outputs" / "atlas.jsonl")}, "join_on": "id"},
        **{"references": [str(folder / "references.jsonl")], "reference_columns": ["ref"]},
        "coverage": "common",
    }
    evaluation = {"type": "EvaluateJoinedRecords", "name": "Evaluated", "config": config}
    names = [f"--references={config['references'][0]}", "--join_on=id", "--reference_columns=ref"]
    names += [f"--candidates=atlas={config['candidates']['atlas']}", "--coverage=common"]
    (expected,) = called(*names, "--format=json").document["scores"]
    with beam.Pipeline("FnApiRunner") as pipeline:
        scores = pipeline | in_yaml(evaluation, "scores")
        found = scores | beam.Map(lambda row: (row.system, row.score))
        assert_that(found, equal_to([("atlas", expected["score"])]))
