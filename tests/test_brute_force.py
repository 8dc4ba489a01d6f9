"""The brute force agrees with the tools: installed ones, and those of the golden tables."""

from __future__ import annotations

import json
import math
import pathlib
import re
import string
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import brute_force
import nltk.translate.bleu_score as nltk_bleu
import pytest
import sacrebleu
from brute_force import Sums, corpus_sums
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International

GOLDEN = pathlib.Path(__file__).parent / "golden"
PERL_SPACE = str.maketrans("\x1c\x1d\x1e\x1f", "\ue000\ue001\ue002\ue003")
"""These characters separate words in Python, but not in Perl."""
ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
UNEVEN = [0.4, 0.3, 0.2, 0.1]
SMOOTHINGS = [
    *((method, None) for method in ("none", "exp", "floor", "add-k")),
    ("floor", 0.25),
    ("add-k", 3),
]

Tokenize = Callable[[str], list[Any]]
Segments = list[tuple[list[Any], list[list[Any]]]]


def table(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_text())


CORPORA = {corpus["name"]: corpus for corpus in table("corpora")["corpora"]}
SENTENCES = {sentence["name"]: sentence for sentence in table("sentences")["sentences"]}


def tokenized(corpus: dict[str, Any], tokenize: Tokenize = str.split) -> Segments:
    return [
        (tokenize(candidate), [tokenize(reference) for reference in references])
        for candidate, references in zip(corpus["candidates"], corpus["references"], strict=True)
    ]


def records(tool: str) -> list[Any]:
    return [
        pytest.param(record, id=f"{record['corpus']}-{record['options']}")
        for record in table(tool)["records"]
    ]


def close(expected: float, digits: int = 12) -> Any:
    """Equal apart from rounding, also for numbers as small as NLTK's zeros."""
    return pytest.approx(expected, rel=10**-digits, abs=1e-300)


def check(record: dict[str, Any], compute: Callable[[], float], digits: int = 12) -> None:
    """The score of a record, or a division by zero if the tool raised an error."""
    if "error" in record:
        with pytest.raises(ZeroDivisionError):
            compute()
    else:
        assert compute() == close(record["score"], digits)


def test_the_files_fit_in_a_repository() -> None:
    assert sum(path.stat().st_size for path in GOLDEN.iterdir()) < 800_000


@pytest.mark.parametrize("example", table("seeds")["examples"], ids=lambda e: e["name"])
def test_the_numbers_that_the_seeds_print(example: dict[str, Any]) -> None:
    candidate = example["candidate"].split()
    references = [reference.split() for reference in example["references"]]
    sums = corpus_sums([(candidate, references)])
    if example["asserts"] == "score":
        definition = getattr(brute_force, example["definition"])
        assert definition(sums, weights=example["weights"]) == close(example["expected"], 15)
        return
    order = example["order"]
    count = {
        "precision": brute_force.clipped_matches,
        "plain precision": brute_force.unclipped_matches,
    }[example["asserts"]]
    assert example["expected"] == f"{count(candidate, references, order)}/{sums.totals[order - 1]}"


def test_reference_lengths_by_every_rule() -> None:
    segments = [
        (["x"] * 5, [["y"] * n for n in (6, 4, 9)]),
        (["x"] * 2, [["y"] * n for n in (1, 5)]),
    ]
    lengths = {
        rule: corpus_sums(segments, rule=rule).reference_length
        for rule in brute_force.REFERENCE_LENGTHS
    }
    assert lengths == {
        "closest": 4 + 1,
        "closest_first": 6 + 1,
        "shortest": 4 + 1,
        "longest": 9 + 5,
        "average": Fraction(19, 3) + 3,
    }


def test_the_sums_of_the_papers_first_example() -> None:
    sums = corpus_sums(tokenized(CORPORA["seed-paper-example1-1"]))
    assert sums == Sums([17, 10, 7, 4], [18, 17, 16, 15], [0, 0, 0, 0], 18, Fraction(18))
    assert brute_force.papineni2002(sums) == close(0.5045666840058485)


@pytest.mark.parametrize("max_order", [1, 2, 4, 6])
@pytest.mark.parametrize("name", [name for name, corpus in CORPORA.items() if corpus["candidates"]])
def test_sacrebleu(name: str, max_order: int) -> None:
    corpus = CORPORA[name]
    segments = tokenized(corpus)
    sums = corpus_sums(segments, max_order)
    width = max(len(references) for references in corpus["references"])
    columns = [
        [references[i] if i < len(references) else None for references in corpus["references"]]
        for i in range(width)
    ]
    for method, value in SMOOTHINGS:
        for effective_order in (False, True):
            tool = sacrebleu.BLEU(
                tokenize="none",
                smooth_method=method,
                smooth_value=value,
                max_ngram_order=max_order,
                effective_order=effective_order,
            )
            found = tool.corpus_score(corpus["candidates"], columns)
            assert (found.sys_len, found.ref_len) == (sums.candidate_length, sums.reference_length)
            if method != "add-k":
                assert (found.counts, found.totals) == (sums.matches, sums.totals)
            ours = brute_force.sacrebleu(sums, method, value, effective_order)
            assert ours * 100 == close(found.score)


