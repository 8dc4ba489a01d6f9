"""Makes kernel_counts.json: digests of sacreBLEU's integers of 860,000 hostile segments.

It needs the same packages as the tests, and takes several minutes:

    python tests/golden/make_kernel_counts.py
"""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "transforms" / "statistics"), str(TESTS)]

import recorded  # noqa: E402
from recorded_counts import COUNTED, PATH, in_blocks  # noqa: E402
from sacrebleu_counts import sacrebleu_integers  # noqa: E402

answers = {}
for each in COUNTED:
    segments = list(each.segments())
    answers[each.title] = recorded.digests(in_blocks(sacrebleu_integers(segments, each.config)))
    print(f"{each.title}: {len(segments)} segments", file=sys.stderr)
recorded.write(PATH, answers)
