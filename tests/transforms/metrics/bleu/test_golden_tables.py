"""Presets give the recorded results of the tools (tests/golden) and the seeds' numbers."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest
from scoring import score_of

from beam_bleu import score
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig, BleuScore
from beam_bleu.transforms.metrics.bleu.presets import preset

GOLDEN = pathlib.Path(__file__).parents[3] / "golden"


def table(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_text())


CONTROLS = re.compile(r"\\u001[cdef]")
"""These characters separate words in Python, but not in Perl."""
ENTITIES = re.compile(r"&|<skipped>|\\u001[cdef]")
"""Text that the script replaces before it splits by the international rules; sacreBLEU does not."""
NOTHING = re.compile(r"$^")

CORPORA = {corpus["name"]: corpus for corpus in table("corpora")["corpora"]}
SENTENCES = {sentence["name"]: sentence for sentence in table("sentences")["sentences"]}


def scored(candidates: list[str], references: list[list[str]], config: BleuConfig) -> BleuScore:
    """The score of a corpus, which a plain call gives, too."""
    ours = score_of(list(zip(candidates, references, strict=True)), config)
    by_call = score(
        *(candidates,), references_per_segment=references, metrics=[config], uncertainty=False
    )
    assert by_call == {"bleu": ours}
    return ours


def of_corpus(record: dict[str, Any], config: BleuConfig) -> BleuScore:
    corpus = CORPORA[record["corpus"]]
    return scored(corpus["candidates"], corpus["references"], config)


def close(expected: float, digits: int = 12) -> Any:
    return pytest.approx(expected, rel=10**-digits, abs=1e-300)


def records(tool: str, without: re.Pattern[str] = NOTHING) -> list[Any]:
    """The scores among a tool's records, as parameters of a test.

    Empty corpora, and corpora with text that a pattern finds, are left out.
    """
    return [
        pytest.param(record, id=f"{record['corpus']}-{record['options']}")
        for record in table(tool)["records"]
        if "error" not in record
        and CORPORA[record["corpus"]]["candidates"]
        and without.search(json.dumps(CORPORA[record["corpus"]], ensure_ascii=False)) is None
    ]


@pytest.mark.parametrize("record", records("torchmetrics"))
def test_torchmetrics(record: dict[str, Any]) -> None:
    options = record["options"]
    choices: dict[str, Any] = {"max_ngram_order": options.get("n_gram", 4)}
    if "weights" in options:
        choices["weights"] = tuple(options["weights"])
    if options.get("smooth"):
        choices["smooth_method"] = "add-k"
    ours = of_corpus(record, preset("torchmetrics", **choices))
    if options.get("smooth") and 0 in ours.matches:
        assert record["score"] == 0  # the tool looks for zeros before it smooths
    else:
        assert ours.score == close(100 * record["score"], 6)  # the tool counts in float32


def check_tensorflow(record: dict[str, Any], name: str, **choices: Any) -> None:
    options = record["options"]
    if options.get("smooth"):
        choices["smooth_method"] = "add-k-all"
    config = preset(name, max_ngram_order=options.get("max_order", 4), **choices)
    ours = of_corpus(record, config)
    assert ours.score == close(100 * record["score"])
    assert list(ours.precisions) == [close(100 * each) for each in record["precisions"]]
    assert ours.bp == close(record["brevity_penalty"])
    assert (ours.sys_len, ours.ref_len) == (record["candidate_length"], record["reference_length"])


@pytest.mark.parametrize("record", records("tensorflow"))
def test_tensorflow(record: dict[str, Any]) -> None:
    check_tensorflow(record, "tensorflow")


@pytest.mark.parametrize("record", records("huggingface"))
def test_huggingface(record: dict[str, Any]) -> None:
    plain = record["options"].get("tokenizer") == "str.split"
    check_tensorflow(record, "huggingface", **({"tokenize": "none"} if plain else {}))


def test_d2l() -> None:
    golden = table("d2l")
    compared = 0
    for record in golden["records"]:
        sentence = SENTENCES[record["sentence"]]
        texts = sentence["candidate"], sentence["references"][0]
        if any(text.split(" ") != text.split() for text in texts):
            continue  # in this tool, an empty text and the text between two spaces are tokens
        for order, expected in zip(golden["orders"], record["scores"], strict=True):
            if isinstance(expected, float):
                config = preset("d2l", max_ngram_order=order)
                ours = scored([sentence["candidate"]], [sentence["references"][:1]], config)
                assert ours.score == close(100 * expected)
                compared += 1
    assert compared > 800


@pytest.mark.parametrize("record", records("nltk_legacy"))
def test_nltk_legacy(record: dict[str, Any]) -> None:
    weights = record["options"].get("weights")
    choices = {} if weights is None else {"weights": tuple(weights)}
    ours = of_corpus(record, preset("nltk_legacy", **choices))
    assert ours.score == close(100 * record["score"])


def test_nltk_legacy_of_sentences() -> None:
    for record in table("nltk_legacy")["sentences"]:
        sentence = SENTENCES[record["sentence"]]
        ours = scored([sentence["candidate"]], [sentence["references"]], preset("nltk_legacy"))
        assert ours.score == close(100 * record["score"])


@pytest.mark.parametrize("record", records("multi_bleu"))
def test_multi_bleu(record: dict[str, Any]) -> None:
    lowercase = "ascii" if "-lc" in record["options"] else False
    ours = of_corpus(record, preset("multi_bleu", lowercase=lowercase))
    if not ours.ref_len:
        assert record["printed"].startswith("BLEU = 0, ")
        return
    precisions = "/".join(f"{each:.1f}" for each in ours.precisions)
    assert record["printed"] == (
        f"BLEU = {ours.score:.2f}, {precisions} (BP={ours.bp:.3f}, "
        f"ratio={ours.ratio:.3f}, hyp_len={ours.sys_len}, ref_len={ours.ref_len})"
    )


INTERNATIONAL = "--international-tokenization"


@pytest.mark.parametrize(
    "record",
    [
        *(each for each in records("mteval13a", CONTROLS) if INTERNATIONAL not in each.id),
        *(each for each in records("mteval13a", ENTITIES) if INTERNATIONAL in each.id),
    ],
)
def test_mteval13a(record: dict[str, Any]) -> None:
    options = record["options"]
    corpus = CORPORA[record["corpus"]]
    choices: dict[str, Any] = {"lowercase": False} if "-c" in options else {}
    if "--no-smoothing" in options:
        choices["smooth_method"] = "none"
    if "shortest" in options:
        choices["reference_length"] = "shortest"
    if INTERNATIONAL in options:
        choices["tokenize"] = "intl"
    config = preset("mteval13a", **choices)
    assert of_corpus(record, config).score == close(100 * record["score"])
    for candidate, references, expected in zip(
        corpus["candidates"], corpus["references"], record["segment_scores"], strict=True
    ):
        assert scored([candidate], [references], config).score == close(100 * expected)


# The documents with which this project started

SYSTEMS = {
    "nltk": lambda weights: preset("nltk", weights=weights),
    "nltk_legacy": lambda weights: preset("nltk_legacy", weights=weights),
}


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, id=example["name"])
        for example in table("seeds")["examples"]
        if example["asserts"] != "plain precision"  # which is not BLEU
    ],
)
def test_the_numbers_that_the_seeds_print(example: dict[str, Any]) -> None:
    if example["asserts"] == "score":
        config = SYSTEMS[example["definition"]](tuple(example["weights"]))
        ours = scored([example["candidate"]], [example["references"]], config)
        assert ours.score / 100 == close(example["expected"], 15)
        return
    config = preset("papineni2002", lowercase=example.get("lowercase", False))
    ours = scored([example["candidate"]], [example["references"]], config)
    n = example["order"] - 1
    assert f"{ours.matches[n]}/{ours.totals[n]}" == example["expected"]
