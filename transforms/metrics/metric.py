"""`Metric`, the base class of all metrics: each is a frozen dataclass whose fields are choices."""

from __future__ import annotations

import abc
import dataclasses
import importlib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.definition.flags import choice
from beam_bleu.transforms.metrics.differentiation import Number, gradient
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import Spans, TextSizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.text.text import (
    CASES,
    NORMALIZATIONS,
    SACREBLEU,
    Text,
    TextName,
    own_signature,
    signature_line,
)

if TYPE_CHECKING:
    from beam_bleu.transforms.native.memory import KeptMemory, Memory
    from beam_bleu.transforms.text.numbered_texts import NumberedTexts

_Metric = TypeVar("_Metric", bound="Metric")

# The first column of every basis, and the second one of most: 1 if the candidate is empty.
SEGMENTS, EMPTY = range(2)
PARTS_OF_A_TOKEN = 720_720
"""The parts in which mean lengths of references are counted: the least common multiple of 1 to 16.
So the mean of up to 16 references is exact; with more it is rounded down."""

Scores = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Basis:
    """The columns of a metric: integers, 0 or more, of which none follows from the others."""

    names: tuple[str, ...]
    shared: tuple[int, ...] = (SEGMENTS,)  # follow from the references alone; in ascending order

    @property
    def width(self) -> int:
        return len(self.names)


@dataclasses.dataclass(frozen=True, eq=False)
class ReadyTexts:
    """The texts of a batch, ready to be split into tokens; references come first."""

    batch: SegmentBatch
    text: Text
    spans: Spans
    sizes: TextSizes

    def numbered(
        self, memory: KeptMemory, *, whitespace: bool = True
    ) -> tuple[NumberedTexts, list[Memory]]:
        """These texts with memory for numbers of tokens; and this memory, which must be kept."""
        from beam_bleu.transforms.text.numbered_texts import numbered_texts
        from beam_bleu.transforms.text.splitting import rule_of

        references, rule = len(self.batch.references), rule_of(self.text)
        return numbered_texts(
            memory, self.spans, self.sizes.longest, references, rule, whitespace=whitespace
        )


@dataclasses.dataclass(frozen=True)
class Lengths:
    """How long the texts of a corpus are, with one reference for each segment."""

    counted: str  # such as "token"
    candidates: int
    references: Fraction
    empty_candidates: int


def normalization() -> Any:
    return choice(
        None,
        "Unicode normalization, before all other steps and again after lower-casing: "
        f"{', '.join(NORMALIZATIONS)}",
        "NAME",
        choices=tuple(NORMALIZATIONS),
        shown_default="default: none",
        of_text=True,
    )


class Config(abc.ABC):
    """A user's definition of a metric: a frozen dataclass whose fields are flags (`choice`)."""

    METRIC: ClassVar[type[Metric]]  # the class of `metric`, if it is another one

    @property
    def text(self) -> Text:
        """The steps from a text to its tokens; by default no text is read."""
        return Text("none")

    @property
    @abc.abstractmethod
    def metric(self) -> Metric:
        """The part that counts, and turns sums into a score."""

    @classmethod
    def text_fields(cls) -> dict[str, Any]:
        """The fields that say how texts become tokens, with their defaults."""
        fields = dataclasses.fields(cast(Any, cls))
        return {field.name: field.default for field in fields if field.metadata.get("of_text")}


