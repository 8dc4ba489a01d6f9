"""Each known layout is read from a small sample that has the layout of the real files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command_line import Argument, Run, called, write_lines, write_records

from beam_bleu.pipeline.command_line.layouts import LAYOUTS

REFERENCES = [
    "Der Hund schläft im Garten .",
    "Es regnet seit drei Tagen .",
    "Wir fahren ans Meer .",
]
GOOD = [*REFERENCES[:2], "Wir fahren an das Meer ."]
POOR = [
    "Ein Hund liegt im Garten .",
    "Der Regen ist seit drei Tagen hier .",
    "Wir gehen zum Meer .",
]
IDS = range(len(REFERENCES))


def mt_metrics_eval(folder: Path) -> list[Argument]:
    """The folder of a test set: the reference is also among the outputs."""
    test_set = folder / "wmt23"
    write_lines(
        test_set / "sources" / "en-de.txt", ["The dog sleeps .", "It rains .", "We drive ."]
    )
    write_lines(test_set / "references" / "en-de.refA.txt", REFERENCES)
    write_lines(test_set / "references" / "en-de.refB.txt", POOR)
    write_lines(test_set / "references" / "he-en.refA.txt", POOR)
    for name, texts in {"good": GOOD, "poor": POOR, "refA": REFERENCES}.items():
        write_lines(test_set / "system-outputs" / "en-de" / f"{name}.txt", texts)
    write_lines(test_set / "documents" / "en-de.docs", ["news\tn1", "news\tn1", "social\ts1"])
    return ["--input", test_set, "--language", "en-de"]


def outputs(folder: Path, ids: list[Any], more: Any, key: str) -> str:
    """A file of outputs of each system, with one for another segment; returns their pattern."""
    for name, texts in {"good": GOOD, "poor": POOR}.items():
        pairs = [*zip(reversed(ids), reversed(texts), strict=True), (more, "x")]
        write_records(
            folder / f"{name}.jsonl", [{key: own, "hypothesis": text} for own, text in pairs]
        )
    return f"{folder}/*.jsonl"


def wmt25(folder: Path) -> list[Argument]:
    """A file of each system with all languages, and one with all sources and references."""
    ids = [f"en-de_DE_#_news_#_{i}" for i in IDS]
    rows = [
        {
            **{"doc_id": key, "domain": "news", "src_lang": "en", "tgt_lang": "de_DE"},
            **{"src_text": "x", "refs": {"refA": {"ref": text}}},
        }
        for key, text in zip(ids, REFERENCES, strict=True)
    ]
    of_others = "en-cs_CZ_#_news_#_0"
    other = rows[0] | {"doc_id": of_others, "tgt_lang": "cs_CZ", "refs": {}}
    references = write_records(folder / "data" / "wmt25-genmt.jsonl", [other, *rows])
    systems = outputs(folder / "data" / "systems", ids, of_others, "doc_id")
    return [references, "-i", systems, "--where", "tgt_lang=de_DE"]


def wmt24pp(folder: Path) -> list[Argument]:
    """The records of a language, and the outputs of systems for all of its segments."""
    rows = [
        {
            **{"lp": "en-de_DE", "domain": "news", "document_id": "d", "segment_id": i + 1},
            **{"is_bad_source": False, "source": "x", "target": text, "original_target": "y"},
        }
        for i, text in enumerate(REFERENCES)
    ]
    bad = rows[0] | {"segment_id": 9, "is_bad_source": True, "target": "bad"}
    references = write_records(folder / "en-de_DE.jsonl", [bad, *rows])
    systems = outputs(folder / "outputs", [i + 1 for i in IDS], 9, "segment_id")
    return [references, "-i", systems, "--language", "en-de_DE"]


def lm_eval(folder: Path) -> list[Argument]:
    """Samples of one model, once for each filter of the task."""
    rows = [
        {
            **{"doc_id": i, "target": REFERENCES[i], "filter": name, "metrics": ["bleu"]},
            "doc": {"translation": {"en": "x", "de": REFERENCES[i]}},
            "arguments": {"gen_args_0": {"arg_0": "English phrase: x", "arg_1": {"until": ["\n"]}}},
            "resps": [[f" {GOOD[i]}\nEnglish phrase:"]],
            "filtered_resps": [GOOD[i] if name == "none" else POOR[i]],
        }
        for name in ("none", "flexible-extract")
        for i in IDS
    ]
    path = write_records(folder / "samples_wmt16-en-de_2026-01-01T00-00-00.000000.jsonl", rows)
    return ["--input", path, "--where", "filter=none"]


def lighteval(folder: Path) -> list[Argument]:
    """Details with structs, as a data set of the datasets library writes them."""
    rows = [
        {
            "doc": {"query": "x =", "choices": [REFERENCES[i]], "gold_index": 0, "id": str(i)},
            "model_response": {"input": "x =", "text": [GOOD[i]], "output_tokens": [[1, 2]]},
            "metric": {"bleu": 50.0},
        }
        for i in IDS
    ]
    path = folder / "details_wmt16:en-de|0_2026-01-01T00-00-00.000000.parquet"
    write_records(path, rows)
    return ["--input", path]


def hf_translation(folder: Path) -> list[Argument]:
    """A data set with a column `translation`, and one with outputs."""
    rows = [{"translation": {"en": "x", "de": REFERENCES[i]}, "prediction": GOOD[i]} for i in IDS]
    write_records(folder / "test-00000-of-00001.parquet", rows)
    return ["--input", f"{folder}/test-*.parquet", "--language", "en-de"]


def opus(folder: Path) -> list[Argument]:
    """Aligned text files of a test set; the labels say the language variant of each line."""
    name = "tatoeba-test-v2021-08-07"
    write_lines(folder / f"{name}.eng", ["x", "y", "z"])
    reference = write_lines(folder / f"{name}.deu", REFERENCES)
    write_lines(folder / f"{name}.deu.labels", ["deu", "deu", "gsw"])
    systems = {"good": GOOD, "poor": POOR}
    paths = [write_lines(folder / f"{name}.txt", texts) for name, texts in systems.items()]
    return [reference, "-i", *paths]


def kaldi(folder: Path) -> list[Argument]:
    texts = {"ref": REFERENCES, "good": GOOD, "poor": POOR}
    for name, lines in texts.items():
        (folder / name).mkdir()
        ids = [f"spk{3 - i}-utt{i} {line}" for i, line in enumerate(lines)]
        write_lines(folder / name / "text", sorted(ids))
    systems: list[Argument] = [f"{name}={folder / name / 'text'}" for name in ("good", "poor")]
    return [folder / "ref" / "text", "-i", *systems]


SAMPLES: dict[str, Callable[[Path], list[Argument]]] = {
    "mt-metrics-eval": mt_metrics_eval,
    "wmt25": wmt25,
    "wmt24pp": wmt24pp,
    "lm-eval": lm_eval,
    "lighteval": lighteval,
    "hf-translation": hf_translation,
    "opus": opus,
    "kaldi": kaldi,
}


def comet(folder: Path) -> list[Argument]:
    """What `comet-score -s src -t good poor -r ref --to_json FILE` of version 2.2 writes."""
    data = {
        f"out/{name}.txt": [
            {"src": "x", "mt": "y", "ref": "z", "COMET": value} for value in (0.75, 0.5, value)
        ]
        for name, value in (("good", 1.0), ("poor", 0.25))
    }
    path = folder / "scores.json"
    path.write_text(json.dumps(data, ensure_ascii=False, indent=4))
    return ["--input", path]


def comet_stdout(folder: Path) -> list[Argument]:
    scores = {"out/good.txt": (0.75, 0.5, 1.0), "out/poor.txt": (0.75, 0.5, 0.25)}
    lines = [
        f"{name}\tSegment {i}\tscore: {scores[name][i]:.4f}" for i in range(3) for name in scores
    ]
    lines += [f"{name}\tscore: {sum(own) / 3:.4f}" for name, own in scores.items()]
    return ["--input", write_lines(folder / "comet.out", lines)]


def swe_bench(folder: Path) -> list[Argument]:
    """Reports of swebench.harness.run_evaluation 5.0, with the keys that are not read."""
    instances = [f"django__django-{i}" for i in range(5)]
    arguments: list[Argument] = ["-i"]
    for name, resolved in {"good": instances[:3], "poor": instances[:1]}.items():
        ids = {
            **{"completed": instances[:3], "incomplete": instances[4:], "empty_patch": []},
            **{"submitted": instances[:4], "resolved": resolved, "error": instances[3:4]},
            "unresolved": [each for each in instances[:3] if each not in resolved],
        }
        report = {"total_instances": 5, **{f"{key}_ids": each for key, each in ids.items()}}
        path = folder / f"{name}.run-1.json"
        path.write_text(json.dumps(report, indent=4))
        arguments.append(f"{name}={path}")
    return arguments


def livecodebench(folder: Path) -> list[Argument]:
    """A file `Scenario.codegeneration_N_TEMPERATURE_eval_all.json` of each model."""
    arguments: list[Argument] = ["-i"]
    for name, graded in {"good": [True, True], "poor": [True, False]}.items():
        rows = [
            {
                **{"question_id": f"abc{i}_a", "difficulty": "easy", "code_list": ["x", "y"]},
                **{"graded_list": graded, "pass@1": sum(graded) / 2, "metadata": ["{}", "{}"]},
            }
            for i in IDS
        ]
        path = folder / f"{name}_eval_all.json"
        path.write_text(json.dumps(rows, indent=4))
        arguments.append(f"{name}={path}")
    return arguments


def evalplus(folder: Path) -> list[Argument]:
    """The results of evalplus.evaluate 0.3, whose tests that failed have values of any type."""
    samples = [[("pass", "pass"), ("pass", "fail")], [("fail", "pass"), ("pass", "pass")]]
    results = {
        f"HumanEval/{number}": [
            {
                **{"task_id": f"HumanEval/{number}", "solution": "x", "base_status": base},
                **{"plus_status": plus, "base_fail_tests": [[1, "a"]], "plus_fail_tests": []},
            }
            for base, plus in of_task
        ]
        for number, of_task in enumerate(samples)
    }
    path = folder / "model_eval_results.json"
    path.write_text(json.dumps({"date": "2026-01-01 00:00", "hash": "x", "eval": results}))
    return ["-i", f"model={path}"]


def lmms_eval(folder: Path) -> list[Argument]:
    """Samples of one task, whose metric is a dict."""
    rows = [
        {
            **{
                "doc_id": i,
                "target": "Yes",
                "filtered_resps": "Yes",
                "input": "x",
                "doc_hash": "x",
            },
            "mme_perception_score": {"question_id": "a.png", "category": "OCR", "score": i / 2},
        }
        for i in IDS
    ]
    path = write_records(folder / "20260101_010203_samples_mme.jsonl", rows)
    return ["-i", f"model={path}", "-m", "mean:mme_perception_score.score"]


def squad(folder: Path) -> list[Argument]:
    """A file of the data set `squad_v2` of the Hugging Face Hub, and predictions of two systems.

    The scores are those of huggingface/evaluate's copy of evaluate-v2.0.py (metrics/squad_v2,
    compute_score.py).
    """
    answers = [["in the 10th century", "10th century"], [], ["France", "a"], [], ["the", "an"]]
    rows = [
        {
            "id": f"5a{i}",
            "question": "x",
            "answers": {"text": texts, "answer_start": [0] * len(texts)},
        }
        for i, texts in enumerate(answers)
    ]
    arguments: list[Argument] = [write_records(folder / "validation.parquet", rows), "-i"]
    for name, texts in {
        "good": ["10th century", "", "Normandy in France", "France", "The"],
        "poor": ["the tenth century", "no answer", "France.", "", "x"],
    }.items():
        predictions = [{"id": f"5a{i}", "prediction_text": text} for i, text in enumerate(texts)]
        arguments.append(write_records(folder / f"{name}.jsonl", predictions))
    return arguments


WITH_METRICS: dict[str, list[tuple[Callable[[Path], list[Argument]], dict[str, list[float]]]]] = {
    "comet": [
        (sample, {"out/good.txt": [0.75], "out/poor.txt": [0.5]})
        for sample in (comet, comet_stdout)
    ],
    "swe-bench": [(swe_bench, {"good": [0.6], "poor": [0.2]})],
    "livecodebench": [(livecodebench, {"good": [1.0], "poor": [0.5]})],
    "evalplus": [(evalplus, {"model": [0.75, 0.5]})],
    "lmms-eval": [(lmms_eval, {"model": [0.5]})],
    "squad": [(squad, {"good": [60.0, 70.0], "poor": [40.0, 50.0]})],
}
"""Layouts with samples, and the scores of each system by the layout's own metrics."""


