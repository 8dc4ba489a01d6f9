"""The error for a value that its flag does not have, with the choice that is probably meant."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from beam_bleu.pipeline.command_line.suggestions import nearest
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.text.tokenizers import OTHER_TOKENS


@dataclasses.dataclass(frozen=True)
class Values:
    """What people call the values of a flag.

    Attributes:
      kind: what a value is, for the message.
      synonyms: other words for values: the value, or a sentence that says what to do. The words
        are in lower case, with hyphens.
      otherwise: what to do if none of the values is wanted; "" if nothing.
    """

    kind: str = "value"
    synonyms: Mapping[str, str] = dataclasses.field(default_factory=dict)
    otherwise: str = ""


_MODEL = (
    "write --tokenize spm --spm_model FILE, where FILE is sacreBLEU's model; sacreBLEU saves it "
    "in ~/.sacrebleu/models"
)
_TOKENIZERS = Values(
    "tokenizer",
    {
        "characters": "char",
        "chinese": "zh",
        "flores101": _MODEL,
        "flores200": _MODEL,
        "international": "intl",
        "ja": "ja-mecab",
        "japanese": "ja-mecab",
        "ko": "ko-mecab",
        "korean": "ko-mecab",
        "moses": "tokenize the texts with Moses first, and write --tokenize none",
        "mteval-v13a": "13a",
        "mteval-v14": "intl",
        "no": "none",
        "off": "none",
        "sentencepiece": "spm",
        "spbleu": _MODEL,
        "spbleu-1k": _MODEL,
        "split": "none",
        "v13a": "13a",
        "v14": "intl",
        "whitespace": "none",
        "zh-cn": "zh",
    },
    OTHER_TOKENS,
)
_SMOOTHINGS = Values(
    "smoothing method",
    {
        "add": "add-k",
        "add-1": "add-k",
        "add-one": "add-k",
        "add1": "add-k",
        "addk": "add-k",
        "exponential": "exp",
        "laplace": "add-k",
        "method0": "nltk-method0",
        "method1": "nltk-method1",
        "method2": "nltk-method2",
        "method3": "nltk-method3",
        "method4": "nltk-method4",
        "method5": "nltk-method5",
        "method6": "nltk-method6",
        "method7": "nltk-method7",
        "no": "none",
        "off": "none",
    },
)

_NO_CSV = (
    "comma-separated text is not supported: convert it to JSON lines or Parquet, for example "
    "with pandas.read_csv(FILE).to_parquet(NEW)"
)
_NO_TEXT = "line-parallel text needs no format: beam-bleu REF... -i FILE; or write tsv for tabs"

VALUES = {
    "--compare_presets": Values(),
    "--coverage": Values(
        "rule",
        {
            "any": "each",
            "full": "strict",
            "inner": "common",
            "intersection": "common",
            "outer": "each",
            "union": "each",
        },
    ),
    "--compare": Values(synonyms={"each": "all", "pairs": "all"}),
    "--cuts": Values(synonyms={"equal": "same", "ignore": "any", "none": "any", "strict": "same"}),
    "--drop": Values(
        synonyms={
            "certain": "proven",
            "likely": "not_excluded",
            "possible": "not_excluded",
            "significant": "proven",
        }
    ),
    "--format": Values(
        "format",
        {
            "csv": "tsv",
            "human": "text",
            "json-lines": "jsonl",
            "jsonlines": "jsonl",
            "md": "markdown",
            "ndjson": "jsonl",
            "plain": "text",
            "table": "text",
            "tex": "latex",
            "txt": "text",
        },
    ),
    "--help": Values(
        "topic",
        {"flags": "input", "metrics": "definition", "scores": "output", "systems": "input"},
    ),
    "--if_exists": Values(
        synonyms={"error": "fail", "ignore": "skip", "keep": "skip", "overwrite": "replace"}
    ),
    "--input_format": Values(
        "format of records",
        {
            "csv": _NO_CSV,
            "feather": "arrow",
            "ipc": "arrow",
            "json": "jsonl",
            "json-lines": "jsonl",
            "jsonlines": "jsonl",
            "ndjson": "jsonl",
            "pq": "parquet",
            "tab": "tsv",
            "text": _NO_TEXT,
            "txt": _NO_TEXT,
        },
    ),
    "--layout": Values(
        "layout",
        {
            "harness": "lm-eval",
            "hf": "hf-translation",
            "huggingface": "hf-translation",
            "lm-evaluation-harness": "lm-eval",
            "mtme": "mt-metrics-eval",
            "tatoeba": "opus",
            "wmt24++": "wmt24pp",
        },
    ),
    "--log_format": Values("format", {"jsonl": "json", "plain": "text", "txt": "text"}),
    "--normalize": Values(
        "normalization",
        {
            "no": "leave --normalize out: without it, texts are not normalized",
            "none": "leave --normalize out: without it, texts are not normalized",
        },
    ),
    "--on_bad_record": Values(
        "action",
        {
            "drop": "reject",
            "error": "fail",
            "ignore": "reject",
            "raise": "fail",
            "remove": "reject",
            "skip": "reject",
            "stop": "fail",
            "strict": "fail",
        },
    ),
    "--preset": Values(
        "preset",
        {
            "compute-bleu": "tensorflow",
            "default": "sacrebleu",
            "evaluate": "huggingface",
            "hf": "huggingface",
            "moses": "multi_bleu",
            "multi-bleu.perl": "multi_bleu",
            "multibleu": "multi_bleu",
            "mteval": "mteval13a",
            "mteval-v13a": "mteval13a",
            "mteval-v13a.pl": "mteval13a",
            "paper": "papineni2002",
            "papineni": "papineni2002",
            "tf": "tensorflow",
            "wmt": "sacrebleu",
        },
    ),
    "--progress": Values(
        synonyms={"always": "on", "false": "off", "never": "off", "no": "off", "true": "on"}
        | {"none": "off", "yes": "on"}
    ),
    "--reference_length": Values(
        "rule",
        {
            "avg": "average",
            "close": "closest",
            "max": "longest",
            "mean": "average",
            "min": "shortest",
        },
    ),
    "--resample": Values(
        "method of resampling",
        {
            "ar": "randomization",
            "approximate-randomization": "randomization",
            "bs": "bootstrap",
            "bootstrapping": "bootstrap",
            "paired-ar": "randomization",
            "paired-bs": "bootstrap",
            "permutation": "randomization",
            "randomisation": "randomization",
        },
    ),
    "--segment_smooth_method": _SMOOTHINGS,
    "--smooth_method": _SMOOTHINGS,
    "--sort": Values(
        "order",
        {
            "alphabetical": "name",
            "change": "difference",
            "delta": "difference",
            "size": "segments",
            "worst": "difference",
        },
    ),
    "--tokenize": _TOKENIZERS,
}
"""What people call the values of beam-bleu's own flags, by flag."""


