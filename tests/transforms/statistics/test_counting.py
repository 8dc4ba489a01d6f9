"""What is counted in texts: their sizes, and the counts of several metrics and languages."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_segments import assert_same_rows
from sacrebleu_counts import integers, sacrebleu_integers

from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.native.text_columns import find_sizes, padded, spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import PreparedBatch, SegmentLabel, count_batch
from beam_bleu.transforms.text import library_tokenizers
from beam_bleu.transforms.text.tokenizers import tokenizer_of

BLEU = BleuConfig()

SENTENCES = {
    "en": ["The cat, of 3.5 kg, sat.", "It's &quot;new&quot;.", "The cat sat on the mat."],
    "de": ["Die Katze saß, 3,5 kg schwer.", "Er sagt: „Neu“.", "Die Katze saß da."],
    "zh": ["猫坐在垫子上。", "他说：“新的”，3.5公斤。", "猫坐在那里。"],
    "en-zh_TW": ["貓坐在墊子上。", "他說：「新的」，3.5公斤。"],
    "zh-en": ["A cat — 猫 — sat.", "It's 北京."],
}


def counted_by_language(segments, languages):
    """What is counted in segments with languages; the first label has other values."""
    column = pa.array(languages, pa.string()).dictionary_encode()
    other = pa.array(["x"] * len(segments)).dictionary_encode()
    numbers = np.arange(len(segments)) * 2 + 5
    batch = dataclasses.replace(to_batch(segments), numbers=numbers, labels=(other, column))
    return PreparedBatch(batch, SegmentLabel("lang", 1)).count([(BLEU.text, BLEU)])


def segments_of(draw):
    """Random segments with one or two references, and their languages."""
    languages = draw.choices(list(SENTENCES), k=draw.randrange(1, 40))
    segments = []
    for language in languages:
        texts = [*SENTENCES[language], "", "a"]
        references = [draw.choice(texts)]
        if draw.random() < 0.3:
            references.append(draw.choice(texts))
        segments.append((draw.choice(texts), references))
    return segments, languages


@settings(max_examples=25)
@given(st.randoms(use_true_random=False), st.data())
def test_each_language_has_the_integers_of_sacrebleu_in_any_order_and_split(draw, data):
    segments, languages = segments_of(draw)
    at = data.draw(st.integers(0, len(segments)))
    for part in (slice(0, at), slice(at, None), slice(None)):
        if not segments[part]:
            continue
        ours = integers(counted_by_language(segments[part], languages[part]))[0]
        for language in set(languages[part]):
            rows = [row for row, each in enumerate(languages[part]) if each == language]
            chosen = [segments[part][row] for row in rows]
            config = BleuConfig(tokenizer_of(language))
            assert_same_rows(chosen, ours[rows], sacrebleu_integers(chosen, config))


def test_a_missing_or_wrong_language_is_bad_input_and_the_first_one_is_named():
    for languages, cause in [
        (["en", "zh", None, "xx"], "segment 10 has no language in lang"),
        (["en", "jp", None], "segment 8: lang: 'jp' is not a language code"),
        (["en", "en", "English"], "segment 10: lang: 'English' is not a language code"),
        ([""], "segment 6: lang: '' is not a language code"),
    ]:
        with pytest.raises(InputError) as error:
            counted_by_language([("a", ["a"])] * len(languages), languages)
        assert error.value.cause == cause
        assert "a pair such as en-de" in error.value.remedy


def test_a_library_is_needed_only_by_its_language(monkeypatch):
    def missing(tokenize):
        raise library_tokenizers._missing(tokenize, ImportError("No module named 'MeCab'"))

    monkeypatch.setattr(library_tokenizers, "mecab", missing)
    counted_by_language([("a", ["a"])] * 2, ["en", "zh"])
    with pytest.raises(JobError) as error:
        counted_by_language([("a", ["a"])] * 2, ["en", "en-ja"])
    assert "'ja-mecab'" in error.value.cause
    assert "beam-bleu[ja]" in error.value.remedy or "install ja" in error.value.remedy


PROGRAM = """
import sys
import pyarrow as pa
from beam_bleu.transforms.native.compiling import CompiledFunction
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.statistics.batch_steps import CountMatches

def refuse(function, *types):
    sys.exit(f"{function.function} is compiled late")

def column(*texts):
    return pa.array(texts, pa.large_string())

config = BleuConfig("13a", max_ngram_order=2, normalize="nfc")
counting = CountMatches([(config.text, BleuConfig(max_ngram_order=2))], threads=1)
counting.setup()
CompiledFunction._kept_or_compiled = refuse
references = column("The c\\u00e1t <skipped> sat, 3.5!", None), column("It &amp; me-", "b")
batch = SegmentBatch((column("a \\u00c1 3-b", ""), column("x", "y")), references)
print(counting.work(batch)[0].counts[0][:, :, CANDIDATE_LENGTH].tolist())
"""


def test_setup_leaves_nothing_to_compile() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[[5, 0], [1, 1]]"), done.stderr


TEXTS = st.one_of(st.none(), st.text(max_size=9))


@settings(max_examples=60)
@given(st.integers(0, 3), st.integers(1, 3), st.integers(0, 5), st.data())
def test_the_sizes_of_texts_are_those_that_python_finds(references, systems, rows, data):
    texts = [data.draw(st.lists(TEXTS, min_size=rows, max_size=rows)) for _ in range(references)]
    texts += [
        data.draw(st.lists(st.text(max_size=9), min_size=rows, max_size=rows))
        for _ in range(systems)
    ]
    columns = [padded(pa.array(column, pa.large_string())) for column in texts]
    found = find_sizes(spans(columns), references)
    sizes = np.array([[len((text or "").encode()) for text in column] for column in texts])
    sizes = sizes.reshape(len(texts), rows)
    assert np.array_equal(found.candidate_bytes, sizes[references:])
    assert np.array_equal(found.reference_bytes, sizes[:references].sum(axis=0))
    counts = [sum(column[row] is not None for column in texts[:references]) for row in range(rows)]
    assert found.reference_counts.tolist() == counts
    assert found.bare_row == (counts.index(0) if 0 in counts else -1)
    if rows:
        of_segments = sizes.sum(axis=0).tolist()
        assert (found.longest, found.longest_row) == (
            max(of_segments),
            of_segments.index(max(of_segments)),
        )


def test_columns_of_different_lengths_are_refused():  # compiled code would read other memory
    for candidates, references in [(3, 1), (1, 3), (2, 3), (0, 1)]:
        one, other = (
            pa.array(["a"] * rows, pa.large_string()) for rows in (candidates, references)
        )
        with pytest.raises(ValueError, match="rows"):
            count_batch(SegmentBatch((one,), (other,)), BLEU.text, BLEU)
        with pytest.raises(ValueError, match="rows"):
            count_batch(SegmentBatch((one,), (one, other)), BLEU.text, BLEU)
