"""sacreBLEU's flags that beam-bleu does not have: what to use instead.

Here is also the value of --encoding, which has only one in beam-bleu.
"""

from __future__ import annotations

import codecs
import shlex

from beam_bleu.transforms.errors import UsageError

ENCODING = "utf-8"
_NAMES_OF_UTF8 = (ENCODING, "utf-8-sig")
"""Python's names for UTF-8, and for UTF-8 that may begin with a BOM, which is always dropped."""

_SUBSETS = "parts of sacreBLEU's test sets: use sacrebleu for it"
_INTERVAL = "each score has its 95 % interval; for that of the bootstrap: --resample bootstrap"
_COMPARED = "leave it out: each system is compared with the first one; for the paired test"

ABSENT = {
    ("--test-set", "-t"): "get the references with: sacrebleu -t TESTSET -l SOURCE-TARGET --echo "
    "ref > ref.txt, then: beam-bleu ref.txt -i FILE -l SOURCE-TARGET",
    ("--echo",): "use it in sacrebleu: sacrebleu -t TESTSET -l PAIR --echo ref > ref.txt",
    ("--download",): "use it in sacrebleu: sacrebleu --download TESTSET",
    ("--list",): "use it in sacrebleu: sacrebleu --list",
    ("--citation", "--cite"): "use it in sacrebleu: sacrebleu -t TESTSET --cite",
    ("--origlang", "-ol"): _SUBSETS,
    ("--subset",): _SUBSETS,
    ("--detail", "-d"): _SUBSETS,
    ("--sentence-level", "-sl"): "write the score of each segment as Parquet: --segment_scores "
    "--output DIR",
    ("--force",): "leave it out: tokenized text is scored, with a warning",
    ("--short", "-sh"): "leave it out: the signature is always long",
    ("--no-color", "-nc"): "set the variable: NO_COLOR=1 beam-bleu ...",
    ("--confidence", "-ci"): f"leave it out: {_INTERVAL}",
    ("--confidence-n", "-cin"): "use --resample bootstrap --resamples N",
    ("--paired-ar", "-par"): f"{_COMPARED}: use --resample randomization",
    ("--paired-bs", "-pbs"): f"{_COMPARED}: use --resample bootstrap",
    ("--paired-ar-n", "-parn"): "use --resample randomization --resamples N",
    ("--paired-bs-n", "-pbsn"): "use --resample bootstrap --resamples N",
    ("--paired-jobs", "-j"): "leave it out: --resample uses all threads of --threads",
}
"""Flags of sacreBLEU that beam-bleu does not have, and what to use instead."""


def refuse_absent(flag: str) -> None:
    """Refuses a flag of sacreBLEU that beam-bleu does not have, and says what to use instead.

    Raises:
      UsageError: it is such a flag.
    """
    hyphens = flag[:2] + flag[2:].replace("_", "-")
    for flags, instead in ABSENT.items():
        if hyphens in flags or hyphens == flags[0][1:]:  # -test-set, for example
            raise UsageError(f"{flag} is a flag of sacreBLEU that beam-bleu does not have", instead)


def encoding(text: str) -> str:
    """Makes the value of --encoding.

    Raises:
      UsageError: it is not UTF-8.
    """
    try:
        name = codecs.lookup(text).name
    except (LookupError, ValueError):
        name = ""
    if name not in _NAMES_OF_UTF8:
        raise UsageError(
            f"--encoding {text}: beam-bleu reads {ENCODING} only",
            f"convert the files: iconv -f {shlex.quote(text)} -t {ENCODING} FILE > NEW",
        )
    return name
