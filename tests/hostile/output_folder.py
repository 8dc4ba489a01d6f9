"""The folder of --output: its content before a run, and the content that it must have after it."""

from __future__ import annotations

import os

from case import Case
from checks import check

from beam_bleu.pipeline.output.file_names import WRITTEN


class OutputFolder:
    """A folder for --output that may hold an older result.

    Attributes:
      path: the folder.
      before: the bytes of the older result, or None.
    """

    _OLD_TIME = 10**18

    def __init__(self, case: Case, name: str = "out") -> None:
        self.path = case.folder / name
        self.scores = self.path / "scores.json"
        self.before: bytes | None = None
        if case.chance(0.5):
            self.path.mkdir()
            self.before = b'{"older": true}\n'
            self.scores.write_bytes(self.before)
            os.utime(self.scores, ns=(self._OLD_TIME, self._OLD_TIME))

    @property
    def now(self) -> bytes | None:
        return self.scores.read_bytes() if self.scores.exists() else None

    def check_untouched(self) -> None:
        """Checks that the older result is not changed and that there is no new one."""
        check(self.now == self.before, f"scores.json is {self.now!r}, was {self.before!r}")
        if self.before is not None:
            check(self.scores.stat().st_mtime_ns == self._OLD_TIME, "scores.json was rewritten")
        self.check_no_litter()

    def check_no_litter(self, hidden_allowed: bool = False) -> None:
        """Checks that the folder contains the result and nothing else.

        Args:
          hidden_allowed: whether a run was killed, which may leave hidden files.
        """
        names = sorted(path.name for path in self.path.iterdir()) if self.path.exists() else []
        known = {*WRITTEN, "segment_scores"}
        litter = [n for n in names if n not in known and not (hidden_allowed and n[0] == ".")]
        check(litter == [], f"files were left in the output folder: {', '.join(litter)}")
