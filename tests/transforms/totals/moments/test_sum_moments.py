"""The step of a pipeline gives the moments of all batches, once."""

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that
from units_by_hand import BASIS, LABELS, statistics_with_domains

from beam_bleu.transforms.definition.slicing import slicing_of
from beam_bleu.transforms.totals.adding import of_moments
from beam_bleu.transforms.totals.moments.unit_adder import MomentsAdder
from beam_bleu.transforms.totals.summing import sum_batches
from beam_bleu.transforms.wiring.add_up import add_up
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS

SLICING = slicing_of(["domain", "length"], [10, 20])


@pytest.mark.parametrize("number", [0, 5])
def test_a_pipeline_gives_one_element_with_the_moments_of_all_batches(number):
    rng = np.random.default_rng(number)
    batches = [statistics_with_domains(rng, "ba", segments) for segments in range(number)]
    adder = MomentsAdder(SLICING, LABELS, BASIS, "a")
    for each in batches:
        adder.add(each)
    expected = adder.moments()

    def is_expected(found):
        assert len(found) == bool(number)
        for key, moments in found:
            assert key == ("moments", ALL_SYSTEMS)
            assert moments.keys == expected.keys
            for key in expected.keys:
                assert moments.of_system("a", key) == expected.of_system("a", key)
                assert moments.of_pair("b", "a", key) == expected.of_pair("b", "a", key)

    with beam.Pipeline(runner=FnApiRunner()) as root:
        statistics = root | beam.Create(batches)
        moments = of_moments(SLICING, LABELS, BASIS, baseline="a")
        parts = sum_batches(statistics, "moments", moments)
        assert_that(add_up([parts]), is_expected)
