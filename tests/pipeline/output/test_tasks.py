"""Several tasks in one layout: results are given by task, and a common score needs --pool_tasks."""

from __future__ import annotations

import collections
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import EXAMPLES, PROJECT, called
from sacrebleu.metrics import BLEU, CHRF
from shown_tables import shown

from beam_bleu.pipeline.report.figures import standing
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.pipeline.saved.totals_file import read_totals
from beam_bleu.transforms.errors import InputError

TASKS = {
    "wmt_en-de": [("der Hund schläft im Garten", "der Hund schläft im Park heute")],
    "wmt_en-fr": [("le chat dort sur le lit", "le chat dort sur le lit"), ("a b c d e", "a b")],
}
"""By task: the candidates and references of its segments."""

TIME = "2026-01-01T00-00-00.000000"


def lm_eval(folder: Path) -> Path:
    folder.mkdir()
    for task, segments in TASKS.items():
        rows = [
            {"doc_id": i, "target": reference, "filtered_resps": [text], "filter": "none"}
            for i, (text, reference) in enumerate(segments)
        ]
        path = folder / f"samples_{task}_{TIME}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def flags_of(folder: Path, task: str = "*") -> list[str]:
    flags = ["--layout=lm-eval", "--where=filter=none"]
    return [*flags, f"--input={folder}/samples_{task}.jsonl"]


def test_several_tasks_have_no_common_score(tmp_path: Path) -> None:
    run = called(*flags_of(lm_eval(tmp_path / "d")), "--format", "json")
    expected = {}
    for task, segments in TASKS.items():
        texts, references = zip(*segments, strict=True)
        expected[task] = BLEU().corpus_score(texts, [references]).score
    found = {each["slice"]["task"]: each["score"] for each in run.document["scores"]}
    assert found == expected  # and no score of all tasks
    assert run.document["tasks"] == [{"slice": {"task": task}} for task in TASKS]
    (average,) = run.document["macro_average"]
    assert average["tasks"] == 2
    assert average["score"] == pytest.approx(sum(expected.values()) / 2)
    schema = json.loads((PROJECT / "docs" / "scores.schema.json").read_text())
    jsonschema.validate(run.document, schema)


