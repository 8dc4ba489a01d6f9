"""Presets give the recorded results of the tools (tests/golden) and the seeds' numbers."""

from __future__ import annotations

import json
import math
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scoring import counted, group_totals, rows_of_table, score_of, score_of_totals

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig, BleuScore
from beam_bleu.transforms.metrics.bleu.presets import comparable, preset

GOLDEN = pathlib.Path(__file__).parents[3] / "golden"

CONTROLS = re.compile(r"\\u001[cdef]")
"""These characters separate words in Python, but not in Perl."""
ENTITIES = re.compile(r"&|<skipped>|\\u001[cdef]")
"""Text that the script replaces before it splits by the international rules; sacreBLEU does not."""
INTERNATIONAL = "--international-tokenization"

Pairs = Iterator[tuple[Any, Any]]
"""What we compute, and what the tool has computed."""


def table(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_text())


CORPORA = {corpus["name"]: corpus for corpus in table("corpora")["corpora"]}
SENTENCES = {sentence["name"]: sentence for sentence in table("sentences")["sentences"]}


def scored(texts: dict[str, Any], config: BleuConfig) -> BleuScore:
    """The score of a corpus or of a sentence."""
    if "candidate" in texts:
        return score_of([(texts["candidate"], texts["references"])], config)
    return score_of(list(zip(texts["candidates"], texts["references"], strict=True)), config)


def close(expected: float, digits: int = 12) -> Any:
    return pytest.approx(expected, rel=10**-digits, abs=1e-300)


def torchmetrics(record: dict[str, Any], texts: dict[str, Any]) -> Pairs:
    options = record["options"]
    choices: dict[str, Any] = {"max_ngram_order": options.get("n_gram", 4)}
    if "weights" in options:
        choices["weights"] = tuple(options["weights"])
    if options.get("smooth"):
        choices["smooth_method"] = "add-k"
    ours = scored(texts, preset("torchmetrics", **choices))
    if options.get("smooth") and 0 in ours.matches:
        yield 0, record["score"]  # the tool looks for zeros before it smooths
    else:
        yield ours.score, close(100 * record["score"], 6)  # the tool counts in float32


def tensorflow(record: dict[str, Any], texts: dict[str, Any], name: Any = "tensorflow") -> Pairs:
    options = record["options"]
    choices: dict[str, Any] = {"max_ngram_order": options.get("max_order", 4)}
    if options.get("smooth"):
        choices["smooth_method"] = "add-k-all"
    if options.get("tokenizer") == "str.split":
        choices["tokenize"] = "none"
    ours = scored(texts, preset(name, **choices))
    yield ours.score, close(100 * record["score"])
    yield list(ours.precisions), [close(100 * each) for each in record["precisions"]]
    yield ours.bp, close(record["brevity_penalty"])
    yield ours.sys_len, record["candidate_length"]
    yield ours.ref_len, record["reference_length"]


def huggingface(record: dict[str, Any], texts: dict[str, Any]) -> Pairs:
    return tensorflow(record, texts, "huggingface")


def nltk_legacy(record: dict[str, Any], texts: dict[str, Any]) -> Pairs:
    weights = record.get("options", {}).get("weights")
    choices = {} if weights is None else {"weights": tuple(weights)}
    yield scored(texts, preset("nltk_legacy", **choices)).score, close(100 * record["score"])


def multi_bleu(record: dict[str, Any], texts: dict[str, Any]) -> Pairs:
    lowercase = "ascii" if "-lc" in record["options"] else False
    ours = scored(texts, preset("multi_bleu", lowercase=lowercase))
    precisions = "/".join(f"{each:.1f}" for each in ours.precisions)
    shown = (
        f"BLEU = {ours.score:.2f}, {precisions} (BP={ours.bp:.3f}, "
        f"ratio={ours.ratio:.3f}, hyp_len={ours.sys_len}, ref_len={ours.ref_len})"
    )
    if ours.ref_len:
        yield shown, record["printed"]
    else:
        yield "BLEU = 0, ", record["printed"][:10]


