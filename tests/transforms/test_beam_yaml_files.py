"""Scores of files in Beam YAML: pipelines as users write them, and users' mistakes."""

from __future__ import annotations

import json
import textwrap

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sacrebleu
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.yaml.yaml_transform import expand_pipeline
from command_line import PROJECT, REFERENCES, SYSTEMS, read_lines

from beam_bleu.transforms import beam_yaml_files
from beam_bleu.transforms.beam_yaml_files import ScorePairedRecords

LISTING = PROJECT / "transforms" / "beam_yaml_files_provider.yaml"
CANDIDATES = {name: read_lines(path) for name, path in SYSTEMS.items()}
REFERENCE_TEXTS = [read_lines(path) for path in REFERENCES]
COLUMNS = {
    "id": list(range(len(REFERENCE_TEXTS[0]))),
    **CANDIDATES,
    "ref0": REFERENCE_TEXTS[0],
    "ref1": REFERENCE_TEXTS[1],
}


def run(transform, config, **choices):
    """Runs a pipeline of one transform, and compares the rows with sacreBLEU's scores."""
    text = {
        "pipeline": {"type": "chain", "transforms": [{"type": transform, "config": config}]},
        "providers": [{"include": str(LISTING)}],
    }
    expected = [
        (name, sacrebleu.corpus_bleu(texts, REFERENCE_TEXTS, **choices).score)
        for name, texts in CANDIDATES.items()
    ]
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        rows = expand_pipeline(pipeline, json.dumps(text))
        assert_that(rows | beam.Map(lambda row: (row.system, row.score)), equal_to(expected))


@pytest.fixture
def folder(tmp_path):
    pq.write_table(pa.table(COLUMNS), tmp_path / "paired.parquet")
    for name in CANDIDATES:
        table = pa.table({"id": COLUMNS["id"], "mt": COLUMNS[name]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    long = [
        {"id": row, "system": name, "mt": texts[row], "ref0": refs[0], "ref1": refs[1]}
        for name, texts in CANDIDATES.items()
        for row, refs in enumerate(zip(*REFERENCE_TEXTS, strict=True))
    ]
    pq.write_table(pa.Table.from_pylist(long), tmp_path / "long.parquet")
    return tmp_path


def test_paired_records(folder):
    config = {
        "pattern": f"{folder}/paired.parquet",
        "candidate_columns": list(CANDIDATES),
        "tokenize": "char",
        "lowercase": True,
    }
    run("ScorePairedRecords", config, tokenize="char", lowercase=True)


def test_long_records(folder):
    config = {
        "pattern": f"{folder}/long.parquet",
        "id_column": "id",
        "system_column": "system",
        "candidate_column": "mt",
    }
    run("ScoreLongRecords", config)


def test_joined_records(folder):
    config = {
        "candidates": {name: f"{folder}/{name}.parquet" for name in CANDIDATES},
        "references": [f"{folder}/paired.parquet"],
        "reference_columns": ["ref0", "ref1"],
        "join_on": "id",
    }
    run("ScoreJoinedRecords", config)


def test_lines():
    config = {
        "candidates": {name: str(path) for name, path in SYSTEMS.items()},
        "references": [str(path) for path in REFERENCES],
    }
    run("ScoreLineParallel", config)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"pattern": "a.tsv", "tokenise": "13a"}, r"no key 'tokenise'; it has pattern, .*tokenize"),
        ({"pattern": "a.tsv", "tokenize": "14a"}, r"tokenize must be one of"),
        ({"pattern": "a.txt"}, r"give input_format, one of parquet, arrow, avro, jsonl, tsv"),
        ({}, r"ScorePairedRecords: missing a required argument: 'pattern'"),
    ],
)
def test_a_mistake_is_reported_before_the_job_starts(config, message):
    with pytest.raises(ValueError, match=message):
        ScorePairedRecords(**config)


def test_the_listing_says_what_the_documentation_says():
    _, *provider = LISTING.read_text().splitlines(keepends=True)
    assert textwrap.indent("".join(provider), " " * 6) in beam_yaml_files.__doc__
