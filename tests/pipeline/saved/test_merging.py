"""Which saved totals add up, without running anything twice."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from saved_parts import lines_in, run_into

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
    return dataclasses.replace(saved, partitions=(Partition(label, read),))


def changed(part: str, **changes: Any) -> Callable[[SavedTotals], SavedTotals]:
    """A function that changes fields of a part of saved totals."""

    def change(saved: SavedTotals) -> SavedTotals:
        if not part:
            return dataclasses.replace(saved, **changes)
        value = dataclasses.replace(getattr(saved, part), **changes)
        return dataclasses.replace(saved, **{part: value})

    return change


def with_text(saved: SavedTotals) -> SavedTotals:
    text = dataclasses.replace(saved.scorings["bleu"].text, tokenize="intl")
    scorings = dataclasses.replace(saved.scorings["bleu"], text=text)
    return dataclasses.replace(saved, scorings={**saved.scorings, "bleu": scorings})


def with_seed(saved: SavedTotals) -> SavedTotals:
    resampling = saved.evidence.resampling
    assert resampling is not None
    return changed("evidence", resampling=dataclasses.replace(resampling, seed=1))(saved)


REFUSED: dict[str, tuple[Callable[[SavedTotals], SavedTotals], str]] = {
    "other tokens": (with_text, "tokenize is 13a in the first one, and intl"),
    "other libraries": (changed("", versions={"mecab": "2"}), "version mecab is not given"),
    "another baseline": (changed("evidence", baseline="birch"), "baseline is not given"),
    "another seed": (with_seed, "seed is 12345 in the first one, and 1"),
    "another order": (
        changed("totals", systems=("birch", "atlas", "cobalt")),
        "systems 1 is atlas in the first one, and birch in the second one",
    ),
}


@pytest.mark.parametrize(("change", "cause"), REFUSED.values(), ids=REFUSED)
def test_it_refuses_what_does_not_add_up(change, cause, saved):
    other = change(labelled(saved, "tuesday"))
    with pytest.raises(InputError) as refused:
        merged([("a.json", labelled(saved, "monday")), ("b.json", other)])
    assert cause in str(refused.value)
    assert "a.json" in str(refused.value)
    assert "b.json" in str(refused.value)


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
    read = [
        {
            "role": role,
            "system": "atlas" if role == "candidates" else None,
            "pattern": f"{role}.txt",
            "digest": digest,
            "files": [],
        }
        for role, digest in digests.items()
    ]
    return dataclasses.replace(saved, partitions=(Partition(label, read),))


@pytest.mark.parametrize(
    ("same", "labels"),
    [("references", (None, None)), ("records", (None, "x"))],
)
def test_one_text_in_two_files_is_refused_without_labels(same, labels, saved):
    first = {"references": "r1", "candidates": "c1", "records": "d1", "labels": "l1"}
    second = {role: digest.replace("1", "2") for role, digest in first.items()}
    second[same] = first[same]
    saved = without_replicates(saved)
    files = [
        (name, with_streams(saved, label, **streams))
        for name, label, streams in zip(("a", "b"), labels, (first, second), strict=True)
    ]
    with pytest.raises(InputError, match=f"a and b were made from the same texts.*same {same}"):
        merged(files)


def without_replicates(saved: SavedTotals) -> SavedTotals:
    metrics = {
        name: {text: dataclasses.replace(each, replicates=None) for text, each in totals.items()}
        for name, totals in saved.totals.metrics.items()
    }
    return dataclasses.replace(
        saved,
        totals=dataclasses.replace(saved.totals, metrics=metrics),
        evidence=dataclasses.replace(saved.evidence, resampling=None),
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