def mteval13a(record: dict[str, Any], texts: dict[str, Any]) -> Pairs:
    options, found = record["options"], json.dumps(texts, ensure_ascii=False)
    if (ENTITIES if INTERNATIONAL in options else CONTROLS).search(found):
        return
    choices: dict[str, Any] = {"lowercase": False} if "-c" in options else {}
    if "--no-smoothing" in options:
        choices["smooth_method"] = "none"
    if "shortest" in options:
        choices["reference_length"] = "shortest"
    if INTERNATIONAL in options:
        choices["tokenize"] = "intl"
    config = preset("mteval13a", **choices)
    segments = [*zip(texts["candidates"], texts["references"], strict=True)]
    statistics = counted(segments, config)
    totals = group_totals(statistics, with_products=True)
    yield score_of_totals(totals, config).score, close(100 * record["score"])
    rows = rows_of_table(statistics, config.metric)
    for row, expected in zip(rows, record["segment_scores"], strict=True):
        yield row["score"], close(100 * expected)


def assert_same(
    compare: Callable[[dict[str, Any], dict[str, Any]], Pairs], records: list[dict[str, Any]]
) -> None:
    """Compares each record, but those of errors and of empty corpora; lists those that differ."""
    compared, wrong = 0, []
    for record in records:
        texts = CORPORA[record["corpus"]] if "corpus" in record else SENTENCES[record["sentence"]]
        if "error" not in record and texts.get("candidates", True):
            pairs = list(compare(record, texts))
            compared += len(pairs)
            wrong += [(record, ours, theirs) for ours, theirs in pairs if ours != theirs]
    assert compared > 80
    assert not wrong


@pytest.mark.parametrize(
    "compare", [torchmetrics, tensorflow, huggingface, nltk_legacy, multi_bleu, mteval13a]
)
def test_the_records_of_a_tool(compare: Any) -> None:
    made = table(compare.__name__)
    assert_same(compare, [*made["records"], *made.get("sentences", [])])


def test_d2l() -> None:
    golden = table("d2l")

    def compare(record: dict[str, Any], texts: dict[str, Any]) -> Pairs:
        first = {**texts, "references": texts["references"][:1]}
        if any(
            text.split(" ") != text.split() for text in (texts["candidate"], *first["references"])
        ):
            return  # in this tool, an empty text and the text between two spaces are tokens
        for order, expected in zip(golden["orders"], record["scores"], strict=True):
            if isinstance(expected, float):
                ours = scored(first, preset("d2l", max_ngram_order=order))
                yield ours.score, close(100 * expected)

    assert_same(compare, golden["records"])


def test_the_numbers_that_the_seeds_print() -> None:
    """The documents with which this project started."""
    for example in table("seeds")["examples"]:
        if example["asserts"] == "score":
            config = preset(example["definition"], weights=tuple(example["weights"]))
            assert scored(example, config).score / 100 == close(example["expected"], 15)
        elif example["asserts"] != "plain precision":  # which is not BLEU
            config = preset("papineni2002", lowercase=example.get("lowercase", False))
            ours, n = scored(example, config), example["order"] - 1
            assert f"{ours.matches[n]}/{ours.totals[n]}" == example["expected"]


def test_weights_and_order_belong_together():
    assert preset("sacrebleu", weights=(0.5, 0.5)).max_ngram_order == 2
    with pytest.raises(ValueError, match=r"max_ngram_order = 3 numbers.*0\.5"):
        preset("sacrebleu", weights=(0.5, 0.5), max_ngram_order=3)
    assert preset("d2l").weights == (0.5, 0.25, 0.125, 0.0625)
    assert preset("d2l", max_ngram_order=2).weights == (0.5, 0.25)


def test_what_is_no_preset_or_has_no_such_weights_is_refused():
    with pytest.raises(ValueError, match=r"preset must be one of sacrebleu, .*, got 'sacre'"):
        preset("sacre")
    for largest in ((16.0, 1e-9), (1e308, 1e308), (math.inf, 1.0), (10**400, 1), (math.nan, 1.0)):
        with pytest.raises(ValueError, match="weights must be a tuple"):
            preset("sacrebleu", weights=largest)


def test_presets_with_the_same_tokens_can_be_compared():
    assert list(comparable(BleuConfig())) == ["sacrebleu", "huggingface"]
    assert list(comparable(preset("mteval13a", smooth_method="none"))) == ["mteval13a"]
    of_words = "papineni2002 tensorflow d2l nltk nltk_legacy torchmetrics"
    assert list(comparable(BleuConfig("none"))) == of_words.split()
    assert list(comparable(BleuConfig("ascii-space"))) == ["multi_bleu"]
    assert comparable(BleuConfig("none", lowercase=True)) == {}
