"""Makes the plan of line-parallel text from the counts of its lines, and checks what they say."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from beam_bleu.transforms.pairing.line_parallel.corpus import Corpus
from beam_bleu.transforms.pairing.line_parallel.describing import described
from beam_bleu.transforms.pairing.lines.nul_bytes import nul_warnings
from beam_bleu.transforms.pairing.lines.plan import Plan, make_plan
from beam_bleu.transforms.pairing.lines.ranges import LineCounts
from beam_bleu.transforms.pairing.lines.shard_notes import notes_of
from beam_bleu.transforms.pairing.paired import FoundSegments

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
        labels = [each.names for each in corpus.label_streams]
        inputs = described(corpus.systems, labels, streams, plan) if self._describe else ()
        return plan, FoundSegments(plan.segments, warnings, notes, inputs, corpus.systems)
