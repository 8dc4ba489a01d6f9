"""Makes kernel_counts.json, spaced_tokens.json and ter_edits.json: sacreBLEU's answers.

It needs the same packages as the tests, and takes several minutes for each file:

    python tests/golden/make_digests.py kernel_counts spaced_tokens ter_edits
"""

import json
import sys
from pathlib import Path

import sacrebleu

TESTS = Path(__file__).resolve().parents[1]
FOLDERS = (TESTS / "transforms" / "statistics", TESTS / "transforms" / "metrics" / "ter", TESTS)
sys.path[:0] = map(str, FOLDERS)

import recorded  # noqa: E402
import recorded_counts  # noqa: E402
import spaced_texts  # noqa: E402
from sacrebleu_counts import sacrebleu_integers  # noqa: E402
from ter_segments import PATH, RECORDED, columns_of, recorded_segments  # noqa: E402

if "kernel_counts" in sys.argv:
    answers = {}
    for each in recorded_counts.COUNTED:
        integers = sacrebleu_integers(list(each.segments()), each.config)
        answers[each.title] = recorded.digests(recorded_counts.in_blocks(integers))
        print(each.title, file=sys.stderr)
    recorded.write(recorded_counts.PATH, answers)
if "spaced_tokens" in sys.argv:
    answers = {}
    for title, (tokenize, texts) in spaced_texts.SPACED.items():
        tokens = spaced_texts.sacrebleu_tokens(texts(), tokenize)
        answers[title] = recorded.digests(spaced_texts.in_blocks(tokens))
        print(title, file=sys.stderr)
    recorded.write(spaced_texts.PATH, answers)
if "ter_edits" in sys.argv:
    edits = {}
    for title in RECORDED:
        counts = sacrebleu.TER()._extract_corpus_statistics(*columns_of(recorded_segments(title)))
        edits[title] = [number for number, _ in counts]
        print(title, file=sys.stderr)
    record = {"sacrebleu": sacrebleu.__version__, "edits": edits}
    text = json.dumps(record, separators=(",", ":"))
    PATH.write_text(text.replace("],", "],\n") + "\n")
