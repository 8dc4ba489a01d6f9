"""The definitions that a command line chooses: presets, those of segments, and for comparison."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.command_line.metric_flags import (
    DefinitionFlags,
    config_of,
    impossible,
    refuse_flags_of_other_metrics,
    tokenizer_of_language,
)
from beam_bleu.pipeline.scoring.scorings import JobMetrics, Scorings
from beam_bleu.transforms.definition.flags import SEE_HELP, flag, whole_number
from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.examples.example import MOST_EXAMPLES
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, Definition, MetricWord
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import (
    COMPARISONS,
    DEFAULT_COMPARISON,
    DEFAULT_PRESET,
    ComparisonName,
    preset,
)
from beam_bleu.transforms.metrics.bleu.smoothing import SMOOTH_METHODS, SmoothMethodName
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.text.library_tokenizers import require_library
from beam_bleu.transforms.text.text import Text, TextName

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config


_EXAMPLES_OF_REPORT = 20
"""How many examples of each kind a run picks for a report, if the user does not say it."""


@dataclasses.dataclass(frozen=True)
class MoreScoresFlags:
    """The flags for the scores of other definitions, and of segments."""

    compare_presets: ComparisonName | None = flag(
        None,
        "also score the run under each preset that has the same tokenizer and case (same; also "
        "without a value), or under every preset (all); the other flags do not change these "
        "presets",
        f"[{'|'.join(COMPARISONS)}]",
        choices=tuple(COMPARISONS),
        nargs="?",
        const=DEFAULT_COMPARISON,
    )
    segment_scores: bool = flag(
        False, "also write the score of each segment, as Parquet files in DIR/segment_scores/"
    )
    examples: int = flag(
        0,
        "also write DIR/examples.jsonl: the texts and scores of the N best and N worst segments of "
        "each system and metric, of the N with the largest gain and loss against the baseline, and "
        f"of N random ones; at most {MOST_EXAMPLES}",
        "N",
        convert=whole_number(0, MOST_EXAMPLES),
    )
    segment_smooth_method: SmoothMethodName | None = flag(
        None,
        "how segment scores are smoothed: as --smooth_method, or "
        f"{', '.join(name for name, row in SMOOTH_METHODS.items() if row.segments_only)}",
        "NAME",
        choices=tuple(SMOOTH_METHODS),
        shown_default="default: as the corpus",
    )
    segment_smooth_value: float | None = flag(
        None,
        "the value of that method",
        "VALUE",
        convert=float,
        shown_default="default: the corpus's value if the method is the same, otherwise the "
        "method's own",
    )
    report: bool = flag(
        False,
        "also write DIR/report.html: one page with charts and examples, to show to people. It "
        f"needs the extra report; --examples is then {_EXAMPLES_OF_REPORT}, unless you set it",
        is_keyword=False,
    )


def with_report(flags: Config) -> Config:
    """The flags, with the examples that a report shows, unless the user asks for others.

    Raises:
      UsageError: a library is missing.
    """
    if not flags.report:
        return flags
    from beam_bleu.pipeline.report.page import require_jinja2

    require_jinja2()
    examples = flags.examples or _EXAMPLES_OF_REPORT
    return dataclasses.replace(flags, examples=examples)


def job_metrics(
    flags: Config,
    unpooled: str | None = None,
    configs: Mapping[MetricWord, Any] | None = None,
) -> JobMetrics:
    """The metrics that a command line asks for, with their definitions.

    Args:
      flags: the command line.
      unpooled: the label whose values have no common score; None if all segments have one.
      configs: the definitions of metrics that the command line only names.

    Raises:
      UsageError: a flag or a combination of flags is impossible, or there is no preset to
        compare with.
      InputError: the SentencePiece model cannot be read.
    """
    given, chosen = configs or {}, flags.chosen_metrics
    refuse_flags_of_other_metrics(flags, chosen)
    text, bleu = Text(normalize=flags.choices.get("normalize")), BleuConfig()
    if DEFAULT_METRIC in chosen:
        bleu = given.get(DEFAULT_METRIC) or _usual_definition(flags)
        text = bleu.text
    scorings, picked = {}, {}
    texts: dict[TextName, Text] = {}
    for name in chosen:
        config: Any = bleu
        compared: Mapping[Any, BleuConfig] = {}
        if name != DEFAULT_METRIC:
            config = given.get(name) or config_of(name, flags, text.normalize)
            picked[name] = config.metric
        else:
            picked[name] = _of_segments(flags, bleu.metric)
            compared = COMPARISONS[flags.compare_presets](bleu) if flags.compare_presets else {}
        texts |= {each.text.name: each.text for each in (config, *compared.values())}
        scorings[name] = Scorings(
            name,
            config.text.name,
            config.metric,
            {
                preset: Definition(name, other.text.name, other.metric)
                for preset, other in compared.items()
            },
            picked[name] if flags.segment_scores else None,
            flags.language_column,
            unpooled,
        )
    return JobMetrics(scorings, texts, text, picked)


def _usual_definition(flags: Config) -> BleuConfig:
    """The definition of BLEU that a command line asks for.

    Raises:
      UsageError: a flag or a combination of flags is impossible, or there is no preset to
        compare with.
      InputError: the SentencePiece model cannot be read.
    """
    chosen = {row.field: value for row, value in flags.choices_of(DEFAULT_METRIC).items()}
    if "tokenize" not in chosen and flags.language is not None:
        chosen["tokenize"] = tokenizer_of_language(flags)
    model = chosen.get("spm_model")
    try:
        if model is not None:
            # These import Beam, which takes longer than rescoring saved totals.
            from beam_bleu.pipeline.command_line.paths import checked_path
            from beam_bleu.transforms.text.read_model import read_model

            chosen["spm_model"] = read_model(checked_path("--spm_model", model, anywhere=False))
        config = preset(flags.preset or DEFAULT_PRESET, **chosen)
        require_library(config.text)
    except InputError as error:
        raise InputError(f"--spm_model {model}: {error.cause}", error.remedy) from error
    except ValueError as error:
        raise impossible(DEFAULT_METRIC, error) from None
    if flags.compare_presets and not COMPARISONS[flags.compare_presets](config):
        raise UsageError(
            "--compare_presets: no preset has this --tokenize and this case",
            "give --compare_presets all, or choose the tokenizer and the case of a preset; "
            "--preset list shows them",
        )
    return config


def rescored_definition(
    name: MetricWord, old: Metric, most_references: int, flags: DefinitionFlags
) -> Metric:
    """The definition of a metric with those choices of a command line that sums allow.

    Args:
      name: the metric.
      old: its definition when the sums were counted.
      most_references: the largest number of references of a segment.
      flags: the command line. Its choices of tokens are those of the sums.

    Raises:
      UsageError: a choice needs the texts, or is impossible.
    """
    texts = {"tokenize", "lowercase", "normalize"}
    changes = {}
    for row, value in flags.choices_of(name).items():
        if row.field in texts:
            continue
        # Of several references of a segment, which one is the best can depend on the choice.
        depends = row.changes_sums or (old.picks_reference and most_references > 1)
        if depends and value != getattr(old, row.field, None):
            raise UsageError(
                f"--{row.name} cannot be changed without the texts", "repeat the run with it"
            )
        changes[row.field] = value
    try:
        if flags.preset is not None and name == DEFAULT_METRIC:
            changed: Metric = preset(flags.preset, **changes).metric
        else:
            changed = old.changed(**changes)
        changed.require_corpus()
    except ValueError as error:
        raise impossible(name, error) from None
    return changed


def _of_segments(flags: Config, corpus: BleuConfig) -> BleuConfig:
    """BLEU of the segments; that of the corpus if nothing shows their scores.

    Args:
      flags: the command line.
      corpus: that of the corpus.

    Raises:
      UsageError: a flag or a combination of flags is impossible.
    """
    if not flags.segment_scores and not flags.examples:
        return corpus
    changes = {
        "smooth_method": flags.segment_smooth_method,
        "smooth_value": flags.segment_smooth_value,
        "effective_order": False if "no_effective_order" in flags.choices else None,
    }
    try:
        return corpus.for_segments(
            **{field: value for field, value in changes.items() if value is not None}
        )
    except ValueError as error:
        raise UsageError(f"the segment scores: {error}", SEE_HELP) from None
