"""What makes tokens of a text."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.definition.cases import Lowercase, require_case
from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.definition.normalizations import NORMALIZATIONS, NormalizationName
from beam_bleu.transforms.definition.sentencepiece_model import SentencePieceModel
from beam_bleu.transforms.definition.tokenizers import TOKENIZERS, TokenizerName


@dataclasses.dataclass(frozen=True)
class TextName:
    """A `Text` without the bytes of its model: what scores and signatures tell of it.

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


@dataclasses.dataclass(frozen=True)
class Text:
    """What is done with a text up to its tokens; the attributes are those of `BleuConfig`.

    Only what counts needs it, and only there the bytes of a model travel.

    Raises:
      ValueError: a field has a value that means nothing; it is shown with the choices.
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
                f"tokenize {needing} and spm_model go together, got tokenize {self.tokenize!r} "
                f"{'without' if self.spm_model is None else 'with'} spm_model"
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
