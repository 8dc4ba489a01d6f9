"""Flags of sacreBLEU that are not ours: which of ours they stand for, or what to use instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.definition.resampling import ResamplingMethodName
from beam_bleu.transforms.errors import UsageError


@dataclasses.dataclass(frozen=True)
class Synonym:
    """Flags of sacreBLEU, and what they stand for. A `method` excludes flags of another method."""

    flags: tuple[str, ...]
    ours: str
    differs: str = ""
    method: ResamplingMethodName | None = None


_OTHER_NUMBERS = (
    "with other random numbers than sacreBLEU's; its formula is in the column 'p of sacreBLEU'"
)

SYNONYMS = (
    Synonym(("--paired-bs", "-pbs"), "--resample bootstrap", _OTHER_NUMBERS, "bootstrap"),
    Synonym(("--paired-ar", "-par"), "--resample randomization", _OTHER_NUMBERS, "randomization"),
    Synonym(
        ("--confidence", "-ci"),
        "--resample bootstrap",
        "with other random numbers than sacreBLEU's; ± is by the standard error, which each run "
        "has",
        "bootstrap",
    ),
    Synonym(("--paired-bs-n", "-pbsn"), "--resamples", method="bootstrap"),
    Synonym(("--paired-ar-n", "-parn"), "--resamples", method="randomization"),
    Synonym(("--confidence-n", "-cin"), "--resamples", method="bootstrap"),
    Synonym(
        ("--sentence-level", "-sl"),
        "--segment_scores",
        "which writes Parquet files into the folder of --output; stdout has the corpus's scores",
    ),
)

ABSENT = {
    "use sacrebleu for its test sets: sacrebleu -t TESTSET -l PAIR --echo ref > ref.txt, then: "
    "beam-bleu ref.txt -i FILE -l PAIR": (
        *("--test-set", "-t", "--echo", "--download", "--list", "--citation", "--cite"),
        *("--origlang", "-ol", "--subset", "--detail", "-d"),
    ),
    "leave it out": ("--force", "--short", "-sh", "--no-color", "-nc", "--paired-jobs", "-j"),
}
"""What to use instead of flags of sacreBLEU that beam-bleu does not have."""


def in_our_words(argv: Sequence[str]) -> list[str]:
    """The words of a command line with our flags for sacreBLEU's, each of which stderr names."""
    words: list[str] = []
    notes: list[str] = []
    methods: dict[str, str] = {}
    for typed in argv:
        flag, equals, value = typed.partition("=")
        spelling = flag[:2] + flag[2:].replace("_", "-")
        for instead, absent in ABSENT.items():
            if spelling in absent:
                raise UsageError(
                    f"{spelling} is a flag of sacreBLEU that beam-bleu does not have", instead
                )
        synonym = next((row for row in SYNONYMS if spelling in row.flags), None)
        if synonym is None:
            words.append(typed)
            continue
        first, *more = synonym.ours.split()
        words += [first + equals + value, *more]
        about = f", {synonym.differs}" if synonym.differs else ""
        notes.append(f"{spelling} stands for {synonym.ours}{about}")
        if synonym.method is not None:
            methods.setdefault(synonym.method, spelling)
    if len(methods) > 1:
        raise UsageError(f"{' and '.join(methods.values())} contradict each other", "give only one")
    for note in notes:
        warn(note)
    return words
