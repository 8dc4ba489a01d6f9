"""Measures the kernel alone, against programs that give the same numbers."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping

from benchmarks.measure import cores
from benchmarks.speed.harness import (
    Benchmark,
    Comparison,
    Figure,
    Setting,
    one,
    ratio,
)
from benchmarks.speed.programs import timed

_PAIRS = 60_000
_SLOWER = 20
"""TER, jiwer and rouge_score are slower, so a smaller part of the pairs is enough."""


@dataclasses.dataclass(frozen=True)
class _Row:
    """The kernel against another program.

    Attributes:
      what: what both compute.
      least: how many times faster the kernel must be.
      other: the other contestant, and its name in the report.
      flags: the flags for both.
      share: by what the number of pairs is divided.
      references: the number of references of each segment.
      is_chinese: whether the texts look like Chinese.
    """

    what: str
    least: float
    other: tuple[str, str]
    flags: str
    share: int = 1
    references: int = 1
    is_chinese: bool = False


_SACREBLEU = "sacrebleu", "sacreBLEU's API"
_SQUAD = "squad", "SQuAD's functions in Python"
_JIWER = "jiwer", "jiwer's API"
_ROUGE = "rouge_score", "rouge_score's API"
_FASTCHRF = "fastchrf", "fastchrf's API"
_EDIT_DISTANCE = "universal_edit_distance", "universal-edit-distance's API"
_RAPIDFUZZ = "rapidfuzz", "RapidFuzz's Levenshtein distance"
_SCORES, _EDITS = "--numbers scores", "--numbers edits"
_ROUGES = "ROUGE-1, ROUGE-2 and ROUGE-L"

ROWS: Mapping[str, tuple[_Row, ...]] = {
    "kernel": (
        _Row("13a", 230, _SACREBLEU, ""),
        _Row("none", 100, _SACREBLEU, "--tokenize none"),
        _Row("13a, lower-cased", 200, _SACREBLEU, "--lowercase"),
        _Row("intl", 25, _SACREBLEU, "--tokenize intl"),
        _Row("zh", 25, _SACREBLEU, "--tokenize zh", is_chinese=True),
        _Row("char", 25, _SACREBLEU, "--tokenize char", is_chinese=True),
    ),
    "references": (_Row("13a, 4 references", 230, _SACREBLEU, "", references=4),),
    "chrf": (
        _Row("chrF2", 120, _SACREBLEU, "--metric chrf"),
        _Row("chrF2++", 90, _SACREBLEU, "--metric chrf --word_order 2"),
    ),
    "ter": (_Row("TER", 250, _SACREBLEU, "--metric ter", _SLOWER),),
    "squad": (
        _Row("exact match", 50, _SQUAD, f"--metric exact_match {_SCORES}"),
        _Row("token F1", 50, _SQUAD, f"--metric token_f1 {_SCORES}"),
    ),
    "error_rates": (
        _Row("WER", 20, _JIWER, "--metric wer", _SLOWER),
        _Row("CER", 50, _JIWER, "--metric cer", _SLOWER),
    ),
    "rouge": (
        _Row(_ROUGES, 150, _ROUGE, f"--metric rouge {_SCORES}", _SLOWER),
        _Row(f"{_ROUGES}, stemmer", 150, _ROUGE, f"--metric rouge {_SCORES} --stemmer", _SLOWER),
        _Row("ROUGE-Lsum of 4 lines", 50, _ROUGE, f"--metric rougeLsum {_SCORES}", _SLOWER),
    ),
    "fastest": (
        _Row("chrF2", 1, _FASTCHRF, f"--metric chrf {_SCORES}"),
        _Row("WER", 1, _EDIT_DISTANCE, f"--metric wer {_EDITS}"),
        _Row("CER", 1, _RAPIDFUZZ, f"--metric cer {_EDITS}"),
    ),
}
"""The comparisons of each benchmark; the last programs are the fastest that we know."""


def _compared(rows: tuple[_Row, ...], setting: Setting) -> Iterator[Comparison]:
    for row in rows:
        pairs = kernel_pairs(setting) // row.share
        text = setting.corpus.head(pairs, references=row.references)
        if row.is_chinese:
            text = setting.corpus.chinese_head(pairs)
        (other, shown), on, flags = row.other, cores()[-1:], row.flags.split()
        ours = timed("kernel", "kernel", text, *flags, on=on)
        theirs = timed(other, shown, text, *flags, on=on)
        what = f"kernel, {row.what}, one core, {pairs:,} segments, against {shown}"
        yield Comparison(
            [ours, theirs],
            [
                Figure(what, ratio(shown, "kernel"), least=row.least),
                Figure("a segment", one("kernel", scale=1e6 / pairs), unit=" µs"),
            ],
        )


def kernel_pairs(setting: Setting) -> int:
    """The number of pairs in the kernel's text, which is smaller in small corpora."""
    return min(_PAIRS, setting.corpus.pairs // 10)


BENCHMARKS: dict[str, Benchmark] = {
    name: functools.partial(_compared, rows) for name, rows in ROWS.items()
}
