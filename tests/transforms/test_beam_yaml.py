"""CorpusBleu in Beam YAML: pipelines as users write them, and users' mistakes."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sacrebleu
import spm_models
from apache_beam.portability.api import schema_pb2
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that
from apache_beam.typehints import schemas
from apache_beam.yaml.yaml_provider import InlineProvider, load_providers
from apache_beam.yaml.yaml_transform import expand_pipeline
from command_line import EXAMPLES, PROJECT, REFERENCES, SYSTEMS
from scoring import bleu_of, corpus_sums, corpus_totals, statistics_of

import beam_bleu.transforms.beam_yaml
from beam_bleu.transforms.beam_yaml import CorpusBleuRows
from beam_bleu.transforms.chosen_metrics import definition_of
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import METRIC_WORDS
from beam_bleu.transforms.metrics.bleu.config import PRESETS, BleuConfig, preset
from beam_bleu.transforms.metrics.bleu.score import BleuScore
from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig
from beam_bleu.transforms.metrics.ter.metric import TerConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.score.shown_score import fields_in_order
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.text.text import SentencePieceModel

LISTING = PROJECT / "transforms" / "beam_yaml_provider.yaml"
INCLUDED = [{"include": str(LISTING)}]
INLINE = [
    {
        "type": "python",
        "config": {},
        "transforms": {
            "CorpusBleu": "beam_bleu.transforms.beam_yaml.CorpusBleuRows",
            "CorpusChrf": "beam_bleu.transforms.beam_yaml.CorpusChrfRows",
            "CorpusScore": "beam_bleu.transforms.beam_yaml.CorpusScoreRows",
            "CorpusScores": "beam_bleu.transforms.beam_yaml.CorpusScoresRows",
            "SegmentScores": "beam_bleu.transforms.beam_yaml_segments.SegmentScoresRows",
        },
    }
]

ROWS = [
    {"candidate": "The cat sat on the mat.", "references": ["A cat sat on the mat.", None]},
    {"candidate": "a dog ran in the park", "references": ["the dog ran in a park", "A dog ran."]},
    {"candidate": "one", "references": ["one two three"]},
]


def lines(path: Path) -> list[str]:
    return path.read_text().split("\n")[:-1]


def written(transforms: list[dict[str, Any]], providers: list[dict[str, Any]]) -> str:
    """A pipeline's file; JSON is YAML."""
    chain = {"type": "chain", "transforms": transforms}
    return json.dumps({"pipeline": chain, "providers": providers}, ensure_ascii=False)


def run(
    transforms: list[dict[str, Any]],
    check: Callable[[list[dict[str, Any]]], None] | None = None,
    providers: list[dict[str, Any]] = INCLUDED,
) -> None:
    """Runs a chain of transforms and checks the last one's rows."""
    text = written(transforms, providers)
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = expand_pipeline(pipeline, text)
        if check:
            assert_that(rows | beam.Map(lambda row: row._asdict()), check)


def score(
    config: dict[str, Any],
    check: Callable[[list[dict[str, Any]]], None] | None = None,
    rows: list[dict[str, Any]] = ROWS,
    providers: list[dict[str, Any]] = INCLUDED,
) -> None:
    """Runs a pipeline that scores rows."""
    create = {"type": "Create", "config": {"elements": rows}}
    run([create, {"type": "CorpusBleu", "config": config}], check, providers)


def directly(rows: list[dict[str, Any]], config: BleuConfig) -> dict[str, Any]:
    """The score of rows, computed without Beam, in the form of a row."""
    statistics = statistics_of(
        to_batch([(row["candidate"], row["references"]) for row in rows]), config
    )
    sums = corpus_sums(statistics, 0, slice(0, len(rows)), with_products=True)
    return in_a_row(bleu_of(sums, config))


