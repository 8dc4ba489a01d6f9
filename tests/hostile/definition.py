"""Random metrics and definitions of them, as flags and as arguments of their oracles."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import CHRF, TER
from texts import Corpus

from beam_bleu.transforms.metrics.error_rates.metric import CerConfig, WerConfig

ROUGE = ("rouge1", "rouge2", "rougeL", "rougeLsum")
"""The metrics of ROUGE."""


@dataclasses.dataclass(frozen=True)
class Definition:
    """A definition of each metric; sacreBLEU has it if `reference_length` is `closest`.

    The fields are named after the flags. Those of chrF, TER, ROUGE and WER begin with the metric;
    those of WER are for CER, too.
    """

    tokenize: str = "13a"
    lowercase: bool = False
    max_ngram_order: int = 4
    smooth_method: str = "exp"
    smooth_value: float | None = None
    effective_order: bool = False
    reference_length: str = "closest"
    chrf_char_order: int = 6
    chrf_word_order: int = 0
    chrf_beta: int = 2
    chrf_whitespace: bool = False
    chrf_lowercase: bool = False
    chrf_eps_smoothing: bool = False
    ter_normalized: bool = False
    ter_no_punct: bool = False
    ter_asian_support: bool = False
    ter_case_sensitive: bool = False
    rouge_stemmer: bool = False
    wer_lowercase: bool = False
    wer_no_punct: bool = False
    metrics: tuple[str, ...] = ("bleu",)

    @property
    def flags(self) -> list[str]:
        """The flags of the command; what is the default is left out."""
        flags = [] if self.metrics == ("bleu",) else ["--metrics", *self.metrics]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "metrics":
                continue
            if value is True:
                flags.append(f"--{field.name}")
            elif value != field.default:
                flags.append(f"--{field.name}={value}")
        return flags

    @property
    def sacrebleu_arguments(self) -> dict[str, Any]:
        """The arguments of sacreBLEU's BLEU."""
        others = ("reference_length", "metrics")
        return {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if name not in others and not name.startswith(("chrf_", "ter_", "rouge_", "wer_"))
        }

    @property
    def chrf(self) -> CHRF:
        """sacreBLEU's chrF."""
        return CHRF(**self._of_metric("chrf_"))

    @property
    def ter(self) -> TER:
        """sacreBLEU's TER."""
        return TER(**self._of_metric("ter_"))

    @property
    def rouge(self) -> RougeScorer:
        """rouge_score, for all metrics of ROUGE."""
        return RougeScorer([*ROUGE], use_stemmer=self.rouge_stemmer)

    def error_rate(self, metric: str) -> WerConfig | CerConfig:
        """The definition of WER or CER."""
        config = {"wer": WerConfig, "cer": CerConfig}[metric]
        return config(**self._of_metric("wer_"))

    def _of_metric(self, prefix: str) -> dict[str, Any]:
        return {
            name.removeprefix(prefix): value
            for name, value in dataclasses.asdict(self).items()
            if name.startswith(prefix)
        }


def make_definition(chooser: random.Random, corpus: Corpus | None = None) -> Definition:
    """Makes choices.

    Args:
      chooser: makes them.
      corpus: the texts, if sacreBLEU scores them, too: then only short ones have TER.
    """
    metrics = chooser.choice(
        [
            *[("bleu",)] * 3,
            *[("bleu", "chrf"), ("chrf", "bleu"), ("bleu", "ter"), ("ter", "chrf", "bleu")],
            *[("chrf",), ("ter",), ("wer",), ("cer",), ("exact_match",), ("token_f1",)],
            *[("cer", "bleu", "wer"), ("token_f1", "exact_match", "cer")],
            ("token_f1", "cer", "chrf", "exact_match", "bleu", "wer"),
            *[ROUGE, ("rougeLsum",), ("rougeL", "bleu", "rouge1"), ("wer", "rouge2")],
        ]
    )
    slow = {"ter", "rougeL", "rougeLsum"} & {*metrics}
    if slow and corpus is not None and not _is_quick(corpus):
        metrics = ("bleu",)
    # A flag of a metric that is not asked for is refused.
    choices = {"bleu": _bleu, "chrf": _chrf, "ter": _ter, "wer": _wer, "cer": _wer}
    choices |= dict.fromkeys(ROUGE, _rouge)
    made: dict[str, Any] = {}
    for metric in metrics:
        if metric in choices:
            made |= choices[metric](chooser)
    return Definition(metrics=metrics, **made)


def _bleu(chooser: random.Random) -> dict[str, Any]:
    """Choices of BLEU."""
    method = chooser.choice(["exp", "exp", "floor", "add-k", "none"])
    values: dict[str, list[float | None]] = {
        "floor": [None, 0.01, 0.5],
        "add-k": [None, 1, 2, 0.5],
    }
    return {
        "tokenize": chooser.choice(["13a", "13a", "intl", "zh", "char", "none"]),
        "lowercase": chooser.random() < 0.3,
        "max_ngram_order": chooser.choice([4, 4, 4, 1, 2, 3, 5, 9, 16]),
        "smooth_method": method,
        "smooth_value": chooser.choice(values.get(method, [None])),
        "effective_order": chooser.random() < 0.2,
        "reference_length": chooser.choice(
            ["closest"] * 8 + ["closest_first", "shortest", "longest", "average"]
        ),
    }


def _is_quick(corpus: Corpus) -> bool:
    """Whether sacreBLEU's TER, about 600 usual pairs a second, and rouge_score are not slow."""
    pairs = corpus.segments * len(corpus.systems) * len(corpus.references)
    return pairs <= 1000 and corpus.longest_line <= 1000


def _chrf(chooser: random.Random) -> dict[str, Any]:
    """Choices of chrF; often the usual ones."""
    if chooser.random() < 0.3:
        return {}
    return {
        "chrf_char_order": chooser.choice([6, 6, 1, 2, 9, 16]),
        "chrf_word_order": chooser.choice([0, 2, 2, 1, 5]),
        "chrf_beta": chooser.choice([2, 2, 1, 3, 1000]),
        "chrf_whitespace": chooser.random() < 0.3,
        "chrf_lowercase": chooser.random() < 0.3,
        "chrf_eps_smoothing": chooser.random() < 0.3,
    }


def _ter(chooser: random.Random) -> dict[str, Any]:
    """Choices of TER, each of which is made or not."""
    names = ("normalized", "no_punct", "asian_support", "case_sensitive")
    return {f"ter_{name}": chooser.random() < 0.4 for name in names}


def _wer(chooser: random.Random) -> dict[str, Any]:
    """Choices of WER and CER, each of which is made or not."""
    return {f"wer_{name}": chooser.random() < 0.4 for name in ("lowercase", "no_punct")}


def _rouge(chooser: random.Random) -> dict[str, Any]:
    """The choice of ROUGE."""
    return {"rouge_stemmer": chooser.random() < 0.5}