def scored(run: Run) -> list[float]:
    return [score["score"] for score in run.document["scores"] if score["slice"] is None]


def test_a_layout_sets_the_flags(tmp_path: Path) -> None:
    files = [
        write_lines(tmp_path / f"{i}.txt", texts)
        for i, texts in enumerate((REFERENCES, GOOD, POOR))
    ]
    good, poor = scored(called(files[0], "-i", *files[1:], "--format", "json"))
    assert {*SAMPLES, *WITH_METRICS} == {*LAYOUTS}
    for name, sample in SAMPLES.items():
        folder = tmp_path / name
        folder.mkdir()
        run = called(*sample(folder), "--layout", name, "--format", "json")
        assert scored(run) in ([good], [good, poor]), name
        assert run.document["segments"] == len(REFERENCES)


def test_labels_of_a_layout_without_texts_can_be_in_a_file_of_references(tmp_path: Path) -> None:
    rows = [{"question_id": f"abc{i}_a", "source": "ab"[i % 2]} for i in IDS]
    flags = [write_records(tmp_path / "questions.jsonl", rows), *livecodebench(tmp_path)]
    run = called(*flags, "--layout=livecodebench", "--slice_by=source", "--format=json")
    found = [(each["slice"]["source"], each["score"]) for each in run.document["scores"][2:]]
    assert found == [("a", 1.0), ("a", 0.5), ("b", 1.0), ("b", 0.5)]


