"""Makes kernel_counts.json and ter_edits.json: sacreBLEU's answers.

It needs the same packages as the tests, and takes several minutes for each file:

    python tests/golden/make_digests.py kernel_counts ter_edits
"""

import json
import sys
from pathlib import Path

import sacrebleu

TESTS = Path(__file__).resolve().parents[1]
METRICS = TESTS / "transforms" / "metrics"
sys.path[:0] = map(str, (METRICS / "bleu", METRICS / "ter", TESTS))

import test_kernel_against_sacrebleu as kernel_counts  # noqa: E402
import test_ter as ter_edits  # noqa: E402
from sacrebleu_counts import sacrebleu_integers  # noqa: E402

if "kernel_counts" in sys.argv:
    answers = {}
    for each in kernel_counts.COUNTED:
        integers = sacrebleu_integers(list(each.segments()), each.config)
        answers[each.title] = " ".join(kernel_counts.digests(integers))
        print(each.title, file=sys.stderr)
    record = {"sacrebleu": sacrebleu.__version__, "answers": answers}
    kernel_counts.PATH.write_text(json.dumps(record, indent=0) + "\n")
if "ter_edits" in sys.argv:
    edits = {}
    for title in ter_edits.RECORDED:
        texts = ter_edits.columns_of(ter_edits.recorded_segments(title))
        counts = sacrebleu.TER()._extract_corpus_statistics(*texts)
        edits[title] = [number for number, _ in counts]
        print(title, file=sys.stderr)
    record = {"sacrebleu": sacrebleu.__version__, "edits": edits}
    text = json.dumps(record, separators=(",", ":"))
    ter_edits.PATH.write_text(text.replace("],", "],\n") + "\n")
