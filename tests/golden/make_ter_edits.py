"""Makes ter_edits.json: sacreBLEU's edits of segments for which it takes long.

It needs the same packages as the tests, and takes several minutes:

    python tests/golden/make_ter_edits.py
"""

import json
import sys
from pathlib import Path

import sacrebleu

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "transforms" / "metrics" / "ter"), str(TESTS)]

from ter_segments import PATH, RECORDED, columns_of, recorded_segments  # noqa: E402

edits = {}
for title in RECORDED:
    counts = sacrebleu.TER()._extract_corpus_statistics(*columns_of(recorded_segments(title)))
    edits[title] = [number for number, _ in counts]
    print(title, len(edits[title]), file=sys.stderr)
record = {"sacrebleu": sacrebleu.__version__, "edits": edits}
PATH.write_text(json.dumps(record, separators=(",", ":")).replace("],", "],\n") + "\n")
