"""Scores without a pipeline: the numbers of pipelines and of sacreBLEU, of texts in every form."""

from __future__ import annotations

import importlib
import math
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sacrebleu
from found_in_pipelines import found_in
from hostile_texts import segments_with_references
from scoring import columns_of, segment_scores

import beam_bleu
from beam_bleu import (
    BleuConfig,
    ChrfConfig,
    CompareSystems,
    CorpusScores,
    TerConfig,
    compare,
    score,
    score_pairs,
    score_segments,
)
from beam_bleu.transforms import calls
from beam_bleu.transforms.known_metrics import METRICS_OF_TEXTS
from beam_bleu.transforms.statistics import counting

# The difficult texts are as suspicious as they are meant to be.
pytestmark = pytest.mark.filterwarnings("ignore:.* (looked at|no more similar to):UserWarning")

METRICS = [*METRICS_OF_TEXTS]
SEGMENTS = segments_with_references(1, 90, 3)
CANDIDATES, STREAMS = columns_of(SEGMENTS)
LISTS = [references for _, references in SEGMENTS]
MADE = [candidate for candidate, _ in segments_with_references(8, 9, 1)]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "usual_rows", lambda columns: 7)
    monkeypatch.setattr(calls, "_FEWEST_ROWS", 7)


def test_scores_are_those_of_a_pipeline():
    (expected,) = found_in(SEGMENTS, CorpusScores.Globally(METRICS))
    found = score(CANDIDATES, STREAMS, metrics=METRICS)
    assert list(found) == METRICS
    assert found == expected
    assert score(CANDIDATES, references_per_segment=LISTS, metrics=METRICS, threads=3) == expected
    ters = score(CANDIDATES, STREAMS, metrics=["ter"], uncertainty=False)
    assert ters["ter"].score == expected["ter"].score
    assert ters["ter"].standard_error is None is not expected["ter"].standard_error


def test_the_form_of_references_is_the_one_that_is_named():
    # As many references as segments: both forms are possible, and give different scores.
    candidates = ["the cat sat", "a dog ran"]
    references = [["x", "the cat sat"], ["y", "a dog ran"]]
    by_stream = score(candidates, references, metrics=["chrf"])["chrf"].score
    by_segment = score(candidates, references_per_segment=references, metrics=["chrf"])["chrf"]
    assert by_stream == sacrebleu.corpus_chrf(candidates, references).score < 100
    assert by_segment.score == 100


def test_comparisons_are_those_of_a_pipeline():
    rng = random.Random(3)
    systems = {
        name: [text if rng.random() < share else rng.choice(CANDIDATES) for text in CANDIDATES]
        for name, share in {"good": 0.9, "bad": 0.0, "middle": 0.5}.items()
    }
    elements = [
        ({name: texts[row] for name, texts in systems.items()}, references)
        for row, references in enumerate(LISTS)
    ]
    config = TerConfig(no_punct=True)
    options: dict[str, Any] = {"baseline": "bad", "all_pairs": True}
    (expected,) = found_in(elements, CompareSystems.Globally([*systems], config, **options))
    found = compare(systems, STREAMS, metrics=["bleu", config], threads=2, **options)
    assert list(found) == ["bleu", "ter"]
    assert found["ter"] == expected
    pairs = [(each.system, each.baseline) for each in expected.comparisons]
    assert pairs == [("good", "bad"), ("middle", "bad"), ("middle", "good")]
    assert found["bleu"].clusters == (("good",), ("middle",), ("bad",))
    assert found["bleu"].scores["good"] == score(systems["good"], STREAMS)["bleu"]
    by_lists = compare(systems, references_per_segment=LISTS, metrics=["bleu", config], **options)
    assert by_lists == found


IMPOSSIBLE = [
    ({"candidates": []}, "candidates is empty: there is no segment to score"),
    ({"candidates": "a b"}, "candidates must be texts: a list .* got 'a b', of type str"),
    ({"references": None}, "give exactly one of references= .* got neither"),
    ({"references_per_segment": [["a"], ["b"]]}, "give exactly one of .* got both"),
    ({"references": ["a", "b"]}, r"references\[0\] must be texts: a list .* got 'a', of type"),
    ({"references": []}, "references must be a list of lists, got ..,"),
    ({"references": [["a", "b"], ["c"]]}, r"references\[1\] has the length 1, but .* has 2: ref"),
    (
        {"references": None, "references_per_segment": [["a"], [None]]},
        r"references_per_segment\[1\] has no reference",
    ),
    ({"references": [["a", None], ["b", None]]}, r"\[0\]\[1\] and references\[1\]\[1\] has no ref"),
    ({"metrics": ["perplexity"]}, "a metric needs the column .*score these records with the"),
    ({"metrics": [BleuConfig(smooth_method="nltk-method5")]}, "is for segment scores only"),
    ({"uncertainty": 1}, "uncertainty must be True or False, got 1"),
    ({"threads": 0}, "threads must be 1 or more, got 0"),
]

