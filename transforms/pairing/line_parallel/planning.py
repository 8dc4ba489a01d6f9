"""Makes the plan of line-parallel text from the counts of its lines, and checks what they say."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.corpus import Corpus, candidates_first
from beam_bleu.transforms.pairing.lines.line_warnings import notes_of, nul_warnings
from beam_bleu.transforms.pairing.lines.plan import Plan, make_plan
from beam_bleu.transforms.pairing.lines.ranges import LineCounts
from beam_bleu.transforms.pairing.paired import FoundInput, FoundSegments, InputFile, InputRole

# Not below "beam_bleu": the command shows that logger's warnings, and it shows these notes when
# the job is done.
_LOG = logging.getLogger("beam_bleu_workers")


class Planning:
    """Plans a corpus, and finds out about its segments.

    Args:
      corpus: the corpus.
      describe: whether to describe its inputs.
    """

    def __init__(self, corpus: Corpus, describe: bool) -> None:
        self._corpus = corpus
        self._describe = describe

    def planned(self, counts: Sequence[LineCounts]) -> tuple[Plan, FoundSegments]:
        """The plan, and what was found.

        Args:
          counts: the counts of all ranges of all files, in any order.

        Raises:
          InputError: the corpus is not what was expected.
        """
        corpus = self._corpus
        streams, expected = corpus.streams, corpus.expected
        warnings = nul_warnings(streams, counts)
        plan = make_plan(streams, counts, expected.cuts)
        expected.require_segments(plan.segments)
        notes = (*expected.notes, *notes_of(streams, plan.shards, expected.cuts))
        for note in notes:
            _LOG.warning(note)  # for users who see only the log of a worker
        labels = [stream.names for stream in corpus.label_streams]
        inputs = described(corpus.systems, labels, streams, plan) if self._describe else ()
        return plan, FoundSegments(plan.segments, warnings, notes, inputs, corpus.systems)


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
    inputs = [
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
    return candidates_first(inputs, references, len(systems))
