"""The flags that define BLEU: for the corpus, for its segments, and for comparison."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from beam_bleu.pipeline.command_line.metric_flags import (
    chosen_metrics,
    config_of,
    refuse_flags_of_other_metrics,
)
from beam_bleu.pipeline.command_line.parser import SEE_HELP, positive
from beam_bleu.pipeline.command_line.token_flags import (
    chosen_case,
    chosen_model,
    require_installed,
    require_model,
    switched,
    tokenizer_of_language,
)
from beam_bleu.pipeline.display.table import Table, as_text
from beam_bleu.pipeline.display.terminal import FILE, Screen, screen_of_stdout, write_to_stdout
from beam_bleu.pipeline.scoring.scorings import JobMetric
from beam_bleu.transforms.definition.slicing import CROSS, LENGTH
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.examples.example import MOST_EXAMPLES
from beam_bleu.transforms.known_metrics import Definition, MetricWord
from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.config import (
    COMPARISONS,
    DEFAULT_COMPARISON,
    DEFAULT_PRESET,
    PRESETS,
    BleuConfig,
    PresetName,
    preset,
)
from beam_bleu.transforms.metrics.bleu.metric import LARGEST_NGRAM_ORDER, Bleu
from beam_bleu.transforms.metrics.bleu.smoothing import (
    SMOOTH_METHODS,
    SmoothMethodName,
    corpus_smooth_methods,
    default_smooth_values,
)
from beam_bleu.transforms.text.text import CASES, Text

_SCORING = tuple(field.name for field in dataclasses.fields(Bleu))
"""The choices that make a score of counts. The flags have the names of the fields."""

_FIELD = re.compile(rf"\b({'|'.join(_SCORING)})\b")
"""Fields in the library's messages."""

FLAGS_OF_BLEU = (
    *("preset", *_SCORING, "no_effective_order", "compare_presets"),
    *("segment_smooth_method", "segment_smooth_value"),
    *("tokenize", "spm_model", *(case.flag for case in CASES.values())),
)
"""The flags that are refused without BLEU, because no signature shows what they choose."""


_HEADER_OF_PRESETS = (
    "preset",
    "tokenize",
    "case",
    "reference_length",
    "N",
    "weights",
    "smoothing",
    "equals",
)


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


def add_scoring_flags(parser: argparse._ActionsContainer, default: str = "") -> None:
    """Adds the flags that make a score of counts; `default` as in `add_preset_flag`."""
    add = parser.add_argument
    add(
        "-s",
        "--smooth_method",
        type=_corpus_method,
        choices=corpus_smooth_methods(),
        metavar="NAME",
        help=f"how orders without matches are smoothed: {', '.join(corpus_smooth_methods())}; "
        + (default or f"default {BleuConfig.smooth_method}"),
    )
    values = default_smooth_values()
    defaults = ", ".join(f"{name} {values[name]}" for name in _take_value(corpus_smooth_methods()))
    own = f"{default}; of another method: {defaults}" if default else f"default: {defaults}"
    add(
        "-sv",
        "--smooth_value",
        type=float,
        metavar="VALUE",
        help=f"the value of the smoothing method; {own}",
    )
    add(
        "--max_ngram_order",
        type=int,
        metavar="N",
        help=f"1 to {LARGEST_NGRAM_ORDER}; {default or f'default {BleuConfig.max_ngram_order}'}, "
        "or the number of --weights",
    )
    add(
        "--weights",
        type=_weights,
        metavar="W,W,...",
        help="the weight of each order; an order with weight 0 is ignored; "
        + (default or "default 1/N each"),
    )
    add(
        "--effective_order",
        action="store_true",
        help="leave out orders longer than every candidate",
    )
    add(
        "--no_effective_order",
        action="store_true",
        help="keep orders longer than every candidate, even if the preset leaves them out",
    )
    add(
        "--reference_length",
        choices=tuple(REFERENCE_LENGTHS),
        metavar="RULE",
        help="which length counts if a segment has several references: "
        f"{', '.join(REFERENCE_LENGTHS)}; " + (default or f"default {BleuConfig.reference_length}"),
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
        type=_examples,
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
        f"{', '.join(_of_segments_only())}; default: as the corpus",
    )
    add(
        "--segment_smooth_value",
        type=float,
        metavar="VALUE",
        help="the value of that method; default: the corpus's value if the method is the same, "
        "otherwise the method's own",
    )


def _examples(text: str) -> int:
    number = positive(text)
    if number > MOST_EXAMPLES:
        raise argparse.ArgumentTypeError(f"must be at most {MOST_EXAMPLES}, got {text}")
    return number


def _of_segments_only() -> list[str]:
    return [name for name in SMOOTH_METHODS if name not in corpus_smooth_methods()]


