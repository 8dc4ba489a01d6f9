"""The flags that say which BLEU: of the corpus, of its segments, and to compare with."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from beam_bleu.pipeline.parser import SEE_HELP
from beam_bleu.pipeline.paths import checked_path
from beam_bleu.pipeline.presets_table import presets_table
from beam_bleu.pipeline.terminal import write_to_stdout
from beam_bleu.transforms.definition.cases import CASES
from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.normalizations import NORMALIZATIONS
from beam_bleu.transforms.definition.presets import DEFAULT_PRESET, PRESETS, comparable, preset
from beam_bleu.transforms.definition.reference_lengths import REFERENCE_LENGTHS
from beam_bleu.transforms.definition.scoring import LARGEST_NGRAM_ORDER, Scoring
from beam_bleu.transforms.definition.smoothing import (
    SMOOTH_METHODS,
    corpus_smooth_methods,
    default_smooth_values,
)
from beam_bleu.transforms.definition.tokenizers import TOKENIZERS
from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.statistics.library_tokenizers import require_tokenizer
from beam_bleu.transforms.statistics.read_model import read_model


def add_definition_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that say which BLEU; those that are not given are the preset's."""
    add = parser.add_argument
    add(
        "--preset",
        type=_preset_name,
        choices=tuple(PRESETS),
        help=f"a definition by name, default {DEFAULT_PRESET}; other flags change it; "
        "`--preset list` shows what each one sets",
    )
    add("--normalize", choices=tuple(NORMALIZATIONS), help="Unicode normalization, before all else")
    add("--tokenize", choices=tuple(TOKENIZERS), help=f"default {BleuConfig.tokenize}")
    add("--spm_model", metavar="FILE", help="the SentencePiece model of --tokenize spm")
    for case in CASES.values():
        add(f"--{case.flag}", action="store_true", help=case.description)
    add(
        "--smooth_method",
        type=_corpus_method,
        choices=corpus_smooth_methods(),
        help=f"what becomes of orders without matches; default {BleuConfig.smooth_method}",
    )
    defaults = ", ".join(f"{name} {value}" for name, value in default_smooth_values().items())
    add("--smooth_value", type=float, metavar="VALUE", help=f"default: {defaults}")
    add(
        "--max_ngram_order",
        type=int,
        metavar="N",
        help=f"1 to {LARGEST_NGRAM_ORDER}, default {BleuConfig.max_ngram_order}, "
        "or as many as there are weights",
    )
    add(
        "--weights",
        type=_weights,
        metavar="W,W,...",
        help="the weight of each order, 0 for none; default 1/N each",
    )
    add(
        "--effective_order",
        action="store_true",
        help="leave out orders that no candidate is long enough for",
    )
    add("--no_effective_order", action="store_true", help="count them, whatever the preset")
    add(
        "--reference_length",
        choices=tuple(REFERENCE_LENGTHS),
        help=f"which length of several references counts; default {BleuConfig.reference_length}",
    )
    add(
        "--compare_presets",
        action="store_true",
        help="score the run under every preset that has its tokens and case, too, "
        "each as its tool has it",
    )
    add(
        "--segment_scores",
        action="store_true",
        help="write the score of each segment, too, as Parquet files: DIR/segment_scores/",
    )
    add(
        "--segment_smooth_method",
        choices=tuple(SMOOTH_METHODS),
        help="smoothing of the segment scores, default as of the corpus's",
    )
    add(
        "--segment_smooth_value",
        type=float,
        metavar="VALUE",
        help="its value, default as of the corpus's, or the default of another method",
    )


def definition(flags: argparse.Namespace) -> BleuConfig:
    """The definition of BLEU that a command line asks for.

    Raises:
      UsageError: it is none, or no preset can be compared with it.
      InputError: its model cannot be read.
    """
    fields = [field.name for field in dataclasses.fields(BleuConfig)]
    changes = {name: getattr(flags, name, None) for name in fields}
    changes["lowercase"] = _switched(flags, {case.flag: case.value for case in CASES.values()})
    changes["effective_order"] = _switched(
        flags, {"effective_order": True, "no_effective_order": False}
    )
    if flags.spm_model is not None:
        with _named(f"--spm_model {flags.spm_model}"):
            path = checked_path("--spm_model", flags.spm_model, anywhere=False)
            changes["spm_model"] = read_model(path)
    given = {name: value for name, value in changes.items() if value is not None}
    try:
        config = preset(flags.preset or DEFAULT_PRESET, **given)
    except ValueError as error:
        raise UsageError(str(error), SEE_HELP) from None
    with _named(f"--spm_model {flags.spm_model}"):
        require_tokenizer(config.text)
    if flags.compare_presets and not comparable(config):
        raise UsageError(
            "--compare_presets: no preset has this --tokenize and this case",
            "choose those of one: --preset list shows them",
        )
    return config


def segment_scoring(flags: argparse.Namespace, scoring: Scoring) -> Scoring | None:
    """The scoring of the segments, if their scores are asked for.

    Args:
      flags: the command line.
      scoring: that of the corpus.

    Raises:
      UsageError: it is none, or half of the flags are given.
    """
    if not flags.segment_scores:
        for name in ("segment_smooth_method", "segment_smooth_value"):
            if getattr(flags, name) is not None:
                raise UsageError(f"--{name} goes with --segment_scores", "give both, or none")
        return None
    if flags.output is None:
        raise UsageError("--segment_scores needs --output", "name the folder that gets them")
    try:
        segments = scoring.for_segments(flags.segment_smooth_method, flags.segment_smooth_value)
        if flags.no_effective_order:
            segments = dataclasses.replace(segments, effective_order=False)
        return segments
    except ValueError as error:
        raise UsageError(f"the segment scores: {error}", SEE_HELP) from None


def _switched(flags: argparse.Namespace, meanings: Mapping[str, Any]) -> Any:
    """What the one of some switches that is given means; None without any."""
    given = [name for name in meanings if getattr(flags, name)]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} contradict each other", "leave one out")
    return meanings[given[0]] if given else None


def _preset_name(text: str) -> str:
    """A preset's name, or the end: `list` shows them all, as --help shows the flags."""
    if text == "list":
        write_to_stdout(presets_table().encode())
        raise SystemExit(0)
    return text


def _corpus_method(text: str) -> str:
    if text in SMOOTH_METHODS:  # of another one argparse shows the choices
        try:
            preset(DEFAULT_PRESET, smooth_method=text).scoring.require_corpus()
        except ValueError as error:
            raise argparse.ArgumentTypeError(
                f"{error}; for the segment scores it is --segment_smooth_method {text}"
            ) from None
    return text


def _weights(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be numbers with commas between them, got {text!r}"
        ) from None


@contextlib.contextmanager
def _named(flag: str) -> Iterator[None]:
    """Names the flag where its file is bad input."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{flag}: {error.cause}", error.remedy) from error