@pytest.mark.parametrize("weights", [[0.25] * 4, [0.5, 0.5], [0.25, 0.25, 0, 0], UNEVEN])
@pytest.mark.parametrize("name", CORPORA)
def test_nltk(name: str, weights: list[float]) -> None:
    segments = tokenized(CORPORA[name])
    sums = corpus_sums(segments, len(weights))
    smoothing = nltk_bleu.SmoothingFunction()
    for method in range(5):
        if not segments:
            with pytest.raises(ZeroDivisionError):
                brute_force.nltk(sums, method, weights)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = nltk_bleu.corpus_bleu(
                [references for _, references in segments],
                [candidate for candidate, _ in segments],
                tuple(weights),
                getattr(smoothing, f"method{method}"),
            )
        assert brute_force.nltk(sums, method, weights) == close(found)


@pytest.mark.parametrize("record", records("nltk_legacy"))
def test_nltk_legacy(record: dict[str, Any]) -> None:
    weights = record["options"].get("weights", [0.25] * 4)
    sums = corpus_sums(tokenized(CORPORA[record["corpus"]]), len(weights))
    check(record, lambda: brute_force.nltk_legacy(sums, weights))


def test_nltk_legacy_of_sentences() -> None:
    for record in table("nltk_legacy")["sentences"]:
        sentence = SENTENCES[record["sentence"]]
        references = [reference.split() for reference in sentence["references"]]
        sums = corpus_sums([(sentence["candidate"].split(), references)])
        assert brute_force.nltk_legacy(sums) == close(record["score"])


def test_which_releases_of_nltk_are_the_legacy() -> None:
    golden = table("nltk_legacy")
    assert golden["version"] == "3.2.5"
    newest = {
        r["corpus"]: r.get("score", r.get("error")) for r in golden["records"] if not r["options"]
    }
    same = [
        release["version"]
        for release in golden["releases"]
        if all(newest[corpus] == score for corpus, score in release["scores"].items())
    ]
    assert same == ["3.2.4", "3.2.3", "3.2.2"]


@pytest.mark.parametrize("record", records("torchmetrics"))
def test_torchmetrics(record: dict[str, Any]) -> None:
    options = record["options"]
    segments = tokenized(CORPORA[record["corpus"]])
    sums = corpus_sums(segments, options.get("n_gram", 4), rule="closest_first")
    smooth, weights = options.get("smooth", False), options.get("weights")
    check(record, lambda: brute_force.torchmetrics(sums, smooth, weights), digits=6)


@pytest.mark.parametrize("record", records("tensorflow"))
def test_tensorflow(record: dict[str, Any]) -> None:
    check_tensorflow(record, str.split)


@pytest.mark.parametrize("record", records("huggingface"))
def test_huggingface(record: dict[str, Any]) -> None:
    plain = record["options"].get("tokenizer") == "str.split"
    check_tensorflow(record, str.split if plain else lambda text: Tokenizer13a()(text).split())


def check_tensorflow(record: dict[str, Any], tokenize: Tokenize) -> None:
    options = record["options"]
    segments = tokenized(CORPORA[record["corpus"]], tokenize)
    sums = corpus_sums(segments, options.get("max_order", 4), rule="shortest")
    check(record, lambda: brute_force.tensorflow(sums, options.get("smooth", False)))
    if "error" not in record:
        assert record["candidate_length"] == sums.candidate_length
        assert record["reference_length"] == sums.reference_length


def test_d2l() -> None:
    golden = table("d2l")
    for record in golden["records"]:
        sentence = SENTENCES[record["sentence"]]
        candidate, reference = (
            sentence["candidate"].split(" "),
            sentence["references"][0].split(" "),
        )
        other = record.get("other_releases", {}).get("0.17.6", record["scores"])
        for k, newest, older in zip(golden["orders"], record["scores"], other, strict=True):
            assert brute_force.d2l(candidate, reference, k) == close(newest)
            if isinstance(older, str):
                with pytest.raises(ZeroDivisionError):
                    brute_force.d2l_until_0_17(candidate, reference, k)
            else:
                assert brute_force.d2l_until_0_17(candidate, reference, k) == close(older)


