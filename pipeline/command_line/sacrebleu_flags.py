"""sacreBLEU's flags that beam-bleu does not have: what to use instead."""

from __future__ import annotations

from beam_bleu.transforms.errors import UsageError

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
    ("--no-color", "-nc"): "leave it out: there are no colours",
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
