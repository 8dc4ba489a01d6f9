"""Standard errors, comparisons, replicates, saved totals, examples: the same bytes everywhere.

Each job combines several of them, because a job on an engine takes long.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from command_line import EXAMPLES, REFERENCES, SYSTEMS, Argument, called, read_lines, write_lines
from test_engines_agree import typed_for

from deploy.local.cluster import Cluster

SEGMENTS = 6000
DOCUMENTS = 250
RANGE_BYTES = 1 << 16
"""Small, so that the corpus is many portions, and documents cross them."""

DOMAINS = ["news", "talk", "größe"]

FILES = ("scores.json", "totals.json", "examples.jsonl")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Argument]:
    """Three systems and two references, with the domain and the document of each segment."""
    folder, draw = tmp_path_factory.mktemp("corpus"), random.Random(13)
    examples = {path: read_lines(path) for path in (*REFERENCES, *SYSTEMS.values())}
    texts: dict[Path, list[str]] = {path: [] for path in examples}
    labels = []
    for _ in range(SEGMENTS):
        row, document = draw.randrange(len(examples[REFERENCES[0]])), draw.randrange(DOCUMENTS)
        labels.append(f"{DOMAINS[document % len(DOMAINS)]}\tdocument {document}")
        for path, text in texts.items():
            words = examples[path][row].split(" ")
            del words[draw.randrange(len(words))]
            text.append(" ".join(words))
    paths = {
        path: write_lines(folder / path.relative_to(EXAMPLES), text) for path, text in texts.items()
    }
    assert paths[REFERENCES[0]].stat().st_size > 5 * RANGE_BYTES
    return [
        *(paths[path] for path in REFERENCES),
        *("-i", *(paths[path] for path in SYSTEMS.values())),
        f"--labels=domain,document={write_lines(folder / 'labels.tsv', labels)}",
        f"--range_bytes={RANGE_BYTES}",
        *("--slice_by=domain", "--save_totals", "--examples=7", "--format=json"),
    ]


def assert_same_files(cluster: Cluster, folder: Path, *given: Argument) -> dict[str, Any]:
    """Runs a job here and on the cluster, and compares all files. Returns the result document."""
    here, there = folder / "here", folder / "there"
    expected = called(*given, "--progress=off", "--output", here)
    assert (expected.code, expected.err) == (0, "")
    run = typed_for(cluster, *given, "--output", there)
    assert (run.code, run.err) == (0, "")
    assert run.out == expected.out
    for pattern in FILES:
        (of_cluster,), (own,) = there.glob(pattern), here.glob(pattern)
        assert of_cluster.read_bytes() == own.read_bytes(), pattern
    manifests = [json.loads((out / "manifest.json").read_bytes()) for out in (here, there)]
    assert manifests[0] | {"data_files": []} == manifests[1] | {"data_files": []}
    return expected.document


def assert_full(document: dict[str, Any], unit: str, units: int) -> None:
    """Checks that a result has all the evidence, so that equal bytes mean something."""
    assert (document["uncertainty"]["unit"], document["uncertainty"]["units"]) == (unit, units)
    assert all(each["standard_error"] > 0 for each in document["scores"])
    assert {json.dumps(each["slice"]) for each in document["comparisons"]} == {
        json.dumps(each["slice"]) for each in document["scores"]
    }
    metrics = len(document["metrics"])
    assert len(document["scores"]) == metrics * len(SYSTEMS) * (1 + len(DOMAINS))
    assert all(each["p_value"] is not None for each in document["comparisons"])
    assert len(document["resampling"]["comparisons"]) >= len(SYSTEMS) - 1


def test_documents_and_the_bootstrap(
    cluster: Cluster, corpus: list[Argument], tmp_path: Path
) -> None:
    flags = ["--documents=document", "--resample=bootstrap", "--compare=all", "--partition=1"]
    flags += ["--metrics", "bleu", "chrf"]
    document = assert_same_files(cluster, tmp_path, *corpus, *flags)
    assert_full(document, "document", DOCUMENTS)
    assert document["clusters"]


def test_segments_and_randomization(
    cluster: Cluster, corpus: list[Argument], tmp_path: Path
) -> None:
    flags = ["--resample=randomization", "--baseline=birch", "--seed=7"]
    document = assert_same_files(cluster, tmp_path, *corpus, *flags)
    assert_full(document, "segment", SEGMENTS)
