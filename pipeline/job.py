"""The job: what is scored, how, and where the result goes."""

from __future__ import annotations

import dataclasses
import uuid

from beam_bleu.pipeline.scorings import Scorings
from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.presets import comparable
from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.pairing.line_parallel.corpus import Expected
from beam_bleu.transforms.pairing.line_parallel.streams import Stream


@dataclasses.dataclass(frozen=True)
class Results:
    """What a job does with its sums; the attributes are the job's.

    It travels with the data, so it holds neither the streams nor the model of a tokenizer.
    """

    systems: tuple[str, ...]
    scorings: Scorings
    output: str
    run: str
    receipt: str


@dataclasses.dataclass(frozen=True)
class Job:
    """A corpus, a definition of BLEU and an output folder.

    Attributes:
      systems: the systems' names, in the order of the result.
      candidates: each system's stream.
      references: the streams of references.
      config: the definition of BLEU.
      compare_presets: whether it is also scored under each preset with the same tokens.
      output: the folder for scores.json, which workers and launcher can see.
      threads: the number of threads of a worker.
      range_bytes: the number of bytes to count at a time, and about the number to score at a
        time; None: it is chosen for the size of the corpus.
      expected: what must be true of the corpus.
      segment_scoring: how single segments are scored; None if their scores are not written.
      run: a name that is part of the names of all files that only this run writes.
      receipt: the file that gives the launcher the result of this run; "" if no launcher
        waits for it.
    """

    systems: tuple[str, ...]
    candidates: tuple[Stream, ...]
    references: tuple[Stream, ...]
    config: BleuConfig
    output: str
    threads: int = 1
    range_bytes: int | None = None
    expected: Expected = dataclasses.field(default_factory=Expected)
    compare_presets: bool = False
    segment_scoring: Scoring | None = None
    run: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex, compare=False)
    receipt: str = ""

    @property
    def scorings(self) -> Scorings:
        """By what the corpus, and its segments, are scored."""
        presets = comparable(self.config) if self.compare_presets else {}
        return Scorings(
            self.config.text.name,
            self.config.scoring,
            {name: config.scoring for name, config in presets.items()},
            self.segment_scoring,
        )

    @property
    def results(self) -> Results:
        """What becomes of the sums."""
        return Results(self.systems, self.scorings, self.output, self.run, self.receipt)
