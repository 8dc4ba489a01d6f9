"""The compiled kernel: where it is kept, and whether it counts and scores right.

A small corpus with its right results tells whether this machine computes them.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import time
from collections.abc import Iterator, Mapping

from beam_bleu.pipeline.doctor.installation_facts import Check, Fact
from beam_bleu.transforms.text.tokenizers import TokenizerName

_SECTION = "kernel"

_REINSTALL = "install again: rm -r .venv, then ./run.sh, in the folder of beam-bleu"

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


@dataclasses.dataclass(frozen=True)
class Recorded:
    """The right result of the sample, with all other choices as in the default definition.

    Attributes:
      matches: clipped matches of each n-gram order.
      ngrams: n-grams of each order in the candidates.
      lengths: the tokens of the candidates, and of the closest references.
      score: BLEU.
    """

    matches: tuple[int, ...]
    ngrams: tuple[int, ...]
    lengths: tuple[int, float]
    score: float


RESULTS: Mapping[TokenizerName, Recorded] = {
    "13a": Recorded((27, 22, 18, 14), (29, 26, 24, 22), (29, 30), 75.65188566957578),
    "intl": Recorded((28, 22, 17, 12), (38, 35, 32, 30), (38, 33), 56.01082910487982),
    "zh": Recorded((39, 32, 25, 18), (48, 45, 42, 39), (48, 43), 63.11969078225887),
    "char": Recorded((85, 77, 70, 64), (96, 93, 90, 87), (96, 86), 80.47628691337553),
    "none": Recorded((15, 10, 5, 2), (19, 16, 14, 12), (19, 21), 37.26163349520731),
    "ascii-space": Recorded((14, 9, 5, 2), (18, 15, 13, 11), (18, 16), 42.50281413416977),
}
"""The results of the kernel's tokenizers. sacreBLEU 2.6 gives the same, and for `ascii-space`,
which it does not have, the brute force of the tests does."""


def _cache() -> Iterator[Fact]:
    from beam_bleu.transforms.native.cache_folder import cache_folder

    folder = cache_folder()
    if folder.path is None:
        # It is not needed: without it each process compiles.
        yield Fact(_SECTION, "cache", "no", folder.warning or "there is no folder for it")
        return
    path = str(folder.path)
    if not os.access(path, os.W_OK | os.X_OK):
        path += ": it can be read, but not written"
    yield Fact(_SECTION, "cache", "ok", path if folder.warning is None else folder.warning)


def _compiled() -> Iterator[Fact]:
    from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
    from beam_bleu.transforms.native.cache_folder import cache_folder
    from beam_bleu.transforms.statistics.counting import prepare_counting

    before = _files(cache_folder().path)
    start = time.monotonic()
    prepare_counting(BleuConfig().text, BleuConfig().metric)
    seconds = time.monotonic() - start
    loaded = before and before == _files(cache_folder().path)
    done = "loaded from the cache" if loaded else "compiled"
    yield Fact(_SECTION, "code", "ok", f"{done} in {seconds:.1f} s")


def _files(folder: pathlib.Path | None) -> set[str]:
    return set() if folder is None else {path.name for path in folder.glob("*.nbc")}


def _sample() -> Iterator[Fact]:
    wrong = [name for name, right in RESULTS.items() if scored(name) != right]
    if wrong:
        text = f"wrong numbers for the built-in sample with {', '.join(wrong)}"
        yield Fact(_SECTION, "numbers", "FAIL", text, _REINSTALL)
    else:
        right = f"right for the built-in sample with {', '.join(RESULTS)}"
        yield Fact(_SECTION, "numbers", "ok", right)


def scored(tokenize: TokenizerName) -> Recorded:
    """The result of the sample, from the kernel and the formula, without a pipeline."""
    import pyarrow as pa

    from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.statistics.counting import count_batch

    config = BleuConfig(tokenize)
    candidates, references = zip(*SAMPLE, strict=True)
    streams = [
        pa.array(texts, pa.large_string()) for texts in (candidates, *zip(*references, strict=True))
    ]
    batch = SegmentBatch(candidates=(streams[0],), references=tuple(streams[1:]))
    counted = count_batch(batch, config.text, config.metric)
    bleu = config.metric.parts(counted.counts[0].sum(axis=0).tolist())
    lengths = bleu["sys_len"], bleu["ref_len"]
    return Recorded(bleu["matches"], bleu["totals"], lengths, bleu["score"])


CHECKS = (
    Check(_SECTION, "cache", _cache),
    Check(_SECTION, "code", _compiled),
    Check(_SECTION, "numbers", _sample),
)