def job_metrics(
    flags: argparse.Namespace,
    unpooled: str | None = None,
    configs: Mapping[MetricWord, Any] | None = None,
) -> tuple[Text, tuple[JobMetric, ...]]:
    """The metrics that a command line asks for, with their definitions.

    Args:
      flags: the command line.
      unpooled: the label whose values have no common score; None if all segments have one.
      configs: the definitions of metrics that the command line only names.

    Returns:
      How texts become the tokens in which lengths are counted, and the metrics.

    Raises:
      UsageError: a flag or a combination of flags is impossible, or there is no preset to
        compare with.
      InputError: the SentencePiece model cannot be read.
    """
    refuse_flags_of_other_metrics(flags)
    given = configs or {}
    bleu = given.get("bleu") or _definition(flags)
    of_segments = _of_segments(flags, bleu.metric)
    compared = COMPARISONS[flags.compare_presets](bleu) if flags.compare_presets else {}
    metrics = []
    for name in chosen_metrics(flags):
        config = bleu
        others: dict[str, Any] = {"languages": flags.language_column, "unpooled": unpooled}
        if name == "bleu":
            texts = [bleu.text, *(other.text for other in compared.values())]
            others |= {
                "picked": of_segments,
                "texts": tuple(dict.fromkeys(texts)),
                "presets": {
                    preset: Definition(name, other.text.name, other.metric)
                    for preset, other in compared.items()
                },
            }
        else:
            config = given.get(name) or config_of(name, flags, bleu.text)
        metric = JobMetric.of(name, config, **others)
        if flags.segment_scores:
            metric = dataclasses.replace(metric, segments=metric.picked)
        metrics.append(metric)
    return bleu.text, tuple(metrics)


def _definition(flags: argparse.Namespace) -> BleuConfig:
    """The definition of BLEU that a command line asks for.

    Raises:
      UsageError: a flag or a combination of flags is impossible, or there is no preset to
        compare with.
      InputError: the SentencePiece model cannot be read.
    """
    has_bleu = "bleu" in chosen_metrics(flags)
    if not has_bleu:
        _refuse_flags_of_bleu(flags)
    fields = [field.name for field in dataclasses.fields(BleuConfig)]
    changes = {name: getattr(flags, name, None) for name in fields}
    if has_bleu:
        changes["tokenize"] = flags.tokenize or tokenizer_of_language(flags)
    changes["lowercase"] = chosen_case(flags)
    changes["effective_order"] = chosen_effective_order(flags)
    changes["spm_model"] = chosen_model(flags)
    chosen = {name: value for name, value in changes.items() if value is not None}
    named = flags.preset or DEFAULT_PRESET
    unchanged = preset(named)
    require_model(chosen.get("tokenize", unchanged.tokenize), flags.spm_model)
    method = chosen.get("smooth_method", unchanged.smooth_method)
    of_preset = f"which --preset {named} sets" if flags.preset else "the default"
    origin = "" if flags.smooth_method else f", {of_preset}"
    _require_takes_value("smooth", method, origin, flags.smooth_value, corpus_smooth_methods())
    try:
        config = preset(named, **chosen)
    except ValueError as error:
        raise UsageError(_FIELD.sub(r"--\g<0>", str(error)), SEE_HELP) from None
    require_installed(config.text, flags)
    if flags.compare_presets and not COMPARISONS[flags.compare_presets](config):
        raise UsageError(
            "--compare_presets: no preset has this --tokenize and this case",
            "give --compare_presets all, or choose the tokenizer and the case of a preset; "
            "--preset list shows them",
        )
    return config


def _refuse_flags_of_bleu(flags: argparse.Namespace) -> None:
    """Refuses flags that define BLEU, and lengths in other tokens than the usual ones.

    Without BLEU, no signature says how tokens were made.

    Raises:
      UsageError: there is such a flag.
    """
    metrics = " ".join(flags.metrics)
    ask_for_it = f"ask for BLEU, too: --metrics bleu {metrics}"
    for name in FLAGS_OF_BLEU:
        if getattr(flags, name):
            raise UsageError(
                f"--{name} is a flag of BLEU, which --metrics {metrics} does not ask for",
                f"leave it out, or {ask_for_it}",
            )
    items = ",".join(flags.slice_by).replace(CROSS, ",").split(",")
    chosen, usual = tokenizer_of_language(flags), BleuConfig.tokenize
    if LENGTH in items and chosen not in (None, usual):
        raise UsageError(
            f"--slice_by {LENGTH} counts tokens of {usual} without BLEU, and --language "
            f"{flags.language} has {chosen}",
            ask_for_it,
        )


