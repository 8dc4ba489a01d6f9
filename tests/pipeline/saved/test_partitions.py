"""Which partitions merged results name, and which dates are missing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from beam_bleu.pipeline.saved.dates import missing_dates


def days(month: int, *numbers: int) -> list[str]:
    return [f"2026-{month:02}-{each:02}" for each in numbers]


GAPS: dict[str, tuple[Sequence[str], str | None]] = {
    "one day": (days(11, 20, 21, 23), "lack 2026-11-22:"),
    "the end of a month": ([*days(10, 30, 31), *days(11, 2)], "lack 2026-11-01:"),
    "many days": (days(11, 1, 2, 20), "2026-11-06, 2026-11-07 and 12 more:"),
    "without hyphens": (["d20261120", "d20261122"], "lack 2026-11-21:"),
    "weeks": (days(11, 2, 9, 16), None),
    "no dates": (["news", "law", "2026-13-45", "12345678901"], None),
    "other series": (["de-2026-11-20", "fr-2026-11-22"], None),
}


@pytest.mark.parametrize(("labels", "warning"), GAPS.values(), ids=GAPS)
def test_missing_dates(labels, warning):
    found = list(missing_dates(reversed(labels)))
    assert [warning in each for each in found] == ([] if warning is None else [True])
