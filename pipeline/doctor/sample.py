"""The compiled kernel: where it is kept, and whether it counts and scores right.

A small corpus with its right results tells whether this machine computes them.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping

from beam_bleu.pipeline.doctor.facts import Check, Fact
from beam_bleu.transforms.text.tokenizers import TokenizerName

_SECTION = "kernel"

SAMPLE = (
    (
        "He said: &quot;It costs $3.50, or 4-5 euros.&quot;",
        ['He said: "It costs $3.50, or 4-5 euros!"', "She said that it costs 3.50 dollars."],
    ),
    (
        "The “naïve” café’s menu isn’t 100\u00a0% vegan, is it?",
        [
            "The “naïve” café’s menu is not 100\u00a0% vegan – is it?",
            "The café is not vegan, is it?",
        ],
    ),
    ("我们在2024年去了北京。", ["我们于2024年去了北京。", "我们在二〇二四年去过北京。"]),
)
"""Segments: a candidate and two references. Each kernel tokenizer finds other tokens in them:
entities, decimals, hyphens, Unicode punctuation, a no-break space, Chinese characters."""


SCORES: Mapping[TokenizerName, float] = {
    "13a": 75.65188566957578,
    "intl": 56.01082910487982,
    "zh": 63.11969078225887,
    "char": 80.47628691337553,
    "none": 37.26163349520731,
    "ascii-space": 42.50281413416977,
}
"""The BLEU of the sample with the kernel's tokenizers, and all other choices as in the default
definition. sacreBLEU 2.6 gives the same, and for `ascii-space`, which it does not have, the brute
force of the tests does."""


def _compiled() -> Iterator[Fact]:
    from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
    from beam_bleu.transforms.native.cache_folder import cache_folder
    from beam_bleu.transforms.native.compiling import FUNCTIONS
    from beam_bleu.transforms.statistics.counting import prepare_counting

    if folder := cache_folder():
        yield Fact(_SECTION, "cache", "ok", str(folder))
    else:
        yield Fact(_SECTION, "cache", "no", "there is no folder for it, so every start compiles")
    start = time.monotonic()
    prepare_counting(BleuConfig().text, BleuConfig().metric)
    done = "compiled" if FUNCTIONS["compiled"] else "loaded from the cache"
    yield Fact(_SECTION, "code", "ok", f"{done} in {time.monotonic() - start:.1f} s")


def _numbers() -> Iterator[Fact]:
    if wrong := [name for name, right in SCORES.items() if scored(name) != right]:
        text = f"wrong for the built-in sample with {', '.join(wrong)}"
        remedy = "install again: rm -r .venv, then ./run.sh, in the folder of beam-bleu"
        yield Fact(_SECTION, "numbers", "FAIL", text, remedy)
    else:
        text = f"right for the built-in sample with {', '.join(SCORES)}"
        yield Fact(_SECTION, "numbers", "ok", text)


@functools.cache  # a process does many probes
def scored(tokenize: TokenizerName) -> float:
    """The BLEU of the sample, from the kernel and the formula, without a pipeline."""
    import pyarrow as pa

    from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.statistics.counting import count_batch

    config = BleuConfig(tokenize)
    streams = zip(*((candidate, *references) for candidate, references in SAMPLE), strict=True)
    candidates, *references = (pa.array(texts, pa.large_string()) for texts in streams)
    batch = SegmentBatch(candidates=(candidates,), references=tuple(references))
    counted = count_batch(batch, config.text, config.metric)
    score: float = config.metric.parts(counted.counts[0][0].sum(axis=0).tolist())["score"]
    return score


CHECKS = (
    Check(_SECTION, "code", _compiled),
    Check(_SECTION, "numbers", _numbers),
)
