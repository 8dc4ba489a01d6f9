"""The keywords of `Evaluate`, and for every other flag of the command what the library has for it.

`docs/evaluate.md` shows this as a table. A test compares it with the parser of the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


_FILES = "`ReadLineParallel(candidates, references)`"
_READS = "`{}=` of the transforms that read"
_PERPLEXITY = (
    "none: the transforms that read cannot read log-probabilities (only numbers for `mean`)"
)
_SCREEN = "none: it is about what the command prints"
_FOLDER = "none: it is about the files of an output folder"
_ENGINE = "none: the pipeline has its own options"
_USUAL = "none: always the default"

ELSEWHERE: Mapping[str, str] = {
    "refs": _FILES,
    "systems": _FILES,
    "candidates": _FILES,
    "references": _FILES,
    "num_refs": "none: give each reference a file or a column of its own",
    "encoding": "none: texts are UTF-8",
    "cuts": _USUAL,
    "expect_segments": "none: `segments` of the document is the number to check",
    "max_line_bytes": _USUAL,
    "on_bad_record": _READS.format("on_bad_record"),
    "input": "`pattern=` of `ReadPairedRecords` and `ReadLongRecords`",
    "input_format": _READS.format("input_format"),
    "candidate_columns": _READS.format("candidate_columns"),
    "reference_columns": _READS.format("reference_columns"),
    "header": _READS.format("header"),
    "no_header": "`header=False`",
    "where": "`where=` and `where_not=` of the transforms that read",
    "system_column": "`system_column=` of `ReadLongRecords`",
    "id_column": "`id_column=` of `ReadLongRecords`",
    "join_on": "`join_on=` of `ReadJoinedRecords`",
    "coverage": "`coverage=` of `ReadLongRecords` and `ReadJoinedRecords`",
    "layout": "none: name the columns of the layout",
    "pool_tasks": "`unpooled=` of `Evaluate`: the label with the tasks, which get no common score",
    "logprob_column": _PERPLEXITY,
    "token_count_column": _PERPLEXITY,
    "text_column": _PERPLEXITY,
    "word_count_column": _PERPLEXITY,
    "byte_count_column": _PERPLEXITY,
    "perplexity_per": _PERPLEXITY,
    "format": _SCREEN,
    "score_only": _SCREEN,
    "width": _SCREEN,
    "sort": _SCREEN,
    "only_significant": _SCREEN,
    "output": "none: the outputs are PCollections, which the pipeline writes where it likes",
    "if_exists": _FOLDER,
    "keep": "`kept=` of the transforms that read records, and of `ArrowColumns`",
    "report": "none: `beam-bleu report` makes it from an output folder",
    "metrics_label": _FOLDER,
    "metrics_slices": _FOLDER,
    "log_format": _SCREEN,
    "lineage": "none: Beam and the engine know what a pipeline reads",
    "labels": "`labels=` of `ReadLineParallel`, of the transforms that read records, and of "
    "`ArrowColumns`",
    "label_from_path": "none: label segments by a column or a file",
    "runner": _ENGINE,
    "threads": "none: a worker uses one thread, and the engine has several workers",
    "worker_timeout": _ENGINE,
    "range_bytes": _USUAL,
    "progress": _SCREEN,
    "quiet": _SCREEN,
    "verbose": _SCREEN,
    "help": _SCREEN,
    "help_beam": _SCREEN,
    "version": "`beam_bleu.__version__`",
}
"""By flag of the command that is no keyword, what the library has for it, or why it has nothing."""
