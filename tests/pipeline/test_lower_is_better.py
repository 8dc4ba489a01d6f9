"""TER is lower for better systems: gates, comparisons and tables know it."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, read_lines
from made_results import entry, result
from shown_tables import shown

from beam_bleu.pipeline.gates.gates import Check, Gates, Threshold, judge
from beam_bleu.pipeline.result.document import read_result


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


def worse(new: float, old: float, most: str, drop: Any = "not_excluded") -> Check:
    """How a new TER is judged that must not be more than some points worse than an old one."""
    threshold = Threshold.of("--max_drop", most)
    gates = Gates((threshold,), drop, read_result(ter_result(a=old)), "OLD")
    (check,) = judge(read_result(ter_result(a=new)), gates)
    return check


# Gates


@pytest.mark.parametrize("flag", ["fail_over", "warn_over"])
def test_a_score_above_the_threshold_is_found(flag):
    threshold = Threshold.of(f"--{flag}", "130.5")
    checks = judge(read_result(ter_result(a=130.50001, b=130.5, c=2.0)), Gates((threshold,)))
    missed = "failed" if flag == "fail_over" else "warned"
    assert [check.verdict for check in checks] == [missed, "passed", "passed"]
    assert checks[0].text == f"a scores 130.50001, above 130.5 (--{flag})"
    assert checks[1].text == f"b scores 130.5, not above 130.5 (--{flag})"


def test_a_rise_is_a_drop():
    assert worse(40.0, 50.0, "2").verdict == "passed"
    assert worse(50.1, 50.0, "2").verdict == "passed"
    check = worse(51.9, 50.0, "2")
    assert check.verdict == "failed"
    assert check.text == (
        "a scores 51.9, 1.9 above the 50 of OLD (difference +0.51409618 to +3.2859038 with "
        "independent standard errors): a rise of more than 2 is not excluded (--max_drop, --drop "
        "not_excluded)"
    )
    assert worse(51.9, 50.0, "2", drop="proven").verdict == "passed"
    check = worse(53.5, 50.0, "2", drop="proven")
    assert check.verdict == "failed"
    assert "(difference +2.1140962 to +4.8859038" in check.text
    assert "a rise of more than 2 is proven" in check.text


@pytest.mark.parametrize(
    ("flags", "remedy"),
    [
        (["-m", "ter", "--fail_under=50"], "write --fail_over 50"),
        (["-m", "bleu", "ter", "--warn_over=bleu=9"], "write --warn_under bleu=9"),
    ],
)
def test_a_threshold_on_the_wrong_side_is_refused(flags, remedy):
    called(*EXAMPLE, *flags).assert_failed(2, remedy)


# Tables and comparisons


def test_the_best_system_has_the_lowest_score():
    text = shown("markdown", ter_result(a=50.0, b=40.0, c=40.0))
    assert text.count("**40.00**") == 2
    assert "**50.00**" not in text


# The command


@pytest.mark.parametrize(
    "choices",
    [
        {"no_punct": True, "case_sensitive": True},
        {"normalized": True, "asian_support": True},
    ],
    ids=str,
)
def test_flags_have_the_meaning_of_sacrebleu(choices):
    metric = sacrebleu.TER(**choices)
    references = [read_lines(reference) for reference in REFERENCES]
    flags = [f"--ter-{choice.replace('_', '-')}" for choice in choices]
    document = called(*EXAMPLE, "-m", "ter", *flags, "--format=json").document
    for score in document["scores"]:
        expected = metric.corpus_score(read_lines(SYSTEMS[score["system"]]), references)
        assert score["score"] == expected.score
        assert (score["edits"], score["ref_length"]) == (expected.num_edits, expected.ref_length)
    assert document["metrics"][0]["sacrebleu_signature"] == str(metric.get_signature())