@pytest.mark.parametrize("name", WITH_METRICS)
def test_a_layout_has_its_own_metrics(tmp_path: Path, name: str) -> None:
    for sample, means in WITH_METRICS[name]:
        run = called(*sample(tmp_path), "--layout", name, "--format", "json")
        found: dict[str, list[float]] = {}
        for score in run.document["scores"]:
            if score["slice"] is None:
                found.setdefault(score["system"], []).append(score["score"])
        assert found == means


def test_flags_win_over_the_layout(tmp_path: Path) -> None:
    columns = ["--candidate_columns", "doc.translation.de"]
    run = called(*lm_eval(tmp_path), "--layout", "lm-eval", *columns, "--format", "json")
    assert scored(run) == [100.00000000000004]
    where = ["--where", "is_bad_source=true"]
    run = called(*wmt24pp(tmp_path), "--layout", "wmt24pp", *where, "--format", "json")
    assert run.document["segments"] == 1
    assert run.document["where"] == ["is_bad_source=true"]
    flags = mt_metrics_eval(tmp_path)
    references = ["--references", tmp_path / "wmt23/references/en-de.refB.txt"]
    run = called(*flags, "--layout", "mt-metrics-eval", *references, "--format", "json")
    names = [score["system"] for score in run.document["scores"]]
    assert names == ["good", "poor", "refA"]  # refA is a system like others then
    assert scored(run)[1] == 100.00000000000004


