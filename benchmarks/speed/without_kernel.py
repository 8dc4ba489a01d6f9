"""The whole command with a kernel that does nothing, to measure everything else.

    python -m benchmarks.speed.without_kernel FLAGS...

The flags are those of beam-bleu. The first batch of each size is counted, and all other batches
of this size get its integers, so the scores are wrong.
"""

from __future__ import annotations

import dataclasses
import sys

from beam_bleu.pipeline.main import command
from beam_bleu.transforms.definition.text import Text
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics import kernel
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics

_count_batch = kernel.count_batch
_counted: dict[tuple[int, ...], BatchStatistics] = {}


def _count_nothing(batch: SegmentBatch, text: Text, max_order: int) -> BatchStatistics:
    size = len(batch.candidates[0]), len(batch.candidates), len(batch.references), max_order
    if size not in _counted:
        _counted[size] = _count_batch(batch, text, max_order)
    return dataclasses.replace(
        _counted[size],
        systems=batch.systems,
        numbers=batch.numbers,
        groups=batch.groups,
        labels=batch.labels,
    )


def _main() -> None:
    # Before the step that counts is imported: the command itself imports it, with Beam, so that
    # its start is as usual.
    if "beam_bleu.transforms.statistics.count_matches" in sys.modules:
        sys.exit("without_kernel: the step that counts matches has its kernel already")
    kernel.count_batch = _count_nothing
    command()


if __name__ == "__main__":
    _main()