def in_a_row(scored: Any) -> dict[str, Any]:
    """A score in the form of a row."""
    values = {name: getattr(scored, name) for name in fields_in_order(type(scored))}
    low, high = values.pop("interval") or (None, None)
    values |= {"interval_low": low, "interval_high": high}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def sacrebleu_score(system: str, references: list[Path], **options: Any) -> Any:
    return sacrebleu.BLEU(**options).corpus_score(
        lines(SYSTEMS[system]), [lines(path) for path in references]
    )


@pytest.mark.parametrize("providers", [INCLUDED, INLINE], ids=["listing", "inline"])
def test_systems_get_sacrebleus_numbers(providers: list[dict[str, Any]]) -> None:
    rows = [
        {"system": system, "candidate": candidate, "references": list(references)}
        for system, path in SYSTEMS.items()
        for candidate, *references in zip(lines(path), *map(lines, REFERENCES), strict=True)
    ]
    expected = {system: sacrebleu_score(system, REFERENCES) for system in SYSTEMS}

    def check(found: list[dict[str, Any]]) -> None:
        assert len(found) == 3
        for row in found:
            theirs = expected[row["system"]]
            right = {
                "system": row["system"],
                "score": theirs.score,
                "precisions": theirs.precisions,
                "matches": theirs.counts,
                "totals": theirs.totals,
                "bp": theirs.bp,
                "ratio": theirs.ratio,
                "sys_len": theirs.sys_len,
                "ref_len": theirs.ref_len,
                "segments": 72,
                "signature": row["signature"],
                "sacrebleu_signature": "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
                "warnings": [],
                "standard_error": row["standard_error"],
                "interval_low": row["score"] - 1.959963984540054 * row["standard_error"],
                "interval_high": row["score"] + 1.959963984540054 * row["standard_error"],
                "name": "BLEU",
            }
            assert {name: row[name] for name in right} == right
            fields = [*fields_in_order(BleuScore)]
            fields.remove("interval")
            assert list(row) == ["system", *fields, "interval_low", "interval_high"]
            assert row["signature"].startswith("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|")

    score({"group_by": "system"}, check, rows, providers)


def test_all_rows_are_scored_together_without_groups() -> None:
    def check(found: list[dict[str, Any]]) -> None:
        assert found == [directly(ROWS, BleuConfig())]

    score({}, check)


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


SETTINGS = [
    ({"preset": "sacrebleu"}, BleuConfig()),
    ({"preset": None, "lowercase": None, "group_by": None}, BleuConfig()),
    ({"preset": "d2l"}, preset("d2l")),
    ({"preset": "d2l", "max_ngram_order": 2}, preset("d2l", max_ngram_order=2)),
    ({"preset": "tensorflow", "tokenize": "13a"}, preset("tensorflow", tokenize="13a")),
    ({"preset": "mteval13a", "lowercase": False}, preset("mteval13a", lowercase=False)),
    ({"tokenize": "none"}, BleuConfig(tokenize="none")),
    ({"lowercase": True}, BleuConfig(lowercase=True)),
    ({"smooth_method": "floor"}, BleuConfig(smooth_method="floor")),
    (
        {"smooth_method": "add-k", "smooth_value": 2},
        BleuConfig(smooth_method="add-k", smooth_value=2),
    ),
    ({"max_ngram_order": 2}, BleuConfig(max_ngram_order=2)),
    ({"weights": [0.75, 0.25]}, BleuConfig(max_ngram_order=2, weights=(0.75, 0.25))),
    ({"effective_order": True}, BleuConfig(effective_order=True)),
    ({"normalize": "nfkc"}, BleuConfig(normalize="nfkc")),
    ({"reference_length": "longest"}, BleuConfig(reference_length="longest")),
    ({"reference_length": "average"}, BleuConfig(reference_length="average")),
]


@pytest.mark.parametrize(("settings", "config"), SETTINGS, ids=lambda value: str(value)[:60])
def test_a_definition_is_what_the_flags_say(settings: dict[str, Any], config: BleuConfig) -> None:
    def check(found: list[dict[str, Any]]) -> None:
        assert found == [directly(ROWS, config)]
        assert type(found[0]["ref_len"]) is (float if config.reference_length == "average" else int)

    score(settings, check)


