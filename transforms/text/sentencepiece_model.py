"""A model of SentencePiece. It is sent to the workers with the job."""

from __future__ import annotations

import dataclasses
import hashlib


@dataclasses.dataclass(frozen=True)
class SentencePieceModel:
    """A model of SentencePiece.

    Attributes:
      digest: the first 16 hexadecimal digits of its SHA-256.
      data: the bytes of its file.

    Raises:
      ValueError: the data are not bytes, or the digest is wrong.
    """

    digest: str
    data: bytes = dataclasses.field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.digest != _digest(self.data):
            raise ValueError(
                f"the digest of a SentencePieceModel must be that of its data, "
                f"{_digest(self.data)}, got {self.digest!r}; use SentencePieceModel.of to make one"
            )

    @classmethod
    def of(cls, data: bytes) -> SentencePieceModel:
        """The model from the bytes of its file.

        Raises:
          ValueError: the data are not bytes.
        """
        return cls(_digest(data), data)


def _digest(data: bytes) -> str:
    if not isinstance(data, bytes):
        raise ValueError(
            f"data must be the bytes of a model's file, got {data!r}, of type {type(data).__name__}"
        )
    return hashlib.sha256(data).hexdigest()[:16]
