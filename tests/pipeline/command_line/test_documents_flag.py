"""`--documents`: standard errors and comparisons are those of whole documents."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import called, streams, write_lines
from sacrebleu.metrics import BLEU

LINES = 300
DOCUMENTS = 40
SYSTEMS = ("one", "two", "three")
WORDS = ["a", "b", "cat", "sat", "on", "é", "the", "mat", "-", "end."]


class Corpus:
    """Three systems whose quality depends on the document. Its segments are scattered."""

    def __init__(self, folder: Path) -> None:
        draw = random.Random(13)
        self.folder = folder
        self.documents = [f"news/größe {draw.randrange(DOCUMENTS)}" for _ in range(LINES)]
        quality = {
            (name, document): draw.uniform(0.5, 0.95)
            for document in sorted(set(self.documents))
            for name in SYSTEMS
        }
        self.references = [
            " ".join(draw.choices(WORDS, k=draw.randrange(4, 20))) for _ in range(LINES)
        ]
        self.systems = {
            name: [
                " ".join(
                    word
                    for word in reference.split()
                    if draw.random() < quality[name, document] or draw.random() < 0.1
                )
                for reference, document in zip(self.references, self.documents, strict=True)
            ]
            for name in SYSTEMS
        }

    def texts(self, *flags: Any) -> list[Any]:
        """The arguments for text files; DOCS stands for the file of documents."""
        named = {**self.systems, "references": self.references, "DOCS": self.documents}
        files = {name: write_lines(self.folder / name, text) for name, text in named.items()}
        flags = tuple(str(flag).replace("DOCS", str(files["DOCS"])) for flag in flags)
        systems = [f"{name}={files[name]}" for name in SYSTEMS]
        return streams(systems, [files["references"]], *flags)

    def influences(self, system: str, rows: Sequence[int]) -> np.ndarray:
        """How much each document with these rows changes the score of a system.

        These are the derivatives of sacreBLEU's formula, for each segment.
        """
        candidates = [self.systems[system][row] for row in rows]
        references = [self.references[row] for row in rows]
        metric = BLEU()
        found = np.array(metric._extract_corpus_statistics(candidates, [references]), float)
        length, reference, matches, totals = np.split(found, [1, 2, 6], axis=1)
        score = metric.corpus_score(candidates, [references]).score
        each = (matches / matches.sum(0) - totals / totals.sum(0)).mean(axis=1)
        if length.sum() < reference.sum():
            penalty = length / length.sum() - reference / reference.sum()
            each += (penalty * reference.sum() / length.sum())[:, 0]
        documents, places = np.unique([self.documents[row] for row in rows], return_inverse=True)
        return score * np.bincount(places, each, len(documents))

    def standard_error(self, *systems: str, rows: Sequence[int] = range(LINES)) -> float:
        """The standard error of a score, or of the difference of two scores."""
        values = self.influences(systems[0], rows)
        if len(systems) > 1:
            values = values - self.influences(systems[1], rows)
        return float(np.sqrt(len(values) / (len(values) - 1) * (values**2).sum()))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


def errors(document: dict[str, Any]) -> dict[str, float]:
    """The standard errors of the whole corpus."""
    return {
        each["system"]: each["standard_error"] for each in document["scores"] if not each["slice"]
    }


def assert_of_documents(corpus: Corpus, document: dict[str, Any], label: str) -> None:
    assert document["uncertainty"] == {
        "unit": "document",
        "label": label,
        "units": DOCUMENTS,
        "confidence": 0.95,
    }
    assert errors(document) == pytest.approx(
        {name: corpus.standard_error(name) for name in SYSTEMS}
    )
    for each in document["comparisons"]:
        if each["slice"] is None:
            assert each["units"] == DOCUMENTS
            assert each["segments"] == LINES
            expected = corpus.standard_error(each["system"], each["baseline"])
            assert each["standard_error"] == pytest.approx(expected)


def test_standard_errors_are_those_of_documents_also_in_a_column_of_records(corpus, tmp_path):
    assert len(set(corpus.documents)) == DOCUMENTS
    document = called(*corpus.texts("--documents=DOCS", "--format=json")).document
    assert_of_documents(corpus, document, "document")
    segments = errors(called(*corpus.texts("--format=json")).document)
    assert all(abs(errors(document)[name] / segments[name] - 1) > 0.05 for name in SYSTEMS)
    texts = {"reference": corpus.references, **corpus.systems}
    rows = [
        {"doc": {"id": document}, **{name: text[i] for name, text in texts.items()}}
        for i, document in enumerate(corpus.documents)
    ]
    path = write_lines(tmp_path / "records.jsonl", [json.dumps(row) for row in rows])
    flags = ["--candidate_columns", ",".join(SYSTEMS), "--documents", "doc.id", "--format=json"]
    assert_of_documents(corpus, called("--input", path, *flags).document, "doc.id")


def test_slices_have_the_parts_of_documents_that_are_in_them(corpus, tmp_path):
    path = write_lines(tmp_path / "halves.txt", [str(i % 2) for i in range(LINES)])
    flags = [f"--labels=half={path}", "--slice_by=half,document", "--documents=DOCS"]
    document = called(*corpus.texts(*flags, "--format=json")).document
    assert_of_documents(corpus, document, "document")
    for each in document["scores"]:
        if each["slice"] in ({"half": "0"}, {"half": "1"}):
            rows = range(int(each["slice"]["half"]), LINES, 2)
            expected = corpus.standard_error(each["system"], rows=rows)
            assert each["standard_error"] == pytest.approx(expected)
        elif each["slice"]:  # a slice with one document
            assert each["standard_error"] is None
    compared = [each for each in document["comparisons"] if each["slice"] == {"half": "1"}]
    assert [each["system"] for each in compared] == ["two", "three"]
    for each in compared:
        expected = corpus.standard_error(each["system"], "one", rows=range(1, LINES, 2))
        assert each["standard_error"] == pytest.approx(expected)


def test_each_segment_must_have_a_document(corpus, tmp_path):
    for line, fragment in (
        (" ", "segment 6 has no document in document"),
        ("news\t", "segment 6 has no document in document"),
        ("a\tb\tc", "has 3 fields"),
    ):
        lines = [*corpus.documents[:5], line, *corpus.documents[6:]]
        path = write_lines(tmp_path / "documents.txt", lines)
        called(*corpus.texts(f"--documents={path}")).assert_failed(3, fragment, "line 6")
    for value, others in ((None, "d"), (" ", "d"), (math.nan, 1.5)):
        rows = [{"hyp": "a", "ref": "a", "doc": value if i == 3 else others} for i in range(9)]
        path = write_lines(tmp_path / "records.jsonl", [json.dumps(row) for row in rows])
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "records.parquet")
        for name, place in ((path, "line 4"), (tmp_path / "records.parquet", "row 4")):
            run = called("--input", name, "--documents", "doc", "--quiet")
            run.assert_failed(3, "segment 4 has no document in doc", place)
