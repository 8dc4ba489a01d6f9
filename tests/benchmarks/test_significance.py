"""The simulation sees what it is for: methods that are right, and one that is not."""

from __future__ import annotations

import numpy as np

from benchmarks.significance.population import in_documents, segments_alone
from benchmarks.significance.trials import LEVELS, judged


def test_sacrebleu_finds_more_differences_where_there_are_none() -> None:
    alone = segments_alone(2000)
    found = judged(alone, 100, trials=100, resamples=99)
    for method in ("standard error", "bootstrap", "randomization"):
        # At 10 %, about 15 of 150 test sets are false alarms, and 30 hardly ever are.
        assert 0.02 < (found[method].alarms(LEVELS[2]) or 0) < 0.2, method
    alarms = found["sacreBLEU's bootstrap"].alarms(LEVELS[2])
    assert (alarms or 0) > 1.4 * (found["bootstrap"].alarms(LEVELS[2]) or 1)
    assert all((found[method].coverage or 0) > 0.85 for method in ("standard error", "bootstrap"))
    # Segments of documents look more certain than they are.
    found = judged(in_documents(alone, np.random.default_rng(1)), 50, trials=60, resamples=19)
    of_documents, of_segments = (
        found[method].alarms(LEVELS[2])
        for method in ("standard error", "standard error, of segments")
    )
    assert of_documents is not None
    assert (of_segments or 0) > of_documents + 0.05
    assert of_documents < 0.2