def unknown_value(flag: str, value: str, choices: Iterable[str]) -> UsageError:
    """The error for a value of a flag that is not one of its choices.

    Args:
      flag: the flag: one of ours, or one of Beam's, whose values have no synonyms.
      value: what was typed.
      choices: the values of the flag.
    """
    values = VALUES.get(flag, Values())
    names = tuple(choices)
    remedy = f"choose one of {', '.join(names)}"
    meant = _meant(value, values.synonyms, names)
    if meant is None:
        remedy = "; ".join(filter(None, (remedy, values.otherwise)))
    else:
        remedy = f"did you mean {meant}? {remedy}" if meant in names else meant
    return UsageError(f"{flag} {value}: there is no such {values.kind}", remedy)


def _meant(value: str, synonyms: Mapping[str, str], names: Iterable[str]) -> str | None:
    """The choice that is probably meant, or a sentence that says what to do; or None."""
    by_word = {_word(name): name for name in names}
    word = _word(value)
    if word in by_word:
        return by_word[word]
    meant = synonyms.get(word)
    if meant is not None and (meant in by_word.values() or " " in meant):
        return meant
    near = nearest(word, by_word, most=3)
    return by_word[near] if near else None


def _word(value: str) -> str:
    return value.strip().replace("_", "-").lower()
