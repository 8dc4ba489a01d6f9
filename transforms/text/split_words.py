r"""The number of words of texts, as `len(re.split(r"\s+", text))` of Python counts them.

That is one more than the runs of white space. So white space at the beginning or the end of a text
makes an empty word, and an empty text has one, too. White space is that of Python's `str.isspace`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import LazyModule
from beam_bleu.transforms.text.byte_classes import WHITE_SPACE

pc: Any = LazyModule("pyarrow.compute")  # to import it takes long

_RUN = f"[{''.join(map(chr, WHITE_SPACE))}]+"


def split_words(column: pa.LargeStringArray) -> Integers:
    """The number of words of each text, int64 (rows,); 0 for a null."""
    runs = pc.count_substring_regex(column, _RUN).to_numpy(zero_copy_only=False)
    words: Integers = np.nan_to_num(runs + 1).astype(np.int64)
    return words