def scored_alone(config: Any) -> dict[str, Any]:
    """The fields of the score of the rows by one definition."""
    text, definition = definition_of(config)
    segments = [(row["candidate"], row["references"]) for row in ROWS]
    counts = count_batch(to_batch(segments), text, definition.counter)
    return in_a_row(definition.score(corpus_totals(counts, 0, with_products=True)))


@pytest.mark.parametrize(
    ("name", "settings", "config"),
    [
        ("CorpusScore", {"metric": "chrf", "definition": {"beta": 1}}, ChrfConfig(beta=1)),
        ("CorpusScore", {"metric": "chrf"}, ChrfConfig()),
        ("CorpusChrf", {"beta": 1, "char_order": 4}, ChrfConfig(4, 1)),
        (
            "CorpusChrf",
            {"word_order": 2, "whitespace": True, "lowercase": True, "eps_smoothing": True},
            ChrfConfig(word_order=2, whitespace=True, lowercase=True, eps_smoothing=True),
        ),
        ("CorpusScore", {"metric": "bleu"}, BleuConfig()),
        (
            "CorpusScore",
            {
                "metric": "bleu",
                "definition": {
                    "weights": [0.75, 0.25],
                    "max_ngram_order": 2,
                    "reference_length": "average",
                },
            },
            BleuConfig(weights=(0.75, 0.25), max_ngram_order=2, reference_length="average"),
        ),
    ],
)
def test_rows_are_scored_by_any_metric(name: str, settings: dict[str, Any], config: Any) -> None:
    expected = scored_alone(config)
    assert expected["score"] > 0

    def check(found: list[dict[str, Any]]) -> None:
        assert found == [expected]
        assert list(found[0]) == list(expected)

    create = {"type": "Create", "config": {"elements": ROWS}}
    run([create, {"type": name, "config": settings}], check)


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"metric": "meteor"}, f"metric must be one of {', '.join(METRIC_WORDS)}, got"),
        ({"metric": "chrf", "beta": 1}, "CorpusScore has no key 'beta'; it has metric, definition"),
        ({"metric": "chrf", "definition": {"b": 1}}, "a key of definition must be one of char_or"),
        ({"metric": "chrf", "definition": {"beta": 0}}, "beta must be 1 to 1000, an int, got 0"),
        ({"metric": "chrf", "group_by": "hyp_ngrams"}, "would give the rows of scores two fields"),
    ],
    ids=str,
)
def test_a_wrong_configuration_of_any_metric_is_refused(
    settings: dict[str, Any], cause: str
) -> None:
    create = {"type": "Create", "config": {"elements": ROWS}}
    with pytest.raises(ValueError, match=re.escape(cause)):
        run([create, {"type": "CorpusScore", "config": settings}])


def test_rows_are_scored_by_several_metrics_in_one_pass() -> None:
    configs = {"ter": TerConfig(), "chrf": ChrfConfig(word_order=2), "bleu": BleuConfig()}
    metrics = ["ter", {"metric": "chrf", "definition": {"word_order": 2}}, {"metric": "bleu"}]
    expected = {
        f"{name}_{field}": value
        for name, config in configs.items()
        for field, value in scored_alone(config).items()
    }

    def check(found: list[dict[str, Any]]) -> None:
        assert found == [expected]
        assert list(found[0]) == list(expected)

    create = {"type": "Create", "config": {"elements": ROWS}}
    run([create, {"type": "CorpusScores", "config": {"metrics": metrics}}], check)


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

    create = {"type": "Create", "config": {"elements": rows}}
    run([create, {"type": "SegmentScores", "config": {"metrics": metrics}}], check)


