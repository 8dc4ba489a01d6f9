"""The columns of ROUGE: the integers of a segment."""

from __future__ import annotations

EMPTY, UNREAD = 1, 2
"""The columns after `SEGMENTS`: 1 if the candidate has no word; and 1 if each reference has more
characters beyond ASCII, which ROUGE ignores, than letters and digits that it reads."""

CANDIDATE_LENGTH, REFERENCE_LENGTH, HITS = 3, 4, 5
"""The words of the candidate; those of the reference with the largest F; and how many of its words,
or pairs of words, the candidate has, too."""

F_HIGH, F_LOW, PRECISION_HIGH, PRECISION_LOW, RECALL_HIGH, RECALL_LOW = range(6, 12)
"""The F-score, precision and recall, from 0 to 1, as `fixed_point`."""

SEVERAL = 12
"""The last column, of ROUGE-Lsum alone: 1 if the candidate or the reference has several sentences
with words."""

WORDS, PAIRS, SUBSEQUENCE, UNION = range(4)
"""What is hit: words, pairs of neighbouring words, the words of a longest common subsequence, or
those of the union of such subsequences of sentences."""
