"""Describes the streams of a corpus by what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.plan import Plan
from beam_bleu.transforms.pairing.paired import FoundInput, InputFile, InputRole

_T = TypeVar("_T")


def described(
    systems: Sequence[str], labels: Sequence[tuple[str, ...]], streams: Sequence[Stream], plan: Plan
) -> tuple[FoundInput, ...]:
    """What was found, first the candidates of each system, then the references, then the labels.

    A pipe was copied to a temporary file, so it has the name of the pipe and not of this file.

    Args:
      systems: the systems' names.
      labels: the names of the labels of each stream of labels.
      streams: first the streams of references, then those of the systems, then those of labels.
      plan: the plan for these streams.
    """
    references = len(streams) - len(systems) - len(labels)
    named: list[tuple[InputRole, str | None, tuple[str, ...]]] = [
        *(("references", None, ()) for _ in range(references)),
        *(("candidates", system, ()) for system in systems),
        *(("labels", None, names) for names in labels),
    ]
    found = [
        FoundInput(
            role,
            system,
            stream.shown(stream.pattern),
            tuple(
                InputFile(
                    stream.shown(shard.file.path), shard.file.size, lines, stream.version(version)
                )
                for shard, lines, version in zip(shards, counts, versions, strict=True)
            ),
            names,
        )
        for (role, system, names), stream, shards, counts, versions in zip(
            named, streams, plan.shards, plan.lines, plan.versions, strict=True
        )
    ]
    return candidates_first(found, references, len(systems))


def candidates_first(of_streams: Sequence[_T], references: int, systems: int) -> tuple[_T, ...]:
    """One value for each stream: those of candidates, of references, of labels.

    Args:
      of_streams: the values in the order of `LineParallel.streams`.
      references: the number of streams of references.
      systems: the number of systems.
    """
    texts = references + systems
    return (*of_streams[references:texts], *of_streams[:references], *of_streams[texts:])
