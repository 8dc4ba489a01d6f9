"""The keywords of `Evaluate` for type checkers. docs/make.py writes this file."""

from collections.abc import Sequence
from typing import Any, TypedDict

class Keywords(TypedDict, total=False):
    allow: str | Sequence[str] | None
    max_rejected: float | None
    metrics: Sequence[Any] | None
    metrics_by: str | Sequence[str] | None
    preset: str | None
    tokenize: str | None
    lowercase: bool | None
    lowercase_ascii: bool | None
    no_lowercase: bool | None
    normalize: str | None
    spm_model: str | None
    language: str | None
    language_column: str | None
    smooth_method: str | None
    smooth_value: float | None
    max_ngram_order: int | None
    effective_order: bool | None
    no_effective_order: bool | None
    reference_length: str | None
    weights: float | Sequence[float] | None
    chrf_char_order: int | None
    chrf_beta: int | None
    chrf_word_order: int | None
    chrf_whitespace: bool | None
    chrf_lowercase: bool | None
    chrf_eps_smoothing: bool | None
    ter_normalized: bool | None
    ter_no_punct: bool | None
    ter_asian_support: bool | None
    ter_case_sensitive: bool | None
    rouge_stemmer: bool | None
    rouge_words: str | None
    wer_lowercase: bool | None
    wer_no_punct: bool | None
    wer_normalizer: str | None
    save_totals: bool | None
    partition: str | None
    compare_presets: str | None
    segment_scores: bool | None
    examples: int | None
    diversity: bool | None
    segment_smooth_method: str | None
    segment_smooth_value: float | None
    slice_by: str | Sequence[str] | None
    length_edges: int | Sequence[int] | None
    max_slices: int | None
    documents: str | None
    baseline: str | None
    compare: str | None
    no_uncertainty: bool | None
    resample: str | None
    resamples: int | None
    seed: int | None
    fail_under: float | str | Sequence[float | str] | None
    warn_under: float | str | Sequence[float | str] | None
    fail_over: float | str | Sequence[float | str] | None
    warn_over: float | str | Sequence[float | str] | None
    max_drop: float | str | Sequence[float | str] | None
    against: str | None
    drop: str | None