class Metric(Config):
    """A metric with a definition: what it counts, and how sums of its columns become a score."""

    score_type: ClassVar[type[Any]]  # a subclass of `Score`
    is_tokenized: ClassVar[bool] = False  # whether each language has tokens of its own
    most_bytes: ClassVar[int] = 2**31 - 1  # of all texts of a segment
    is_in_sacrebleu: ClassVar[bool] = False
    finds_confusions: ClassVar[bool] = False
    picks_reference: ClassVar[bool] = True  # whether it chooses the best reference of a segment
    # The unit of lengths, such as "word", and the columns with those of candidates and references.
    LENGTHS: ClassVar[tuple[str, int, int] | None] = None
    # The columns that are shown, each with its name.
    COUNTS: ClassVar[tuple[tuple[str, int], ...]] = ()
    # The column that alone says whether a segment is right (1) or wrong (0), if there is one.
    OUTCOME: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(cast(Any, self)):
            if isinstance(field.default, bool) and field.type == "bool":
                require_flag(field.name, getattr(self, field.name))
        _ = self.text  # checks the choices of texts

    @property
    def highest(self) -> float | None:
        """The largest possible score; None if there is none."""
        return None

    @property
    def metric(self: _Metric) -> _Metric:
        """The same metric without its choices of texts, which only the step that counts needs."""
        return self.changed(**self.text_fields())

    def changed(self: _Metric, **changes: Any) -> _Metric:
        """The definition with new values of these fields, and of fields that depend on them."""
        changed: _Metric = dataclasses.replace(cast(Any, self), **changes)
        return changed

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Its name for readers, such as "chrF2"."""

    @property
    @abc.abstractmethod
    def basis(self) -> Basis: ...

    @property
    def needs(self) -> Needs:
        return TEXTS

    def count(self, texts: ReadyTexts) -> Integers:
        """The columns of each segment, int64 (systems, segments, W)."""
        batch = texts.batch
        counts = np.empty((len(batch.systems), len(batch), self.basis.width), np.int64)
        self.write_counts(texts, counts)
        return counts

    def write_counts(self, texts: ReadyTexts, counts: Integers) -> None:
        """Writes the columns of each segment; by default, kernel.py in the metric's folder does."""
        self._kernel().write_counts(self, texts, counts)

    def confusions(self, texts: ReadyTexts) -> Mapping[tuple[str, str, str], int]:
        """How often (the system, a word of a reference, that of the candidate in its place) is
        among the edits that it counts; a word is "" if the edit has none.
        """
        confusions: Mapping[tuple[str, str, str], int] = self._kernel().confusions(self, texts)
        return confusions

    def _kernel(self) -> Any:
        return importlib.import_module(f"{type(self).__module__.rpartition('.')[0]}.kernel")

    def reference_lengths(self, counts: Integers) -> Integers | None:
        """The mean lengths of references, rounded down, int64 (segments,), or None."""
        return None

    @abc.abstractmethod
    def value(self, sums: Sequence[Number]) -> Number:
        """The score from the sums of W columns: integers of any size, or recorded numbers."""

    def values(self, sums: Integers) -> Scores:
        """The scores of int64 (rows, W), to the last bit those of `value`; 0 without a segment."""
        return np.array([self.value(row) for row in sums.tolist()], np.float64)

    def require_corpus(self) -> None:
        return

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        """Why a small change of the sums does not change the score smoothly; "" if it does."""
        return ""

    def used(self, width: int) -> Sequence[int]:
        """The columns, of W, by which the score has a derivative."""
        _, slopes = gradient(self.value, [1] * width)
        return [column for column, slope in enumerate(slopes) if slope]

    def lengths(self, columns: Sequence[int]) -> Lengths | None:
        """How long the texts of a corpus are; None if it counts no texts."""
        if self.LENGTHS is None:
            return None
        counted, candidates, references = self.LENGTHS
        reference_length = Fraction(columns[references])
        return Lengths(counted, columns[candidates], reference_length, columns[EMPTY])

    def parts(self, columns: Sequence[int]) -> Mapping[str, Any]:
        """The score of a corpus, and the other attributes that only this metric's scores have."""
        return {"score": self.value(columns), **self.segment_parts(columns)}

    def why_zero(self, columns: Sequence[int], parts: Mapping[str, Any]) -> str:
        """A sentence that says why the score is 0, or ""."""
        return ""

    def warnings(self, columns: Sequence[int]) -> Iterable[str]:
        return ()

    def signatures(self, text: TextName, fewest: int, most: int) -> tuple[str, str | None]:
        """The signature, and that of sacreBLEU; None if sacreBLEU cannot express the definition."""
        references = str(most) if fewest == most else "var"
        common = {"nrefs": references, "case": CASES[text.lowercase].name}
        own = own_signature(text, {**common, **self.signed(text), **self.signed_beyond(text)})
        known = self.sacrebleu_signed(text)
        if known is None:
            return own, None
        return own, signature_line({**common, **known, "version": SACREBLEU})

    def signed(self, text: TextName) -> Mapping[str, str]:
        """What the signature says beside the references and the case, as sacreBLEU does."""
        return {}

    def signed_beyond(self, text: TextName) -> Mapping[str, str]:
        """What the signature says after that, of choices that sacreBLEU does not have or show."""
        return {} if text.normalize is None else {"normalize": text.normalize}

    def sacrebleu_signed(self, text: TextName) -> Mapping[str, str] | None:
        """What sacreBLEU says in place of `signed`; None if it cannot express the definition."""
        has_it = self.is_in_sacrebleu and text.normalize is None
        return self.signed(text) if has_it else None

    def for_segments(self) -> Metric:
        """The definition for the scores of single segments, unless the user chooses another."""
        return self

    def segment_scores(self, rows: Integers) -> Scores:
        """The scores of segments, int64 (rows, W); nan where a score is not defined."""
        return self.values(rows)

    def segment_parts(self, columns: Any) -> Mapping[str, Any]:
        """What is shown beside the scores of segments: numbers, arrays, or tuples of them."""
        return {name: columns[column] for name, column in self.COUNTS}
