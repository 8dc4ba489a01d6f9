"""The job: what is scored, how, and where the result goes."""

from __future__ import annotations

import dataclasses
import uuid

from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.presets import comparable
from beam_bleu.transforms.pairing.line_parallel.corpus import Expected
from beam_bleu.transforms.pairing.line_parallel.streams import Stream


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
      segment_config: the definition of the segments' scores; it differs from config at most
        in its smoothing and its effective order; None if they are not written.
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
    segment_config: BleuConfig | None = None
    run: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex, compare=False)
    receipt: str = ""

    @property
    def presets(self) -> dict[str, BleuConfig]:
        """The definitions to compare, by name."""
        return comparable(self.config) if self.compare_presets else {}

    def for_scoring(self) -> Job:
        """The same job without the bytes of its tokenizer's model."""
        segment_config = self.segment_config and self.segment_config.for_scoring()
        return dataclasses.replace(
            self, config=self.config.for_scoring(), segment_config=segment_config
        )

    @property
    def max_order(self) -> int:
        """The largest n-gram order that any of its definitions needs."""
        definitions = [self.config, *self.presets.values(), self.segment_config or self.config]
        return max(each.counting_order for each in definitions)