def test_messages_name_the_file_of_references_and_the_wrong_filter(tmp_path: Path) -> None:
    paths = [tmp_path / name / "samples_x_2026-01-01.jsonl" for name in ("small", "large")]
    for number, path in enumerate(paths, 2):
        rows = [{"doc_id": i, "filter": "none", "acc": 1.0} for i in range(number)]
        write_records(path, rows)
    flags = ["--layout=lm-eval", "--where=filter=none", "-m=mean:acc"]
    run = called(*flags, "-i", f"small={paths[0]}", f"large={paths[1]}")
    run.assert_failed(3, "large: records with an id that references (in the file of small) do not")
    run = called(*flags, "--where=filter=nine", "--input", paths[0])
    run.assert_failed(3, "no record meets --where filter=nine")


def test_slices_have_the_labels_of_the_layout(tmp_path: Path) -> None:
    for name, by, values in (
        ("mt-metrics-eval", "domain", ["news", "social"]),
        ("opus", "label", ["deu", "gsw"]),
    ):
        flags = SAMPLES[name](tmp_path)
        run = called(*flags, "--layout", name, "--slice_by", by, "--format", "json")
        found = [score["slice"][by] for score in run.document["scores"] if score["slice"]]
        assert sorted(set(found)) == values


def test_folders_without_the_layout(tmp_path: Path) -> None:
    flags = ["--layout", "mt-metrics-eval", "--input", tmp_path, "--language", "en-de"]
    called(*flags).assert_failed(3, "nothing matches", "references/en-de.*.txt", "check the folder")
    called("--layout", "wmt26").assert_failed(2, "--layout wmt26", "mt-metrics-eval, wmt25")


def test_the_documents_of_mt_metrics_eval_can_be_units_and_kept(tmp_path: Path) -> None:
    arguments = [*mt_metrics_eval(tmp_path), "--layout=mt-metrics-eval", "--format=json"]
    expected = {"unit": "document", "label": "document", "units": 2, "confidence": 0.95}
    for documents in ("document", f"{tmp_path}/wmt23/documents/en-de.docs"):
        run = called(*arguments, f"--documents={documents}")
        assert run.document["uncertainty"] == expected
    out = tmp_path / "out"
    assert called(*arguments, "--segment_scores", "--keep=document", f"--output={out}").code == 0
    rows = pq.read_table(out / "segment_scores").sort_by("index").to_pylist()
    assert [row["document"] for row in rows if row["system"] == "good"] == ["n1", "n1", "s1"]
