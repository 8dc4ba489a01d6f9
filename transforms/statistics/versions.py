"""What a signature tells of the way from a text to its tokens: names, and versions of libraries.

Code points are assigned, and models and dictionaries change, from version to
version of a library, and so may the numbers.
"""

from __future__ import annotations

import functools
import importlib.metadata
import unicodedata

from beam_bleu.transforms.definition.config import BleuConfig


def tokenizer_name(config: BleuConfig) -> str:
    """The tokenizer as a signature names it; sacreBLEU's name wherever it has one."""
    if config.tokenize.endswith("-mecab"):
        return _mecab_name(config.tokenize)
    if config.spm_model is not None:
        return f"spm-{config.spm_model.digest}"
    return config.tokenize


def text_versions(config: BleuConfig) -> dict[str, str]:
    """The versions of all that a text's tokens depend on, apart from beam-bleu's own."""
    versions = {}
    if config.lowercase is True or config.normalize is not None:
        versions["unicode"] = unicodedata.unidata_version
    if config.tokenize == "intl":
        versions["regex"] = importlib.metadata.version("regex")
    if config.tokenize.endswith("-mecab"):
        versions["sacrebleu"] = importlib.metadata.version("sacrebleu")
    if config.tokenize == "spm":
        versions["sentencepiece"] = importlib.metadata.version("sentencepiece")
    return versions


@functools.cache
def _mecab_name(tokenize: str) -> str:
    from beam_bleu.transforms.statistics.library_tokenizers import mecab

    name: str = mecab(tokenize).signature()
    return name
