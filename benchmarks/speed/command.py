"""Measures the whole command on plain lines: against other programs, and with more systems, ..."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Iterator, Mapping

from benchmarks.corpus.workspace import SYSTEMS, Text
from benchmarks.measure import cores
from benchmarks.speed.harness import (
    Benchmark,
    Comparison,
    Contestant,
    Figure,
    Round,
    Setting,
    in_turn,
    one,
    ratio,
)
from benchmarks.speed.programs import (
    OURS,
    beam_bleu,
    command_for,
    count_words,
    sacrebleu,
    timed,
)

_COPIES = 10
"""How many times a large text repeats the corpus."""

_METRICS = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}
"""Metrics of one run, and their names in sacreBLEU's output."""

_SLICES = 200
_ALL = ("--compare=all",)
_WORDS = "`LC_ALL=C.UTF-8 wc -w`"
_MEGABYTES = 1e-6


def _whole(text: Text) -> str:
    return f"whole command, {text.pairs:,} pairs"


def _words(setting: Setting) -> Iterator[Comparison]:
    text, start = setting.corpus.whole(_COPIES), _start(setting)
    yield Comparison(
        [beam_bleu(OURS, text), count_words(_WORDS, text), start],
        [
            Figure(f"{_whole(text)}, CPU against {_WORDS}", ratio(OURS, _WORDS), most=1),
            Figure(
                "the same without the start",
                lambda runs: (runs[OURS].cpu - runs[start.name].cpu) / runs[_WORDS].cpu,
            ),
            Figure(
                "a pair, without the start",
                lambda runs: 1e6 * (runs[OURS].cpu - runs[start.name].cpu) / text.pairs,
                unit=" µs",
            ),
            Figure("start, CPU", one(start.name), unit=" s"),
        ],
    )


def _start(setting: Setting) -> Contestant:
    return beam_bleu("start", setting.corpus.head(1))


def _before(setting: Setting) -> Iterator[Comparison]:
    if not setting.before:
        return
    for text, what in (
        (setting.corpus.whole(), _whole(setting.corpus.whole())),
        (setting.corpus.head(1), "start"),
    ):
        before = beam_bleu("before", text, is_compared=True, program=[setting.before])
        yield Comparison(
            [beam_bleu(OURS, text, is_compared=True), before],
            [
                Figure(f"{what}, {shown}, against before", ratio(OURS, "before", of))
                for of, shown in (("cpu", "CPU"), ("wall", "wall"), ("peak", "memory"))
            ],
        )


def _bleuscore(setting: Setting) -> Iterator[Comparison]:
    text, theirs = setting.corpus.whole(), "bleuscore's API, without reading the files"
    figure = Figure(f"{_whole(text)}, CPU of bleuscore", ratio(theirs, OURS), least=40)
    ours = beam_bleu(OURS, text, is_compared=True)
    yield Comparison([ours, timed("bleuscore", theirs, text)], [figure])


def _cores(setting: Setting) -> Iterator[Comparison]:
    two = cores()[:2]
    text = setting.corpus.whole(_COPIES)
    yield Comparison(
        [
            beam_bleu("2 cores", text, on=two),
            beam_bleu("1 core", text, on=two[:1]),
        ],
        [
            Figure(
                f"{_whole(text)}, wall, 2 cores against 1",
                ratio("1 core", "2 cores", "wall"),
                least=1.85,
            ),
        ],
    )


def _systems(setting: Setting) -> Iterator[Comparison]:
    text, start = setting.corpus.shard(SYSTEMS), _start(setting)
    singles = [dataclasses.replace(text, candidates=(each,)) for each in text.candidates]
    alone = in_turn(map(command_for, singles))
    what = f"{SYSTEMS} systems, {text.pairs:,} segments, CPU against one by one"

    def without_starts(runs: Round) -> float:
        starting = runs[start.name].cpu
        return (runs["at once"].cpu - starting) / (runs["one by one"].cpu - SYSTEMS * starting)

    yield Comparison(
        [
            beam_bleu("at once", text),
            Contestant("one by one", alone, SYSTEMS * text.pairs),
            start,
        ],
        [
            Figure(f"{what}, without the starts", without_starts, most=0.45),
            Figure(what, ratio("at once", "one by one")),
        ],
    )


