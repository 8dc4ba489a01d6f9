"""Tokenizers of other libraries, called from Python for each text.

sacreBLEU's own objects cut Japanese and Korean, and SentencePiece cuts by any
of its models, so that the tokens are theirs. The libraries are optional: they
are imported when a definition names them.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.definition.config import (
    LIBRARY_TOKENIZERS,
    BleuConfig,
    SentencePieceModel,
)
from beam_bleu.transforms.errors import InputError, JobError, UsageError

_EXTRAS = {"ja-mecab": "ja", "ko-mecab": "ko", "spm": "spm"}

# A tagger of MeCab's keeps its work between calls and is not for two threads at a
# time. It holds the interpreter's lock all the while, so threads lose nothing by ours.
_mecab_lock = threading.Lock()

_TEXTS_A_CALL = 256


def tokenized(column: pa.LargeStringArray, config: BleuConfig) -> pa.LargeStringArray:
    """The texts with white space between their tokens, which may hold more of it.

    Raises:
      JobError: the library is missing.
      InputError: the library cannot tokenize a text.
    """
    texts = column.to_pylist()
    # sacreBLEU strips the end of a text before it tokenizes.
    present = [text.rstrip() for text in texts if text is not None]
    if config.spm_model is not None:
        tokens = iter(_in_pieces(present, config.spm_model))
    else:
        tokens = iter(_in_words(present, config.tokenize))
    return pa.array([None if text is None else next(tokens) for text in texts], pa.large_string())


def require_tokenizer(config: BleuConfig) -> None:
    """Checks before a job starts that this machine has what a definition needs.

    Raises:
      UsageError: a library is missing.
      InputError: the model is none.
    """
    try:
        if config.spm_model is not None:
            _sentencepiece(config.spm_model)
        elif config.tokenize in LIBRARY_TOKENIZERS:
            mecab(config.tokenize)
    except JobError as error:
        raise UsageError(
            f"tokenize {config.tokenize!r} needs what is not installed here: "
            f"{_reason(error.__cause__)}",
            _install(config.tokenize),
        ) from error


@functools.cache
def mecab(tokenize: str) -> Any:
    """The tokenizer of sacreBLEU's of this name; a process has one.

    Raises:
      JobError: it is missing, or its dictionary is not the one that sacreBLEU scores with.
    """
    try:
        if tokenize == "ja-mecab":
            from sacrebleu.tokenizers.tokenizer_ja_mecab import TokenizerJaMecab

            return TokenizerJaMecab()
        from sacrebleu.tokenizers.tokenizer_ko_mecab import TokenizerKoMecab

        return TokenizerKoMecab()
    except (ImportError, RuntimeError, AssertionError) as error:
        raise _missing(tokenize, error) from error


def _missing(tokenize: str, error: Exception) -> JobError:
    return JobError(
        f"a worker lacks what tokenize {tokenize!r} needs: {_reason(error)}",
        f"install it where the workers run: {_install(tokenize)}",
    )


def _reason(error: BaseException | None) -> str:
    """The first line of what a library says, which may be several round empty ones."""
    return next(iter(str(error).strip().splitlines()), "")


def _install(tokenize: str) -> str:
    return f"pip install 'beam-bleu[{_EXTRAS[tokenize]}]'"


def _in_words(texts: Sequence[str], tokenize: str) -> list[str]:
    tokenizer = mecab(tokenize)
    # Without sacreBLEU's cache of 65,536 lines, which a large corpus fills and seldom hits.
    cut = functools.partial(inspect.unwrap(type(tokenizer).__call__), tokenizer)
    with _mecab_lock:
        words = []
        for text in texts:
            try:
                words.append(cut(text))
            except AttributeError as error:  # MeCab gave nothing back, and sacreBLEU did not look
                raise InputError(
                    f"{tokenize} cannot tokenize a line of {len(text)} characters: "
                    f"{tokenizer.tagger.what()}",
                    "cut it into sentences, or check that the lines end with a newline",
                ) from error
    return words


def _in_pieces(texts: Sequence[str], model: SentencePieceModel) -> list[str]:
    processor = _sentencepiece(model)
    # Some texts a call: other threads work on while it lasts, and a Python object for
    # each piece is not there for all texts at once.
    calls = (
        processor.EncodeAsPieces(texts[start : start + _TEXTS_A_CALL], num_threads=1)
        for start in range(0, len(texts), _TEXTS_A_CALL)
    )
    return [" ".join(pieces) for call in calls for pieces in call]


@functools.lru_cache(maxsize=4)
def _sentencepiece(model: SentencePieceModel) -> Any:
    """SentencePiece with a model; threads may share it."""
    if model.data is None:
        raise ValueError(f"the model {model.digest} has come without its bytes")
    try:
        import sentencepiece
    except ImportError as error:
        raise _missing("spm", error) from error
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model.data)
    except RuntimeError as error:
        raise InputError(
            f"this is no model of SentencePiece: {error}", "give the .model file that it has made"
        ) from error
    return processor
