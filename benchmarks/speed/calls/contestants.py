"""What is timed of calls on lists: each contestant in a process of its own.

    python -m benchmarks.speed.calls.contestants NAME CANDIDATES REFERENCES

prints the seconds and the mean score, as JSON. Imports are timed only if the whole process is. The
calls of this project are timed several times, and the median counts. Other programs are timed once,
because sacreBLEU remembers the lines that it has tokenized.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

Timed = tuple[Callable[[], Any], Callable[[], Any]]
"""(a first call on other texts, which loads what is loaded once; what is timed). The second one
gives the score of a corpus, or those of segments."""

_OTHER = "the cat sat on the mat", "a cat sat on the mat"


def score(candidates: list[str], references: list[str]) -> Timed:
    """One call for the corpus, without standard errors, which sacreBLEU does not give either."""
    from beam_bleu import score

    def call(candidates: list[str], references: list[str]) -> float:
        bleu: float = score(candidates, [references], uncertainty=False)["bleu"].score
        return bleu

    return lambda: call(*_other()), lambda: call(candidates, references)


def score_with_errors(candidates: list[str], references: list[str]) -> Timed:
    """The same with standard errors, as by default."""
    from beam_bleu import score

    def call(candidates: list[str], references: list[str]) -> float:
        bleu: float = score(candidates, [references])["bleu"].score
        return bleu

    return lambda: call(*_other()), lambda: call(candidates, references)


def sacrebleu_corpus(candidates: list[str], references: list[str]) -> Timed:
    """The API of sacreBLEU. It remembers lines, so that it is timed on new ones."""
    import sacrebleu

    return (
        lambda: sacrebleu.corpus_bleu([_OTHER[0]], [[_OTHER[1]]]).score,
        lambda: sacrebleu.corpus_bleu(candidates, [references]).score,
    )


def segments(candidates: list[str], references: list[str]) -> Timed:
    """One call for the scores of all segments."""
    from beam_bleu import score_segments

    return (
        lambda: score_segments(*_other_lists()),
        lambda: score_segments(candidates, [references])["bleu"].to_numpy(),
    )


_PASSES = 9
_OURS = ("score", "score_with_errors", "segments")

CONTESTANTS: dict[str, Callable[[list[str], list[str]], Timed]] = {
    function.__name__: function
    for function in (score, score_with_errors, sacrebleu_corpus, segments)
}


def _other() -> tuple[list[str], list[str]]:
    return [_OTHER[0]], [_OTHER[1]]


def _other_lists() -> tuple[list[str], list[list[str]]]:
    return [_OTHER[0]] * 2, [[_OTHER[1]] * 2]


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.removesuffix("\n") for line in file]


def _main(name: str, candidates: str, references: str, *options: str) -> None:
    first, timed = CONTESTANTS[name](_lines(candidates), _lines(references))
    is_cold = "--cold" in options
    if not is_cold:
        first()
    passes = []
    for _ in range(_PASSES if name in _OURS and not is_cold else 1):
        cpu, wall = time.process_time(), time.perf_counter()
        found = timed()
        passes.append((time.process_time() - cpu, time.perf_counter() - wall))
    cpu, wall = map(statistics.median, zip(*passes, strict=True))
    seconds = {"cpu": cpu, "wall": wall}
    scores: Sequence[float] = found if hasattr(found, "__len__") else [found]
    print(json.dumps({**seconds, "score": sum(map(float, scores)) / len(scores)}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
