"""Tokenizers and normalizers of other libraries, which are optional, called for each text."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.errors import (
    BleuError,
    InputError,
    JobError,
    UsageError,
    installing,
    unreadable,
)
from beam_bleu.transforms.text.text import SentencePieceModel, Text
from beam_bleu.transforms.text.tokenizers import (
    ALL_TOKENIZERS,
    NORMALIZERS,
    AnyTokenizerName,
    NormalizerName,
)

# A tagger of MeCab has state. It never releases the interpreter's lock, so this lock costs no time.
_mecab_lock = threading.Lock()
_TEXTS_A_CALL = 256


def tokenized(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    lines = column.to_pylist()
    # sacreBLEU strips the end of a text before it tokenizes.
    present = [line.rstrip() for line in lines if line is not None]
    cut = _in_words if text.spm_model is None else _in_pieces
    tokens = iter(cut(present, text))
    return pa.array([None if line is None else next(tokens) for line in lines], pa.large_string())


def normalized(column: pa.LargeStringArray, name: NormalizerName) -> pa.LargeStringArray:
    normalizer = _normalizer(name)
    texts = [text and normalizer(text) for text in column.to_pylist()]
    return pa.array(texts, pa.large_string())


@functools.cache
def _normalizer(name: NormalizerName) -> Callable[[str], str]:
    row = NORMALIZERS[name]
    try:
        kind = getattr(importlib.import_module(row.module), row.type_name)
    except ImportError as error:
        raise _missing(f"the normalizer {name}", "whisper", error) from error
    normalizer: Callable[[str], str] = kind(**row.options)
    return normalizer


def require_library(text: Text) -> None:
    """Raises a UsageError if this machine lacks the library, or an InputError for a wrong model."""
    try:
        if text.spm_model is not None:
            _processor(text.spm_model)
        else:
            load_library(text.tokenize)
    except JobError as error:
        raise UsageError(error.cause, error.remedy) from error


def read_model(path: str) -> SentencePieceModel:
    from apache_beam.io.filesystem import CompressionTypes

    from beam_bleu.transforms.wiring.filesystems import filesystem_of

    try:
        with filesystem_of(path).open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            data = file.read()
    except BleuError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise unreadable("cannot be read", error, "check the path") from error
    return SentencePieceModel.of(data)


def downloaded_model(tokenize: AnyTokenizerName) -> SentencePieceModel | None:
    """The model of a tokenizer that sacreBLEU downloads; None if it is not such a tokenizer."""
    name = ALL_TOKENIZERS[tokenize].downloaded
    if name is None:
        return None
    folder = os.environ.get("SACREBLEU", os.path.expanduser("~/.sacrebleu"))
    path = os.path.join(folder, "models", name)
    try:
        with open(path, "rb") as file:
            return SentencePieceModel.of(file.read())
    except OSError as error:
        raise unreadable(
            f"the model of the tokenizer {tokenize} cannot be read",
            error,
            f"run sacrebleu once with --tokenize {tokenize}, which downloads it; or name its file: "
            "--spm_model FILE",
            path,
        ) from error


@functools.cache
def mecab(tokenize: AnyTokenizerName) -> Any:
    """The tokenizer of sacreBLEU with this name. A process makes it only once."""
    try:
        import sacrebleu

        return sacrebleu.BLEU(tokenize=tokenize).tokenizer
    except (ImportError, RuntimeError, AssertionError) as error:
        extra = str(ALL_TOKENIZERS[tokenize].extra)
        raise _missing(f"tokenize {tokenize!r}", extra, error) from error


def load_library(tokenize: AnyTokenizerName) -> None:
    """Loads the library of a tokenizer, if it has one; a model is not needed."""
    row = ALL_TOKENIZERS[tokenize]
    if row.needs_model:
        _sentencepiece()
    elif row.normalizer is not None:
        _normalizer(row.normalizer.name)
    elif row.extra is not None:
        mecab(tokenize)


def _sentencepiece() -> Any:
    try:
        import sentencepiece
    except ImportError as error:
        raise _missing("tokenize 'spm'", "spm", error) from error
    return sentencepiece


def _missing(what: str, extra: str, error: Exception) -> JobError:
    reason = next(iter(str(error).strip().splitlines()), "")
    return JobError(
        f"{what} needs a library that is not installed: {reason}",
        f"install it here and where the workers run: {installing(extra)}",
    )


def _library(text: Text) -> Any:
    return mecab(text.tokenize) if text.spm_model is None else _processor(text.spm_model)


def _in_words(lines: Sequence[str], text: Text) -> list[str]:
    tokenizer = _library(text)
    # Without sacreBLEU's cache of 65,536 lines: a large corpus fills it, and rarely repeats a line.
    cut = functools.partial(inspect.unwrap(type(tokenizer).__call__), tokenizer)
    with _mecab_lock:
        words = []
        for line in lines:
            try:
                words.append(cut(line))
            except AttributeError as error:
                # MeCab returned nothing, and sacreBLEU did not check it.
                raise InputError(
                    f"{text.tokenize} cannot tokenize a line of {len(line)} characters: "
                    f"{tokenizer.tagger.what()}",
                    "cut it into sentences, or check that the lines end with a newline",
                ) from error
    return words


def _in_pieces(lines: Sequence[str], text: Text) -> list[str]:
    processor = _library(text)
    # A call gets a limited number of texts, so that the pieces of all texts are not Python objects
    # at the same time. Other threads can work during a call.
    calls = (
        processor.EncodeAsPieces(lines[start : start + _TEXTS_A_CALL], num_threads=1)
        for start in range(0, len(lines), _TEXTS_A_CALL)
    )
    return [" ".join(pieces) for call in calls for pieces in call]


@functools.lru_cache(maxsize=4)
def _processor(model: SentencePieceModel) -> Any:
    processor = _sentencepiece().SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model.data)
    except RuntimeError as error:
        raise InputError(
            f"the file is not a SentencePiece model: {error}",
            "give the .model file that SentencePiece has made",
        ) from error
    return processor
