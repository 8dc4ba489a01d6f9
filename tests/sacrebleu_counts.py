"""Compares the kernel's integers with sacreBLEU's."""

from __future__ import annotations

import itertools
import string
import unicodedata
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import sacrebleu
from hostile_texts import Segment
from scoring import assert_same_rows, statistics_of
from tokenizer_oracles import TOKENIZERS_BEYOND_SACREBLEU, in_pieces

from beam_bleu.transforms.metrics.bleu.columns import BleuColumns
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

SACREBLEUS = [
    name
    for name, tokenizer in TOKENIZERS.items()
    if tokenizer.sacrebleu is not None and tokenizer.extra is None
]
EVERY_TOKENIZATION = [
    BleuConfig(tokenize, lowercase) for tokenize in SACREBLEUS for lowercase in (False, True)
]


def name(value: Any) -> str | None:
    """A short name of a parameter, for the test's name."""
    if isinstance(value, BleuConfig):
        return value.tokenize + ("-lowercase" if value.lowercase else "")
    return getattr(value, "__name__", None)


def integers(statistics: Any) -> np.ndarray:
    """All counts in the order of sacreBLEU, int64 (systems, segments, 2 + 2 N)."""
    columns = BleuColumns(np.moveaxis(statistics.counts[0], 2, 0))
    lengths = columns.candidate_length, columns.reference_length("closest")[0]
    return np.stack([*lengths, *columns.matches, *columns.totals], axis=-1)


def counted(segments: Sequence[Segment], config: BleuConfig) -> np.ndarray:
    """The kernel's integers of one system, int64 (segments, 2 + 2 N)."""
    return integers(statistics_of(to_batch(segments), config))[0]


ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def sacrebleu_integers(segments: Sequence[Segment], config: BleuConfig) -> np.ndarray:
    """sacreBLEU's integers, int64 (segments, 2 + 2 N)."""
    is_known = TOKENIZERS[config.tokenize].sacrebleu is not None
    metric = sacrebleu.BLEU(
        tokenize=config.tokenize if is_known else "none",
        lowercase=config.lowercase is True,
        max_ngram_order=config.max_ngram_order,
        force=True,
    )
    if not is_known:
        tokens = TOKENIZERS_BEYOND_SACREBLEU[config.tokenize]
        if config.spm_model:
            tokens = partial(in_pieces, model=config.spm_model.data)
        # sacreBLEU's own step would also strip white space that is a token of `ascii-space`.
        metric._preprocess_segment = lambda text: " ".join(
            tokens(text.lower() if metric.lowercase else text)
        )

    def prepared(text: str | None) -> str | None:
        if text is not None and config.normalize is not None:
            text = unicodedata.normalize(config.normalize.upper(), text)  # type: ignore[arg-type]
        return text.translate(ASCII_LOWER) if text and config.lowercase == "ascii" else text

    candidates = [prepared(candidate) for candidate, _ in segments]
    texts = ([prepared(each) for each in references] for _, references in segments)
    references = list(itertools.zip_longest(*texts))
    return np.array(metric._extract_corpus_statistics(candidates, references))


def assert_equal_to_sacrebleu(segments: Sequence[Segment], config: BleuConfig) -> np.ndarray:
    """Compares a batch with sacreBLEU; returns its integers (segments, 2 + 2 N)."""
    ours = counted(segments, config)
    assert_same_rows(segments, ours, sacrebleu_integers(segments, config))
    return ours
