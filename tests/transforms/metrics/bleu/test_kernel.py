"""Golden segments: integers that were counted by hand. A comment at each row gives the reason."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from scoring import counted, statistics_of

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch


@dataclasses.dataclass
class Counts:
    """The integers of one segment of one system."""

    candidate_length: int
    reference_length: int
    matches: list[int]
    totals: list[int]


def count(candidate, references, **config):
    found = counted(statistics_of(to_batch([(candidate, references)]), BleuConfig(**config)))
    return Counts(
        int(found.candidate_length[0, 0]),
        int(found.reference_length[0, 0]),
        found.matches[0, 0].tolist(),
        found.totals[0, 0].tolist(),
    )


# Papineni et al. 2002, section 2.1: without punctuation, and with case ignored, as there.
PAPER_REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]
CAT_REFERENCES = ["The cat is on the mat", "There is a cat on the mat"]


@pytest.mark.parametrize(
    ("candidate", "references", "order", "matches", "total"),
    [
        # "obeys" alone is in no reference.
        (
            "It is a guide to action which ensures that the military always obeys the commands "
            "of the party",
            PAPER_REFERENCES,
            1,
            17,
            18,
        ),
        # it, is, to, the, forever, the, that, party.
        (
            "It is to insure the troops forever hearing the activity guidebook that party direct",
            PAPER_REFERENCES,
            1,
            8,
            14,
        ),
        # "the" is twice in the first reference, once in the second; never 2 + 1.
        ("the the the the the the the", CAT_REFERENCES, 1, 2, 7),
        # "the cat" twice, but once in a reference; cat on, on the, the mat; "cat the" nowhere.
        ("the cat the cat on the mat", CAT_REFERENCES, 2, 4, 6),
    ],
)
def test_clipping_gives_the_fractions_of_the_literature(
    candidate, references, order, matches, total
):
    counts = count(candidate, references, tokenize="none", lowercase=True)
    assert (counts.matches[order - 1], counts.totals[order - 1]) == (matches, total)


@pytest.mark.parametrize(
    ("candidate", "reference", "tokens", "reference_tokens", "matches"),
    [
        ("(don't!)", "( don't ! )", 4, 4, 4),
        ("&lt;b&gt; &quot;x&quot; &amp;", '< b > " x " &', 7, 7, 7),
        ("&amp;lt; &amp;gt;", "< >", 2, 2, 2),
        ("&amp;quot;", "& quot ;", 3, 3, 3),
        ("3.14 1,000.5", "3.14 1,000.5", 2, 2, 2),
        ("3. .5 3, a.b", "3 . . 5 3 , a . b", 9, 9, 9),
        ("..5", "a ..5", 2, 3, 2),
        ("..5", ". . 5", 2, 3, 1),
        ("...5", ". . . 5", 4, 4, 4),
        ("1...5", "1 . . ..5", 4, 5, 4),
        (",.5", "a ,.5", 2, 3, 2),
        ("1-2 a-2", "1 - 2 a-2", 4, 4, 4),
        ("٣.٣ ٣-٣", "٣ . ٣ ٣-٣", 4, 4, 4),
        ("a<skipped>b <skipped>", "ab", 1, 1, 1),
        ("under-<skipped>\nstand", "understand", 1, 1, 1),
        ("under-\nstand", "understand", 1, 1, 1),
        ("under-\n", "under-", 1, 1, 1),
        ("under-\n \n", "under", 1, 1, 0),
        ("under-\r\nstand", "under- stand", 2, 2, 2),
        ("under\nstand", "under stand", 2, 2, 2),
    ],
)
def test_13a_splits_as_mteval_does(candidate, reference, tokens, reference_tokens, matches):
    counts = count(candidate, [reference])
    assert (counts.candidate_length, counts.reference_length) == (tokens, reference_tokens)
    assert counts.matches[0] == matches


@pytest.mark.parametrize(
    ("candidate", "reference", "config", "tokens", "matches"),
    [
        ("&lt; 1-2 a. <skipped>", "&lt; 1-2 a. <skipped>", {"tokenize": "none"}, 4, 4),
        ("un-\nder", "un- der", {"tokenize": "none"}, 2, 2),
        ("né, e\u0301\u3000中", "n é , e \u0301 中", {"tokenize": "char"}, 6, 6),
        ("a\u200db\0", "a b", {"tokenize": "char"}, 4, 2),
        ("中文abc，3.5", "中 文 abc ， 3.5", {"tokenize": "zh"}, 5, 5),
        ("«a» ٣،٥€", "a ٣،٥ « » €", {"tokenize": "intl"}, 5, 5),
        ("&LT;", "<", {"lowercase": True}, 1, 1),
        ("İ", "i\u0307", {"lowercase": True}, 1, 1),
        ("ΟΔΟΣ ΣΑΣ Σ", "οδος σας σ", {"lowercase": True}, 3, 3),
    ],
)
def test_configuration_decides_what_is_compared(candidate, reference, config, tokens, matches):
    counts = count(candidate, [reference], **config)
    assert (counts.candidate_length, counts.matches[0]) == (tokens, matches)


def test_sixteen_orders_are_counted():
    words = "a b c d e f g h i j k l m n o p"
    counts = count(words, [words], max_ngram_order=16)
    assert counts.matches == counts.totals == list(range(16, 0, -1))
    # One word more at the front of the reference leaves every n-gram in place; one word
    # changed in the middle (the ninth) leaves the 8 words before it and the 7 after it.
    changed = count(words.replace("i", "x"), [f"z {words}"], max_ngram_order=16)
    assert changed.matches == [8 + 7, 7 + 6, 6 + 5, 5 + 4, 4 + 3, 3 + 2, 2 + 1, 1] + [0] * 8


def test_statistics_have_references_and_bytes_of_each_segment():
    batch = to_batch([("é!", ["ab", None]), ("", ["", "日本"]), ("ÀB", ["x"])])
    statistics = statistics_of(batch, BleuConfig(lowercase=True))
    assert statistics.reference_counts.tolist() == [1, 2, 1]
    assert statistics.candidate_bytes.tolist() == [[3, 0, 3]]
    assert statistics.reference_bytes.tolist() == [2, 6, 1]


def test_a_segment_without_any_reference_is_an_error():
    column = pa.array(["a", "b"], pa.large_string())
    references = (pa.array(["a", None], pa.large_string()), pa.array([None, None], column.type))
    with pytest.raises(InputError, match="a segment has no reference"):
        statistics_of(SegmentBatch((column,), references), BleuConfig())
    with pytest.raises(InputError, match="segment 9 has no reference"):
        statistics_of(SegmentBatch((column,), references, np.array([7, 8])), BleuConfig())


def test_a_segment_of_two_gigabytes_is_an_error():
    # The 32 texts of the segment are all the same 64 MiB in memory.
    text = np.zeros(2**26 + 128, np.uint8)
    offsets = pa.py_buffer(np.array([0, 0, 2**26]))
    column = pa.LargeStringArray.from_buffers(2, offsets, pa.py_buffer(text))
    error = f"has {2**31} bytes of text; {2**31 - 1} is the most"
    with pytest.raises(InputError, match=f"a segment {error}"):
        statistics_of(SegmentBatch((column,), (column,) * 31), BleuConfig("none"))
    with pytest.raises(InputError, match=f"segment 1002 {error}"):
        statistics_of(
            SegmentBatch((column,), (column,) * 31, np.array([1000, 1001])), BleuConfig("none")
        )