@pytest.mark.parametrize("record", records("multi_bleu"))
def test_multi_bleu(record: dict[str, Any]) -> None:
    def tokenize(text: str) -> list[bytes]:
        return (text.encode().lower() if "-lc" in record["options"] else text.encode()).split()

    sums = corpus_sums(tokenized(CORPORA[record["corpus"]], tokenize))
    if "error" in record:
        assert sums.candidate_length == 0
        return
    score = brute_force.multi_bleu(sums)
    if sums.reference_length == 0:
        assert record["printed"] == "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)"
        return
    percents = "/".join(f"{100 * float(p):.1f}" for p in brute_force.precisions_or_zero(sums))
    c, r = sums.candidate_length, sums.reference_length
    assert record["printed"] == (
        f"BLEU = {100 * score:.2f}, {percents} (BP={brute_force.brevity_penalty(sums):.3f}, "
        f"ratio={float(c / r):.3f}, hyp_len={c}, ref_len={r})"
    )


def without_entities(text: str) -> str:
    """The first step of the script's international tokenization. sacreBLEU does not have it."""
    text = text.replace("<skipped>", "").replace("&quot;", '"').replace("&amp;", "&")
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&apos;", "'")


@pytest.mark.parametrize("record", records("mteval13a"))
def test_mteval13a(record: dict[str, Any]) -> None:
    options = record["options"]

    def tokenize(text: str) -> list[str]:
        text = text.translate(PERL_SPACE)
        if "--international-tokenization" in options:
            return TokenizerV14International()(without_entities(text)).split()
        tokens = Tokenizer13a()(text).split()
        return tokens if "-c" in options else [token.translate(ASCII_LOWER) for token in tokens]

    segments = tokenized(CORPORA[record["corpus"]], tokenize)
    rule = "shortest" if "shortest" in options else "closest"
    smoothing = "--no-smoothing" not in options
    sums = corpus_sums(segments, rule=rule)
    if "counts" in record:
        of_nine_orders = corpus_sums(segments, 9)
        assert record["counts"] == {
            "matches": of_nine_orders.matches,
            "totals": of_nine_orders.totals,
        }
    if "error" in record:
        assert 0 in (sums.candidate_length, sums.reference_length)
        return
    score = brute_force.mteval13a(sums, smoothing)
    assert score == close(record["score"])
    assert record["printed"] == f"BLEU score = {score:.4f}"
    for segment, expected in zip(segments, record["segment_scores"], strict=True):
        assert brute_force.mteval13a(corpus_sums([segment], rule=rule), smoothing) == close(
            expected
        )
    if smoothing:
        assert record["candidate_length"] == sums.candidate_length
        assert record["reference_length"] == sums.reference_length


def test_every_table_names_the_version_of_the_tool() -> None:
    for path in GOLDEN.glob("*.json"):
        content = json.loads(path.read_text())
        if "records" in content:
            assert re.search(r"\d", content["version"]), path
            assert (GOLDEN / content["made_by"].removeprefix("tests/golden/")).exists()


@pytest.mark.parametrize("name", [name for name, corpus in CORPORA.items() if corpus["candidates"]])
def test_the_paper_is_sacrebleu_without_smoothing(name: str) -> None:
    sums = corpus_sums(tokenized(CORPORA[name]))
    assert brute_force.papineni2002(sums) == close(brute_force.sacrebleu(sums, "none"))
    if 0 not in sums.matches:
        assert brute_force.papineni2002_epsilon(sums) == close(brute_force.papineni2002(sums))


def test_a_zero_precision_that_is_almost_zero() -> None:
    sums = corpus_sums(tokenized(CORPORA["edge-unigrams-only"]))
    assert brute_force.papineni2002_epsilon(sums) == close(1e-75)
    assert brute_force.papineni2002_epsilon(sums, 1e-4) == close(1e-3)
    assert brute_force.papineni2002_epsilon(sums, 1e-4, [0.5, 0.5, 0, 0]) == close(1e-2)


@pytest.mark.parametrize(
    ("rule", "reference_length"),
    [("closest", 4), ("closest_first", 6), ("longest", 9), ("average", Fraction(19, 3))],
)
def test_the_reference_length_shortens_the_score(rule: str, reference_length: Fraction) -> None:
    references = [
        ["a", "b", "c", "d", "e", "f"],
        ["a", "b", "c", "d"],
        ["a", "b", "c", "d", "e", "f", "g", "h", "i"],
    ]
    sums = corpus_sums([(list("abcde"), references)], rule=rule)
    expected = 1.0 if reference_length < 5 else math.exp(1 - reference_length / 5)
    assert brute_force.papineni2002(sums) == close(expected)
