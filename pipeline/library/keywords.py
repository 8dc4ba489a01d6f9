"""The keywords of `Evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

Threshold = float | str | Sequence[float | str]
"""One or more thresholds: numbers, or texts such as "chrf=50", as the flags take them."""


class Keywords(TypedDict, total=False):
    """The keywords of `Evaluate` and their types. Each one is called as the flag of the command.

    The command's help (`beam-bleu --help`, docs/flags.md) says what each of them means, which
    values it can have, and its default. A keyword that is None or left out has its default.
    """

    metrics: Sequence[Any]
    # From texts to tokens.
    preset: str | None
    tokenize: str | None
    language: str | None
    language_column: str | None
    spm_model: str | None
    lowercase: bool | None
    lowercase_ascii: bool | None
    no_lowercase: bool | None
    normalize: str | None
    # From n-grams to a score.
    smooth_method: str | None
    smooth_value: float | None
    max_ngram_order: int | None
    weights: Sequence[float] | None
    effective_order: bool | None
    no_effective_order: bool | None
    reference_length: str | None
    # Other metrics.
    chrf_char_order: int | None
    chrf_word_order: int | None
    chrf_beta: int | None
    chrf_whitespace: bool | None
    chrf_lowercase: bool | None
    chrf_eps_smoothing: bool | None
    ter_normalized: bool | None
    ter_no_punct: bool | None
    ter_asian_support: bool | None
    ter_case_sensitive: bool | None
    rouge_stemmer: bool | None
    wer_lowercase: bool | None
    wer_no_punct: bool | None
    # More outputs.
    save_totals: bool | None
    partition: str | None
    compare_presets: str | None
    segment_scores: bool | None
    examples: int | None
    segment_smooth_method: str | None
    segment_smooth_value: float | None
    # Slices and documents.
    slice_by: str | Sequence[str] | None
    length_edges: Sequence[int] | None
    max_slices: int | None
    documents: str | None
    # Evidence.
    no_uncertainty: bool | None
    baseline: str | None
    compare: str | None
    resample: str | None
    resamples: int | None
    seed: int | None
    # Probable mistakes that are meant.
    allow: str | Sequence[str] | None
    # Gates, and rejected records.
    fail_under: Threshold | None
    warn_under: Threshold | None
    fail_over: Threshold | None
    warn_over: Threshold | None
    max_drop: Threshold | None
    against: str | None
    drop: str | None
    max_rejected: float | None