def test_rows_with_details_have_types_for_files(tmp_path: Path) -> None:
    rows = [{"candidate": row["candidate"], "reference": row["references"][0]} for row in ROWS]
    create = {"type": "Create", "config": {"elements": rows}}
    settings = {"details": True, "references": ["reference"]}
    scoring = {"type": "SegmentScores", "config": settings}
    write = {"type": "WriteToParquet", "config": {"path": str(tmp_path / "scores")}}
    run([create, scoring, write])
    (file,) = tmp_path.glob("scores*")
    table = pq.read_table(file)
    assert table.schema.field("bleu").type == pa.float64()
    assert table.schema.field("bleu_sys_len").type == pa.int64()
    assert {*map(len, table["bleu_matches"].to_pylist())} == {4}


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"metrics": "bleu"}, "metrics must be a list, got 'bleu'"),
        ({"metric": "bleu"}, "SegmentScores has no key 'metric'; it has metrics, candidate"),
        ({"candidate": "text"}, "the rows have no field 'text'; they have candidate, bleu"),
        ({}, "the rows already have a field 'bleu': rename it before"),
    ],
    ids=str,
)
def test_a_wrong_configuration_of_segment_scores_is_refused(
    settings: dict[str, Any], cause: str
) -> None:
    rows = [{"candidate": row["candidate"], "bleu": 1.0, **row} for row in ROWS]
    create = {"type": "Create", "config": {"elements": rows}}
    with pytest.raises(ValueError, match=re.escape(cause)):
        run([create, {"type": "SegmentScores", "config": settings}])


def test_groups_are_scored_by_several_metrics() -> None:
    rows = [{**row, "system": f"s{number % 2}"} for number, row in enumerate(ROWS)]
    create = {"type": "Create", "config": {"elements": rows}}
    settings = {"metrics": ["wer", "bleu"], "group_by": "system", "uncertainty": False}

    def check(found: list[dict[str, Any]]) -> None:
        assert {row["system"]: row["wer_segments"] for row in found} == {"s0": 2, "s1": 1}
        assert [row["bleu_standard_error"] for row in found] == [None, None]

    run([create, {"type": "CorpusScores", "config": settings}], check)


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"metrics": "bleu"}, "metrics must be a list, got 'bleu'"),
        ({"metrics": []}, "metrics must be a list of names and configs, got []"),
        ({"metrics": ["bleu", "bleu"]}, "metrics must be different ones, got bleu, bleu"),
        ({"metrics": ["meteor"]}, f"metric must be one of {', '.join(METRIC_WORDS)}, got"),
        ({"metrics": [3]}, "metric must be the name of a metric, got 3"),
        ({"metrics": [{"definition": {}}]}, "metric must be the name of a metric, got None"),
        ({"metrics": [{"name": "ter"}]}, "a key of a metric must be one of metric, definition"),
        ({"metrics": [{"metric": "chrf", "definition": {"b": 1}}]}, "must be one of char_or"),
        ({"metrics": ["ter"], "group_by": "ter_score"}, "would give the rows of scores two fields"),
    ],
    ids=str,
)
def test_a_wrong_configuration_of_several_metrics_is_refused(
    settings: dict[str, Any], cause: str
) -> None:
    create = {"type": "Create", "config": {"elements": ROWS}}
    with pytest.raises(ValueError, match=re.escape(cause)):
        run([create, {"type": "CorpusScores", "config": settings}])


def test_every_key_is_tried() -> None:
    keys = set(inspect.signature(CorpusBleuRows).parameters)
    fields = {"candidate", "references", "group_by", "uncertainty"}
    assert keys - fields == {field.name for field in dataclasses.fields(BleuConfig)} | {"preset"}
    assert keys - fields - {"spm_model"} == {key for given, _ in SETTINGS for key in given} - fields


def test_the_model_is_sent_with_the_transform(tmp_path: Path) -> None:
    (tmp_path / "spm.model").write_bytes(spm_models.model())
    transform = CorpusBleuRows(tokenize="spm", spm_model=str(tmp_path / "spm.model"))
    model = SentencePieceModel.of(spm_models.model())
    assert transform._config == BleuConfig(tokenize="spm", spm_model=model)
    assert transform._config.spm_model.data == model.data


