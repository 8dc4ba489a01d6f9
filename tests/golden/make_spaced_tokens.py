"""Makes spaced_tokens.json: digests of the tokens that sacreBLEU's zh and intl make of many texts.

It needs the same packages as the tests, and takes several minutes:

    python tests/golden/make_spaced_tokens.py
"""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "transforms" / "statistics"), str(TESTS)]

import recorded  # noqa: E402
from spaced_texts import PATH, SPACED, in_blocks, sacrebleu_tokens  # noqa: E402

answers = {}
for title, (tokenize, texts) in SPACED.items():
    tokens = sacrebleu_tokens(texts(), tokenize)
    answers[title] = recorded.digests(in_blocks(tokens))
    print(f"{title}: {len(tokens)} texts", file=sys.stderr)
recorded.write(PATH, answers)
