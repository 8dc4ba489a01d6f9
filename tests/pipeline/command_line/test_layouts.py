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


SAMPLES: dict[str, Callable[[Path], list[Argument]]] = {
    "mt-metrics-eval": mt_metrics_eval,
    "wmt25": wmt25,
    "wmt24pp": wmt24pp,
    "lm-eval": lm_eval,
    "lighteval": lighteval,
    "hf-translation": hf_translation,
    "opus": opus,
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


OF_NUMBERS: dict[str, list[tuple[Callable[[Path], list[Argument]], dict[str, float]]]] = {
    "comet": [
        (sample, {"out/good.txt": 0.75, "out/poor.txt": 0.5}) for sample in (comet, comet_stdout)
    ],
}
"""The layouts of numbers: samples, and the mean of each system by the layout's own metric."""


def scored(run: Run) -> list[float]:
    return [score["score"] for score in run.document["scores"] if score["slice"] is None]


def test_a_layout_sets_the_flags(tmp_path: Path) -> None:
    files = [
        write_lines(tmp_path / f"{i}.txt", texts)
        for i, texts in enumerate((REFERENCES, GOOD, POOR))
    ]
    good, poor = scored(called(files[0], "-i", *files[1:], "--format", "json"))
    assert {*SAMPLES, *OF_NUMBERS} == {*LAYOUTS}
    for name, sample in SAMPLES.items():
        folder = tmp_path / name
        folder.mkdir()
        run = called(*sample(folder), "--layout", name, "--format", "json")
        assert scored(run) in ([good], [good, poor]), name
        assert run.document["segments"] == len(REFERENCES)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_layout_of_numbers_has_a_metric(tmp_path: Path, name: str) -> None:
    for sample, means in OF_NUMBERS[name]:
        run = called(*sample(tmp_path), "--layout", name, "--format", "json")
        assert {score["system"]: score["score"] for score in run.document["scores"]} == means


def test_flags_win_over_the_layout(tmp_path: Path) -> None:
    columns = ["--candidate_columns", "doc.translation.de"]
    run = called(*lm_eval(tmp_path), "--layout", "lm-eval", *columns, "--format", "json")
    assert scored(run) == [100.00000000000004]
    where = ["--where", "is_bad_source=true"]
    run = called(*wmt24pp(tmp_path), "--layout", "wmt24pp", *where, "--format", "json")
    assert run.document["segments"] == 1
    flags = mt_metrics_eval(tmp_path)
    references = ["--references", tmp_path / "wmt23/references/en-de.refB.txt"]
    run = called(*flags, "--layout", "mt-metrics-eval", *references, "--format", "json")
    names = [score["system"] for score in run.document["scores"]]
    assert names == ["good", "poor", "refA"]  # refA is a system like others then
    assert scored(run)[1] == 100.00000000000004


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
