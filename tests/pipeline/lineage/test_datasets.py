"""Datasets have the names of OpenLineage's rules, so that they are those of other programs."""

from __future__ import annotations

import os

import pytest

from beam_bleu.pipeline.lineage.datasets import dataset

_AZURE = "abfss://texts@account.dfs.core.windows.net"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("/data/ref.txt", ("file", "/data/ref.txt")),
        ("data/../ref.txt", ("file", f"{os.getcwd()}/ref.txt")),
        ("/data/refs/part-*.txt", ("file", "/data/refs")),
        ("s3://bucket/refs/a-[0-9].txt", ("s3://bucket", "refs")),
        ("gs://bucket/*.txt", ("gs://bucket", "/")),
        ("https://us:sec/ret@host:8080/a.txt", ("https://host:8080", "a.txt")),
        ("gs://bucket/scores/2026-11-20/", ("gs://bucket", "scores/2026-11-20")),
        ("azfs://account/texts/refs/a.txt", (_AZURE, "refs/a.txt")),
        ("delta:s3://bucket/segments", ("s3://bucket", "segments")),
        ("iceberg:/data/segments", ("file", "/data/segments")),
        ("iceberg:prod.news.segments", ("iceberg", "prod.news.segments")),
        ("-", None),
        ("/dev/fd/63", None),
    ],
)
def test_a_dataset_has_the_name_of_the_rules(pattern, expected):
    assert dataset(pattern) == expected
