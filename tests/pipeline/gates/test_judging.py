"""Thresholds and results: which checks pass, and what they say."""

from __future__ import annotations

import math

import pytest
from made_results import SIGNATURE, entry, result

from beam_bleu.pipeline.gates.gates import DROP_RULES, Check, Gates, Threshold, judge
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.transforms.errors import UsageError

NEWS, MAIL = {"domain": "news"}, {"domain": "mail"}


def under(document, *texts: str) -> list[Check]:
    thresholds = tuple(Threshold.of("--fail_under", text) for text in texts)
    return judge(read_result(document), Gates(thresholds))


def drops(new, old, *texts: str, drop="not_excluded") -> list[Check]:
    thresholds = tuple(Threshold.of("--max_drop", text) for text in texts)
    gates = Gates(thresholds, drop, read_result(old), "OLD")
    return judge(read_result(new), gates)


def passed(checks: list[Check]) -> dict[str, bool]:
    """By the first word of each check, whether it passed."""
    found = {each.text.split()[0]: each.verdict == "passed" for each in checks}
    assert len(found) == len(checks)
    return found


# Thresholds for scores


def test_the_exact_score_is_compared_and_not_the_rounded_one():
    document = result(entry("a", 29.99997), entry("b", 30.0), entry("c", 30.4))
    checks = under(document, "30")
    assert passed(checks) == {"a": False, "b": True, "c": True}
    assert checks[0].text == "a scores 29.99997, below 30 (--fail_under)"
    assert checks[1].text == "b scores 30, not below 30 (--fail_under)"


def test_a_threshold_of_a_system_takes_the_place_of_the_general_one():
    document = result(entry("a", 20), entry("b", 35), entry("c", 35))
    for texts in (("30", "a=10", "b=40"), ("b=40", "a=10", "30")):
        assert passed(under(document, *texts)) == {"a": True, "b": False, "c": True}


def test_slices_have_thresholds_of_their_own():
    document = result(
        entry("a", 35), entry("b", 35), entry("a", 25, of_slice=NEWS), entry("b", 15, of_slice=NEWS)
    )
    assert passed(under(document, "30")) == {"a": True, "b": True}
    assert passed(under(document, "[domain=news]=20")) == {
        "a[domain=news]": True,
        "b[domain=news]": False,
    }
    assert passed(under(document, "[domain=news]=20", "b[domain=news]=10")) == {
        "a[domain=news]": True,
        "b[domain=news]": True,
    }


def test_without_a_score_of_the_whole_corpus_the_mean_of_languages_is_judged():
    averages = [
        {"system": "a", "languages": 2, "score": 29.0, "standard_error": 0.1},
        {"system": "b", "languages": 1, "score": None, "standard_error": None},
    ]
    languages = [{"slice": {"lang": lang}, "signature": SIGNATURE} for lang in ("de", "ja")]
    document = result(
        *(entry("a", 40, of_slice=each["slice"]) for each in languages),
        signature=None,
        languages=languages,
        macro_average=averages,
    )
    assert passed(under(document, "28")) == {"a": True, "b": False}
    assert passed(under(document, "a=30")) == {"a": False}
    assert passed(under(document, "a[lang=ja]=30")) == {"a[lang=ja]": True}


def of_languages(*names: str, mean: float | None):
    """A document of languages; with a mean, they have different tokenizers."""
    languages = [{"slice": {"lang": name}, "signature": SIGNATURE} for name in names]
    entries = [entry("a", 40, of_slice=each["slice"]) for each in languages]
    averages = [{"system": "a", "languages": len(names), "score": mean, "standard_error": 0.1}]
    whole = [entry("a", 30.0)] if mean is None else []
    return result(*whole, *entries, languages=languages, macro_average=averages)


