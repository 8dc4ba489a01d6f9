"""What people look at after a run: examples, the report, comparisons of slices, a history."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
import pathlib
import shutil
import tempfile
from collections.abc import Sequence

from benchmarks.corpus.workspace import SYSTEMS, Text, Workspace
from benchmarks.measure import BEAM_BLEU, Run, interleaved, medians, run
from benchmarks.speed.commands import beam_bleu, warm_up
from benchmarks.speed.results import Figure, Measurement, Results, at_most
from benchmarks.speed.sizes import Sizes

_EXAMPLES = 20
_KINDS = 8
"""Lists of examples of two systems: best, worst and sample of both, gain and loss of one."""

_COMPARED_SLICES = 1_000

_REPORTED_SYSTEMS = 50
_REPORTED_SLICES = 200
_REPORTED_LINES = 20_000

_NIGHTS = 1_000
_RESULTS = 4
"""Different results of the nights of a history, one after the other."""


def examples(workspace: Workspace, sizes: Sizes) -> Results:
    """A run with examples and a report against the run without: CPU and memory. The page: CPU."""
    warm_up(workspace)
    text = workspace.repeated_shard(2)
    with tempfile.TemporaryDirectory() as folder:
        flags, asked = ["--output", folder], f"--examples={_EXAMPLES}"
        # In this order, the page is that of the result with examples.
        without, picked, reported, page = interleaved(
            [
                functools.partial(beam_bleu, text, flags=flags),
                functools.partial(beam_bleu, text, flags=[*flags, asked]),
                functools.partial(beam_bleu, text, flags=[*flags, asked, "--report"]),
                functools.partial(run, [*BEAM_BLEU, "report", folder]),
            ],
            sizes.repeats,
            warm_up=True,
        )
        path = pathlib.Path(folder) / "examples.jsonl"
        lines = path.read_bytes().count(b"\n")
    what = f"2 systems, {text.pairs:,} segments"
    is_right = lines == _KINDS * _EXAMPLES
    pairs = 2 * text.pairs
    return examples_figures(what, without, picked, reported, page, is_right=is_right), [
        Measurement(f"beam-bleu, `--examples {_EXAMPLES} --report`", pairs, reported),
        Measurement(f"beam-bleu, `--examples {_EXAMPLES}`", pairs, picked),
        Measurement("beam-bleu, without", pairs, without),
        Measurement("`beam-bleu report` of the result", 1, page),
    ]


def examples_figures(
    what: str,
    without: Sequence[Run],
    picked: Sequence[Run],
    reported: Sequence[Run],
    page: Sequence[Run],
    *,
    is_right: bool,
) -> list[Figure]:
    """The figures of runs without examples, with them and with a report, and of the page alone."""
    base, with_examples, with_page = medians(without), medians(picked), medians(reported)
    note = (
        f"user seconds {with_examples.user / base.user:.2f}x; with `--report`, which also makes "
        f"the page: CPU {with_page.cpu / base.cpu:.2f}x, user seconds "
        f"{with_page.user / base.user:.2f}x"
    )
    flag = f"`--examples {_EXAMPLES}`"
    more = (with_page.peak - base.peak) / 1e6
    peaks = f"{base.peak / 1e6:.0f} MB without, {with_examples.peak / 1e6:.0f} MB with examples"
    return [
        at_most(1.1).figure(
            f"{flag}, {what}, CPU against the run without",
            with_examples.cpu / base.cpu,
            note,
            is_right=is_right,
        ),
        at_most(50, " MB", digits=0).figure(
            f"{flag} `--report`, {what}, peak memory above the run without",
            more,
            f"{peaks}, {with_page.peak / 1e6:.0f} MB with the report",
            is_right=is_right,
        ),
        at_most(3, " s", digits=1).figure(
            "`beam-bleu report` of this result, CPU", medians(page).cpu, is_right=is_right
        ),
    ]


def compared_slices(workspace: Workspace, sizes: Sizes) -> Results:
    """`beam-bleu compare` of many slices and systems, with saved totals and without, CPU."""
    text = workspace.first_shard(SYSTEMS)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        saved = ["--save_totals", "--resample=bootstrap", *_slices(text, _COMPARED_SLICES, folder)]
        runs = [_saved(_moved(text, by), folder / f"run-{by}", saved) for by in (0, 1)]
        command = [*BEAM_BLEU, "compare"]
        independent, paired = interleaved(
            [
                functools.partial(run, [*command, *(f"{path}/scores.json" for path in runs)]),
                functools.partial(run, [*command, *runs]),
            ],
            sizes.repeats,
            warm_up=True,
        )
        as_json = json.loads(run([*command, *runs, "--format=json"]).stdout)
    differences = len(as_json["slices"])
    is_right = differences == SYSTEMS * _COMPARED_SLICES and as_json["method"] == "paired"
    what = f"`beam-bleu compare`, {_COMPARED_SLICES:,} slices, {SYSTEMS} systems, CPU"
    reach = at_most(5, " s", digits=1)
    return [
        reach.figure(what, medians(independent).cpu, is_right=is_right),
        reach.figure(
            f"{what}, paired by saved totals with replicates",
            medians(paired).cpu,
            is_right=is_right,
        ),
    ], [
        Measurement("`beam-bleu compare`; pairs are differences", differences, independent),
        Measurement("`beam-bleu compare`, with saved totals", differences, paired),
    ]


def large_report(workspace: Workspace, sizes: Sizes) -> Results:
    """`beam-bleu report` of many systems with many slices: CPU, and bytes of the page."""
    text = _many_systems(workspace)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        flags = [f"--examples={_EXAMPLES}", *_slices(text, _REPORTED_SLICES, folder)]
        command = [*BEAM_BLEU, "report", _saved(text, folder / "result", flags), "--output=-"]
        (page,) = interleaved([functools.partial(run, command)], sizes.repeats, warm_up=True)
    what = f"`beam-bleu report`, {_REPORTED_SYSTEMS} systems, {_REPORTED_SLICES} slices"
    size = len(page[-1].stdout) / 1e6
    is_right = all(f"system{number:02}".encode() in page[-1].stdout for number in (1, 50))
    return [
        at_most(3, " s", digits=1).figure(f"{what}, CPU", medians(page).cpu, is_right=is_right),
        at_most(2, " MB").figure(f"{what}, size of the page", size, is_right=is_right),
    ], [Measurement(f"{what}; pairs are scores", _REPORTED_SYSTEMS * (_REPORTED_SLICES + 1), page)]


def long_history(workspace: Workspace, sizes: Sizes) -> Results:
    """`beam-bleu history` of many nights with many systems, CPU."""
    text = _many_systems(workspace)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = [_saved(_moved(text, by), folder / f"run-{by}", ()) for by in range(_RESULTS)]
        nights = make_nights(folder / "nights", results, _NIGHTS)
        command = [*BEAM_BLEU, "history", str(nights), "--new_texts"]
        (shown,) = interleaved([functools.partial(run, command)], sizes.repeats, warm_up=True)
        scores = run([*command, "--format=jsonl"]).stdout.count(b"\n")
    what = f"`beam-bleu history`, {_NIGHTS:,} nights, {_REPORTED_SYSTEMS} systems"
    figure = at_most(10, " s", digits=1).figure(
        f"{what}, CPU", medians(shown).cpu, is_right=scores == _NIGHTS * _REPORTED_SYSTEMS
    )
    return [figure], [Measurement(f"{what}; pairs are scores", scores, shown)]


def make_nights(folder: pathlib.Path, results: Sequence[str], count: int) -> pathlib.Path:
    """Copies results in turn, one for each night; returns the folder."""
    first = datetime.date(2024, 1, 1)
    for number in range(count):
        night = first + datetime.timedelta(number)
        shutil.copytree(results[number % len(results)], folder / night.isoformat())
    return folder


def _many_systems(workspace: Workspace) -> Text:
    """The first lines with 50 systems. The corpus has 16, so texts have several names."""
    text = workspace.head(min(_REPORTED_LINES, workspace.first_shard().pairs), SYSTEMS)
    candidates = (text.candidates[number % SYSTEMS] for number in range(_REPORTED_SYSTEMS))
    return dataclasses.replace(text, candidates=tuple(candidates))


def _moved(text: Text, by: int) -> Text:
    """The same texts as other systems, so that a second run has other scores."""
    return dataclasses.replace(text, candidates=text.candidates[by:] + text.candidates[:by])


def _slices(text: Text, slices: int, folder: pathlib.Path) -> list[str]:
    """The flags of slices of equal sizes; makes the file of their labels."""
    labels = folder / "labels.txt"
    labels.write_text("".join(f"label-{number % slices:04}\n" for number in range(text.pairs)))
    return [f"--labels=label={labels}", "--slice_by=label"]


def _saved(text: Text, folder: pathlib.Path, flags: Sequence[str]) -> str:
    """Runs the command; returns its output folder."""
    beam_bleu(text, flags=["--output", str(folder), *flags])
    return str(folder)
