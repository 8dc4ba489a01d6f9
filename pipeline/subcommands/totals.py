"""`beam-bleu merge` adds up saved totals; `beam-bleu rescore` scores them by another definition."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from beam_bleu.pipeline.command_line.definition_flags import (
    LANGUAGE_FLAGS,
    METRICS_FLAG,
    PRESET,
    DefinitionFlags,
    impossible,
    metric_flags,
    refuse_flags_of_other_metrics,
    usual_flags,
    with_choices,
)
from beam_bleu.pipeline.command_line.evidence_flags import ComparisonFlags, baseline_among
from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.folder.file_names import TOTALS
from beam_bleu.pipeline.history.nights import missing_dates, results_at
from beam_bleu.pipeline.result.document import document_bytes, document_of
from beam_bleu.pipeline.saved.saved_result import exists, is_folder, named
from beam_bleu.pipeline.saved.saved_totals import SavedTotals, last_of_each_partition, merged, shown
from beam_bleu.pipeline.saved.totals_file import read_totals, write_result
from beam_bleu.pipeline.scoring.job import Evidence, Scorings
from beam_bleu.pipeline.subcommands import run
from beam_bleu.transforms.definition.flags import Flag, filled, flags_of
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import UsageError, joined
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, MetricWord
from beam_bleu.transforms.metrics.bleu.presets import preset
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenizers import tokenizer_of
from beam_bleu.transforms.totals.group_totals import pairs_with


def merge_command(argv: Sequence[str]) -> int:
    description = (
        "Adds up the totals that runs with --save_totals have written, without reading texts. The "
        "result is, to the last byte, that of one run over all of their inputs."
    )
    files = Flag(
        "files",
        "a totals.json, a folder with one, a folder that contains such folders, or a pattern of "
        "such paths in quotes; on this machine or in an object store",
        "FILE",
        nargs="+",
    )
    shown = "if several files have the same partition, the last one counts"
    replace = Flag("replace", shown, words=("--replace",), default=False)
    shown = "does nothing; accepted for scripts that use it"
    force = Flag("force", shown, words=("--force",), default=False)
    groups = {"input": [files, replace, force], "output": RESULT_FLAGS}
    return run("merge", description, groups, argv, _merge)


def _merge(flags: argparse.Namespace) -> bytes:
    shown = filled(DisplayFlags, vars(flags))
    paths = []
    for path in (path for word in flags.files for path in named(word)):
        has_own = not is_folder(path) or exists(f"{path.rstrip('/')}/{TOTALS}")
        paths += [path] if has_own else results_at(path)
    files = [(path, read_totals(path)) for path in paths]
    if flags.replace:
        files = last_of_each_partition(files)
    totals, repeated = merged(files)
    labels = [partition.label for partition in totals.partitions if partition.label is not None]
    for warning in (*repeated, *missing_dates(labels)):
        warn(warning)
    if totals.evidence.documents is not None and len(totals.partitions) > 1:
        # Totals do not have the names of documents, so this cannot be checked.
        warn("documents with the same name in several partitions count as different documents")
    return finish(totals, shown, flags.output, [path for path, _ in files])


RESULT_FLAGS = (
    *flags_of(DisplayFlags),
    Flag(
        "output",
        "the folder in which scores.json, totals.json and manifest.json are written",
        "DIR",
        ("--output",),
    ),
)


def finish(
    saved: SavedTotals, display: DisplayFlags, output: str | None, read: Sequence[str]
) -> bytes:
    result = saved.result
    for warning in result.all_warnings:
        warn(warning)
    scores = document_bytes(document_of(result))
    if output is not None:
        write_result(saved, scores, output, read)
    return display.shown(scores, result)


_REPEAT = "repeat the run with this choice"

_OF_TOKENS = {"tokenize", "lowercase", "normalize"}


def rescore_command(argv: Sequence[str]) -> int:
    description = (
        "Scores saved totals by another definition, without the texts. Whatever you do not choose "
        "stays as it was. The result is the same as that of a run with these flags, to the last "
        "byte. Whatever changes the tokens, or the sums of segments, cannot be changed."
    )
    groups = {
        "input": [Flag("file", "a totals.json, or a folder with one", "FILE")],
        "definition, from n-grams to a score": [
            _as_in_run(row) for row in (PRESET, *usual_flags(of_text=False), METRICS_FLAG)
        ],
        "definition, from texts to tokens (these must be as in the run)": [
            *map(_as_in_run, usual_flags(of_text=True)),
            *LANGUAGE_FLAGS,
            *(
                dataclasses.replace(row, help=argparse.SUPPRESS, shown_default="")
                for row in metric_flags(besides=[DEFAULT_METRIC])
            ),
        ],
        "evidence": [*map(_as_in_run, flags_of(ComparisonFlags))],
        "output": RESULT_FLAGS,
    }
    return run("rescore", description, groups, argv, _rescore)


def _as_in_run(row: Flag) -> Flag:
    return dataclasses.replace(row, shown_default="default: as in the run")


@dataclasses.dataclass(frozen=True)
class RescoringFlags(DefinitionFlags, ComparisonFlags, DisplayFlags):
    pass


def _rescore(flags: argparse.Namespace) -> bytes:
    saved = read_totals(flags.file)
    changes = with_choices(RescoringFlags, vars(flags))
    return finish(rescored(saved, changes), changes, flags.output, [flags.file])


def rescored(saved: SavedTotals, flags: RescoringFlags) -> SavedTotals:
    """Saved totals with the choices of a command line, and without scores of segments."""
    names = flags.chosen_metrics if flags.metrics else tuple(saved.scorings)
    for name in names:
        if name not in saved.scorings:
            raise UsageError(
                f"--metrics {name}: the run has counted nothing for it, only for "
                f"{joined([*saved.scorings])}",
                f"repeat the run with --metrics {name}",
            )
    refuse_flags_of_other_metrics(flags, names)
    _require_lengths(saved, names)
    saved = saved.with_metrics(names)
    scorings = {
        name: dataclasses.replace(
            saved.scorings[name], corpus=_definition(saved, name, flags), segments=None
        )
        for name in names
    }
    return dataclasses.replace(saved, scorings=scorings, evidence=_evidence(saved, flags))


def _require_lengths(saved: SavedTotals, names: Sequence[MetricWord]) -> None:
    """Checks that a run with these metrics would count the same tokens in slices by length."""
    if "bleu" in names or "bleu" not in saved.scorings:
        return
    text = saved.scorings["bleu"].text
    has_lengths = any(LENGTH in item for item in saved.slicing.items)
    if has_lengths and text != Text(normalize=text.normalize).name:
        raise UsageError(
            f"--metrics {' '.join(names)} leaves out BLEU, and the slices by {LENGTH} count its "
            f"tokens ({text.label})",
            f"keep BLEU: --metrics bleu {' '.join(names)}",
        )


def _definition(saved: SavedTotals, name: MetricWord, flags: RescoringFlags) -> Metric:
    scorings, corpus = saved.scorings[name], saved.own(name).corpus
    _require_tokens(scorings, flags)
    old = scorings.corpus
    # Some choices decide which of a segment's references is the best, which cannot be redone.
    most = max(corpus.sums(system).max_reference_count for system in corpus.systems)
    picks = old.picks_reference and most > 1
    changes = {}
    for row, value in flags.choices_of(name).items():
        if row.field in _OF_TOKENS:
            continue
        if (picks or row.changes_sums) and value != getattr(old, row.field, None):
            raise UsageError(f"--{row.name} cannot be changed without the texts", _REPEAT)
        changes[row.field] = value
    try:
        if flags.preset is not None and name == DEFAULT_METRIC:
            metric: Metric = preset(flags.preset, **changes).metric
        else:
            metric = old.changed(**changes)
        metric.require_corpus()
        metric.value([0] * corpus.width)  # raises if the metric needs columns that are not there
    except ValueError as error:
        raise impossible(name, error) from None
    return metric


def _require_tokens(scorings: Scorings, flags: RescoringFlags) -> None:
    """Checks that the command line does not ask for tokens other than those that were counted."""
    for name, given in {**flags.choices, "language_column": flags.language_column}.items():
        if name in ("spm_model", "language_column") and given is not None:
            raise UsageError(f"--{name} cannot be changed without the texts", _REPEAT)
    asked: dict[str, Any] = {
        row.field: value for row, value in flags.choices_of(scorings.name).items()
    }
    if scorings.name == DEFAULT_METRIC:
        if flags.language is not None:
            asked.setdefault("tokenize", tokenizer_of(flags.language))
        if flags.preset is not None:
            usual = preset(flags.preset)
            asked.setdefault("lowercase", usual.lowercase)
            if scorings.languages is None:
                asked.setdefault("tokenize", usual.tokenize)
    for name in asked.keys() & _OF_TOKENS:
        value, counted = asked[name], getattr(scorings.text, name)
        if value is not None and value != counted:
            raise UsageError(
                f"{name} is {shown(value)}, and the tokens were counted with {name} "
                f"{shown(counted)}",
                _REPEAT,
            )


def _evidence(saved: SavedTotals, flags: RescoringFlags) -> Evidence:
    evidence, systems = saved.evidence, saved.totals.systems
    baseline = baseline_among(systems, flags)
    can_compare = len(systems) > 1 and (evidence.uncertainty or evidence.resampling)
    if (flags.baseline or flags.compare) and not can_compare:
        raise UsageError(
            "--baseline and --compare need several systems, and sums for standard errors or "
            "replicates, which the totals do not have",
            "leave them out, or repeat the run without --no_uncertainty",
        )
    changed = dataclasses.replace(
        evidence,
        baseline=evidence.baseline if baseline is None else baseline,
        compare_all=evidence.compare_all or flags.compare == "all",
    )
    _require_pairs(saved, changed.baseline_of(systems))
    return changed


def _require_pairs(saved: SavedTotals, baseline: str) -> None:
    """Checks that the differences between systems and a baseline were added up for slices."""
    slices = saved.own(next(iter(saved.scorings))).slices  # all metrics have the same pairs
    if not saved.evidence.uncertainty or slices is None or baseline not in slices.systems:
        return
    if not {*pairs_with(baseline, slices.systems)} <= {*slices.pairs}:
        old = saved.evidence.baseline_of(saved.totals.systems)
        raise UsageError(
            f"--baseline {baseline}: on slices, systems were compared only with {old}",
            "leave it out, or repeat the run with this baseline",
        )
