"""Compares the scores of two runs: was the difference between two nights real, and where?

The scores of the whole corpus are compared in pairs if both runs have the same replicates. All
other differences have the errors of both scores, as their results have them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, Literal

from beam_bleu.pipeline.display.slices import signatures_of
from beam_bleu.pipeline.gates.results import slice_text
from beam_bleu.pipeline.output.manifest import digests_of
from beam_bleu.pipeline.output.metric_views import metrics_of, part_of
from beam_bleu.pipeline.saved.compared_scores import (
    ComparedScore,
    Entry,
    Place,
    adjusted,
    compared_score,
    in_both,
    independent,
)
from beam_bleu.pipeline.saved.same_definition import OF_DEFINITION, differing, shown
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.differences import Difference
from beam_bleu.transforms.score.shown_numbers import counted

Method = Literal["paired", "independent"]

_SHOWN = 5
"""More slices are not all named."""

_BY_LANGUAGE = "each language is scored by itself, and replicates are of the whole corpus only"

_TOO_CAREFUL = (
    ". Both have the same references, so these standard errors are too large, and a real "
    "difference can go unseen"
)

_IN_ONE_RUN = "for smaller errors of the same texts: score both outputs in one run (--baseline)"

_IN_PAIRS = ", or repeat both runs with --save_totals and the same --resample"


@dataclasses.dataclass(frozen=True)
class Run:
    """One of the two runs.

    Attributes:
      path: its path, as the user gave it.
      document: its result document.
      totals: everything that it has added up; None if that is not known.
      references: the digests of its references, in their order; () if they are not known.
    """

    path: str
    document: Mapping[str, Any]
    totals: SavedTotals | None = None
    references: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str, totals: SavedTotals, document: Entry | None = None) -> Run:
        """The run that a totals.json is of.

        Args:
          path: its path.
          totals: what it holds.
          document: its result document, if that is known.
        """
        streams = [stream for partition in totals.partitions for stream in partition.inputs]
        document = totals.document if document is None else document
        return cls(path, document, totals, digests_of(streams, "references"))


@dataclasses.dataclass(frozen=True)
class ComparedRuns:
    """The comparison of two runs by one metric.

    Attributes:
      metric: the metric.
      name: its name for readers.
      signature: the definition of both; None if languages have different ones.
      method: how the scores of the whole corpus are compared: "paired" if both runs have scored the
        same segments, with the same random replicates; otherwise "independent", as if the segments
        had nothing to do with each other.
      reason: why this method was used.
      systems: those that both runs have, in the order of the new run; none if the whole corpus has
        no score.
      only_old: the systems that only the old run has.
      only_new: the systems that only the new run has.
      macro_average: the means of the systems over languages or tasks.
      slices: the slices that both runs have, in the order of the new run, system by system.
      notes: what a reader must know.
      definitions: for each definition of the new run its languages ("" if all have the same),
        sacreBLEU's signature and ours.
      remedy: how runs of the same texts can be compared better; "" if these are other texts, or are
        compared in pairs.
    """

    metric: MetricWord
    name: str
    signature: str | None
    method: Method
    reason: str
    systems: tuple[ComparedScore, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    macro_average: tuple[ComparedScore, ...] = ()
    slices: tuple[ComparedScore, ...] = ()
    notes: tuple[str, ...] = ()
    definitions: tuple[tuple[str, str | None, str], ...] = ()
    remedy: str = ""


class _NothingToCompareError(InputError):
    """Two runs have nothing of a metric in common."""


def compared(
    old_path: str, old: SavedTotals, new_path: str, new: SavedTotals
) -> tuple[list[ComparedRuns], list[str]]:
    """The comparison of two runs of which everything is saved; see `compared_runs`."""
    return compared_runs(Run.of(old_path, old), Run.of(new_path, new))


def compared_runs(
    old: Run, new: Run, only: Collection[MetricWord] | None = None
) -> tuple[list[ComparedRuns], list[str]]:
    """The comparison of two runs, by each metric of both.

    Args:
      old: the old run.
      new: the new run.
      only: the metrics that are compared, if both have them; None for all.

    Returns:
      The comparisons, one or more; and a sentence about each metric that is left out.

    Raises:
      InputError: they have other definitions, no metric or system in common, no standard errors, or
        no score in common.
    """
    of_old, of_new = metrics_of(old.document), metrics_of(new.document)
    names = [name for name in of_new if name in of_old and (only is None or name in only)]
    if not names:
        raise InputError(
            f"{old.path} and {new.path} have no metric in common: {' '.join(of_old)}, and "
            f"{' '.join(of_new)}",
            "repeat one of the runs with --metrics of the other one",
        )
    missing = [
        f"{run.path} has no {definition['name']}"
        for run, other in ((old, new), (new, old))
        for definition in other.document["metrics"]
        if definition["metric"] not in names
    ]
    for run in (old, new):
        if "uncertainty" not in run.document:
            raise InputError(
                f"{run.path} has no standard errors", "repeat its run without --no_uncertainty"
            )
    if old.totals is not None and new.totals is not None:
        old, new = (
            dataclasses.replace(run, totals=run.totals and run.totals.with_metrics(names))
            for run in (old, new)
        )
        _require_same_definition(old, new)
    comparisons: list[ComparedRuns] = []
    left_out: list[_NothingToCompareError] = []
    for name in names:
        try:
            comparisons.append(_compared_by(name, old, new))
        except _NothingToCompareError as error:
            left_out.append(error)
    if not comparisons:
        raise left_out[0]
    return comparisons, [*missing, *(error.cause for error in left_out)]


def _compared_by(name: MetricWord, old: Run, new: Run) -> ComparedRuns:
    """The comparison by one metric."""
    one, other = part_of(old.document, name), part_of(new.document, name)
    _require_same_signatures(old.path, one, new.path, other)
    of_old, of_new = _systems_of(one), _systems_of(other)
    systems = [system for system in of_new if system in of_old]
    if not systems:
        raise InputError(
            f"{old.path} and {new.path} have no system in common",
            "give a system the same name in both runs: --candidates NAME=PATTERN",
        )
    has_languages = "languages" in one or "languages" in other
    obstacle = _BY_LANGUAGE if has_languages else _obstacle(old, new)
    scores = in_both(one["scores"], other["scores"])
    whole = {place: both for place, both in scores.items() if not place[1]}
    slices = {place: both for place, both in scores.items() if place[1]}
    averages, notes = _averages(old.path, one, new.path, other)
    if not (whole or slices or averages):
        raise _NothingToCompareError(
            f"{old.path} and {new.path} have no {other['name']} of the whole corpus or of the same "
            "slice",
            "compare runs with the same languages or tasks",
        )
    if whole and not obstacle:
        compared_whole = [
            compared_score(place, *both, _paired(name, place[0], old, new, *both))
            for place, both in whole.items()
        ]
    else:
        compared_whole = independent(whole)
    if slices:
        notes += _of_one_run_only(one, other)
    remedy = ""
    if obstacle and not _are_other_texts(old, new):
        # A run by language has no replicates, so it cannot be repeated with them.
        remedy = _IN_ONE_RUN if has_languages else _IN_ONE_RUN + _IN_PAIRS
    return ComparedRuns(
        name,
        other["name"],
        other["signature"],
        "independent" if obstacle or not whole else "paired",
        (obstacle or "both runs have the same references and the same random replicates")
        + (_TOO_CAREFUL if obstacle and old.references == new.references != () else ""),
        adjusted(compared_whole),
        tuple(system for system in of_old if system not in systems),
        tuple(system for system in of_new if system not in systems),
        adjusted(independent(averages)),
        adjusted(independent(slices)),
        tuple(notes),
        tuple(signatures_of(other)),
        remedy,
    )


def _require_same_definition(old: Run, new: Run) -> None:
    assert old.totals is not None
    assert new.totals is not None
    for kind in OF_DEFINITION:
        for name, one, other in differing(kind.facts(old.totals), kind.facts(new.totals)):
            raise InputError(
                f"{old.path} and {new.path} cannot be compared: {name} is {shown(one)} in the "
                f"first one, and {shown(other)} in the second one",
                kind.remedy,
            )


def _require_same_signatures(old_path: str, old: Entry, new_path: str, new: Entry) -> None:
    """Checks that both runs, or the languages of both, have the same definitions."""
    signatures = [
        ("", *(part["signature"] and f"{part['name']}|{part['signature']}" for part in (old, new)))
    ]
    if old["signature"] is None and new["signature"] is None:
        of_old, of_new = (
            {tuple(entry["slice"].items()): entry["signature"] for entry in part["languages"]}
            for part in (old, new)
        )
        signatures = [
            (f" of {slice_text(dict(language))}", of_old[language], signature)
            for language, signature in of_new.items()
            if language in of_old
        ]
    for of_what, one, other in signatures:
        if one != other:
            several = "one for each language"
            raise InputError(
                f"{old_path} and {new_path} have different definitions{of_what}: {one or several}, "
                f"and {other or several}",
                "compare runs with the same definition and the same numbers of references; BLEU "
                "and the formula of chrF can get another one with beam-bleu rescore",
            )


def _systems_of(part: Entry) -> list[str]:
    return list(dict.fromkeys(entry["system"] for entry in part["scores"]))


def _obstacle(old: Run, new: Run) -> str:
    """Why the units of two runs are not paired; "" if they are."""
    named = (("old", old), ("new", new))
    without = [name for name, run in named if "resampling" not in run.document]
    if without:
        runs = f"the {without[0]} run has no" if len(without) == 1 else "neither run has"
        return f"{runs} replicates (--resample), which a comparison in pairs needs"
    for name, run in named:
        if run.totals is None:
            return f"the {name} run has no totals.json (--save_totals), which pairs need"
    assert old.totals is not None
    assert new.totals is not None
    # This loads numpy and the kernel of replicates, so only a comparison in pairs pays for it.
    from beam_bleu.pipeline.saved.paired_runs import obstacle

    return obstacle(old.totals, new.totals)


def _are_other_texts(old: Run, new: Run) -> bool:
    """Whether the references are known to differ."""
    return () not in (old.references, new.references) and old.references != new.references


def _paired(
    name: MetricWord, system: str, old: Run, new: Run, old_score: Entry, new_score: Entry
) -> Difference:
    assert old.totals is not None
    assert new.totals is not None
    from beam_bleu.pipeline.saved.paired_runs import paired

    points = new_score["score"] - old_score["score"]
    return paired(system, old.totals.of_metric(name), new.totals.of_metric(name), points)


def _averages(
    old_path: str, old: Entry, new_path: str, new: Entry
) -> tuple[dict[Place, tuple[Entry, Entry]], list[str]]:
    """The macro averages of both runs, and a sentence if they cannot be compared."""
    if "macro_average" not in old or "macro_average" not in new:
        return {}, []
    of_old, of_new = (
        {slice_text(entry["slice"]) for entry in part.get("languages") or part["tasks"]}
        for part in (old, new)
    )
    if of_old != of_new:
        only = joined(sorted(of_old ^ of_new), _SHOWN)
        return {}, [
            f"macro averages: not compared, because only one of {old_path} and {new_path} has "
            f"{only}"
        ]
    return in_both(old["macro_average"], new["macro_average"]), []


def _of_one_run_only(old: Entry, new: Entry) -> list[str]:
    """A sentence about the slices that only one run has, if there are any."""
    of_old, of_new = (
        {slice_text(entry["slice"]) for entry in part["scores"] if entry["slice"] is not None}
        for part in (old, new)
    )
    return [
        f"only the {name} run has {counted(len(only), 'slice')}, which cannot be compared: "
        f"{joined(sorted(only), _SHOWN)}"
        for name, only in (("old", of_old - of_new), ("new", of_new - of_old))
        if only
    ]
