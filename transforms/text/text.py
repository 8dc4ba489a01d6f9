"""The part of a definition that turns texts into tokens."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.text.cases import CASES, Lowercase, require_case
from beam_bleu.transforms.text.normalizations import NORMALIZATIONS, NormalizationName
from beam_bleu.transforms.text.sentencepiece_model import SentencePieceModel
from beam_bleu.transforms.text.tokenizers import TOKENIZERS, TokenizerName


@dataclasses.dataclass(frozen=True)
class TextName:
    """A `Text` without the bytes of its model. Signatures and warnings need no more.

    Attributes:
      tokenize: as in `BleuConfig`.
      lowercase: as in `BleuConfig`.
      normalize: as in `BleuConfig`.
      model: the digest of the model; "" without one.
    """

    tokenize: TokenizerName
    lowercase: Lowercase
    normalize: NormalizationName | None
    model: str

    @property
    def label(self) -> str:
        """The choices in words, for the labels of steps, such as "13a, lower A-Z"."""
        words = [self.tokenize, CASES[self.lowercase].shown]
        return ", ".join(words if self.normalize is None else [*words, self.normalize])


@dataclasses.dataclass(frozen=True)
class Text:
    """How texts become tokens. `BleuConfig` explains the attributes.

    Only the step that counts needs it, so the bytes of a model are sent only there.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    tokenize: TokenizerName = "13a"
    lowercase: Lowercase = False
    normalize: NormalizationName | None = None
    spm_model: SentencePieceModel | None = None

    def __post_init__(self) -> None:
        require_choice("tokenize", self.tokenize, TOKENIZERS)
        if self.normalize is not None:
            require_choice("normalize", self.normalize, NORMALIZATIONS)
        require_case(self.lowercase)
        if TOKENIZERS[self.tokenize].needs_model != (self.spm_model is not None):
            needing = " or ".join(
                repr(name) for name, tokenizer in TOKENIZERS.items() if tokenizer.needs_model
            )
            raise ValueError(
                f"spm_model must be given if tokenize is {needing}, and only then; got tokenize "
                f"{self.tokenize!r} {'without' if self.spm_model is None else 'with'} spm_model"
            )
        if self.spm_model is not None and not isinstance(self.spm_model, SentencePieceModel):
            raise ValueError(
                f"spm_model must be a SentencePieceModel, got a {type(self.spm_model).__name__}"
            )

    @property
    def name(self) -> TextName:
        """The same without the bytes of the model."""
        model = self.spm_model.digest if self.spm_model is not None else ""
        return TextName(self.tokenize, self.lowercase, self.normalize, model)
