"""The sums of slices equal those of their segments alone, for every split into batches."""

import collections
import pickle

import pyarrow as pa
import pytest
import sacrebleu
from combining import by_every_route
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import bleu_of, statistics_of, sums_of

from beam_bleu.transforms.definition.slicing import SliceKey, slicing_of
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.bleu.columns import BleuColumns, width
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.totals.slice_adder import SliceAdder
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.totals.slice_sums import SliceSums, require_bounded
from beam_bleu.transforms.wiring.add_up import AddUp

CONFIG = BleuConfig()
ORDER = 4
WIDTH = width(ORDER)
LABELS = ("domain", "lang")

texts = st.lists(
    st.sampled_from(["a", "b", "a b c d", "é", "。", ".", " .", "\r", "\u2028", "1,5", "&lt;"])
    | st.text(max_size=4),
    max_size=6,
).map(" ".join)

domains = st.sampled_from(["news", "", "10", "2", None])
languages = st.sampled_from(["de", "fr", None])
references = st.lists(st.none() | texts, min_size=1, max_size=3).filter(
    lambda each: any(text is not None for text in each)
)
rows = st.lists(
    st.tuples(st.tuples(texts, texts), references, st.tuples(domains, languages)),
    min_size=1,
    max_size=12,
)


def dictionary(values, spare):
    """A column of labels whose dictionary also has values that no row has."""
    used = sorted({value for value in values if value is not None}) + spare
    indices = [None if value is None else used.index(value) for value in values]
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array(used, pa.string())
    )


def made_batch(rows, spare=(), systems=(0, 1)):
    batches = [to_batch([(row[0][number], row[1]) for row in rows]) for number in systems]
    return SegmentBatch(
        tuple(batch.candidates[0] for batch in batches),
        batches[0].references,
        systems=tuple("ab"[number] for number in systems),
        labels=tuple(
            dictionary([row[2][place] for row in rows], list(spare)) for place in range(2)
        ),
    )


def summed(slicing, batches):
    adder = SliceAdder(SliceNumbering(slicing, LABELS), WIDTH, slicing.most)
    for batch in batches:
        adder.add(statistics_of(batch, CONFIG, ORDER))
    return adder.sums()


def by_hand(slicing, rows, number):
    """The segments of each slice."""
    found = collections.defaultdict(list)
    for candidates, references, labels in rows:
        segment = (candidates[number], references)
        columns = BleuColumns(sums_of([segment], CONFIG).columns)
        length, divisor = columns.reference_length("average")
        named = dict(zip(LABELS, labels, strict=True))
        named["length"] = sum(length // divisor >= edge for edge in slicing.length_edges)
        for place, item in enumerate(slicing.items):
            found[SliceKey(place, tuple(named[name] for name in item))].append(segment)
    return found


ITEMS = ["domain", "lang*domain", "length", "domain*length*lang"]


@settings(deadline=None, max_examples=60)
@given(rows, st.integers(1, 5), st.data())
def test_slices_have_the_sums_of_their_segments_alone(rows, size, data):
    slicing = slicing_of(ITEMS, [1, 2, 5])
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    bundles = data.draw(st.integers(0, len(parts)))
    batches = [made_batch(part, spare=["spare"] * (size % 2)) for part in parts]
    one, other = summed(slicing, batches[:bundles]), summed(slicing, batches[bundles:])
    total = one + other
    for number, system in enumerate("ab"):
        of_slices = total.of_system(system)
        expected = by_hand(slicing, rows, number)
        assert of_slices == {key: sums_of(each, CONFIG) for key, each in expected.items()}
        whole = sums_of([(row[0][number], row[1]) for row in rows], CONFIG)
        assert all(total.of_item(system, item) == whole for item in range(len(ITEMS)))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(texts, texts, domains), min_size=1, max_size=12))
def test_the_score_of_a_slice_is_that_of_sacrebleu_on_its_lines(rows):
    slicing = slicing_of(["domain"])
    total = summed(slicing, [made_batch([((a, a), [b], (label, None)) for a, b, label in rows])])
    for key, sums in total.of_system("a").items():
        lines = [row for row in rows if (row[2],) == key.values]
        oracle = sacrebleu.corpus_bleu([a for a, _, _ in lines], [[b for _, b, _ in lines]])
        score = bleu_of(sums, CONFIG)
        assert (score.score, score.sys_len, score.ref_len, list(score.matches)) == (
            oracle.score,
            oracle.sys_len,
            oracle.ref_len,
            oracle.counts,
        )


def corpus(labels):
    return [((f"a b {i}", "b"), ["a b c d"], (label, None)) for i, label in enumerate(labels)]


