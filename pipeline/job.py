"""The job: what is scored, how, and where the result goes."""

from __future__ import annotations

import dataclasses
import uuid

from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.presets import comparable
from beam_bleu.transforms.pairing.paired import Source


@dataclasses.dataclass(frozen=True)
class Job:
    """A source of segments, a definition of BLEU and an output folder.

    Attributes:
      source: what is read; it names the systems, in the order of the result.
      config: the definition of BLEU.
      compare_presets: whether it is scored under every preset with its tokens, too.
      output: the folder that gets scores.json, visible to workers and launcher.
      threads: how many threads a worker reads and counts with.
      segment_config: the definition of the segments' scores, in effective order, which
        differs from the other in its smoothing at most; None if they are not asked for.
      run: names what only this run of the job writes.
      receipt: the file that tells the launcher what this run found; "" if nobody waits for it.
    """

    source: Source
    config: BleuConfig
    output: str
    threads: int = 1
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
