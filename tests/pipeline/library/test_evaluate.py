"""`Evaluate` gives what the command writes: from the same files, the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.testing.util import assert_that, equal_to
from command_line import EXAMPLES, REFERENCES, SYSTEMS, called, read_lines, write_records

from beam_bleu import (
    ArrowColumns,
    BleuConfig,
    ChrfConfig,
    Evaluate,
    ReadJoinedRecords,
    ReadLineParallel,
    ReadPairedRecords,
)
from beam_bleu.pipeline.library.beam_yaml import Evaluate as EvaluateRows
from beam_bleu.pipeline.library.evaluate import KEYWORDS
from beam_bleu.pipeline.result.document import document_bytes
from beam_bleu.transforms.errors import GateError, InputError

LABELS = {"domain": EXAMPLES / "domains.txt", "document": EXAMPLES / "documents.txt"}
LANGUAGES = EXAMPLES / "languages"
COLUMNS = ArrowColumns(
    {name: name for name in SYSTEMS}, ["a", "b"], labels=["domain", "document"], ids="number"
)


def table() -> pa.Table:
    """The bundled example as a table."""
    columns: dict[str, Any] = {name: read_lines(path) for name, path in SYSTEMS.items()}
    columns |= {name: read_lines(path) for name, path in zip("ab", REFERENCES, strict=True)}
    columns |= {name: read_lines(path) for name, path in LABELS.items()}
    return pa.table({**columns, "number": list(range(len(columns["a"])))})


def tables(root: beam.Pipeline) -> Any:
    """The bundled example in tables of 7 rows."""
    whole = table()
    parts = [whole.slice(first, 7) for first in range(0, len(whole), 7)]
    return root | beam.Create(parts)


def files(root: beam.Pipeline, **options: Any) -> Any:
    """The bundled example, from its files."""
    labels = {name: str(path) for name, path in LABELS.items()}
    systems = {name: str(path) for name, path in SYSTEMS.items()}
    return root | ReadLineParallel(systems, [*map(str, REFERENCES)], labels=labels, **options)


EVERYTHING: dict[str, Any] = {
    "metrics": ["bleu", ChrfConfig()],
    "lowercase": True,
    "smooth_method": "floor",
    "smooth_value": 0.00005,
    "compare_presets": "all",
    "slice_by": ["domain", "domain*length"],
    "length_edges": [5, 20],
    "max_slices": 50,
    "documents": "document",
    "resample": "bootstrap",
    "resamples": 50,
    "partition": "2026-11-21",
    "examples": 3,
    "segment_scores": True,
    "segment_smooth_method": "exp",
    "save_totals": True,
}
FLAGS = ["--metrics", "bleu", "chrf"] + [
    f"--{name}"
    if value is True
    else f"--{name}={','.join(map(str, value)) if isinstance(value, list) else value}"
    for name, value in EVERYTHING.items()
    if name != "metrics"
]


def written_by_command(out: Path, *asked: Any) -> bytes:
    """The scores.json that the command writes of the bundled example."""
    labels = [f"--labels={name}={path}" for name, path in LABELS.items()]
    done = called(*REFERENCES, *labels, "-i", *SYSTEMS.values(), *asked, f"--output={out}")
    assert done.code == 0, done.err
    return (out / "scores.json").read_bytes()


def check_document(expected: bytes) -> Any:
    def check(documents: list[dict[str, Any]]) -> None:
        assert [document_bytes(document) for document in documents] == [expected]

    return check


def test_the_results_are_those_of_the_command(tmp_path):
    scores = written_by_command(tmp_path, *FLAGS)
    document, totals = json.loads(scores), (tmp_path / "totals.json").read_bytes()
    examples = [json.loads(line) for line in read_lines(tmp_path / "examples.jsonl")]
    assert len(examples) > 30
    for form in ("files", "tables"):
        with beam.Pipeline("FnApiRunner") as root:
            if form == "files":
                evaluated = files(root, describe=True) | Evaluate(**EVERYTHING)
                assert_that(evaluated.totals, equal_to([totals]), "totals")
            else:
                evaluated = tables(root) | Evaluate(columns=COLUMNS, **EVERYTHING)
                # The same sums; only what was read is not known.
                found = evaluated.totals | beam.Map(without_texts)
                assert_that(found, equal_to([without_texts(totals)]), "totals")
            assert_that(evaluated.document, check_document(scores), "document")
            assert_that(evaluated.scores, equal_to(document["scores"]), "scores")
            compared = document["comparisons"]
            assert_that(evaluated.comparisons, equal_to(compared), "comparisons")
            assert_that(evaluated.examples, equal_to(examples), "examples")
            rows = evaluated.segment_scores | beam.Map(len) | beam.CombineGlobally(sum)
            assert_that(rows, equal_to([72 * 3 * 2]), "rows")


def without_texts(totals: bytes) -> dict[str, Any]:
    """The content of saved totals, without what was read."""
    content: dict[str, Any] = json.loads(totals)["content"]
    content["partitions"] = content["totals"]["notices"] = None
    return content


def test_languages_have_the_bytes_of_the_command(tmp_path):
    systems = {path.stem: path for path in (LANGUAGES / "systems").iterdir()}
    references, pairs = LANGUAGES / "references.txt", LANGUAGES / "pairs.txt"
    run = called(
        *(f"--candidates={name}={path}" for name, path in systems.items()),
        *(f"--references={references}", f"--labels=pair={pairs}", "--language_column=pair"),
        "--format=json",
    )
    texts = {name: read_lines(path) for name, path in systems.items()}
    whole = pa.table({**texts, "reference": read_lines(references), "pair": read_lines(pairs)})
    columns = ArrowColumns({name: name for name in texts}, ["reference"], labels=["pair"])
    with beam.Pipeline("FnApiRunner") as root:
        created = root | beam.Create([whole.slice(0, 11), whole.slice(11)])
        of_tables = created | Evaluate(columns=columns, language_column="pair")
        assert_that(of_tables.document, check_document(run.out))


def test_records_that_are_joined():
    folder = EXAMPLES / "records"
    outputs = {name: str(folder / "outputs" / f"{name}.jsonl") for name in ("atlas", "birch")}
    references = str(folder / "references.jsonl")
    run = called(
        *(f"--candidates={name}={path}" for name, path in outputs.items()),
        *(f"--references={references}", "--join_on=id", "--reference_columns=ref"),
        *("--slice_by=domain", "--coverage=each", "--format=json"),
    )
    asked = {"reference_columns": ["ref"], "coverage": "each", "labels": ["domain"]}
    with beam.Pipeline("FnApiRunner") as root:
        paired = root | ReadJoinedRecords(outputs, [references], join_on="id", **asked)
        evaluated = paired | Evaluate(slice_by=["domain"])
        assert_that(evaluated.document, check_document(run.out))
        with pytest.raises(ValueError, match="resample cannot be used with coverage each"):
            paired | "Resample" >> Evaluate(resample="bootstrap")


def test_rejected_records_are_given_or_too_many(tmp_path):
    texts = [{"hyp": None if i < 2 else f"a b c d {i}", "ref": "a b c d 0"} for i in range(20)]
    path = write_records(tmp_path / "records.jsonl", texts)
    asked = {"candidate_columns": ["hyp"], "on_bad_record": "reject"}
    flags = [f"--input={path}", "--candidate_columns=hyp", "--on_bad_record=reject"]
    run = called(*flags, "--max_rejected=2", f"--output={tmp_path / 'out'}", "--format=json")
    with beam.Pipeline("FnApiRunner") as root:
        evaluated = root | ReadPairedRecords(str(path), **asked) | Evaluate(max_rejected=2)
        assert_that(evaluated.document, check_document(run.out), "document")
        rejected = evaluated.rejected | beam.Map(lambda bad: (bad.number, bad.reason))
        reasons = [(0, "missing-candidate"), (1, "missing-candidate")]
        assert_that(rejected, equal_to(reasons), "rejected")
    root = beam.Pipeline("FnApiRunner")
    _ = root | ReadPairedRecords(str(path), **asked) | Evaluate(max_rejected=0.05)
    with pytest.raises(InputError, match="2 of 20 segments were rejected"):
        root.run()


def test_a_threshold_that_is_missed_fails_as_the_command_does():
    done = called(*REFERENCES, "-i", *SYSTEMS.values(), "--fail_under=birch=99")
    assert done.code == 4
    of_files, of_tables = beam.Pipeline("FnApiRunner"), beam.Pipeline("FnApiRunner")
    _ = files(of_files) | Evaluate(fail_under=[1.5, "birch=99"])
    _ = tables(of_tables) | Evaluate(columns=COLUMNS, fail_under="birch=99")
    for root in (of_files, of_tables):
        with pytest.raises(GateError) as failure:
            root.run()
        assert failure.value.cause in done.err


WRONG = [
    ({"metric": ["bleu"]}, "has no keyword 'metric'; did you mean metrics?"),
    ({"output": "out"}, "has no keyword 'output'; docs/library.md has all"),
    ({"metrics": "bleu"}, "metrics must be a list"),
    ({"metrics": ["blue"]}, "a metric must be one of bleu, "),
    ({"metrics": ["bleu", BleuConfig()]}, "metrics must be different ones, got bleu twice"),
    ({"metrics": [None]}, "config must be one of BleuConfig, .*, got None"),
    ({"metrics": [ChrfConfig()], "chrf_beta": 1}, "chrf_beta has no effect"),
    ({"metrics": [BleuConfig()], "tokenize": "char"}, "tokenize has no effect"),
    ({"metrics": ["mean:comet"]}, "needs numbers of the column comet"),
    ({"tokenize": "14a"}, "tokenize"),
    ({"lowercase": 1}, "lowercase must be True or False"),
    ({"examples": True}, "examples must be a text or a number"),
    ({"resamples": 50}, "resamples needs resample"),
    ({"segment_smooth_method": "exp"}, "needs segment_scores or examples or diversity; give both"),
    ({"baseline": ["atlas"]}, "baseline must be one value"),
    ({"slice_by": "topic"}, "no label 'topic'; it has domain, document"),
    ({"documents": "topic"}, "no label 'topic'"),
    ({"fail_under": "atlantis=3"}, "fail_under atlantis=3: this run has no such system"),
    ({"save_totals": True}, "save_totals needs partition"),
    ({"columns": "atlas"}, "columns must be ArrowColumns"),
    ({"columns": ArrowColumns({"x": "x"}, ["a"]), "segment_scores": True}, "name the column of id"),
]


def test_wrong_keywords_are_refused_when_the_transform_is_made():
    for keywords, fragment in WRONG:
        with pytest.raises(ValueError, match=fragment) as failure:
            Evaluate(**{"columns": COLUMNS} | keywords)
        assert "--" not in str(failure.value)


def test_tasks_can_have_metrics_of_their_own():
    def check(scores: list[dict[str, Any]]) -> None:
        found = [(each["slice"]["domain"], each["metric"]) for each in scores]
        assert {*found} == {
            (domain, "bleu" if domain == "news" else "chrf")
            for domain in read_lines(LABELS["domain"])
        }
        assert len(found) == len({*found}) * len(SYSTEMS)

    evaluate = Evaluate(columns=COLUMNS, unpooled="domain", metrics_by=["news=bleu", "*=chrf"])
    with beam.Pipeline("FnApiRunner") as root:
        assert_that((root | beam.Create([table()]) | evaluate).scores, check)
    with pytest.raises(ValueError, match="metrics_by needs tasks"):
        Evaluate(columns=COLUMNS, metrics_by=["*=bleu"])


def test_an_input_of_another_form_is_refused():
    root = beam.Pipeline("FnApiRunner")
    with pytest.raises(ValueError, match="columns must be named"):
        _ = root | beam.Create([table()]) | Evaluate()
    paired = files(root)
    with pytest.raises(ValueError, match="columns are for tables"):
        _ = paired | Evaluate(columns=COLUMNS)
    with pytest.raises(ValueError, match="no label 'topic'; it has domain, document"):
        _ = paired | Evaluate(slice_by="topic")


def test_each_keyword_is_one_of_the_library_and_of_beam_yaml() -> None:
    for name in KEYWORDS:
        Evaluate(columns=COLUMNS, **{name: None})
        EvaluateRows(candidates={"a": "a"}, references=["r"], **{name: None})
