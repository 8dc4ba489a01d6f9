"""Drives a CombineFn in each way in which an engine may drive it."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam


def by_every_route(combine: beam.CombineFn, inputs: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yields (route, output) for each way in which an engine may drive a CombineFn.

    After each way, asserts that no input was changed, and of accumulators only the first.
    """
    combine.setup()
    before = pickle.dumps(inputs)

    def accumulated(elements):
        return combine.add_inputs(combine.create_accumulator(), elements)

    def merged(*shards, between=lambda accumulator: accumulator):
        accumulators = [between(accumulated(shard)) for shard in shards]
        kept = pickle.dumps(accumulators[1:])
        merged = combine.merge_accumulators(iter(accumulators))
        assert pickle.dumps(accumulators[1:]) == kept
        return merged

    def pickled(accumulator):
        return pickle.loads(pickle.dumps(accumulator))

    alone = [[each] for each in inputs]
    empty = combine.merge_accumulators([])
    ways = {
        "sequentially": lambda: accumulated(inputs),
        "reversed": lambda: merged(*alone[::-1]),
        "empty shards": lambda: merged([], *itertools.chain(*([each, []] for each in alone))),
        "compacted": lambda: merged(inputs[::2], inputs[1::2], between=combine.compact),
        "pickled": lambda: merged(inputs[::3], inputs[1::3], [], inputs[2::3], between=pickled),
        "merged in a tree": lambda: combine.merge_accumulators(
            [merged(*alone[:1]), empty, merged(*alone[1:])]
        ),
        "added to after a merge": lambda: combine.add_inputs(merged(*alone[:2]), inputs[2:]),
    }
    for first, second in itertools.combinations_with_replacement(range(len(inputs) + 1), 2):
        shards = [inputs[:first], inputs[first:second], inputs[second:]]
        ways[f"split at {first} and {second}"] = lambda shards=shards: merged(*shards)
    for route, run in ways.items():
        yield route, combine.extract_output(run())
        assert pickle.dumps(inputs) == before, f"{route} changed its inputs"
