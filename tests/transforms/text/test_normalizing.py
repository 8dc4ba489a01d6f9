"""Texts are normalized first, in the same way as in the running Python."""

from __future__ import annotations

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import counted, statistics_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.text.normalizing import _settled, normalized
from beam_bleu.transforms.text.text import NORMALIZATIONS

CODE_POINTS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
# The planes whose code points normalization changes, and some of the others.
MOST_POINTS = CODE_POINTS[:0x30000] + CODE_POINTS[0x30000::97]
MARKS = [point for point in CODE_POINTS if unicodedata.combining(point)]
AWKWARD = [
    *("é", "e\u0301", "ô\u0323", "o\u0323\u0302", "o\u0302\u0323", "Å", "\u212b", "\u2126"),
    *("ﬁ", "²", "１", "Ａ", "ｶﾞ", "가", "\u1100\u1161\u11a8", "\u1100\u1161", "\u11a8", "…", "½"),
    *("\u00a0", "\u3000", "\u2003", "\u037e", "\u0958", "\u0344", "\ufdfa", "\u1e9b\u0323"),
    *(" ", ".", "-", "5", "a", "Z", "İ", "ẞ", "Σ", "<skipped>", "＜skipped>", "＆amp;", "\0", "\n"),
]
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(AWKWARD),
        st.sampled_from(MARKS),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    ),
    max_size=12,
).map("".join)
COLUMNS = st.lists(st.one_of(st.none(), st.sampled_from(["", "plain"]), TEXTS), max_size=12)
DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=150)


def column(texts):
    return pa.array(texts, pa.large_string())


def in_form(normalize, text):
    return None if text is None else unicodedata.normalize(normalize.upper(), text)


@DETERMINISTIC
@given(COLUMNS, st.sampled_from(tuple(NORMALIZATIONS)))
def test_a_column_is_normalized_as_python_does(texts, normalize):
    expected = [in_form(normalize, text) for text in texts]
    assert normalized(column(texts), normalize).to_pylist() == expected
    middle = column(["é\u0301", *texts, "e\u0301"]).slice(1, len(texts))
    assert normalized(middle, normalize).to_pylist() == expected


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_every_code_point_is_normalized_as_by_python(normalize):
    for form, points in (
        ("{}", CODE_POINTS),
        *((form, MOST_POINTS) for form in ("e{}\u0301", "\u0301{}", "가{}\u11a8")),
    ):
        texts = [form.format(point) for point in points]
        ours = normalized(column(texts), normalize).to_pylist()
        wrong = [
            text for text, our in zip(texts, ours, strict=True) if our != in_form(normalize, text)
        ]
        assert not wrong[:5], form


def test_text_that_is_already_normalized_is_not_copied():
    texts = padded(column(["plain", "é", None, "東京"]))
    assert normalized(texts, "nfc") is texts


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
@pytest.mark.parametrize("count", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_settled_characters_never_change(form, count):
    settled = [chr(code) for code in np.flatnonzero(_settled(form))]
    assert len(settled) > 150_000
    assert unicodedata.is_normalized(form, "".join(settled))
    # Each composed character begins with one of these.
    decomposed = [unicodedata.decomposition(point).split() for point in CODE_POINTS]
    firsts = {chr(int(pair[0], 16)) for pair in decomposed if len(pair) == 2 and "<" not in pair[0]}
    firsts = (firsts | {"\u1100", "가"}) & set(settled)
    assert len(firsts) > 100
    for first in sorted(firsts)[:: len(firsts) // count]:
        text = "".join(first + point for point in settled)
        assert unicodedata.normalize(form, text) == text


@DETERMINISTIC
@given(
    st.lists(st.tuples(TEXTS, TEXTS, st.one_of(st.none(), TEXTS)), min_size=1, max_size=5),
    st.sampled_from(tuple(NORMALIZATIONS)),
    st.sampled_from(["13a", "none"]),
    st.booleans(),
)
def test_the_integers_are_sacrebleus_on_normalized_texts(segments, normalize, tokenize, lowercase):
    # Each reference has half of its candidate, so that n-grams match.
    segments = [(first + second, first, third) for first, second, third in segments]
    config = BleuConfig(tokenize, lowercase, normalize=normalize)
    ours = statistics_of(to_batch([(one, list(rest)) for one, *rest in segments]), config)
    metric = sacrebleu.BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    candidates, *references = (
        [in_form(normalize, text) for text in texts] for texts in zip(*segments, strict=True)
    )
    expected = np.array(metric._extract_corpus_statistics(candidates, references))
    ours = counted(ours)
    assert ours.candidate_length[0].tolist() == expected[:, 0].tolist()
    assert ours.reference_length[0].tolist() == expected[:, 1].tolist()
    assert np.hstack([ours.matches[0], ours.totals[0]]).tolist() == expected[:, 2:].tolist()
