"""Which partitions merged results name, and which dates are missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import called
from saved_parts import lines_in, run_into

from beam_bleu.pipeline.saved.dates import missing_dates


def days(month: int, *numbers: int) -> list[str]:
    return [f"2026-{month:02}-{each:02}" for each in numbers]


GAPS: dict[str, tuple[Sequence[str], str | None]] = {
    "one day": (days(11, 20, 21, 23), "lack 2026-11-22:"),
    "between two days": (days(11, 21, 23), "lack 2026-11-22:"),
    "the end of a month": ([*days(10, 30, 31), *days(11, 2)], "lack 2026-11-01:"),
    "many days": (days(11, 1, 2, 20), "2026-11-06, 2026-11-07 and 12 more:"),
    "without hyphens": (["d20261120", "d20261122"], "lack 2026-11-21:"),
    "months": (["2026-01", "2026-02", "2026-04"], None),
    "weeks": (days(11, 2, 9, 16), None),
    "no dates": (["news", "law", "2026-13-45", "12345678901"], None),
    "other series": (["de-2026-11-20", "fr-2026-11-22"], None),
}


@pytest.mark.parametrize(("labels", "warning"), GAPS.values(), ids=GAPS)
def test_missing_dates(labels, warning):
    found = list(missing_dates(reversed(labels)))
    assert [warning in each for each in found] == ([] if warning is None else [True])


@pytest.fixture(scope="module")
def parts(tmp_path_factory) -> list[Path]:
    """The folders of three days of one corpus."""
    folder: Path = tmp_path_factory.mktemp("days")
    out = []
    for day, rows in zip(
        days(11, 20, 21, 23), (slice(0, 20), slice(20, 40), slice(40, 72)), strict=True
    ):
        out.append(folder / day)
        run_into(out[-1], *lines_in(folder / "texts", rows), f"--partition={day}")
    return out


def test_a_month_without_a_day(parts, tmp_path):
    out = tmp_path / "month"
    run = called("merge", *parts, "--output", out)
    assert run.code == 0
    assert "beam-bleu: warning: the partitions from 2026-11-20 to 2026-11-23 lack" in run.err
    assert b"partitions 2026-11-20, 2026-11-21, 2026-11-23\n" in run.out
    labels = days(11, 20, 21, 23)
    assert json.loads((out / "scores.json").read_bytes())["partitions"] == labels
    again = called("rescore", out, "-s=floor", "--format=json")
    assert again.document["partitions"] == labels
