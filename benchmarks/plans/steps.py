"""Plans a fake corpus in the same way as the pipeline, and measures its own process.

    python -m benchmarks.plans.steps list NUMBER FILE
    python -m benchmarks.plans.steps plan NUMBER FILE

The first command lists and cuts corpus NUMBER, and writes the counts to FILE in the form in
which the planning worker gets them. The second command does the work of that worker. Each prints
its cost and the data of the shuffles as JSON.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.scoring.scorings import JobMetric
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import compression
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.lines.correspondence import require_same_shards
from beam_bleu.transforms.pairing.lines.line_warnings import notes_of, nul_notices
from beam_bleu.transforms.pairing.lines.plan import make_plan
from beam_bleu.transforms.pairing.lines.ranges import (
    ByteRange,
    LineCounts,
    block_bytes,
    cut_corpus,
)
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.totals.group_totals import (
    FIRST_REFERENCE,
    GroupTotals,
    MetricTotals,
)
from benchmarks.plans.fake_corpora import CORPORA, FakeCorpus
from benchmarks.plans.right_plan import require_right_plan
from benchmarks.plans.shuffles import Shuffle, shuffles_of

_WORDS_IN_LINE = 35


def list_files(corpus: FakeCorpus, shuffles: dict[str, Shuffle], file: pathlib.Path) -> Any:
    """The step "List their files", and the output of "Count lines"."""
    found = [corpus.found(stream) for stream in range(len(corpus.streams))]
    start = time.perf_counter()
    by_stream = [
        shards_in_order(number, stream, found[number])
        for number, stream in enumerate(corpus.streams)
    ]
    require_same_shards(corpus.streams, by_stream)
    shards = list(itertools.chain.from_iterable(by_stream))
    ranges = list(cut_corpus(shards, corpus.range_bytes))
    for part in ranges:
        shuffles["Spread the ranges"].spread(part)
    figures = {"list_s": time.perf_counter() - start, "list_peak": _peak()}
    file.write_bytes(shuffles["Gather the counts"].group(_counts(corpus, ranges)))
    return {
        **figures,
        "bytes": sum(shard.file.size for shard in shards),
        "files": len(shards),
        "range_bytes": ranges[0].range_bytes,
        "ranges": len(ranges),
    }


def plan_portions(corpus: FakeCorpus, shuffles: dict[str, Shuffle], file: pathlib.Path) -> Any:
    """The step "Plan portions", and the shuffle of its portions."""
    start = time.perf_counter()
    # An engine also sends the group as one message, and the step gets its values as a list.
    counts = shuffles["Gather the counts"].ungroup(file.read_bytes())
    notices = nul_notices(corpus.streams, counts)
    plan = make_plan(corpus.streams, counts, "same" if corpus.aligned else "any")
    notes = notes_of(corpus.streams, plan.shards)
    systems = _systems(corpus)
    found = FoundSegments(plan.segments, notices, notes, systems=systems)
    longest = 0
    for portion in plan.portions():
        shuffles["Spread the portions"].spread(portion)
        longest = max(longest, portion.lines)
    figures = {"plan_s": time.perf_counter() - start, "plan_peak": _peak()}
    portions = shuffles["Spread the portions"].elements
    # This is the maximum: a bundle has one sum, and at least one portion.
    sums = _sums(plan.segments // portions, systems)
    shuffles["Add up"].carry(("totals", sums), portions)
    shuffles["Bring it together"].carry((0, ("totals", _sums(plan.segments, systems))))
    for end in (("segments", found), ("job", _job(corpus))):
        shuffles["Bring it together"].carry((0, end))
    in_vain = require_right_plan(corpus, plan) / sum(
        corpus.text(stream).sizes.sum() for stream in range(len(corpus.streams))
    )
    longest_to_mean = longest * portions / plan.segments
    return {**figures, "portions": portions, "longest_to_mean": longest_to_mean, "in_vain": in_vain}


def _job(corpus: FakeCorpus) -> Job:
    references, *candidates = corpus.streams
    output = "s3://evaluation/scores/2026-11-19"
    source = LineParallel(_systems(corpus), tuple(candidates), (references,))
    config = BleuConfig()
    return Job(source, (JobMetric.of("bleu", config),), config.text, output=output)


def _systems(corpus: FakeCorpus) -> tuple[str, ...]:
    return tuple(stream.label for stream in corpus.streams[1:])


def _peak() -> int:
    """The most memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _counts(corpus: FakeCorpus, ranges: Iterable[ByteRange]) -> Iterator[LineCounts]:
    for part in ranges:
        shard = part.shard
        size = shard.file.size
        block = size if compression(shard.file.path) else block_bytes(part.range_bytes)
        at = np.append(np.arange(part.start, part.stop, block), part.stop)
        newlines = np.diff(corpus.text(shard.stream).newlines_before(shard.number, at))
        yield LineCounts(
            part,
            newlines.astype(np.min_scalar_type(newlines.max())),
            unfinished_line=False,
            text_bytes=part.stop - part.start,
            version=f"{shard.number:032x}",  # as long as an ETag
        )


def _sums(lines: int, systems: tuple[str, ...]) -> MetricTotals:
    """Totals of plausible size."""
    words = lines * _WORDS_IN_LINE
    columns = (
        *(lines, words, words, 0, 0, 0, 0),
        *(words * 6 // 10, words * 3 // 10, words * 2 // 10, words // 10),
        *(0, 0, 0, 0),
    )
    common = np.array([[[lines, *columns]] * len(systems)], np.int64)
    crosses = np.zeros((1, 0, len(columns), len(columns)), np.int64)
    facts = np.full((1, len(systems), FIRST_REFERENCE), 6 * words)
    return MetricTotals(
        GroupTotals(len(columns), systems, (None,), (), common, crosses, None, facts)
    )


def _main() -> None:
    step, number, file = sys.argv[1:]
    corpus = CORPORA[int(number)]
    shuffles = shuffles_of(_job(corpus))
    idle = _peak()
    steps = {"list": list_files, "plan": plan_portions}
    figures = {"idle": idle, **steps[step](corpus, shuffles, pathlib.Path(file))}
    carried = {label: each.figures for label, each in shuffles.items() if each.elements}
    print(json.dumps({**figures, "shuffles": carried}))


if __name__ == "__main__":
    _main()
