"""The definitions that a command line chooses: presets, those of segments, and for comparison."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.command_line.metric_flags import (
    choices_of,
    chosen_metrics,
    config_of,
    naming_flags,
    refuse_flags_of_other_metrics,
    tokenizer_of_language,
)
from beam_bleu.pipeline.command_line.parser import SEE_HELP, whole_number
from beam_bleu.pipeline.display.table import Table, as_text
from beam_bleu.pipeline.display.terminal import FILE, Screen, screen_of_stdout, write_to_stdout
from beam_bleu.pipeline.scoring.scorings import JobMetrics, Scorings
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.examples.example import MOST_EXAMPLES
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, Definition, MetricWord
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import (
    COMPARISONS,
    DEFAULT_COMPARISON,
    DEFAULT_PRESET,
    PRESETS,
    preset,
)
from beam_bleu.transforms.metrics.bleu.smoothing import SMOOTH_METHODS
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.text.library_tokenizers import require_library
from beam_bleu.transforms.text.text import CASES, Text, TextName


def add_preset_flag(parser: argparse._ActionsContainer, default: str = "") -> None:
    """Adds the preset, which sets all flags of the definition that are not given.

    Args:
      parser: where to add it.
      default: what the help says in place of the usual default.
    """
    parser.add_argument(
        "--preset",
        type=_preset_name,
        choices=tuple(PRESETS),
        metavar="NAME",
        help=f"the BLEU of a tool or paper; {default or f'default {DEFAULT_PRESET}'}; other flags "
        "change it; "
        "`--preset list` shows all presets and what each one sets",
    )


def add_more_scores_flags(parser: argparse._ActionsContainer) -> None:
    """Adds the flags for the scores of other definitions, and of segments."""
    add = parser.add_argument
    add(
        "--compare_presets",
        nargs="?",
        const=DEFAULT_COMPARISON,
        choices=tuple(COMPARISONS),
        metavar=f"[{'|'.join(COMPARISONS)}]",
        help="also score the run under each preset that has the same tokenizer and case (same; "
        "also without a value), or under every preset (all); the other flags do not change these "
        "presets",
    )
    add(
        "--segment_scores",
        action="store_true",
        help="also write the score of each segment, as Parquet files in DIR/segment_scores/",
    )
    add(
        "--examples",
        type=whole_number(1, MOST_EXAMPLES),
        metavar="N",
        help="also write DIR/examples.jsonl: the texts and scores of the N best and N worst "
        "segments of each system and metric, of the N with the largest gain and loss against the "
        f"baseline, and of N random ones; at most {MOST_EXAMPLES}",
    )
    add(
        "--segment_smooth_method",
        choices=tuple(SMOOTH_METHODS),
        metavar="NAME",
        help="how segment scores are smoothed: as --smooth_method, or "
        f"{', '.join(name for name, row in SMOOTH_METHODS.items() if row.segments_only)}; "
        "default: as the corpus",
    )
    add(
        "--segment_smooth_value",
        type=float,
        metavar="VALUE",
        help="the value of that method; default: the corpus's value if the method is the same, "
        "otherwise the method's own",
    )


def job_metrics(
    flags: argparse.Namespace,
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
    refuse_flags_of_other_metrics(flags)
    given, chosen = configs or {}, chosen_metrics(flags)
    text, bleu = Text(normalize=flags.normalize), BleuConfig()
    if DEFAULT_METRIC in chosen:
        bleu = given.get(DEFAULT_METRIC) or _usual_definition(flags)
        text = bleu.text
    else:
        _require_usual_lengths(flags)
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


def _usual_definition(flags: argparse.Namespace) -> BleuConfig:
    """The definition of BLEU that a command line asks for.

    Raises:
      UsageError: a flag or a combination of flags is impossible, or there is no preset to
        compare with.
      InputError: the SentencePiece model cannot be read.
    """
    chosen = {flag.field: value for flag, value in choices_of(DEFAULT_METRIC, flags).items()}
    if "tokenize" not in chosen and flags.language is not None:
        chosen["tokenize"] = tokenizer_of_language(flags)
    try:
        if flags.spm_model is not None:
            # These import Beam, which takes longer than rescoring saved totals.
            from beam_bleu.pipeline.command_line.paths import checked_path
            from beam_bleu.transforms.text.read_model import read_model

            chosen["spm_model"] = read_model(
                checked_path("--spm_model", flags.spm_model, anywhere=False)
            )
        with naming_flags(DEFAULT_METRIC):
            config = preset(flags.preset or DEFAULT_PRESET, **chosen)
        require_library(config.text)
    except InputError as error:
        raise InputError(f"--spm_model {flags.spm_model}: {error.cause}", error.remedy) from error
    if flags.compare_presets and not COMPARISONS[flags.compare_presets](config):
        raise UsageError(
            "--compare_presets: no preset has this --tokenize and this case",
            "give --compare_presets all, or choose the tokenizer and the case of a preset; "
            "--preset list shows them",
        )
    return config


def _require_usual_lengths(flags: argparse.Namespace) -> None:
    """Refuses slices by lengths in other tokens than the usual ones.

    Without BLEU, no signature says how tokens were made.

    Raises:
      UsageError: there are such slices.
    """
    has_lengths = any(LENGTH in item for item in flags.slice_by)
    if has_lengths and tokenizer_of_language(flags) not in (None, Text.tokenize):
        raise UsageError(
            f"--slice_by {LENGTH} counts tokens of {Text.tokenize} without BLEU, and --language "
            f"{flags.language} has {tokenizer_of_language(flags)}",
            f"ask for BLEU, too: --metrics bleu {' '.join(flags.metrics)}",
        )


def rescored_definition(
    name: MetricWord, old: Metric, most_references: int, flags: argparse.Namespace
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
    for flag, value in choices_of(name, flags).items():
        if flag.field in texts:
            continue
        # Of several references of a segment, which one is the best can depend on the choice.
        depends = flag.changes_sums or (old.picks_reference and most_references > 1)
        if depends and value != getattr(old, flag.field, None):
            raise UsageError(
                f"--{flag.name} cannot be changed without the texts", "repeat the run with it"
            )
        changes[flag.field] = value
    with naming_flags(name):
        if flags.preset is not None and name == DEFAULT_METRIC:
            changed: Metric = preset(flags.preset, **changes).metric
        else:
            changed = old.changed(**changes)
        changed.require_corpus()
    return changed


def _of_segments(flags: argparse.Namespace, corpus: BleuConfig) -> BleuConfig:
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
        "effective_order": False if flags.no_effective_order else None,
    }
    try:
        return corpus.for_segments(
            **{field: value for field, value in changes.items() if value is not None}
        )
    except ValueError as error:
        raise UsageError(f"the segment scores: {error}", SEE_HELP) from None


def _preset_name(text: str) -> str:
    """A preset's name. `list` prints all presets and ends the program, as --help does."""
    if text == "list":
        write_to_stdout(presets_table(screen_of_stdout()).encode())
        raise SystemExit(0)
    return text


def presets_table(screen: Screen = FILE) -> str:
    """The table that `--preset list` prints: all presets and what each one sets."""
    chosen = ("tokenize", "case", "reference_length", "N", "weights", "smoothing")
    rows = []
    for name, row in PRESETS.items():
        config = preset(name)
        choices = (
            config.tokenize,
            CASES[config.lowercase].shown,
            config.reference_length,
            f"{config.max_ngram_order}{' or fewer' if config.effective_order else ''}",
            ",".join(f"{weight:g}" for weight in config.weights or ()) or "1/N",
            config.smooth_method,
        )
        rows.append((name, *choices, row.source.replace("`", "")))
    return as_text(Table((), ("preset", *chosen, "equals"), rows), screen)