IMPOSSIBLE_SYSTEMS = [
    (["a"], {}, "systems must be a dict of names and candidates, got"),
    ({"one": ["a"], "two": ["a", "b"]}, {}, r"the length 2, but .* has 1: systems have"),
    ({"one": ["a"], "two": [None]}, {}, r"systems\['two'\]\[0\] is missing"),
    ({"one": ["a"], "two": ["b"]}, {"baseline": "x"}, "baseline must be one of one, two"),
]

IMPOSSIBLE_PAIRS = [
    ([], "bleu", "candidates is empty: there is no candidate to score"),
    ([["a"], []], "bleu", r"candidates\[1\] is empty"),
    (["a", None], "bleu", r"candidates\[1\] is missing"),
    ([["a", "b"], [b"a"]], "bleu", r"candidates\[1\]\[0\] must be Unicode text, got b'a'"),
    ("abc", "bleu", "candidates must be texts"),
    (["a"], "mean:comet", "a metric needs numbers"),
]


def test_impossible_arguments_are_refused():
    for arguments, message in IMPOSSIBLE:
        given = {"candidates": ["a", "b"], "references": [["a", "b"]], **arguments}
        with pytest.raises(ValueError, match=message):
            score(**given)
    for systems, options, message in IMPOSSIBLE_SYSTEMS:
        with pytest.raises(ValueError, match=message):
            compare(systems, [["a"]], **options)
    for candidates, metric, message in IMPOSSIBLE_PAIRS:
        with pytest.raises(ValueError, match=message):
            score_pairs(candidates, metric)


def test_a_call_loads_neither_beam_nor_the_compiler():
    program = (
        "from beam_bleu import compare, score, score_pairs, score_segments\n"
        "score(['a b'], [['a c']], metrics=['bleu', 'chrf', 'ter'])\n"
        "score_segments(['a b'], [['a c']])\n"
        "score_pairs(['a b', 'a c'])\n"
        "compare({'one': ['a'], 'two': ['b']}, [['a']])\n"
    )
    exec(program, {})  # so that the code is in the cache
    loaded = "print(*({'apache_beam', 'numba', 'pandas'} & sys.modules.keys()))"
    command = [sys.executable, "-c", f"import sys\n{program}{loaded}"]
    assert subprocess.check_output(command).strip() == b""


# Each segment by itself, and all pairs of texts


def test_each_metric_has_a_column_with_the_score_of_each_segment():
    table = score_segments(CANDIDATES, STREAMS, metrics=METRICS, threads=3)
    assert table.schema == pa.schema([(word, pa.float64()) for word in METRICS])
    by_lists = score_segments(CANDIDATES, references_per_segment=LISTS, metrics=METRICS)
    assert by_lists.to_pylist() == table.to_pylist()
    for row in range(0, len(SEGMENTS), 9):
        alone = score_segments(
            [CANDIDATES[row]], references_per_segment=[LISTS[row]], metrics=METRICS
        )
        assert alone.to_pylist() == table.slice(row, 1).to_pylist()


def test_details_are_the_columns_of_the_table_that_the_command_writes():
    table = score_segments(CANDIDATES, STREAMS, metrics=METRICS, details=True).to_pydict()
    for word in METRICS:
        config = BleuConfig().for_segments() if word == "bleu" else word
        for name in segment_scores(SEGMENTS[:1], config)[0].keys() - {"index", "system", "metric"}:
            column = table.pop(word if name == "score" else f"{word}_{name}")
            assert column == [row[name] for row in segment_scores(SEGMENTS, config)]
    assert not table


PAIRED = [
    *METRICS,
    BleuConfig(tokenize="intl", lowercase=True),
    ChrfConfig(word_order=2, lowercase=True),
    # Its references are rewritten once more than its candidates.
    TerConfig(normalized=True),
]


def test_pairs_have_the_scores_of_segments(monkeypatch):
    texts = [*MADE, "1,.,2 a", "1,.2 a"]
    number = len(texts)
    candidates = [text for text in texts for _ in texts]
    for metric in PAIRED:
        (alone,) = score_segments(candidates, [texts * number], metrics=[metric]).columns
        for most_pairs in (1, 20, 1 << 18):
            monkeypatch.setattr(counting, "_MOST_PAIRS", most_pairs)
            pairs = score_pairs(texts, metric)
            assert (pairs.dtype, pairs.shape) == (np.float64, (number, number))
            assert pairs.ravel().tolist() == alone.to_pylist()


def test_several_segments_have_an_array_each():
    found = score_pairs([MADE[:2], tuple(MADE[2:5]), pa.array(MADE[5:6])], "chrf")
    assert [array.shape for array in found] == [(2, 2), (3, 3), (1, 1)]
    assert found[1].tolist() == score_pairs(MADE[2:5], "chrf").tolist()


# The forms of texts

TEXTS: list[str | None] = ["the cat", "über 日本語 😀", "", None, "a b c"]
TEXT_LISTS = [["the cat", None], ["x"], ["", "y", "z"], [None, "a b d"]]