def test_scores_of_the_whole_corpus_are_compared_only_with_those_of_the_same_kind():
    corpus = of_languages("de", "en", mean=None)
    mean = of_languages("de", "en", mean=30.1)
    more = of_languages("de", "en", "zh", mean=30.1)
    for new, old in ((mean, corpus), (corpus, mean), (more, corpus), (more, mean)):
        whole, *_ = drops(new, old, "5")
        assert whole.verdict == "failed"
        assert "they cannot be compared" in whole.text
        # The slices of both can be compared.
        assert all(each.verdict == "passed" for each in drops(new, old, "[lang=de]=5"))
    (kind,) = drops(more, mean, "5")
    assert "the mean of lang=de, lang=en in OLD" in kind.text
    for same in (corpus, mean, more):
        assert all(each.verdict == "passed" for each in drops(same, same, "5"))


@pytest.mark.parametrize(
    "text", ["", "x", "a=", "=30", "-1", "nan", "inf", "a=nan", "1e999", "1_0"]
)
def test_impossible_thresholds_are_refused(text):
    with pytest.raises(UsageError):
        Threshold.of("--max_drop", text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("30", ("", "", 30)),
        ("a=30", ("", "a", 30)),
        ("chrf=30", ("chrf", "", 30)),
        ("chrf=a=30", ("chrf", "a", 30)),
        ("chrf=[domain=news]=30", ("chrf", "[domain=news]", 30)),
        ("bleu=chrf=30", ("bleu", "chrf", 30)),
        ("[domain=news]=30", ("", "[domain=news]", 30)),
        ("a=b=30", ("", "a=b", 30)),
        ("a:b=30", ("", "a:b", 30)),
    ],
)
def test_a_threshold_begins_with_its_metric(text, parts):
    threshold = Threshold.of("--fail_under", text)
    assert (threshold.metric, threshold.name, threshold.number) == parts


# Drops


@pytest.mark.parametrize(
    ("new", "drop", "passes"),
    [
        # The interval of the difference is +- 1.386 for standard errors of 0.5 each.
        (30.9, "not_excluded", True),
        (30.88, "not_excluded", False),
        (30.0, "not_excluded", False),
        (28.2, "proven", True),
        (28.1, "proven", False),
        (30.0, "proven", True),
    ],
)
def test_the_bound_of_the_interval_decides(new, drop, passes):
    (check,) = drops(result(entry("a", new)), result(entry("a", 30.01)), "0.5", drop=drop)
    half = 1.959963984540054 * math.hypot(0.5, 0.5)
    bound = new - 30.01 + (-half if drop == "not_excluded" else half)
    assert (check.verdict == "passed") == passes == (bound >= -0.5)
    assert "independent standard errors" in check.text
    assert ("not " in check.text) == (passes == (drop == "proven"))


def test_a_result_without_changes_passes():
    # The interval of independent test sets would not exclude a drop.
    old = result(entry("a", 30.0))
    (check,) = drops(result(entry("a", 30.0)), old, "0.1")
    assert check.verdict == "passed"
    assert "the same counts" in check.text


@pytest.mark.parametrize("drop", DROP_RULES)
@pytest.mark.parametrize("errors", [(None, 0.5), (0.5, None), (None, None)])
def test_without_a_standard_error_nothing_passes(drop, errors):
    new, old = errors
    (check,) = drops(result(entry("a", 50.0, new)), result(entry("a", 30.0, old)), "0.5", drop=drop)
    assert check.verdict == "failed"
    assert "cannot be judged" in check.text


def test_all_systems_and_slices_of_the_old_result_must_be_there():
    old = result(
        entry("a", 30), entry("b", 30), entry("a", 30, of_slice=NEWS), entry("a", 3, of_slice=MAIL)
    )
    new = result(entry("a", 40), entry("c", 1), entry("a", 4, of_slice=NEWS))
    checks = drops(new, old, "0.5")
    # Slices are not compared without a threshold of their own.
    assert [each.verdict for each in checks] == ["passed", "failed", "failed"]
    assert "has no b" in checks[1].text
    assert "has no a[domain=mail]" in checks[2].text


@pytest.mark.parametrize(
    "other", [SIGNATURE.replace("13a", "zh"), SIGNATURE.replace("nrefs:1", "nrefs:2")]
)
def test_scores_of_another_definition_are_not_compared(other):
    (check,) = drops(result(entry("a", 50)), result(entry("a", 30), signature=other), "0.5")
    assert check.verdict == "failed"
    assert "cannot be compared" in check.text