@pytest.mark.parametrize("filters", [[], ["flexible-extract"]])
def test_a_task_without_segments_is_an_error(tmp_path: Path, filters: list[str]) -> None:
    path = lm_eval(tmp_path / "d") / f"samples_arc_{TIME}.jsonl"
    rows = [
        {"doc_id": 1, "target": "5", "filtered_resps": ["5"], "filter": each} for each in filters
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    called(*flags_of(tmp_path / "d")).assert_failed(3, "no segment of arc is scored", "--where")
    assert called(*flags_of(tmp_path / "d"), "--pool_tasks").code == 0


def test_a_join_has_the_tasks_of_all_files(tmp_path: Path) -> None:
    _, en_fr = sorted(lm_eval(tmp_path / "d").iterdir())
    copy = tmp_path / "copy.jsonl"
    copy.write_text(en_fr.read_text())
    flags = ["--layout=lm-eval", "--where=filter=none", "--format=json"]
    assert called(*flags, "-i", f"a={en_fr}", f"b={copy}").document["segments"] == 2
    some = ["-i", f"a={tmp_path}/d/*.jsonl", f"b={en_fr}", "--join_on=task,doc_id"]
    run = called(*flags, *some, "--coverage=common")
    assert {each["slice"]["task"] for each in run.document["scores"] if each["slice"]} == {
        "wmt_en-fr"
    }
    empty = tmp_path / "samples_arc.jsonl"
    empty.write_text(en_fr.read_text().replace('"none"', '"other"'))
    systems = [f"{name}={tmp_path}/**/samples_*.jsonl" for name in "ab"]
    run = called(*flags, "--join_on=task,doc_id", "-i", *systems)
    run.assert_failed(3, "no segment of arc is scored")


def test_flags_that_need_a_common_score(tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    for flag in ("--compare_presets", "--resample=bootstrap"):
        name = flag.partition("=")[0]
        called(*flags_of(folder), flag).assert_failed(2, name, "add --pool_tasks")
        assert called(*flags_of(folder), flag, "--pool_tasks").code == 0


def test_merged_tasks_have_no_common_score(tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    for task in TASKS:
        flags = [*flags_of(folder, f"{task}_{TIME}"), "--partition", task]
        run = called(*flags, "--output", tmp_path / task, "--save_totals")
        assert run.code == 0
    parts = [tmp_path / task for task in TASKS]
    merged = called("merge", *parts, "--output", tmp_path / "both", "--format", "json")
    together = called(*flags_of(folder), "--format", "json")
    assert merged.document["scores"] == together.document["scores"]
    assert merged.document["tasks"] == together.document["tasks"]
    pooled = tmp_path / "pooled"
    called(*flags_of(folder), "--pool_tasks", "--output", pooled, "--save_totals", "--partition=x")
    called("merge", tmp_path / "both", pooled).assert_failed(3, "unpooled is ")


def test_a_language_of_several_tasks_has_no_score(tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    for path in folder.iterdir():
        rows = [json.loads(line) | {"lang": "de"} for line in path.read_text().splitlines()]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    flags = [*flags_of(folder), "--language_column", "lang"]
    called(*flags).assert_failed(3, "the language de has segments of the tasks", "--pool_tasks")
    assert called(*flags, "--pool_tasks").code == 0


CHECKPOINTS = [
    "--layout=lm-eval",
    *("-i", *(f"{name}={EXAMPLES}/lm_eval/{name}/*.jsonl" for name in ("base", "tuned"))),
    *("--where=filter!=remove_whitespace", "--join_on=task,doc_id"),
]
BY_TASK = ["--metrics_by", "mgsm*=exact_match", "*=bleu chrf"]


def samples(system: str, task: str) -> list[dict[str, Any]]:
    """The samples of the example, of the last of the task's filters."""
    (path,) = (EXAMPLES / "lm_eval" / system).glob(f"samples_{task}_*.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in rows if row["filter"] != "remove_whitespace"]


@pytest.fixture(scope="module")
def by_task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run in which each task has its own metrics, and slices."""
    folder = tmp_path_factory.mktemp("by_task")
    flags = ["--slice_by=length", "--save_totals", "--segment_scores", "--compare=all"]
    run = called(*CHECKPOINTS, *BY_TASK, *flags, "--output", folder)
    assert run.code == 0
    assert "no clusters, because tasks have no common score" in run.err
    return folder


def test_each_task_has_its_own_metrics(by_task: Path) -> None:
    document = json.loads((by_task / "scores.json").read_text())
    expected = {}
    for system in ("base", "tuned"):
        for task in ("mgsm_direct_de", "mgsm_direct_en"):
            right = [row["exact_match"] for row in samples(system, task)]  # as lm-eval judged
            expected["exact_match", task, system] = 100 * sum(right) / len(right)
        rows = samples(system, "wmt16-de-en")
        texts = [row["filtered_resps"][0] for row in rows], [[row["target"] for row in rows]]
        for name, metric in {"bleu": BLEU(), "chrf": CHRF()}.items():
            expected[name, "wmt16-de-en", system] = metric.corpus_score(*texts).score
    found = {
        (each["metric"], each["slice"]["task"], each["system"]): each["score"]
        for each in document["scores"]
        if len(each["slice"]) == 1
    }
    assert found == expected
    for kind in ("scores", "comparisons"):  # slices are within tasks
        names = {(each["metric"], each["slice"]["task"]) for each in document[kind]}
        assert names == {(metric, task) for metric, task, _ in expected}
        assert {(*each["slice"],) for each in document[kind]} == {("task",), ("task", "length")}
    assert [task["metrics"] for task in document["tasks"]] == [
        *(["exact_match"], ["exact_match"], ["bleu", "chrf"])
    ]
    means = {(each["metric"], each["tasks"]) for each in document["macro_average"]}
    assert means == {("exact_match", 2), ("bleu", 1), ("chrf", 1)}
    schema = json.loads((PROJECT / "docs" / "scores.schema.json").read_text())
    jsonschema.validate(document, schema)
    assert called("compare", by_task, by_task).code == 0
    # A segment has scores by the metrics of its task.
    table = pq.read_table(by_task / "segment_scores")
    assert document["segment_scores"]["rows"] == len(table)
    rows = collections.Counter((row["metric"], row["task"]) for row in table.to_pylist())
    assert rows == {(metric, task): 64 for metric, task, _ in expected}


def test_references_of_a_task_without_texts_are_not_compared_with_those_of_systems() -> None:
    by_task = ["--metrics_by", "mgsm*=mean:exact_match", "*=chrf"]
    run = called(*CHECKPOINTS, *by_task, "--format=json")
    assert (run.code, len(run.document["scores"])) == (0, 6)


def test_documents_are_compared_in_each_task_that_can_show_them(tmp_path: Path) -> None:
    folders = [lm_eval(tmp_path / name) for name in ("old", "new")]
    row = {"doc_id": 0, "target": 1, "acc": 1.0, "filter": "none"}  # a target that is no text
    for folder in folders:
        (folder / f"samples_arc_{TIME}.jsonl").write_text(json.dumps(row))
    path = folders[1] / f"samples_wmt_en-de_{TIME}.jsonl"
    path.write_text(path.read_text().replace("heute", "gestern"))
    flags = [*CHECKPOINTS[:1], "--where=filter=none", "--join_on=task,doc_id"]
    systems = [f"{folder.name}={folder}/*.jsonl" for folder in folders]
    run = called(*flags, "-i", *systems, "--metrics_by", "arc=mean:acc", "*=chrf")
    run.assert_failed(3, "1 of 4 segments with the same id have a different target")


def test_all_tasks_have_slices_by_length_and_signatures_of_their_references(tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    row = {"doc_id": 0, "target": "word " * 12, "acc": 1.0, "filter": "none"}
    (folder / f"samples_arc_{TIME}.jsonl").write_text(json.dumps(row))
    path = folder / f"samples_wmt_en-de_{TIME}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row | {"target": ["a", "b"]}) for row in rows))
    by_task = ["--metrics_by", "arc=mean:acc", "*de=bleu", "*=chrf"]
    document = called(*flags_of(folder), *by_task, "--slice_by=length", "--format=json").document
    lengths = {each["slice"]["task"]: each["slice"].get("length") for each in document["scores"]}
    assert lengths == {"arc": "10-19", "wmt_en-de": "0-9", "wmt_en-fr": "0-9"}
    signatures = [each["signature"].partition("|")[0] for each in document["metrics"][1:]]
    assert signatures == ["nrefs:2", "nrefs:1"]


def test_kept_texts_are_read_for_each_task(tmp_path: Path) -> None:
    by_task = ["--metrics_by", "mgsm*=mean:exact_match", "*=chrf"]
    flags = [*by_task, "--segment_scores", "--keep=text", "--output", tmp_path]
    assert called(*CHECKPOINTS, *flags).code == 0
    rows = pq.read_table(tmp_path / "segment_scores").sort_by("index").to_pylist()
    kept = [row["references"] for row in rows if row["system"] == "base" and "_de" in row["task"]]
    assert kept == [[row["target"]] for row in samples("base", "mgsm_direct_de")]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_file_needs_only_what_the_metrics_of_its_task_read(tmp_path: Path, suffix: str) -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "arc": [
            {"filtered_resps": [["-1.5", "False"]], "target": "2", "acc": acc} for acc in (1.0, 0.0)
        ],
        "gsm8k": [{"filtered_resps": ["5"], "target": "#### 5", "exact_match": 1.0}] * 3,
        "mgsm": [{"filtered_resps": ["5"], "target": target} for target in ("5", "5", "6", "7")],
    }
    for task, of_task in rows.items():
        table = pa.Table.from_pylist([{"filter": "none", **row} for row in of_task])
        path = tmp_path / f"samples_{task}_{TIME}.{suffix}"
        if suffix == "parquet":
            pq.write_table(table, path)
        else:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    flags = ["--layout=lm-eval", "--where=filter=none", f"--input={tmp_path}/*.{suffix}"]
    of_tasks = ["gsm8k=mean:exact_match", "mgsm=exact_match"]
    out = f"--output={tmp_path / 'out'}"
    run = called(*flags, out, "--format=json", "--metrics_by", *of_tasks, "arc=mean:acc")
    found = {
        (each["slice"]["task"], each["metric"]): (each["score"], each["segments"])
        for each in run.document["scores"]
    }
    assert found == {
        ("arc", "mean:acc"): (0.5, 2),
        ("gsm8k", "mean:exact_match"): (1.0, 3),
        ("mgsm", "exact_match"): (50.0, 4),
    }
    assert run.document["counters"]["empty_candidates"] == 0  # nothing is known of arc and gsm8k
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert "references_digest" not in manifest["streams"][0]
    for metric, what in (("mean:acc_norm", "there is no column acc_norm"), ("wer", "has no texts")):
        run = called(*flags, "--metrics_by", *of_tasks, f"arc={metric}")
        run.assert_failed(3, f"{what}", f"samples_arc_{TIME}.{suffix}")


def test_saved_totals_have_the_metrics_of_tasks(by_task: Path) -> None:
    document = json.loads((by_task / "scores.json").read_text())
    assert document["where"] == ["filter!=remove_whitespace"]
    del document["segment_scores"]  # which have no totals
    assert called("rescore", by_task, "--format=json").document == document
    other = called("rescore", by_task, "--metrics=chrf", "--chrf_beta=1", "--format=json")
    assert {each["slice"]["task"] for each in other.document["scores"]} == {"wmt16-de-en"}
    lines = called("rescore", by_task, "--metrics=bleu").out.decode().splitlines()
    slices = lines[lines.index("by task*length") :]  # after the table of tasks
    assert [" ".join(line.split()[:3]) for line in slices[2:]] == [
        *("wmt16-de-en*0-9 BLEU 8", "wmt16-de-en*10-19 BLEU 24")
    ]
    first, *others = standing(read_result(document))
    captions = "".join(
        line for one in (first, *others) for own in one.tables for line in own.caption
    )
    assert first.title == "96 segments with filter!=remove_whitespace, by task"
    assert "Compared on" not in captions  # tasks have different segments


def test_tables_of_tasks_for_papers_have_bold_scores_and_stars(by_task: Path) -> None:
    document = json.loads((by_task / "scores.json").read_text())
    text = shown("markdown", document)
    assert "significantly different from base by a z-test" in text
    (row,) = re.findall(r"^\| mgsm\\_direct\\_en +\| exact match \| (.*)", text, re.M)
    assert " ".join(row.split()[:9]) == r"37.5 ± 17.0 | **65.6** ± 16.7<sup>\*\*</sup> | +28.1"
    text = shown("latex", document)
    assert "task & metric & base & tuned & tuned - base \\\\\n" in text
    titles = [figure.title for figure in standing(read_result(document))]
    assert "macro average of exact match" in titles  # the mean of mean:acc is not "mean mean acc"


def test_patterns_and_tasks_must_fit(by_task: Path) -> None:
    saved = read_totals(str(by_task))
    for patterns, named in (
        ({"mgsm*": ("exact_match",)}, "no pattern matches wmt16-de-en"),
        ({"*": ("bleu",), "mgsm*": ("exact_match",)}, r"--metrics_by mgsm\*=...: no task"),
    ):
        scorings = {
            name: dataclasses.replace(own, by_task=patterns) for name, own in saved.scorings.items()
        }
        with pytest.raises(InputError, match=named):
            _ = dataclasses.replace(saved, scorings=scorings).result
    run = called(*CHECKPOINTS, *BY_TASK, "mmlu*=bleu")
    run.assert_failed(3, "--metrics_by mmlu*=...: no task", "correct the pattern")


def test_a_single_task_is_the_whole_corpus() -> None:
    of_one = [word.replace("*.jsonl", "*_en_*.jsonl") for word in CHECKPOINTS]
    by = called(*of_one, "--metrics_by", "mgsm*=exact_match", "--format=json").document
    assert {(*(each["slice"] or ()),) for each in by["scores"]} == {(), ("task",)}
    assert "tasks" not in by
