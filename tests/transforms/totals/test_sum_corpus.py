"""The sums of the whole corpus are those of its segments, in any batches, for any systems."""

import dataclasses
import functools
import operator

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that
from hypothesis import given, settings
from hypothesis import strategies as st
from made_statistics import rows_of
from scoring import statistics_of

from beam_bleu.transforms.metrics.bleu.columns import bleu_basis, width
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.batch_steps import CountMatches
from beam_bleu.transforms.totals.adding import of_corpus
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.slice_adder import CorpusAdder
from beam_bleu.transforms.totals.summing import sum_batches
from beam_bleu.transforms.wiring.add_up import add_up

CONFIG = BleuConfig()
ORDER = 4

texts = st.sampled_from(["", "a", "a a .", "a b c d e", "a b c d\r", "é b c d e f g"])
references = st.lists(texts, min_size=1, max_size=3)
segments = st.lists(st.tuples(texts, texts, references), min_size=1, max_size=6)


def batch_of(given, systems="ab"):
    """A batch of (candidate of a, candidate of b, references)."""
    columns = {
        system: to_batch([(segment[place], segment[2]) for segment in given])
        for place, system in enumerate("ab")
    }
    return SegmentBatch(
        tuple(columns[system].candidates[0] for system in systems),
        columns["a"].references,
        systems=tuple(systems),
    )


def by_hand(batches, system):
    """The sums of single segments, added up by `CorpusSums`."""
    found = [
        CorpusSums.of(each, each.systems.index(system), slice(i, i + 1))
        for each in batches
        if system in each.systems
        for i in range(len(each))
    ]
    return functools.reduce(operator.add, found, CorpusSums.zero(width(ORDER)))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(segments, st.sampled_from(["ab", "ba", "a"])), max_size=4))
def test_the_sums_are_those_of_each_segment(given):
    batches = [statistics_of(batch_of(each, systems), CONFIG, ORDER) for each, systems in given]
    adder = CorpusAdder(width(ORDER))
    for each in batches:
        adder.add(each)
    systems = {system for each in batches for system in each.systems}
    assert adder.by_system() == {system: by_hand(batches, system) for system in systems}


def test_sums_that_are_larger_than_32_bits():
    statistics = statistics_of(batch_of([("a b c d e", "a", ["a b", "a b c"])] * 3), CONFIG, ORDER)
    statistics = dataclasses.replace(statistics, counts=statistics.counts << 33)
    adder = CorpusAdder(width(ORDER))
    adder.add(statistics)
    assert adder.by_system()["a"] == by_hand([statistics], "a")


def test_batches_without_segments_give_zero():
    statistics = statistics_of(batch_of([("a", "b", ["c"])]), CONFIG, ORDER)
    adder = CorpusAdder(width(ORDER))
    adder.add(rows_of(statistics, []))
    assert adder.by_system() == dict.fromkeys("ab", CorpusSums.zero(width(ORDER)))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_pipeline_gives_one_sum_for_each_system(threads):
    given = [[("a b c d e", "a", ["a b c d e", "é"][: 1 + n % 2])] * (n % 4 + 1) for n in range(20)]
    batches = [batch_of(each) for each in given]
    expected = {
        system: by_hand([statistics_of(each, CONFIG, ORDER) for each in batches], system)
        for system in "ab"
    }

    def check(found):
        assert len(found) == 2
        assert {system: sums for (_, system), sums in found} == expected
        assert {name for (name, _), _ in found} == {"totals"}

    with beam.Pipeline(runner=FnApiRunner()) as root:
        made = root | beam.Create(batches, reshuffle=False)
        statistics = made | beam.ParDo(CountMatches(CONFIG.text, BleuCounter(ORDER), threads))
        parts = sum_batches(statistics, "totals", of_corpus(bleu_basis(ORDER)), threads=threads)
        assert_that(add_up([parts]), check)
