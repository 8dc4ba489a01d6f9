"""The sums of the systems have one order, and each planned segment is in them once."""

import itertools

import pytest

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.totals.closing import require_all_scored, sums_by_system
from beam_bleu.transforms.totals.corpus_sums import CorpusSums

SUMS = CorpusSums.zero(15)


def test_the_order_is_that_of_the_systems():
    systems = ("b", "c", "a")
    for given in itertools.permutations(["a", "b", "c", "not planned"]):
        sums = [(system, SUMS) for system in given]
        found = sums_by_system([FoundSegments(0, systems=systems)], sums)
        assert list(found) == [*systems, "not planned"]


def test_lost_or_repeated_data_is_an_error():
    found = FoundSegments(0, systems=("a",))
    for segments, sums in (([], 1), ([found] * 2, 1), ([found], 2)):
        with pytest.raises(JobError, match="must get 1 plan, and 1 sum for each system"):
            sums_by_system(segments, [("a", SUMS)] * sums)


def of_segments(number: int) -> CorpusSums:
    return CorpusSums((number, *SUMS.columns[1:]))


def test_all_planned_segments_and_no_others_are_scored():
    require_all_scored({"a": 2, "b": 1, "c": 0}, {"a": of_segments(2), "b": of_segments(1)})


@pytest.mark.parametrize(
    ("scored", "message"),
    [
        ({"a": 1, "b": 1}, "2 were planned, 1 of system a were scored"),
        ({"a": 3, "b": 1}, "2 were planned, 3 of system a were scored"),
        ({"a": 2}, "1 were planned, 0 of system b were scored"),
        ({"a": 2, "b": 1, "c": 2}, "0 were planned, 2 of system c were scored"),
    ],
)
def test_segments_that_are_lost_repeated_or_not_planned_are_an_error(scored, message):
    sums = {system: of_segments(number) for system, number in scored.items()}
    with pytest.raises(JobError, match=message):
        require_all_scored({"a": 2, "b": 1}, sums)
    with pytest.raises(JobError, match=f"{message} with the tokens of intl"):
        require_all_scored({"a": 2, "b": 1}, sums, "intl")
