"""totals.json has the same bytes for every way to divide and to count a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from saved_parts import CUTS, DOMAINS, NAMES, TEXTS, joined_in, lines_in, records_in, run_into

DIVISION = ("--range_bytes=300", "--threads=3")


def assert_same_totals(folder: Path, *given: Any) -> None:
    run_into(folder / "whole", *given)
    run_into(folder / "divided", *given, *DIVISION)
    found = (folder / "divided" / "totals.json").read_bytes()
    assert found == (folder / "whole" / "totals.json").read_bytes()


def test_documents_and_replicates(tmp_path):
    flags = ("--documents=domain", "--resample=bootstrap", "--resamples=50", "--slice_by=domain")
    assert_same_totals(tmp_path, *lines_in(tmp_path, slice(None), *flags))


def test_slices_of_segments_with_one_or_two_references(tmp_path):
    records = [
        {
            **{name: text[row] for name, text in TEXTS.items()},
            "second": None if row % 7 == 0 else "a b c",
            "domain": DOMAINS[row],
        }
        for row in range(CUTS[-1])
    ]
    flags = ["--reference_columns=ref,second", f"--candidate_columns={','.join(NAMES)}"]
    flags += ["--slice_by=domain,length*domain", "--compare_presets=all"]
    assert_same_totals(tmp_path, *records_in(tmp_path, records), *flags)


def test_joins_in_which_systems_lack_segments(tmp_path):
    flags = ("--coverage=each", "--slice_by=length")
    assert_same_totals(tmp_path, *joined_in(tmp_path, slice(None)), *flags)