FORMS: list[Callable[[list[Any]], Any]] = [
    tuple,
    pa.array,
    lambda texts: pa.array(texts).dictionary_encode(),
    lambda texts: pa.chunked_array([texts[:1], [], texts[1:]], pa.string()),
    lambda texts: np.array(texts, object),
]
COMPLETE_FORMS: list[Callable[[list[Any]], Any]] = [
    np.array,
    lambda texts: np.array(texts, np.dtypes.StringDType()),
    lambda texts: [*map(np.str_, texts)],
]
LIST_FORMS: list[Any] = [
    TEXT_LISTS,
    tuple(map(tuple, TEXT_LISTS)),
    pa.array([["q"], *TEXT_LISTS, ["q"]], pa.large_list(pa.string_view()))[1:-1],
    pa.chunked_array([TEXT_LISTS[:2], TEXT_LISTS[2:]], pa.list_(pa.large_string())),
    [np.array(texts, object) for texts in TEXT_LISTS],
]


def test_texts_and_lists_in_every_form():
    complete = [text for text in TEXTS if text is not None]
    for forms, texts in ((FORMS, TEXTS), (COMPLETE_FORMS, complete)):
        for form in forms:
            column = calls._texts(form(texts), "texts")
            assert (column.to_pylist(), column.type) == (texts, pa.large_string())
    for lists in LIST_FORMS:
        assert calls._text_lists(lists, "lists").to_pylist() == TEXT_LISTS


NO_TEXTS = [
    (["a", b"b"], r"texts\[1\] must be Unicode text, got b'b', of type bytes; decode bytes"),
    (["a", math.nan], r"texts\[1\] must be Unicode text, got nan, of type float; .*pandas"),
    (["a", "b\ud800c"], r"texts\[1\] must be Unicode text"),
    (np.array([["a"]]), r"texts\[0\] must be Unicode text, got \['a'\], of type list"),
    (pa.array([1, 2]), "the column 'texts' must have strings, but its type is int64"),
    (pa.array([b"\xff"]).view(pa.string()), "the column 'texts' is not valid: .*[Ii]nvalid UTF"),
    *((values, "texts must be ") for values in ["a", {"a"}, {"a": "b"}, None, np.array("a")]),
]
NO_LISTS = [
    ([["a"], "b"], r"lists\[1\] must be a list of texts, got 'b', of type str; lists= takes"),
    ([["a"], [], ["b", b"c"]], r"lists\[2\]\[1\] must be Unicode text, got b'c'"),
    (pa.array(["a"]), "the column 'lists' must have lists of strings"),
]


def test_what_is_not_a_text_or_a_list_of_texts_is_refused():
    for values, message in NO_TEXTS:
        with pytest.raises(ValueError, match=message):
            calls._texts(values, "texts")
    for lists, message in NO_LISTS:
        with pytest.raises(ValueError, match=message):
            calls._text_lists(lists, "lists")


@pytest.mark.libraries
def test_series_of_pandas():
    pandas = importlib.import_module("pandas")
    texts = ["the cat", "über 日本語 😀", ""]
    for kind in (object, "string", "category", pandas.ArrowDtype(pa.string())):
        series = pandas.Series(texts, dtype=kind, index=[5, 6, 7])
        assert calls._texts(series, "texts").to_pylist() == texts
    assert calls._texts(pandas.Index(texts), "texts").to_pylist() == texts
    assert calls._texts(pandas.Series(TEXTS, dtype=object), "texts").to_pylist() == TEXTS
    assert calls._text_lists(pandas.Series(TEXT_LISTS), "lists").to_pylist() == TEXT_LISTS
    series = pandas.Series(["a", math.nan], dtype="string")
    with pytest.raises(ValueError, match=r"texts\[1\] must be Unicode text, got .*by '' or None"):
        calls._texts(series, "texts")


def test_a_printed_score_is_one_line():
    candidates = ["the cat sat on a mat", "good morning to all"]
    references = [["the cat sat on the mat", "Good morning to all"]]
    metrics = ["bleu", "chrf", "ter", "wer", "cer", "rougeL", "exact_match", "token_f1"]
    scores = beam_bleu.score(candidates, references, metrics=metrics)
    assert [str(score).removesuffix("  segments 2  warnings 1") for score in scores.values()] == [
        "BLEU 50.0  precisions 80.0/62.5/50.0/25.0  BP 1.000  ratio 1.000  hyp_len 10  ref_len 10",
        "chrF2 78.9  ratio 0.939  hyp_chars 31  ref_chars 33",
        "TER 10.0  edits 1  ref_words 10",
        "WER 20.0  sub 2  del 0  ins 0  ref 10",
        "CER 9.8  sub 2  del 2  ins 0  ref 41",
        "ROUGE-L 91.7  precision 91.7  recall 91.7  hits 9  hyp 10  ref 10",
        "exact match 100.0  exact_matches 2",
        "token F1 100.0  common_words 8  hyp_words 8  ref_words 8",
    ]
