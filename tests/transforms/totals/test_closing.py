"""The sums of the systems have one order, in whichever order a runner gives them."""

import itertools

import pytest

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.totals.closing import sums_by_system
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
