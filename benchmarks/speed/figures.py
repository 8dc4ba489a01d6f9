"""The figures that the project must reach: the rows of the results, in their order."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.corpus.workspace import Workspace
from benchmarks.speed import crafted_text, kernel, serial_share
from benchmarks.speed.calls.figures import calls
from benchmarks.speed.command import against_itself, against_others, several_metrics, shown_results
from benchmarks.speed.library.figures import library, segment_scores
from benchmarks.speed.results import Results
from benchmarks.speed.sizes import Sizes

FIGURES: dict[str, Callable[[Workspace, Sizes], Results]] = {
    "kernel": kernel.kernel,
    "words": against_others.words,
    "bleuscore": against_others.bleuscore,
    "cores": against_itself.two_cores,
    "systems": against_itself.systems,
    "memory": against_itself.memory,
    "small": against_others.small,
    "segments": against_itself.segment_scores,
    "references": kernel.references,
    "compressed": against_itself.compressed,
    "crafted": crafted_text.crafted,
    "serial": serial_share.serial,
    "library": library,
    "chrf": kernel.chrf,
    "ter": kernel.ter,
    "squad": kernel.squad,
    "error_rates": kernel.error_rates,
    "rouge": kernel.rouge,
    "one_run": several_metrics.one_run,
    "fastest": kernel.fastest,
    "examples": shown_results.examples,
    "compare": shown_results.compared_slices,
    "report": shown_results.large_report,
    "history": shown_results.long_history,
    "calls": calls,
    "segment_scores": segment_scores,
}
