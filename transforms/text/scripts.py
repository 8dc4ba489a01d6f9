"""The scripts whose text needs a tokenizer that finds words without spaces.

A tokenizer that needs spaces takes a clause of such a text for one token, so that a candidate
matches its reference only if the whole clause is the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table

ScriptName = Literal["chinese", "japanese", "southeast_asian", "korean"]


@dataclasses.dataclass(frozen=True)
class Script:
    """A row of `SCRIPTS`.

    Attributes:
      name: its name here.
      shown: the languages that are written in it, for messages.
      reason: why a tokenizer that does not split it gives other scores, for messages.
      remedy: the tokenizer to use, for messages.
      letters: a text is in this script if the words in which letters of the table occur have more
        letters than this on average, and if the text has more such letters than words. Words are
        the parts between white space. docs/line_parallel.md has the measurement.
    """

    name: ScriptName
    shown: str
    reason: str
    remedy: str
    letters: int


_NO_SPACES = "has no spaces between its words"
_FLAGS = "--language {}, or --language_column"

SCRIPTS: Mapping[ScriptName, Script] = table(
    Script("chinese", "Chinese", _NO_SPACES, f"the tokenizer zh ({_FLAGS.format('zh')})", 3),
    Script(
        "japanese", "Japanese", _NO_SPACES, f"the tokenizer ja-mecab ({_FLAGS.format('ja')})", 3
    ),
    Script(
        "southeast_asian",
        "Thai, Lao, Khmer or Burmese",
        _NO_SPACES,
        # --language, like sacreBLEU's -l, chooses 13a for these languages.
        "the tokenizer spm with a SentencePiece model (--spm_model), or char",
        8,
    ),
    Script(
        "korean",
        "Korean",
        "joins particles to its words",
        f"the tokenizer ko-mecab ({_FLAGS.format('ko')}), as sacreBLEU's -l does",
        2,
    ),
)
"""All scripts. Sums count them by their positions in this table."""

ALL_SCRIPTS: tuple[ScriptName, ...] = tuple(SCRIPTS)
