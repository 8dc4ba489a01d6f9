"""Texts are normalized first, in the same way as in the running Python."""

from __future__ import annotations

import unicodedata

import numpy as np
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu_counts import integers
from scoring import statistics_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.text.text import NORMALIZATIONS

MARKS = [chr(code) for code in range(0x20000) if unicodedata.combining(chr(code))]
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
DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=80)


def in_form(normalize, text):
    return None if text is None else unicodedata.normalize(normalize.upper(), text)


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
    assert integers(ours)[0].tolist() == expected.tolist()