def test_a_file_that_is_no_model_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "spm.model").write_bytes(b"bytes of a text")
    with pytest.raises(InputError, match="the file is not a SentencePiece model"):
        CorpusBleuRows(tokenize="spm", spm_model=str(tmp_path / "spm.model"))


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"tokenise": "13a"}, "CorpusBleu has no key 'tokenise'; it has candidate, references, gr"),
        ({"preset": "nist"}, f"preset must be one of {', '.join(PRESETS)}, got 'nist'"),
        ({"preset": ["nltk"]}, "preset must be one of sacrebleu, "),
        ({"tokenize": "14a"}, "tokenize must be one of 13a, intl, "),
        ({"lowercase": "yes"}, "lowercase must be True, 'ascii' or False, got 'yes'"),
        ({"smooth_method": "expo"}, "smooth_method must be one of exp, floor, "),
        ({"smooth_method": "nltk-method5"}, "'nltk-method5' is for segment scores only"),
        ({"smooth_value": 1}, "smooth_value 1 cannot be used with smooth_method 'exp'"),
        ({"max_ngram_order": 0}, "max_ngram_order must be 1 to 16, an int, got 0"),
        ({"weights": 0.5}, "weights must be a list of numbers, got 0.5"),
        ({"weights": "0.5,0.5"}, "weights must be a list of numbers, got '0.5,0.5'"),
        ({"weights": [0.5, "x"]}, "weights must be numbers, 0 or more, in a tuple, got (0.5"),
        ({"effective_order": 1}, "effective_order must be True or False, got 1"),
        ({"normalize": "nfd"}, "normalize must be one of nfc, nfkc, got 'nfd'"),
        ({"reference_length": "mean"}, "reference_length must be one of closest, "),
        ({"tokenize": "spm"}, "spm_model must be given if tokenize is 'spm', and only then"),
        ({"tokenize": "spm", "spm_model": "/nowhere"}, "spm_model '/nowhere' cannot be read: "),
        ({"tokenize": "spm", "spm_model": 5}, "spm_model must be the path of a file, got 5"),
        ({"candidate": ["a"]}, "candidate must be the name of a field, got ['a']"),
        ({"references": []}, "references must be the names of one field or more, got none"),
        ({"references": {"a": 1}}, "references must be the name of a field or a list of names, "),
        ({"group_by": [1]}, "group_by must be the name of a field or a list of names, got [1]"),
        ({"group_by": ["score"]}, "group_by score would give the rows of scores two fields 'score"),
        ({"group_by": ["a", "a"]}, "group_by a, a would give the rows of scores two fields 'a'"),
        ({"candidate": "hyp"}, "the rows have no field 'hyp'; they have candidate, references"),
        ({"references": "ref"}, "the rows have no field 'ref'; they have candidate, references"),
        ({"references": ""}, "the rows have no field ''; they have candidate, references"),
        ({"references": ["references", "ref"]}, "the rows have no field 'ref'; they have "),
        ({"group_by": "day"}, "the rows have no field 'day'; they have candidate, references"),
        ({"references": ["references"]}, "the field 'references' must be a text, but its type is "),
        ({"references": "candidate"}, "the field 'candidate' is given as a candidate and as a ref"),
        ({"references": ["candidate"]}, "the field 'candidate' is given as a candidate and as a"),
        ({"references": ["r", "r"]}, "the field 'r' is given twice"),
        ({"uncertainty": "false"}, "uncertainty must be True or False, got 'false'"),
    ],
    ids=str,
)
def test_a_mistake_is_reported_before_the_job_starts(settings: dict[str, Any], cause: str) -> None:
    # Lists without null, whose type Beam knows.
    rows = [{"candidate": "a", "references": ["b", "c"]}]
    spec = [
        {"type": "Create", "config": {"elements": rows}},
        {"type": "CorpusBleu", "config": settings},
    ]
    text = written(spec, INLINE)
    with pytest.raises(ValueError, match=r'"CorpusBleu" at line 1: ') as failure:
        expand_pipeline(beam.Pipeline(runner=FnApiRunner()), text)
    assert cause in str(failure.value)


class Named(NamedTuple):
    """A row with attributes that are not fields, `count` and `index`."""

    candidate: str
    references: list[str]


