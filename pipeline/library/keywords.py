"""The keywords of `Evaluate`, checked by the flags of the command."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypedDict

from beam_bleu.pipeline.command_line.definition_flags import job_metrics
from beam_bleu.pipeline.command_line.metric_flags import check_language_flags
from beam_bleu.pipeline.command_line.options import job_of, our_parser
from beam_bleu.pipeline.command_line.parser import SEE_HELP
from beam_bleu.pipeline.command_line.record_flags import most_rejected
from beam_bleu.pipeline.command_line.rules import check_rules
from beam_bleu.pipeline.command_line.slice_flags import needed_labels
from beam_bleu.pipeline.job import Job
from beam_bleu.transforms.chosen_metrics import definition_of, require_readable
from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, MetricWord, config_type
from beam_bleu.transforms.pairing.paired import Source

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


_FLAG = re.compile(r"--([a-z][a-z_]*)")


@dataclasses.dataclass(frozen=True)
class KnownSource:
    """An input as far as a job must know it: the names of what its batches have.

    The attributes are those of a `Source`.
    """

    systems: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    keeps_texts: bool = False
    is_of_lines: bool = False
    inputs: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def check_visible(self) -> None:
        """Nothing is read from files."""

    def check_readable(self) -> None:
        """Nothing is read from files."""

    def pair(self, *_: Any) -> NoReturn:
        """Nothing is read from files."""
        raise NotImplementedError


class Asked:
    """What keywords ask for, checked as far as this is possible without an input.

    Args:
      keywords: the keywords.
      unpooled: the label whose values have no common score; None if all segments have one.

    Raises:
      ValueError: a keyword is not known, or a value or a combination is impossible.
      InputError: a file that a keyword names cannot be read.
    """

    def __init__(self, keywords: Mapping[str, Any], unpooled: str | None = None) -> None:
        for name in keywords:
            if name not in Keywords.__annotations__:
                names = ", ".join(["columns", "unpooled", *Keywords.__annotations__])
                raise ValueError(
                    f"Evaluate has no keyword {name!r}; it has {names}; docs/evaluate.md says what "
                    "replaces other flags"
                )
        if unpooled is not None and not isinstance(unpooled, str):
            raise ValueError(f"unpooled must be the name of a label, got {unpooled!r}")
        with _naming_keywords():
            words, configs = _metrics(keywords.get("metrics"))
            flags = our_parser().filled({**keywords, "metrics": words})
            own = [] if unpooled is None else [(unpooled,)]
            self._flags = _changed(
                flags,
                output="",  # what needs a folder has a PCollection
                slice_by=list(dict.fromkeys([*flags.slice_by, *own])),
            )
            check_language_flags(self._flags)
            self._metrics = job_metrics(self._flags, unpooled, configs)
            self._job(self._flags, KnownSource(labels=needed_labels(self._flags)))
        _refuse_flags_of_configs(keywords, configs)
        require_readable(self._metrics.needs.values)

    def require_texts_only(self) -> None:
        """Checks that all metrics count texts.

        Raises:
          ValueError: one needs numbers.
        """
        for value in self._metrics.needs.values:
            raise ValueError(
                f"a metric needs numbers of the column {value.column}, and tables give only texts: "
                "read records with ReadPairedRecords(..., number_columns=[...])"
            )

    def job(self, source: Source, *, rejects: bool) -> Job:
        """The job for an input.

        Args:
          source: the input.
          rejects: whether bad records are rejected.

        Raises:
          ValueError: the input does not have what is asked for.
        """
        for name in needed_labels(self._flags):
            if name not in source.labels:
                there = ", ".join(source.labels) or "none"
                raise ValueError(
                    f"the input has no label {name!r}; it has {there}: name it in `labels` of the "
                    "transform that reads, or of ArrowColumns"
                )
        flags = _changed(
            self._flags,
            on_bad_record="reject" if rejects else "fail",
            coverage=getattr(source, "coverage", None),
        )
        with _naming_keywords():
            job = self._job(flags, source)
            return dataclasses.replace(job, most_rejected=most_rejected(flags))

    def _job(self, flags: argparse.Namespace, source: Source) -> Job:
        check_rules(flags)
        return job_of(flags, source, self._metrics)


def _metrics(metrics: Any) -> tuple[list[MetricWord], dict[MetricWord, Any]]:
    """The words of metrics, which are words or configs, and the configs by their words."""
    if metrics is None:
        return [], {}
    if isinstance(metrics, str) or not isinstance(metrics, Sequence) or not metrics:
        raise UsageError(f"metrics must be a list of names and configs, got {metrics!r}", "")
    words, configs = [], {}
    for metric in metrics:
        if metric is None:
            raise UsageError("metrics has None, which is neither a name nor a config", "")
        words.append(metric if isinstance(metric, str) else definition_of(metric)[1].name)
        if not isinstance(metric, str):
            configs[words[-1]] = metric
    return words, configs


def _refuse_flags_of_configs(keywords: Mapping[str, Any], metrics: Iterable[MetricWord]) -> None:
    """Refuses keywords that define a metric which a config defines."""
    for metric in metrics:
        names = [flag.name for flag in config_type(metric).flags]
        if metric == DEFAULT_METRIC:
            names += ["preset", "language"]
        for name in names:
            value = keywords.get(name)
            if value is not None and value is not False:  # 0 is a value, although 0 == False
                raise ValueError(
                    f"{name} has no effect, because the config in metrics defines {metric}; "
                    f"leave one of them out"
                )


def _changed(flags: argparse.Namespace, **values: Any) -> argparse.Namespace:
    return argparse.Namespace(**vars(flags) | values)


@contextlib.contextmanager
def _naming_keywords() -> Iterator[None]:
    """Turns the errors of flags into those of keywords.

    Raises:
      ValueError: in place of a `UsageError`.
      InputError: a file cannot be read.
    """
    try:
        yield
    except UsageError as error:
        remedy = "docs/flags.md has the values" if error.remedy == SEE_HELP else error.remedy
        parts = [_FLAG.sub(r"\1", part) for part in (error.cause, remedy) if part]
        raise ValueError("; ".join(parts)) from None
    except InputError as error:
        raise InputError(
            _FLAG.sub(r"\1", error.cause), _FLAG.sub(r"\1", error.remedy)
        ) from error.__cause__
