"""chrF as a metric: definitions and standard errors."""

from __future__ import annotations

import pytest
from test_chrf_against_sacrebleu import counted, score_of

from beam_bleu import ChrfConfig
from beam_bleu.transforms.metrics.chrf.metric import Chrf


def test_names_show_beta_and_the_orders_of_words():
    names = [metric.name for metric in (Chrf(), Chrf(beta=3), Chrf(word_order=2), Chrf(5, 1, 3))]
    assert names == ["chrF2", "chrF3", "chrF2++", "chrF1+++"]


@pytest.mark.parametrize(("smoothed", "expected"), [(False, 0), (True, 1e-14)])
def test_without_matches_there_is_no_standard_error(smoothed, expected):
    segments, config = [("abc", ["xyz"])] * 40, ChrfConfig(eps_smoothing=smoothed)
    score = score_of(counted(segments, config), config)
    assert score.score == pytest.approx(expected, abs=1e-20)
    assert score.standard_error is None
    assert any("no character of a candidate is in its references" in w for w in score.warnings)