@pytest.mark.parametrize(
    ("settings", "row", "cause", "remedy"),
    [
        (
            {"candidate": "hyp"},
            beam.Row(candidate="a", references=["b"]),
            "the rows have no field 'hyp'; they have candidate, references: Row(candidate='a', ",
            "name the fields in the configuration",
        ),
        (
            {"group_by": "count"},
            Named("a", ["b"]),
            "the rows have no field 'count'; they have candidate, references: Named(candidate='a'",
            "name the fields in the configuration",
        ),
        ({}, {"candidate": "a"}, "an element must be a Beam Row, got {'candidate': 'a'}", "map it"),
        (
            {},
            beam.Row(candidate="a", references="['b', 'c']"),
            "must be a list of texts, but it is one text "
            "(ReadFromJson turns a list into one text): "
            "\"['b', 'c']\"",
            "list them: references: [reference_a, reference_b]",
        ),
        ({}, beam.Row(candidate=None, references=["b"]), "the candidate must be a str, got No", ""),
        ({}, beam.Row(candidate="a", references=[None]), "the candidate 'a' has no refer", ""),
    ],
)
def test_rows_of_unknown_fields_are_checked_one_by_one(
    settings: dict[str, Any], row: Any, cause: str, remedy: str
) -> None:
    pipeline = beam.Pipeline(runner=FnApiRunner())
    # Not from Create, because it would give its elements their exact type.
    rows = pipeline | beam.Create([0]) | beam.Map(lambda _: row).with_output_types(Any)
    _ = rows | CorpusBleuRows(**settings)
    with pytest.raises(Exception, match=re.escape(cause)) as failure:
        pipeline.run()
    assert remedy in str(failure.value)


def test_rows_of_unknown_fields_are_scored() -> None:
    expected = directly(ROWS, BleuConfig())

    def check(found: list[Any]) -> None:
        assert [row._asdict() for row in found] == [{"day": 1, **expected}]

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = pipeline | beam.Create([beam.Row(day=1, **row) for row in ROWS])
        unknown = rows | beam.Map(lambda row: row).with_output_types(Any)
        assert_that(unknown | CorpusBleuRows(group_by="day"), check)


def test_fields_have_any_name_and_null_is_no_reference() -> None:
    rows = [
        {"hyp": row["candidate"], "a": row["references"][0], "b": (row["references"] + [None])[1]}
        for row in ROWS
    ]
    assert [row["b"] for row in rows] == [None, "A dog ran.", None]

    def check(found: list[dict[str, Any]]) -> None:
        assert found == [directly(ROWS, BleuConfig())]
        assert found[0]["signature"].startswith("nrefs:var|")

    score({"candidate": "hyp", "references": ["a", "b"]}, check, rows)


def test_a_score_of_0_has_a_reason() -> None:
    def check(found: list[dict[str, Any]]) -> None:
        ((warning,),) = (row["warnings"] for row in found)
        assert warning.startswith("the score is 0: no n-gram of a candidate is in its references")

    rows = [{"candidate": "a b c d", "references": ["e f g h"]}]
    score({"uncertainty": False}, check, rows)


@pytest.mark.parametrize(("rule", "type_of_length"), [("closest", "INT64"), ("average", "DOUBLE")])
def test_the_next_transform_knows_the_types(rule: str, type_of_length: str) -> None:
    """They are portable, so that a transform in Java (Sql) knows them, too."""
    pipeline = beam.Pipeline(runner=FnApiRunner())
    rows = pipeline | beam.Create([beam.Row(day=1, **ROWS[1])])
    scores = rows | CorpusBleuRows(group_by="day", reference_length=rule)

    def name(field: Any) -> str:
        if field.HasField("array_type"):
            return f"[{name(field.array_type.element_type)}]"
        assert field.HasField("atomic_type")
        return str(schema_pb2.AtomicType.Name(field.atomic_type))

    schema = schemas.schema_from_element_type(scores.element_type)
    types = {field.name: name(field.type) for field in schema.fields}
    right = {
        "day": "INT64",
        "score": "DOUBLE",
        "precisions": "[DOUBLE]",
        "matches": "[INT64]",
        "totals": "[INT64]",
        "bp": "DOUBLE",
        "ratio": "DOUBLE",
        "sys_len": "INT64",
        "ref_len": type_of_length,
        "segments": "INT64",
        "signature": "STRING",
        "sacrebleu_signature": "STRING",
        "warnings": "[STRING]",
        "standard_error": "DOUBLE",
        "interval_low": "DOUBLE",
        "interval_high": "DOUBLE",
    }
    assert {name: types[name] for name in right} == right


