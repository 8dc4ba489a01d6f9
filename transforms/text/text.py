"""`Text`, the part of a definition that says how texts become tokens; and signatures."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import unicodedata
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.text.tokenizers import ALL_TOKENIZERS, AnyTokenizerName, Tokenizer
from beam_bleu.transforms.version import VERSION

Lowercase = bool | Literal["ascii"]


@dataclasses.dataclass(frozen=True)
class Case:
    """A row of `CASES`."""

    name: str  # in signatures
    flag: str
    description: str
    shown: str  # in the table of presets
    short: tuple[str, ...] = ()  # sacreBLEU's other spellings of the flag
    in_sacrebleu: bool = True


CASES: Mapping[Lowercase, Case] = {
    True: Case("lc", "lowercase", "lower-case the text before it is scored", "lower", ("-lc",)),
    "ascii": Case(
        "lc-ascii", "lowercase_ascii", "lower-case only A-Z", "lower A-Z", in_sacrebleu=False
    ),
    False: Case("mixed", "no_lowercase", "do not lower-case, even if the preset does", "mixed"),
}

NormalizationName = Literal["nfc", "nfkc"]  # canonical and compatibility composition
NORMALIZATIONS: tuple[NormalizationName, ...] = ("nfc", "nfkc")


@dataclasses.dataclass(frozen=True)
class SentencePieceModel:
    """A model of SentencePiece, which `of` makes. It is sent to the workers with the job.

    Attributes:
      digest: the first 16 hexadecimal digits of its SHA-256.
      data: the bytes of its file.
    """

    digest: str
    data: bytes = dataclasses.field(repr=False, compare=False)

    @classmethod
    def of(cls, data: bytes) -> SentencePieceModel:
        """The model from the bytes of its file.

        Raises:
          ValueError: the data are not bytes.
        """
        if not isinstance(data, bytes):
            raise ValueError(
                f"data must be the bytes of a model's file, got {data!r}, "
                f"of type {type(data).__name__}"
            )
        return cls(hashlib.sha256(data).hexdigest()[:16], data)


@dataclasses.dataclass(frozen=True)
class TextName:
    """A `Text` with the digest of its model, or "", in place of the model's bytes."""

    tokenize: AnyTokenizerName
    lowercase: Lowercase
    normalize: NormalizationName | None
    model: str

    @property
    def tokenizer(self) -> Tokenizer:
        return ALL_TOKENIZERS[self.tokenize]

    @property
    def label(self) -> str:
        words = [self.tokenize, CASES[self.lowercase].shown]
        return ", ".join(words if self.normalize is None else [*words, self.normalize])


@dataclasses.dataclass(frozen=True)
class Text:
    """How texts become tokens. `BleuConfig` explains the attributes."""

    tokenize: AnyTokenizerName = "13a"
    lowercase: Lowercase = False
    normalize: NormalizationName | None = None
    spm_model: SentencePieceModel | None = None

    def __post_init__(self) -> None:
        require_choice("tokenize", self.tokenize, ALL_TOKENIZERS)
        if self.normalize is not None:
            require_choice("normalize", self.normalize, NORMALIZATIONS)
        # The number 1 equals True in Python, but it is not one of the choices.
        if not isinstance(self.lowercase, bool | str) or self.lowercase not in CASES:
            choices = ", ".join(map(repr, CASES))
            raise ValueError(f"lowercase must be one of {choices}, got {self.lowercase!r}")
        if self.tokenizer.needs_model != (self.spm_model is not None):
            raise ValueError(
                "spm_model must be given if tokenize is 'spm', and can only be given for "
                f"tokenizers with a model; got tokenize {self.tokenize!r} "
                f"{'without' if self.spm_model is None else 'with'} spm_model"
            )
        if self.spm_model is not None and not isinstance(self.spm_model, SentencePieceModel):
            raise ValueError(
                f"spm_model must be a SentencePieceModel, got a {type(self.spm_model).__name__}"
            )

    @property
    def tokenizer(self) -> Tokenizer:
        return ALL_TOKENIZERS[self.tokenize]

    @property
    def name(self) -> TextName:
        model = self.spm_model.digest if self.spm_model is not None else ""
        return TextName(self.tokenize, self.lowercase, self.normalize, model)


SACREBLEU = "2.6.0"  # the version that gives the same numbers


def signature_line(fields: Mapping[str, str]) -> str:
    return "|".join(f"{name}:{value}" for name, value in fields.items())


def own_signature(text: TextName, fields: Mapping[str, str]) -> str:
    versions = {**text_versions(text), "version": f"beam-bleu-{VERSION}"}
    return signature_line({**fields, **versions})


def text_versions(text: TextName) -> dict[str, str]:
    """The versions on which a text's tokens depend, without beam-bleu's own version."""
    tokenizer = text.tokenizer
    versions = {package: importlib.metadata.version(package) for package in tokenizer.versions}
    if text.lowercase is True or text.normalize is not None or tokenizer.by_unicode:
        return {"unicode": unicodedata.unidata_version, **versions}
    return versions