def _many_systems(setting: Setting) -> Iterator[Comparison]:
    for systems, flags in ((100, ()), (300, ()), (100, _ALL), (300, _ALL)):
        text = _repeated_systems(setting, 200, systems)
        what = f"{systems} systems, {text.pairs} segments, {' '.join(flags)}".rstrip(", ")
        yield Comparison(
            [beam_bleu(OURS, text, *flags)],
            [
                Figure(f"{what}, CPU", one(OURS), unit=" s"),
                Figure(f"{what}, memory", one(OURS, "peak", _MEGABYTES), unit=" MB"),
            ],
        )


def _repeated_systems(setting: Setting, lines: int, systems: int) -> Text:
    """The first lines of many systems. The corpus has only 16, so each text gets several names."""
    text = setting.corpus.head(min(lines, setting.corpus.pairs // 10), SYSTEMS)
    names = (text.candidates[number % SYSTEMS] for number in range(systems))
    return dataclasses.replace(text, candidates=tuple(names))


def _memory(setting: Setting) -> Iterator[Comparison]:
    corpus = setting.corpus
    texts = [corpus.shard(), corpus.whole(), corpus.whole(_COPIES)]
    sizes = [f"{text.pairs:,}" for text in texts]

    def peaks(runs: Round) -> list[int]:
        return [runs[size].peak for size in sizes]

    yield Comparison(
        [beam_bleu(size, text) for size, text in zip(sizes, texts, strict=True)],
        [
            Figure(
                f"peak memory, the largest at {'; '.join(sizes)} pairs",
                lambda runs: max(peaks(runs)) * _MEGABYTES,
                most=320,
                unit=" MB",
            ),
            Figure(
                "the largest of these above the smallest",
                lambda runs: 100 * (max(peaks(runs)) / min(peaks(runs)) - 1),
                most=5,
                unit=" %",
            ),
        ],
    )


def _small(setting: Setting) -> Iterator[Comparison]:
    theirs = "sacreBLEU's command"
    for lines, most in ((3_000, 2.5), (6_000, 1)):
        text = setting.corpus.head(lines)
        what = f"whole command, {lines:,} lines, wall, against {theirs}"
        yield Comparison(
            [beam_bleu(OURS, text), sacrebleu(theirs, text)],
            [Figure(what, ratio(OURS, theirs, "wall"), most=most)],
        )


def _metrics(setting: Setting) -> Iterator[Comparison]:
    flags = ("-m", *_METRICS)
    shown, text = f"`{' '.join(flags)}`", setting.corpus.whole()
    alone = in_turn(command_for(text, "-m", name) for name in _METRICS)
    yield Comparison(
        [beam_bleu(shown, text, *flags), Contestant("three runs", alone, text.pairs)],
        [
            Figure(
                f"{shown}, {text.pairs:,} pairs, CPU against three runs",
                ratio(shown, "three runs"),
                most=0.75,
            ),
            Figure("the same, peak memory", one(shown, "peak", _MEGABYTES), most=400, unit=" MB"),
        ],
    )
    few = setting.corpus.head(min(3_000, setting.corpus.pairs // 10), SYSTEMS)
    command = sacrebleu("sacreBLEU's command", few, *flags, "--format=json", "--width=9")
    theirs = dataclasses.replace(command, result=_scores_of_sacrebleu)
    what = f"{shown}, {few.pairs:,} lines of {SYSTEMS} systems, CPU of {theirs.name} against ours"
    yield Comparison(
        [beam_bleu(shown, few, *flags, is_compared=True), theirs],
        [Figure(what, ratio(theirs.name, shown), least=50)],
    )


def _scores_of_sacrebleu(output: bytes) -> list[float]:
    """The scores of sacreBLEU's command for several systems, in the order of ours."""
    systems = json.loads(output)
    return [float(system[name]) for name in _METRICS.values() for system in systems]


def _slices(setting: Setting) -> Iterator[Comparison]:
    draw = random.Random(1)
    for text in (setting.corpus.whole(), setting.corpus.shard(SYSTEMS)):
        labels = setting.folder / f"labels-{text.pairs}.txt"
        labels.write_text("".join(f"label-{draw.randrange(_SLICES)}\n" for _ in range(text.pairs)))
        yield _against_plain(
            text,
            {
                f"{_SLICES} slices": (f"--labels=label={labels}", "--slice_by=label"),
                "`--slice_by=length`": ("--slice_by=length",),
            },
            most=1.2,
        )


def _against_plain(text: Text, flags: Mapping[str, tuple[str, ...]], most: float) -> Comparison:
    """Compares the CPU time of runs with flags with that of the run without them."""
    what = _size(text)
    return Comparison(
        [beam_bleu(OURS, text), *(beam_bleu(name, text, *each) for name, each in flags.items())],
        [
            Figure(f"{name}, {what}, CPU against the run without", ratio(name, OURS), most=most)
            for name in flags
        ],
    )


def _size(text: Text) -> str:
    systems = len(text.candidates)
    return f"{systems} {'system' if systems == 1 else 'systems'}, {text.pairs:,} segments"


def _segments(setting: Setting) -> Iterator[Comparison]:
    text, output = setting.corpus.whole(), f"--output={setting.folder / 'scores'}"
    yield _against_plain(text, {"`--segment_scores`": (output, "--segment_scores")}, most=1.3)


def _evidence(setting: Setting) -> Iterator[Comparison]:
    for text, most in ((setting.corpus.whole(), 1.08), (setting.corpus.shard(SYSTEMS), 1.3)):
        what, without = f"standard errors, {_size(text)}", "`--no_uncertainty`"
        yield Comparison(
            [beam_bleu(OURS, text), beam_bleu(without, text, "--no_uncertainty")],
            [Figure(f"{what}, CPU against {without}", ratio(OURS, without), most=most)],
        )


def _replicates(setting: Setting) -> Iterator[Comparison]:
    text = setting.corpus.shard(2, _COPIES)
    for method, most in (("bootstrap", 2.0), ("randomization", 6.0)):
        flags = {f"`--resample={method}`": (f"--resample={method}",)}
        yield _against_plain(text, flags, most)
    ours, theirs = "`--resample=bootstrap`", "sacreBLEU's `--paired-bs`"
    shard = setting.corpus.shard(SYSTEMS)
    yield Comparison(
        [beam_bleu(ours, shard, "--resample=bootstrap")],
        [
            Figure(
                f"{ours}, {SYSTEMS} systems, {shard.pairs:,} segments, peak memory",
                one(ours, "peak", _MEGABYTES),
                most=600,
                unit=" MB",
            )
        ],
    )
    # Few, because sacreBLEU needs 44 bytes for each line and each of its 1,000 replicates.
    lines = setting.corpus.head(min(20_000, setting.corpus.pairs // 10), 2)
    yield Comparison(
        [
            beam_bleu(ours, lines, "--resample=bootstrap"),
            sacrebleu(theirs, lines, "-m", "bleu", "--paired-bs"),
        ],
        [
            Figure(
                f"2 systems, {lines.pairs:,} segments, CPU of {theirs} against {ours}",
                ratio(theirs, ours),
                least=20,
            )
        ],
    )


BENCHMARKS: dict[str, Benchmark] = {
    "before": _before,
    "words": _words,
    "bleuscore": _bleuscore,
    "cores": _cores,
    "systems": _systems,
    "many_systems": _many_systems,
    "memory": _memory,
    "small": _small,
    "metrics": _metrics,
    "segments": _segments,
    "slices": _slices,
    "evidence": _evidence,
    "replicates": _replicates,
}