def test_it_works_with_beams_own_readers_and_writers(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{"day": "today", **row} for row in ROWS])
    pq.write_table(table, tmp_path / "rows.parquet")
    fields = {"day": "day", "unigrams": "matches[0]", "score": "score", "precisions": "precisions"}
    mapping = {"language": "python", "fields": fields}
    read = {"type": "ReadFromParquet", "config": {"path": str(tmp_path / "rows.parquet")}}
    scoring = {"type": "CorpusBleu", "config": {"group_by": "day"}}
    write = {"type": "WriteToJson", "config": {"path": str(tmp_path / "mapped"), "num_shards": 1}}
    run([read, scoring, {"type": "MapToFields", "config": mapping}, write])
    run([read, scoring, {"type": "WriteToParquet", "config": {"path": str(tmp_path / "scores")}}])

    expected = directly(ROWS, BleuConfig())
    (mapped,) = tmp_path.glob("mapped-*")
    found = json.loads(mapped.read_text())
    assert found.pop("score") == pytest.approx(expected["score"], abs=1e-9)
    assert found.pop("precisions") == pytest.approx(expected["precisions"], abs=1e-9)
    assert found == {"day": "today", "unigrams": expected["matches"][0]}
    (scores,) = tmp_path.glob("scores-*")
    assert pq.read_table(scores).to_pylist() == [{"day": "today", **expected}]


def test_a_list_that_beam_turned_into_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    read = {"type": "ReadFromJson", "config": {"path": str(tmp_path / "rows.jsonl")}}
    with pytest.raises(
        ValueError, match=r"ReadFromJson turns a list into one text.*for fields with one"
    ):
        run([read, {"type": "CorpusBleu"}])


def test_beam_can_describe_the_configuration() -> None:
    (provider,) = load_providers(str(LISTING))
    assert isinstance(provider, InlineProvider)
    schema = provider.config_schema("CorpusBleu")
    assert [field.name for field in schema.fields] == [
        *inspect.signature(CorpusBleuRows).parameters
    ]
    assert all(field.description for field in schema.fields)
    assert provider.description("CorpusBleu").startswith("Corpus BLEU of rows")


def test_the_listing_says_what_the_documentation_says() -> None:
    _, *provider = LISTING.read_text().splitlines(keepends=True)
    shown = textwrap.indent("".join(provider), " " * 6)
    assert shown in beam_bleu.transforms.beam_yaml.__doc__
    assert (
        shown.replace(" " * 6, "  ", 1).replace("\n" + " " * 6, "\n  ")
        in (EXAMPLES / "beam_yaml" / "score.yaml").read_text()
    )


def test_the_example_runs_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(EXAMPLES)
    example = "examples/beam_yaml/score.yaml"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "apache_beam.yaml.main", "--runner=FnApiRunner"),
            f"--yaml_pipeline_file={example}",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"examples", "out"}
    written = lines(tmp_path / "out" / "scores.jsonl-00000-of-00001")
    found = {row["system"]: row for row in map(json.loads, written)}
    assert set(found) == set(SYSTEMS)
    for system, row in found.items():
        theirs = sacrebleu_score(system, REFERENCES)
        assert row["bleu"] == round(theirs.score, 1)
        assert row["bp"] == pytest.approx(theirs.bp, abs=1e-9)
        assert row["segments"] == 72
        assert row["signature"].startswith("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:")
