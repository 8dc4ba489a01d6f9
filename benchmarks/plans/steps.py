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
import pickle
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import compression
from beam_bleu.transforms.pairing.lines.correspondence import require_same_shards
from beam_bleu.transforms.pairing.lines.line_warnings import notes_of, nul_notices
from beam_bleu.transforms.pairing.lines.plan import make_plan
from beam_bleu.transforms.pairing.lines.ranges import (
    ByteRange,
    LineCounts,
    block_bytes,
    cut_corpus,
)
from benchmarks.plans.corpora import CORPORA, FakeCorpus, require_right_plan

Figures = dict[str, Any]


def list_files(corpus: FakeCorpus, file: pathlib.Path) -> Figures:
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
    sent = _sent(map(pickle.dumps, ranges))
    figures = {"list_s": time.perf_counter() - start, "list_peak": _peak()}
    counts = [pickle.dumps(each) for each in _counts(corpus, ranges)]
    file.write_bytes(pickle.dumps(counts))
    return {
        **figures,
        "bytes": sum(shard.file.size for shard in shards),
        "files": len(shards),
        "range_bytes": ranges[0].range_bytes,
        "ranges": len(ranges),
        "ranges_sent": sent,
        "counts_sent": _sent(counts),
    }


def plan_portions(corpus: FakeCorpus, file: pathlib.Path) -> Figures:
    """The step "Plan portions", and the shuffle of its portions."""
    start = time.perf_counter()
    # An engine also sends all counts as one message, and the step gets them as a list.
    counts = [pickle.loads(each) for each in pickle.loads(file.read_bytes())]
    nul_notices(corpus.streams, counts)
    plan = make_plan(corpus.streams, counts, "same" if corpus.aligned else "any")
    notes_of(corpus.streams, plan.shards)
    sent = _sent(map(pickle.dumps, plan.portions()))
    figures = {"plan_s": time.perf_counter() - start, "plan_peak": _peak()}
    size = sum(corpus.text(stream).sizes.sum() for stream in range(len(corpus.streams)))
    longest, portions = max(portion.lines for portion in plan.portions()), sent["elements"]
    return {
        **figures,
        "portions": portions,
        "longest_to_mean": longest * portions / plan.segments,
        "in_vain": require_right_plan(corpus, plan) / size,
        "portions_sent": sent,
    }


def _sent(values: Iterable[bytes]) -> dict[str, int]:
    """What goes through a shuffle: the number of elements, and their bytes, as Beam pickles them.

    Beam adds some 20 bytes to each.
    """
    sizes = list(map(len, values))
    return {"elements": len(sizes), "bytes": sum(sizes), "largest": max(sizes)}


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


def _main() -> None:
    step, number, file = sys.argv[1:]
    work = {"list": list_files, "plan": plan_portions}[step]
    print(json.dumps(work(CORPORA[int(number)], pathlib.Path(file))))


if __name__ == "__main__":
    _main()
