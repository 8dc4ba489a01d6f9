"""Which saved totals add up, without running anything twice."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from saved_parts import CUTS, DOMAINS, NAMES, TEXTS, joined_in, lines_in, records_in, run_into

from beam_bleu.pipeline.history.nights import missing_dates
from beam_bleu.pipeline.result.document import document_of
from beam_bleu.pipeline.saved.saved_totals import (
    Partition,
    SavedTotals,
    last_of_each_partition,
    merged,
)
from beam_bleu.pipeline.saved.totals_file import read_totals, totals_bytes
from beam_bleu.transforms.errors import InputError


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> SavedTotals:
    folder: Path = tmp_path_factory.mktemp("saved")
    flags = ("--slice_by=domain", "--resample=bootstrap", "--resamples=20")
    run_into(folder / "out", *lines_in(folder, slice(None), *flags))
    return read_totals(str(folder / "out" / "totals.json"))


def labelled(saved: SavedTotals, label: str | None, digest: str = "d") -> SavedTotals:
    """The same totals as those of another partition."""
    read = [{"role": "references", "system": None, "digest": f"{digest} {label}"}]
    return replace(saved, partitions=(Partition(label, read),))


def test_it_refuses_what_does_not_add_up(saved):
    bleu, evidence = saved.scorings["bleu"], saved.evidence
    intl = replace(bleu, text=replace(bleu.text, tokenize="intl"))
    seed = replace(evidence.resampling, seed=1)
    order = replace(saved.totals, systems=("birch", "atlas", "cobalt"))
    other_one = replace(saved.totals, systems=("atlas", "birch", "cedar"))
    for changes, cause in (
        ({"scorings": {"bleu": intl}}, "tokenize is 13a in the first one, and intl"),
        ({"versions": {"mecab": "2"}}, "version mecab is not given"),
        ({"evidence": replace(evidence, baseline="birch")}, "baseline is not given"),
        ({"evidence": replace(evidence, resampling=seed)}, "seed is 12345 in the first one, and 1"),
        ({"totals": order}, "systems 1 is atlas in the first one, and birch in the second one"),
        ({"totals": other_one}, "the system cobalt is scored in the first one, and not given in"),
    ):
        other = replace(labelled(saved, "tuesday"), **changes)
        with pytest.raises(InputError) as refused:
            merged([("a.json", labelled(saved, "monday")), ("b.json", other)])
        for fragment in (cause, "a.json", "b.json"):
            assert fragment in str(refused.value)


def test_conditions_of_all_parts_are_those_of_the_sum(saved):
    days = [
        replace(labelled(saved, day), totals=replace(saved.totals, tally=tally))
        for day in ("1", "2")
        for tally in [replace(saved.totals.tally, met={"lang=de": 9, f"day={day}": 5})]
    ]
    month, _ = merged([(each.partitions[0].label, each) for each in days])
    assert month.result.where == ("lang=de",)


def test_a_partition_twice_is_named_with_both_files(saved):
    files = [("a.json", labelled(saved, "x")), ("b.json", labelled(saved, "x", "other"))]
    with pytest.raises(InputError, match=r"the partition x is in a\.json and in b\.json"):
        merged(files)
    assert last_of_each_partition(files) == files[1:]


def test_a_partition_of_a_merged_file_is_not_replaced(saved):
    month, _ = merged([("1", labelled(saved, "1")), ("2", labelled(saved, "2"))])
    assert [each.label for each in month.partitions] == ["1", "2"]
    late = labelled(saved, "2", "late")
    with pytest.raises(InputError, match=r"month\.json holds 2 partitions"):
        last_of_each_partition([("month.json", month), ("late.json", late)])


def with_streams(saved: SavedTotals, label: str | None, **digests: str) -> SavedTotals:
    """The same totals, as those of a partition whose streams have these digests."""
    systems = {"candidates": "atlas"}
    read = [
        {"role": role, "system": systems.get(role), "pattern": f"{role}.txt", "digest": digest}
        for role, digest in digests.items()
    ]
    return replace(saved, partitions=(Partition(label, read),))


def test_one_text_in_two_files_is_refused_without_labels(saved):
    first = {"references": "r1", "candidates": "c1", "records": "d1", "labels": "l1"}
    other = {role: digest.replace("1", "2") for role, digest in first.items()}
    saved = without_replicates(saved)
    for same, label in (("references", None), ("records", "x")):
        second = {**other, same: first[same]}
        files = [("a", with_streams(saved, None, **first))]
        files.append(("b", with_streams(saved, label, **second)))
        with pytest.raises(InputError, match=f"a and b were made from the same texts.*same {same}"):
            merged(files)


def without_replicates(saved: SavedTotals) -> SavedTotals:
    metrics = {
        name: {text: replace(each, replicates=None) for text, each in totals.items()}
        for name, totals in saved.totals.metrics.items()
    }
    return replace(
        saved,
        totals=replace(saved.totals, metrics=metrics),
        evidence=replace(saved.evidence, resampling=None),
    )


def test_a_text_under_two_labels_is_a_warning(saved):
    files = [
        (day, with_streams(saved, day, references="same", candidates=digest))
        for day, digest in (("mon", "c1"), ("tue", "c2"), ("wed", "c1"))
    ]
    _, (warning,) = merged(files)
    assert warning.startswith("the partitions mon, wed have the same candidates atlas")
    # The same references each day are usual.
    assert merged(files[:2])[1] == []


def test_the_order_of_files_does_not_matter(saved):
    files = [(day, labelled(saved, day)) for day in ("tue", "mon", "wed")]
    found = [merged(each)[0] for each in itertools.permutations(files)]
    assert {totals_bytes(each, b"") for each in found} == {totals_bytes(found[0], b"")}
    unlabelled = without_replicates(saved)
    pair = [(each, labelled(unlabelled, None, each)) for each in ("b", "a")]
    one, other = (merged(each)[0] for each in (pair, pair[::-1]))
    assert one.partitions == other.partitions


def test_replicates_need_labels(saved):
    files = [("a", labelled(saved, "x")), ("b", labelled(saved, None))]
    with pytest.raises(InputError, match="b has replicates without the label"):
        merged(files)


def test_replicates_add_up(saved):
    files = [(label, labelled(saved, label)) for label in "xyz"]
    found, _ = merged(files)
    one, all_three = (each.own("bleu").replicates for each in (saved, found))
    assert one is not None
    assert all_three is not None
    assert (all_three == 3 * one).all()
    assert found.evidence.partition is None
    assert document_of(found.result)["resampling"]["resamples"] == 20
    assert document_of(found.result)["segments"] == 3 * document_of(saved.result)["segments"]


def days(month: int, *numbers: int) -> list[str]:
    return [f"2026-{month:02}-{each:02}" for each in numbers]


def test_missing_dates():
    for labels, warning in (
        ([*days(10, 30, 31), *days(11, 2)], "lack 2026-11-01:"),
        (days(11, 1, 2, 20), "2026-11-06, 2026-11-07 and 12 more:"),
        (["d20261120", "d20261122"], "lack 2026-11-21:"),
        (days(11, 2, 9, 16), None),  # weeks
        (["news", "law", "2026-13-45", "12345678901"], None),
        (["de-2026-11-20", "fr-2026-11-22"], None),
    ):
        found = list(missing_dates(reversed(labels)))
        assert [(warning or "no") in each for each in found] == [True] * (warning is not None)


# The bytes of totals.json do not depend on the division of a corpus


def assert_same_totals(folder: Path, *given: Any) -> None:
    run_into(folder / "whole", *given)
    run_into(folder / "divided", *given, "--range_bytes=300", "--threads=3")
    found = (folder / "divided" / "totals.json").read_bytes()
    assert found == (folder / "whole" / "totals.json").read_bytes()


def test_documents_replicates_and_slices_of_segments_with_one_or_two_references(tmp_path):
    records = [
        {
            **{name: text[row] for name, text in TEXTS.items()},
            "second": None if row % 7 == 0 else "a b c",
            "domain": DOMAINS[row],
        }
        for row in range(CUTS[-1])
    ]
    flags = ["--reference_columns=ref,second", f"--candidate_columns={','.join(NAMES)}"]
    flags += ["--slice_by=domain,length*domain", "--compare_presets=all", "--documents=domain"]
    flags += ["--resample=bootstrap", "--resamples=50"]
    assert_same_totals(tmp_path, *records_in(tmp_path, records), *flags)


def test_joins_in_which_systems_lack_segments(tmp_path):
    flags = ("--coverage=each", "--slice_by=length")
    assert_same_totals(tmp_path, *joined_in(tmp_path, slice(None)), *flags)
