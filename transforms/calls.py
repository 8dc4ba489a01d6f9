"""Scores of texts in memory without a pipeline: of corpora, systems, segments and pairs."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.chosen_metrics import ChosenMetrics, SegmentColumns, require_texts_only
from beam_bleu.transforms.definition.choices import AllowedName, require_flag
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.inspection.look import Inspection
from beam_bleu.transforms.native.arrays import Floats
from beam_bleu.transforms.native.text_columns import padded, padded_texts
from beam_bleu.transforms.pairing.batch import SegmentBatch, usual_rows
from beam_bleu.transforms.pairing.canonical import reference_counts
from beam_bleu.transforms.pairing.segments import arrow_columns
from beam_bleu.transforms.pairing.segments.batching import column_batches, shortened
from beam_bleu.transforms.score.differences import ComparedSystems, chosen_pairs
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.statistics.counting import count_all_pairs
from beam_bleu.transforms.totals.batch_adder import SeveralTotals, totals_of_rows


def score(
    candidates: Any,
    references: Any = None,
    *,
    references_per_segment: Any = None,
    metrics: Sequence[Any] = ("bleu",),
    uncertainty: bool = True,
    threads: int = 1,
    allow: Sequence[AllowedName] = (),
) -> dict[str, Score]:
    """Scores a corpus, without a pipeline.

    Texts are in a list or tuple, a pyarrow Array or ChunkedArray of strings, a numpy array or a
    pandas Series. There are two forms of references, and exactly one must be given. Which one is
    meant is never guessed.

    Args:
      candidates: the texts to score, one for each segment.
      references: as in sacreBLEU, a list for each reference, each as long as `candidates`:
        `[[r1, r2, ...]]` if each segment has one reference. A reference that is None is missing.
      references_per_segment: a list of references for each segment. Lists can have different
        lengths.
      metrics: words, such as "bleu", "chrf", "ter" or "rougeL", and configs, such as
        `ChrfConfig(word_order=2)`.
      uncertainty: whether scores have a standard error and a 95 % interval.
      threads: the number of threads that count.
      allow: what is meant although it is probably a mistake, such as "another-format": keys of
        the table of `--allow` (docs/inputs.md).

    Returns:
      The score of each metric by its word, in the order of `metrics`: the same as that of
      `CorpusScores`, such as a `BleuScore`. `isinstance` tells a type checker which one it is.

    Raises:
      ValueError: an argument is impossible; the message says which one, where, and what to do.
      InputError: the texts are certainly not what they are taken for.
    """
    require_flag("uncertainty", uncertainty)
    chosen = ChosenMetrics.of(metrics)
    named = {"candidates": candidates}
    segments = _segment_batches(named, references, references_per_segment, threads)
    totals = _totals(chosen, segments, threads, allow, with_products=uncertainty)
    return {
        definition.name: definition.score(of_metric)
        for definition, of_metric in zip(chosen.definitions, totals.metrics, strict=True)
    }


def compare(
    systems: Mapping[str, Any],
    references: Any = None,
    *,
    references_per_segment: Any = None,
    metrics: Sequence[Any] = ("bleu",),
    baseline: str | None = None,
    all_pairs: bool = False,
    threads: int = 1,
    allow: Sequence[AllowedName] = (),
) -> dict[str, ComparedSystems]:
    """Compares systems on the same segments, without a pipeline.

    Args:
      systems: the candidates of two or more systems by their names, as `score` takes them.
      references: as for `score`, like all arguments that are not listed here.
      baseline: the system with which the others are compared; by default the first one.
      all_pairs: whether each system is compared with every other one. Then the result also has
        clusters.

    Returns:
      The scores and comparisons by the word of each metric: the same as those of `CompareSystems`.
    """
    if not isinstance(systems, Mapping) or not all(isinstance(name, str) for name in systems):
        raise ValueError(f"systems must be a dict of names and candidates, got {systems!r}")
    names = tuple(systems)
    pairs = chosen_pairs(names, baseline, all_pairs=all_pairs)
    chosen = ChosenMetrics.of(metrics)
    candidates = {f"systems[{name!r}]": texts for name, texts in systems.items()}
    segments = _segment_batches(candidates, references, references_per_segment, threads, names)
    totals = _totals(chosen, segments, threads, allow, pairs, with_products=True)
    return {
        definition.name: definition.compared(of_metric, names, pairs, all_pairs=all_pairs)
        for definition, of_metric in zip(chosen.definitions, totals.metrics, strict=True)
    }


def score_segments(
    candidates: Any,
    references: Any = None,
    *,
    references_per_segment: Any = None,
    metrics: Sequence[Any] = ("bleu",),
    details: bool = False,
    threads: int = 1,
) -> pa.Table:
    """Scores each segment by itself, without a pipeline. Its arguments are those of `score`.

    BLEU has effective order, as in sacreBLEU's `sentence_bleu`, if its smoothing allows it.

    Args:
      details: whether there are also the columns that the command writes with --segment_scores,
        such as `bleu_matches`.

    Returns:
      A table with a row for each segment, in order, and a float64 column for each metric, whose
      name is its word. A score is null where it is not defined.
    """
    columns = SegmentColumns(metrics, details=details)
    named = {"candidates": candidates}
    segments = _segment_batches(named, references, references_per_segment, threads)
    scores = _on_threads(columns.of_batch, segments, threads)
    return pa.Table.from_batches(scores, columns.schema)


def score_pairs(candidates: Any, metric: Any = "bleu") -> Floats | list[Floats]:
    """Scores each candidate of a segment with each candidate as its reference.

    This is what minimum Bayes risk decoding needs: the row with the highest mean is the candidate
    that the others support most. A text is prepared once: its case, its normalization, and what a
    tokenizer rewrites.

    Args:
      candidates: the candidates of one segment, as `score` takes texts; or a list of such lists,
        one for each segment.
      metric: a word, such as "chrf", or a config.

    Returns:
      float64 (N, N): the segment score of candidate i with candidate j as its reference, as
      `score_segments` gives it; nan where it is not defined. For several segments a list of such
      arrays.
    """
    chosen = ChosenMetrics.of([metric], of_segments=True)
    require_texts_only(chosen.needs)
    first = next(iter(candidates), None) if isinstance(candidates, list | tuple) else None
    if first is None or isinstance(first, str | bytes):
        return _pairs(candidates, "candidates", chosen)
    return [
        _pairs(of_segment, f"candidates[{place}]", chosen)
        for place, of_segment in enumerate(candidates)
    ]


def _totals(
    chosen: ChosenMetrics,
    segments: Iterable[SegmentBatch],
    threads: int,
    allow: Sequence[AllowedName],
    pairs: Sequence[tuple[str, str]] = (),
    *,
    with_products: bool,
) -> SeveralTotals:
    require_texts_only(chosen.needs)
    inspection = Inspection(allow)
    bases = [metric.basis for _, metric in chosen.counted]

    def of_batch(batch: SegmentBatch) -> SeveralTotals:
        counts = chosen.count(batch)
        return totals_of_rows(counts, bases, pairs=pairs, with_products=with_products)

    batches = _on_threads(of_batch, inspection.seen(segments), threads)
    totals = functools.reduce(operator.add, batches)
    inspection.warn()
    return totals


def _pairs(candidates: Any, name: str, chosen: ChosenMetrics) -> Floats:
    column = padded(_complete_texts(candidates, name))
    count = len(column)
    if not count:
        raise ValueError(f"{name} is empty: there is no candidate to score")
    scores = np.empty((count, count))
    (definition,), (counted,) = chosen.definitions, chosen.counted
    for rows, counts in count_all_pairs(column, *counted):
        of_references = definition.metric.segment_scores(counts.reshape(-1, counts.shape[2]))
        scores[:, rows] = of_references.reshape(count, -1)
    return scores


_Value = TypeVar("_Value")
_Result = TypeVar("_Result")

_LAYOUTS = (
    "references= takes a list for each reference, each as long as candidates: [[first, second, "
    "...]] for one reference; references_per_segment= takes a list for each segment"
)

_FEWEST_ROWS = 512
"""The fewest rows of a batch, if there are enough: smaller ones cost more than threads save."""


def _segment_batches(
    candidates: Mapping[str, Any],
    references: Any,
    references_per_segment: Any,
    threads: int,
    systems: tuple[str, ...] = (),
) -> Iterator[SegmentBatch]:
    """The segments of a call, in batches. The keys of `candidates` are arguments, for messages."""
    of_candidates = {name: _complete_texts(values, name) for name, values in candidates.items()}
    first_name, first_column = next(iter(of_candidates.items()))
    count = len(first_column)
    if not count:
        raise ValueError(f"{first_name} is empty: there is no segment to score")
    of_references = _references(references, references_per_segment)
    for name, column in (*of_candidates.items(), *of_references.items()):
        if len(column) != count:
            needed = _LAYOUTS if name in of_references else "systems have the same segments"
            raise ValueError(
                f"{name} has the length {len(column)}, but {first_name} has {count}: {needed}"
            )
    there = np.sum([reference_counts(column) for column in of_references.values()], axis=0)
    if not there.all():
        names = " and ".join(f"{name}[{there.argmin()}]" for name in of_references)
        raise ValueError(
            f"{names} has no reference; an empty string is one, and None is a missing one: "
            "leave the segment out, or give it a reference"
        )
    rows = usual_rows(len(of_candidates) + len(of_references))
    rows = min(rows, max(-(-count // threads), _FEWEST_ROWS))
    for start in range(0, count, rows):
        texts = [column[start : start + rows] for column in of_candidates.values()]
        columns = [column[start : start + rows] for column in of_references.values()]
        for part, batch in column_batches(texts, columns, systems):
            numbers = np.arange(start + part.start, start + part.stop)
            yield dataclasses.replace(batch, numbers=numbers)


def _references(references: Any, per_segment: Any) -> dict[str, pa.Array]:
    if (references is None) == (per_segment is None):
        both = "neither" if references is None else "both"
        raise ValueError(
            f"give exactly one of references= and references_per_segment=, got {both}: {_LAYOUTS}"
        )
    if references is None:
        return {"references_per_segment": _text_lists(per_segment, "references_per_segment")}
    if not isinstance(references, _LISTS) or not len(references):
        raise ValueError(
            f"references must be a list of lists, got {_shown(references)}: {_LAYOUTS}"
        )
    named = {f"references[{place}]": values for place, values in enumerate(references)}
    return {name: _texts(values, name) for name, values in named.items()}


_LISTS = (list, tuple, np.ndarray)


def _texts(values: Any, name: str) -> pa.LargeStringArray:
    values = _sequence(values, name, "texts")
    if isinstance(values, pa.ChunkedArray):
        return _of_arrow(values, name)
    return _encoded(values, lambda row: f"{name}[{row}]")


def _complete_texts(values: Any, name: str) -> pa.LargeStringArray:
    column = _texts(values, name)
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ValueError(
            f"{name}[{row}] is missing; leave the segment out, or give an empty string if the "
            "candidate is empty"
        )
    return column


def _text_lists(values: Any, name: str) -> pa.LargeListArray:
    values = _sequence(values, name, "lists")
    if isinstance(values, pa.ChunkedArray):
        return _of_arrow(values, name, lists=True)
    for row, row_texts in enumerate(values):
        if not isinstance(row_texts, _LISTS):
            raise ValueError(
                f"{name}[{row}] must be a list of texts, got {_shown(row_texts)}; {name}= takes a "
                "list for each segment"
            )
    ends = np.cumsum([0, *map(len, values)], dtype=np.int64)

    def place(text: int) -> str:
        row = int(np.searchsorted(ends, text, side="right")) - 1
        return f"{name}[{row}][{text - ends[row]}]"

    column = _encoded([*itertools.chain.from_iterable(values)], place)
    offsets = pa.Int64Array.from_buffers(pa.int64(), len(ends), [None, pa.py_buffer(ends)])
    return pa.LargeListArray.from_arrays(offsets, column)


def _sequence(values: Any, name: str, items: str) -> Any:
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Series | pandas.Index):
        values = values.to_numpy(dtype=object)
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    elif isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, Sequence | pa.ChunkedArray) or isinstance(values, str | bytes):
        raise ValueError(
            f"{name} must be {items}: a list or tuple, a pyarrow Array, a numpy array or a pandas "
            f"Series; got {_shown(values)}"
        )
    return values if len(values) else []


def _of_arrow(column: pa.ChunkedArray, name: str, *, lists: bool = False) -> pa.Array:
    try:
        arrow_columns.require_valid(column, name)
        return arrow_columns.text_column(column, name, lists=lists)
    except InputError as error:
        raise ValueError(error.cause) from None


def _encoded(values: Sequence[Any], place: Callable[[int], str]) -> pa.LargeStringArray:
    try:
        return padded_texts(values)
    except (TypeError, UnicodeEncodeError):
        for number, text in enumerate(values):
            if not isinstance(text, str | None) or not _is_unicode(text or ""):
                raise ValueError(
                    f"{place(number)} must be Unicode text, got {_shown(text)}; "
                    "decode bytes, and replace the missing values of pandas by '' or None"
                ) from None
        raise


def _is_unicode(text: str) -> bool:
    return text == text.encode(errors="ignore").decode()


def _shown(value: object) -> str:
    return f"{shortened(value)}, of type {type(value).__name__}"


def _on_threads(
    work: Callable[[_Value], _Result], values: Iterable[_Value], threads: int
) -> Iterator[_Result]:
    """What `work` gives for each value, in order; about two for each thread are in memory."""
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ValueError(f"threads must be 1 or more, got {threads!r}")
    if threads == 1:
        yield from map(work, values)
        return
    with ThreadPoolExecutor(threads) as pool:
        under_way: collections.deque[Future[_Result]] = collections.deque()
        for value in values:
            under_way.append(pool.submit(work, value))
            if len(under_way) > 2 * threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