def test_sums_are_added_up_in_every_order():
    slicing = slicing_of(["domain", "length"])
    rows = corpus(["x", "y", None, "", "x", "z", "y", "x"])
    inputs = [
        summed(slicing, [made_batch(rows[:3])]),
        summed(slicing, [made_batch(rows[3:4], systems=(1,))]),
        summed(slicing, [made_batch(rows[4:], systems=(1, 0))]),
    ]
    expected = None
    for route, total in by_every_route(AddUp(), inputs):
        found = {system: total.of_system(system) for system in "ab"}
        expected = expected or found
        assert found == expected, route
    assert [len(expected["a"]), len(expected["b"])] == [5, 6]  # no row "" of system a
    assert sum(sums.segments for sums in expected["b"].values()) == 2 * len(rows)


def test_arranged_sums_do_not_depend_on_the_division_and_the_order():
    slicing = slicing_of(["domain", "length"])
    rows = corpus(["x", "y", None, "", "w", "z", "y", "x"])
    rows[3][1].extend(["b a", "c", "d"])
    inputs = [
        # The slice "w" gets room for as many references as the batch before it has.
        summed(slicing, [made_batch(each) for each in (rows[:3], rows[3:4], rows[4:5])]),
        summed(slicing, [made_batch(rows[5:], systems=(1, 0))]),
    ]
    whole = inputs[0] + inputs[1]
    kept = whole.arranged(slicing.in_order(whole.keys), "abc")
    assert (kept.systems, kept.keys) == (("a", "b"), tuple(slicing.in_order(whole.keys)))
    assert kept.nbytes < whole.nbytes
    for route, total in by_every_route(AddUp(), inputs):
        for system in "ab":
            assert kept.of_system(system) == total.of_system(system)
        found = total.arranged(slicing.in_order(total.keys), "abc")
        assert pickle.dumps(found) == pickle.dumps(kept), route
    nothing = SliceSums.zero(WIDTH)
    assert pickle.dumps(nothing.arranged([], "ab")) == pickle.dumps(nothing)


def test_a_slice_of_which_a_system_has_no_segment_is_not_scored():
    slicing = slicing_of(["domain"])
    total = summed(slicing, [made_batch(corpus(["x"])), made_batch(corpus(["y"]), systems=(1,))])
    assert [key.values for key in total.of_system("a")] == [("x",)]
    assert [key.values for key in total.of_system("b")] == [("x",), ("y",)]
    assert total.of_system("c") == {}


def test_too_many_slices_of_a_bundle_are_an_error_with_samples():
    slicing = slicing_of(["lang", "domain"], most=5)
    with pytest.raises(InputError, match=r"more than 5 slices; .* domain, .*'id-0', 'id-1'"):
        summed(slicing, [made_batch(corpus([f"id-{i}" for i in range(9)]))])


def test_too_many_slices_of_all_bundles_need_no_more_memory_than_the_bound():
    slicing = slicing_of(["domain"], most=5)
    rows = corpus([f"id-{i}" for i in range(40)])
    parts = [summed(slicing, [made_batch(rows[i : i + 4])]) for i in range(0, 40, 4)]
    for _, total in by_every_route(AddUp(), parts):
        assert len(total.keys) == 6
        assert total.nbytes < max(part.nbytes for part in parts)
        with pytest.raises(InputError, match="more than 5 slices"):
            require_bounded(total.keys, slicing)


def test_as_many_slices_as_allowed_are_no_error():
    slicing = slicing_of(["domain"], most=5)
    total = summed(slicing, [made_batch(corpus("abcde")), made_batch(corpus("edcba"))])
    require_bounded(total.keys, slicing)
    assert [sums.segments for sums in total.of_system("a").values()] == [2] * 5


def test_a_long_list_of_references_makes_only_its_own_slice_large():
    slicing = slicing_of(["domain"])
    few = corpus([f"d{i}" for i in range(500)])
    long = [(("a", "b"), [None, *["a b"] * 499], ("d7", None))]
    ordinary, batches = summed(slicing, [made_batch(few)]), [made_batch(few), made_batch(long)]
    for routes in (batches, batches[::-1]):
        total = summed(slicing, routes)
        assert total.nbytes < 1.2 * ordinary.nbytes
        (alone,) = summed(slicing, [made_batch(long), made_batch(few[7:8])]).of_system("a").values()
        assert total.of_system("a")[SliceKey(0, ("d7",))] == alone
    parts = [summed(slicing, [batch]) for batch in batches]
    assert (parts[0] + parts[1]).nbytes < 1.2 * ordinary.nbytes


def test_a_slice_gets_the_places_that_a_later_batch_of_the_same_kind_needs():
    """The adder remembers kinds of batches for which it has room."""
    first = [
        (("a", "b"), ["a", None], ("x", None)),
        (("a", "b"), ["a", "a b"], ("y", None)),
    ]
    second = [
        (("a", "b"), ["a b", "a b"], ("x", None)),
        (("a", "b"), ["a", None], ("y", None)),
    ]
    slicing = slicing_of(["domain"])
    total = summed(slicing, [made_batch(first), made_batch(second)])
    for number, system in enumerate("ab"):
        expected = by_hand(slicing, first + second, number)
        assert total.of_system(system) == {
            key: sums_of(each, CONFIG) for key, each in expected.items()
        }