def rescored_bleu(old: Bleu, flags: argparse.Namespace) -> Bleu:
    """The BLEU of saved totals with the choices of a command line; the others stay as they were.

    Raises:
      UsageError: a choice is impossible.
    """
    asked = {name: getattr(flags, name) for name in _SCORING}
    asked["effective_order"] = chosen_effective_order(flags)
    changes: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    try:
        if flags.preset is not None:
            bleu = preset(flags.preset, **changes).metric
        else:
            if changes.get("smooth_method", old.smooth_method) != old.smooth_method:
                changes.setdefault("smooth_value", None)  # it is of the other method
            if "weights" in changes:
                changes.setdefault("max_ngram_order", len(changes["weights"]))
            bleu = dataclasses.replace(old, **changes)
        bleu.require_corpus()
    except ValueError as error:
        raise UsageError(str(error), SEE_HELP) from None
    return bleu


def _of_segments(flags: argparse.Namespace, corpus: Bleu) -> Bleu:
    """BLEU of the segments; that of the corpus if nothing shows their scores.

    Args:
      flags: the command line.
      corpus: that of the corpus.

    Raises:
      UsageError: a flag or a combination of flags is impossible.
    """
    asking = "--segment_scores" if flags.segment_scores else "--examples" if flags.examples else ""
    if not asking:
        for name in ("segment_smooth_method", "segment_smooth_value"):
            if getattr(flags, name) is not None:
                raise UsageError(
                    f"--{name} needs --segment_scores or --examples",
                    "give both flags, or leave both out",
                )
        return corpus
    if flags.output is None:
        raise UsageError(f"{asking} needs --output", "name the folder to write them to")
    method = flags.segment_smooth_method or corpus.smooth_method
    origin = "" if flags.segment_smooth_method else ", the method of the corpus"
    value = flags.segment_smooth_value
    _require_takes_value("segment_smooth", method, origin, value, SMOOTH_METHODS)
    try:
        segments = corpus.for_segments(flags.segment_smooth_method, flags.segment_smooth_value)
        if flags.no_effective_order:
            segments = dataclasses.replace(segments, effective_order=False)
        return segments
    except ValueError as error:
        raise UsageError(f"the segment scores: {error}", SEE_HELP) from None


def _take_value(methods: Iterable[SmoothMethodName]) -> list[SmoothMethodName]:
    """Those of the smoothing methods that take a value."""
    return [name for name in methods if SMOOTH_METHODS[name].value is not None]


def _require_takes_value(
    prefix: str,
    method: SmoothMethodName,
    origin: str,
    value: float | None,
    methods: Iterable[SmoothMethodName],
) -> None:
    """Checks that a value is given only for a smoothing method that takes one.

    Args:
      prefix: how the names of the two flags begin.
      method: the method.
      origin: where the method comes from, for the message; "" if its flag is given.
      value: the value of the flag; None if it is not given.
      methods: the methods to choose from.
    """
    if value is not None and SMOOTH_METHODS[method].value is None:
        raise UsageError(
            f"--{prefix}_value cannot be used with --{prefix}_method {method}{origin}",
            f"leave it out, or choose one of --{prefix}_method {', '.join(_take_value(methods))}",
        )


def chosen_effective_order(flags: argparse.Namespace) -> bool | None:
    """Whether a command line chooses the effective order; None if it does not say."""
    chosen: bool | None = switched(flags, {"effective_order": True, "no_effective_order": False})
    return chosen


def _preset_name(text: str) -> str:
    """A preset's name. `list` prints all presets and ends the program, as --help does."""
    if text == "list":
        write_to_stdout(presets_table(screen_of_stdout()).encode())
        raise SystemExit(0)
    return text


def _corpus_method(text: str) -> str:
    if text in SMOOTH_METHODS:  # for other names argparse shows the choices
        try:
            preset(DEFAULT_PRESET, smooth_method=text).metric.require_corpus()
        except ValueError as error:
            raise argparse.ArgumentTypeError(
                f"{error}; for segment scores, give --segment_smooth_method {text}"
            ) from None
    return text


def _weights(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be numbers, separated by commas, got {text!r}"
        ) from None


def presets_table(screen: Screen = FILE) -> str:
    """The table that `--preset list` prints: all presets and what each one sets."""
    rows = [_preset_row(name, preset(name)) for name in PRESETS]
    return as_text(Table((), _HEADER_OF_PRESETS, rows), screen)


def _preset_row(name: PresetName, config: BleuConfig) -> tuple[str, ...]:
    weights = (
        "1/N" if config.weights is None else ",".join(f"{weight:g}" for weight in config.weights)
    )
    return (
        name,
        config.tokenize,
        CASES[config.lowercase].shown,
        config.reference_length,
        f"{config.max_ngram_order}{' or fewer' if config.effective_order else ''}",
        weights,
        config.smooth_method,
        PRESETS[name].source.replace("`", ""),
    )
