"""Thresholds and results: which checks pass, and what they say."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, streams, write_lines
from made_results import SIGNATURE, entry, result
from result_folder import assert_files

from beam_bleu.pipeline.result.document import read_result
from beam_bleu.pipeline.saved.judging import Check, judge
from beam_bleu.pipeline.scoring.thresholds import DROP_RULES, Gates, Threshold
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.score.differences import wilson

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
    of_news = {"a[domain=news]": True, "b[domain=news]": False}
    assert passed(under(document, "[domain=news]=20")) == of_news
    of_news["b[domain=news]"] = True
    assert passed(under(document, "[domain=news]=20", "b[domain=news]=10")) == of_news


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


def test_scores_of_the_whole_corpus_are_compared_only_with_those_of_the_same_kind():
    def of_languages(*names: str, mean: float | None):
        """A document of languages; with a mean, they have different tokenizers."""
        languages = [{"slice": {"lang": name}, "signature": SIGNATURE} for name in names]
        entries = [entry("a", 40, of_slice=each["slice"]) for each in languages]
        averages = [{"system": "a", "languages": len(names), "score": mean, "standard_error": 0.1}]
        whole = [entry("a", 30.0)] if mean is None else []
        return result(*whole, *entries, languages=languages, macro_average=averages)

    corpus = of_languages("de", "en", mean=None)
    mean = of_languages("de", "en", mean=30.1)
    more = of_languages("de", "en", "zh", mean=30.1)
    for new, old in ((mean, corpus), (corpus, mean), (more, mean)):
        whole, *_ = drops(new, old, "5")
        assert (whole.verdict, "they cannot be compared" in whole.text) == ("failed", True)
        # The slices of both can be compared.
        assert all(each.verdict == "passed" for each in drops(new, old, "[lang=de]=5"))
    assert "the mean of lang=de, lang=en in OLD" in whole.text
    for same in (corpus, mean):
        assert all(each.verdict == "passed" for each in drops(same, same, "5"))


def test_a_threshold_is_a_number_with_its_metric_and_name_before_it():
    for text in ("", "x", "a=", "=30", "-1", "nan", "inf", "a=nan", "1e999", "1_0"):
        with pytest.raises(UsageError):
            Threshold.of("--max_drop", text)
    for text, parts in {
        "30": ("", "", 30),
        "a=30": ("", "a", 30),
        "chrf=30": ("chrf", "", 30),
        "chrf=[domain=news]=30": ("chrf", "[domain=news]", 30),
        "bleu=chrf=30": ("bleu", "chrf", 30),
        "[domain=news]=30": ("", "[domain=news]", 30),
        "a=b=30": ("", "a=b", 30),
    }.items():
        threshold = Threshold.of("--fail_under", text)
        assert (threshold.metric, threshold.name, threshold.number) == parts


def test_the_bound_of_the_interval_decides():
    for new, drop, passes in (
        # The interval of the difference is +- 1.386 for standard errors of 0.5 each.
        (30.9, "not_excluded", True),
        (30.88, "not_excluded", False),
        (28.2, "proven", True),
        (28.1, "proven", False),
    ):
        (check,) = drops(result(entry("a", new)), result(entry("a", 30.01)), "0.5", drop=drop)
        half = 1.959963984540054 * math.hypot(0.5, 0.5)
        bound = new - 30.01 + (-half if drop == "not_excluded" else half)
        assert (check.verdict == "passed") == passes == (bound >= -0.5)
        assert "independent standard errors" in check.text
        assert ("not " in check.text) == (passes == (drop == "proven"))


def test_without_a_standard_error_only_a_result_without_changes_passes():
    (check,) = drops(result(entry("a", 30.0, None)), result(entry("a", 30.0, None)), "0.1")
    assert (check.verdict, "the same counts" in check.text) == ("passed", True)
    for drop in DROP_RULES:
        for errors in ((None, 0.5), (0.5, None)):
            old, new = (entry("a", 30.0, errors[0]), entry("a", 50.0, errors[1]))
            (check,) = drops(result(new), result(old), "0.5", drop=drop)
            assert check.verdict == "failed"
            assert "cannot be judged" in check.text


def test_other_conditions_are_a_warning():
    old, new = (result(entry("a", 30.0)) | {"where": [f"lang={name}"]} for name in ("de", "fr"))
    check, _ = drops(new, old, "1")
    assert check.verdict == "warned"
    assert check.text.endswith("changed from lang=de to lang=fr since OLD")


def test_the_drop_of_a_share_is_judged_by_wilsons_intervals():
    # All of 40 segments are right, so the standard error is 0; now 36 are.
    old = {**entry("a", 100.0, 0.0), "wilson_interval": [100 * end for end in wilson(40, 40)]}
    new = {**entry("a", 90.0, 4.8), "wilson_interval": [100 * end for end in wilson(36, 40)]}
    (check,) = drops(result(new), result(old), "0.5", drop="proven")
    assert check.verdict == "passed"
    assert "difference -23.051" in check.text
    assert "by Wilson's intervals" in check.text
    # No segment is right, so there is no standard error.
    none = {**entry("a", 0.0, None), "wilson_interval": [100 * end for end in wilson(0, 40)]}
    (check,) = drops(result(none), result(old), "99", drop="proven")
    assert "is not proven" in check.text


def test_the_threshold_of_a_share_is_from_0_to_1():
    def shares(
        right: int, wilson_interval: list[float] | None, metric: str = "mean:acc"
    ) -> dict[str, Any]:
        mean = {"metric": metric, "wilson_interval": wilson_interval}
        document = result({**entry("a", right / 40, 0.1), **mean})
        document["metrics"][0] |= {"metric": metric, "name": "mean acc"}
        return document

    old, new = (shares(right, [*wilson(right, 40)]) for right in (36, 6))
    (_, check) = drops(new, old, "3", drop="proven")
    assert check.verdict == "failed"
    assert check.text.startswith("--max_drop 3 would always pass or always fail")
    assert [each.verdict for each in under(old, "40")] == ["failed", "failed"]
    assert [each.verdict for each in under(old, "0.4")] == ["passed"]
    assert len(drops(new, old, "0.9", drop="proven")) == 1
    assert len(drops(shares(6, None), old, "3", drop="proven")) == 1  # other numbers
    assert len(drops(new, shares(36, None), "3", drop="proven")) == 1
    # Of few errors, each segment can have 0 or 1.
    checks = judge(
        read_result(shares(6, [*wilson(6, 40)], "mean_error:mqm")),
        Gates((Threshold.of("--fail_over", "2"),)),
    )
    assert [each.verdict for each in checks] == ["passed", "warned"]


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


def test_scores_of_another_definition_are_not_compared():
    for changed in (("13a", "zh"), ("nrefs:1", "nrefs:2")):
        old = result(entry("a", 30), signature=SIGNATURE.replace(*changed))
        (check,) = drops(result(entry("a", 50)), old, "0.5")
        assert check.verdict == "failed"
        assert "cannot be compared" in check.text


# Metrics where a lower score is better


def ter_result(**scores: float) -> dict[str, Any]:
    """A document with the TER of systems."""
    document = result()
    document["metrics"][0] |= {"metric": "ter", "name": "TER"}
    document["scores"] = [
        {
            **{key: entry(system, score)[key] for key in ("slice", "segments", "standard_error")},
            **{"metric": "ter", "system": system, "score": score, "interval": None},
            **{"edits": round(score * 10), "ref_length": 1000.0},
        }
        for system, score in scores.items()
    ]
    return document


def test_a_score_above_the_threshold_is_found():
    for flag, missed in (("--fail_over", "failed"), ("--warn_over", "warned")):
        threshold = Threshold.of(flag, "130.5")
        document = ter_result(a=130.50001, b=130.5, c=2.0)
        checks = judge(read_result(document), Gates((threshold,)))
        assert [check.verdict for check in checks] == [missed, "passed", "passed"]
        assert checks[0].text == f"a scores 130.50001, above 130.5 ({flag})"
        assert checks[1].text == f"b scores 130.5, not above 130.5 ({flag})"


def test_a_rise_is_a_drop():
    for new, drop, verdict in (
        (50.1, "not_excluded", "passed"),
        (51.9, "not_excluded", "failed"),
        (51.9, "proven", "passed"),
        (53.5, "proven", "failed"),
    ):
        (check,) = drops(ter_result(a=new), ter_result(a=50.0), "2", drop=drop)
        assert check.verdict == verdict
        if new == 51.9 and verdict == "failed":
            assert check.text == (
                "a scores 51.9, 1.9 above the 50 of OLD (difference +0.51409618 to +3.2859038 "
                "with independent standard errors): a rise of more than 2 is not excluded "
                "(--max_drop, --drop not_excluded)"
            )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-m ter --fail_under=50", "write --fail_over 50"),
        ("-m bleu ter --warn_over=bleu=9", "write --warn_under bleu=9"),
        ("--fail_under=-5", "must be from 0 to 100, as all scores of bleu"),
        ("--fail_under=100.5", "must be from 0 to 100"),
        ("-m ter --fail_over=-1", "must be 0 or more, as all scores of ter"),
        ("--fail_under=60 --fail_under=bleu=30", "60 and --fail_under bleu=30 are for the same"),
        ("--warn_under=at=1 --warn_under=at=9", "at=1 and --warn_under at=9 are for the same"),
    ],
)
def test_impossible_thresholds_are_refused(words, message):
    called(*EXAMPLE, *words.split()).assert_failed(2, message)


# Thresholds in a run: the result is written, and then the run fails


ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])


def record(out):
    return json.loads((out / "run.json").read_bytes())


def test_the_result_is_complete_and_shown(out):
    plain = called(*EXAMPLE, "--format=json")
    run = called(*EXAMPLE, "--output", out, "--format=json", "--fail_under", "99.5")
    assert run.code == 4
    assert run.out == (out / "scores.json").read_bytes() == plain.out
    assert_files(out)
    cause, remedy = run.err.splitlines()[-2:]
    assert cause.startswith("beam-bleu: 3 checks failed: atlas scores ")
    assert f"beam-bleu gate {out}" in remedy
    found = record(out)
    assert (found["state"], found["exit_code"]) == ("done", 4)
    assert f"beam-bleu: {found['message']}" == cause
    assert found["last_success"] == found["end"]
    assert "\nbeam_bleu_run_exit_code 4.0\n" in (out / "metrics.prom").read_text()
    assert called("gate", out, "--fail_under", "99.5").code == 4


def test_a_result_that_passes_with_a_warning(out):
    run = called(*ONE, "--output", out, "--fail_under", "birch=1", "--warn_under", "99")
    assert run.code == 0
    (warning,) = [line for line in run.err.splitlines() if "--warn_under" in line]
    assert warning.startswith("beam-bleu: warning: birch scores ")
    assert warning.endswith(record(out)["warnings"][0])
    assert "--warn_under" not in (out / "scores.json").read_text()


def test_an_unreadable_or_another_result_ends_the_run_before_it_starts(out, tmp_path):
    drop = ["--max_drop", "0.5", "--against"]
    called(*ONE, "--output", out, *drop, tmp_path / "none").assert_failed(3, "there is no")
    assert not (out / "scores.json").exists()
    assert called(*ONE, "--output", tmp_path / "old", "-lc").code == 0
    run = called(*ONE, "--output", out, *drop, tmp_path / "old")
    run.assert_failed(3, "case:lc", "case:mixed")
    assert not (out / "scores.json").exists()


def test_what_cannot_exist_is_refused_before_the_run(out):
    for words, fragments in {
        "--fail_under=tuned=1": ["--fail_under tuned=1: this run has no such system", "of birch"],
        "--fail_under=birch[domain=news]=1": ["are by none"],
        "--fail_under=birch[domain=news]=1 --slice_by=length": ["are by length"],
        "--fail_under=birch[length=1-9=1 --slice_by=length": ["no such system or slice"],
    }.items():
        called(*ONE, "--output", out, *words.split()).assert_failed(2, *fragments)
        assert not (out / "scores.json").exists()


def test_a_system_that_is_missing_fails_after_the_result(out, tmp_path):
    # The systems of such records are known only when the records are read.
    lines = [{"id": i, "system": "birch", "mt": f"a b c d {i}", "ref": "a b c"} for i in range(9)]
    records = write_lines(tmp_path / "long.jsonl", map(json.dumps, lines))
    found = [f"--input={records}", "--candidate_columns=mt", "--reference_columns=ref"]
    found += ["--system_column=system", "--id_column=id"]
    run = called(*found, "--output", out, "--fail_under", "tuned=1")
    assert run.code == 4
    assert "it has no score of tuned" in run.err
    assert_files(out)
