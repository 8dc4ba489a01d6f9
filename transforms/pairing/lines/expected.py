"""The user's requirements for a corpus of lines."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.lines.correspondence import Cuts
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES


@dataclasses.dataclass(frozen=True)
class Expected:
    """The requirements for a corpus.

    Attributes:
      cuts: where its streams may be cut into shards.
      segments: the required number of segments; None for any number.
      max_line_bytes: the largest number of bytes of a line.
    """

    cuts: Cuts = "same"
    segments: int | None = None
    max_line_bytes: int = MAX_LINE_BYTES

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that tell a reader of the score which checks were left out."""
        if self.cuts == "same":
            return ()
        return (
            "--cuts any: the streams were compared only by their total numbers of lines, "
            "not shard by shard",
        )

    def require_segments(self, segments: int) -> None:
        """Checks the number of segments.

        Raises:
          InputError: there are more or fewer segments than required.
        """
        if self.segments not in (None, segments):
            raise InputError(
                f"the corpus has {segments} segment{'' if segments == 1 else 's'}, "
                f"but --expect_segments is {self.segments}",
                "look for shards or lines that are missing or were added in all streams",
            )
