"""Contestants that time themselves, so that only their counting is measured, not their start.

    python -m benchmarks.speed.contestants NAME CANDIDATES REFERENCES... [--metric METRIC ...]

prints, as JSON, the seconds that counting took, and a digest of its numbers. Only the contestants
of other programs import them.
"""

from __future__ import annotations

import argparse
import dataclasses
import glob
import hashlib
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.program import command_parser

_LINES = 4
"""The number of lines of a summary."""

_ROUGE = {"rouge": ("rouge1", "rouge2", "rougeL"), "rougeLsum": ("rougeLsum",)}
"""The metrics of ROUGE that are computed together."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What a contestant does.

    Attributes:
      call: what is timed.
      numbers: turns its result into the numbers of every segment, in order, that are compared with
        another contestant. For BLEU, they are the lengths of candidate and reference, the matches
        and the totals; for chrF, hyp, ref and match of each order; for TER, the edits, and the
        length of the references in parts of a word; for WER and CER, the substitutions, deletions,
        insertions and the length of the reference; with --numbers, the scores or the edits.
    """

    call: Callable[[], Any]
    numbers: Callable[[Any], Any]


Texts = tuple[list[str], list[list[str]]]
"""The candidates, and the references of each stream."""


def kernel(texts: Texts, flags: argparse.Namespace) -> Task:
    """beam-bleu's kernel, on batches made beforehand."""
    import numpy as np

    from beam_bleu.pipeline.cheap_start import keep_freed_memory
    from beam_bleu.transforms.chosen_metrics import checked_definition
    from beam_bleu.transforms.pairing.batch import usual_rows
    from beam_bleu.transforms.pairing.segments.batching import to_batch
    from beam_bleu.transforms.statistics.counting import PreparedBatch

    candidates, references = texts
    segments = [(text, of_text) for text, *of_text in zip(candidates, *references, strict=True)]
    rows = usual_rows(1 + len(references))
    starts = range(0, len(segments), rows)
    batches = [to_batch(segments[start : start + rows]) for start in starts]
    definitions = [checked_definition(config) for config in _configs(flags)]

    def count(batch: Any) -> Any:
        return PreparedBatch(batch).count(
            [(text, definition.metric) for text, definition in definitions]
        )

    def numbers(counted: list[Any]) -> Any:
        if flags.numbers == "scores":
            metrics = [definition.metric for _, definition in definitions]
            columns = [
                np.concatenate([metric.segment_scores(batch.rows(i)) for batch in counted])
                for i, metric in enumerate(metrics)
            ]
            return np.column_stack(columns)
        counts = np.concatenate([_counts(flags.metric, batch.counts[0][0]) for batch in counted])
        return counts[:, :-1].sum(axis=1) if flags.numbers == "edits" else counts

    keep_freed_memory()  # as the command does
    count(batches[0])  # loads the compiled code
    return Task(lambda: [*map(count, batches)], numbers)


def _configs(flags: argparse.Namespace) -> list[Any]:
    """The definitions for which the kernel counts at once."""
    from beam_bleu.transforms.known_metrics import config_type

    options = {
        "bleu": {"tokenize": flags.tokenize, "lowercase": flags.lowercase},
        "chrf": {"word_order": flags.word_order},
        **{name: {"stemmer": flags.stemmer} for name in _ROUGE},
    }.get(flags.metric, {})
    names: Sequence[Any] = _ROUGE.get(flags.metric, (flags.metric,))
    types: list[Any] = [config_type(name) for name in names]
    return [of_metric(**options) for of_metric in types]


def _counts(metric: str, counts: Any) -> Any:
    """The counts of the first system that other programs also have: int64 (segments, counts)."""
    import numpy as np

    if metric == "bleu":
        from beam_bleu.transforms.metrics.bleu.columns import BleuColumns

        columns = BleuColumns(counts.T)
        length, _ = columns.reference_length("closest")
        return np.column_stack(
            [columns.candidate_length, length, *columns.matches, *columns.totals]
        )
    if metric == "chrf":
        from beam_bleu.transforms.metrics.chrf.metric import FIRST_NGRAMS

        return counts[:, FIRST_NGRAMS:]
    if metric == "ter":
        from beam_bleu.transforms.metrics.ter.metric import EDITS, reference_parts

        return np.column_stack([counts[:, EDITS], reference_parts(counts.T)])
    from beam_bleu.transforms.metrics.error_rates.metric import SUBSTITUTIONS

    return counts[:, SUBSTITUTIONS:]


def sacrebleu(texts: Texts, flags: argparse.Namespace) -> Task:
    """The API of sacreBLEU."""
    import numpy as np
    from sacrebleu.metrics import BLEU, CHRF, TER

    metric: Any = {
        "bleu": lambda: BLEU(tokenize=flags.tokenize, lowercase=flags.lowercase),
        "chrf": lambda: CHRF(word_order=flags.word_order),
        "ter": TER,
    }[flags.metric]()

    def numbers(_: Any) -> Any:
        counts = np.array(metric._extract_corpus_statistics(*texts))
        if flags.metric == "ter":
            from beam_bleu.transforms.metrics.metric import PARTS_OF_A_TOKEN

            counts = np.rint(counts * [1, PARTS_OF_A_TOKEN])
        return counts.astype(np.int64)

    return Task(lambda: metric.corpus_score(*texts), numbers)


def fastchrf(texts: Texts, flags: argparse.Namespace) -> Task:
    """The API of fastchrf: one call for the scores of all segments."""
    from fastchrf import pairwise_chrf

    candidates, (references,) = texts
    groups = [[text] for text in candidates], [[text] for text in references]
    return Task(lambda: pairwise_chrf(*groups), lambda scores: [of[0] for of in scores])


def squad(texts: Texts, flags: argparse.Namespace) -> Task:
    """SQuAD's evaluation in pure Python, segment by segment."""
    import numpy as np

    from benchmarks.speed.squad_evaluation import best_exact, best_f1

    score = {"exact_match": best_exact, "token_f1": best_f1}[flags.metric]
    segments = [(text, of_text) for text, *of_text in zip(texts[0], *texts[1], strict=True)]
    return Task(
        lambda: [score(*segment) for segment in segments], lambda scores: 100 * np.array(scores)
    )


def jiwer(texts: Texts, flags: argparse.Namespace) -> Task:
    """The API of jiwer, with one reference for each segment."""
    import jiwer

    process: Any = jiwer.process_words if flags.metric == "wer" else jiwer.process_characters
    candidates, (references,) = texts

    def numbers(_: Any) -> Any:
        each = map(process, references, candidates)
        return [
            (s, d, i, of.hits + s + d)
            for of in each
            for s, d, i in [(of.substitutions, of.deletions, of.insertions)]
        ]

    return Task(lambda: process(references, candidates), numbers)


def universal_edit_distance(texts: Texts, flags: argparse.Namespace) -> Task:
    """The API of universal-edit-distance: one call for the edits, in words, of all segments."""
    from universal_edit_distance import word_edit_distance_array

    candidates, (references,) = texts
    return Task(lambda: word_edit_distance_array(candidates, references), list)


def rapidfuzz(texts: Texts, flags: argparse.Namespace) -> Task:
    """RapidFuzz's Levenshtein distance: the edits in characters, segment by segment."""
    from rapidfuzz.distance import Levenshtein

    candidates, (references,) = texts
    return Task(lambda: [*map(Levenshtein.distance, references, candidates)], list)


def rouge_score(texts: Texts, flags: argparse.Namespace) -> Task:
    """The API of rouge_score, segment by segment."""
    import numpy as np
    from rouge_score.rouge_scorer import RougeScorer

    metrics = _ROUGE[flags.metric]
    scorer = RougeScorer([*metrics], use_stemmer=flags.stemmer)
    segments = list(zip(texts[0], *texts[1], strict=True))
    return Task(
        lambda: [scorer.score_multi(of_text, text) for text, *of_text in segments],
        lambda scores: 100 * np.array([[of[name].fmeasure for name in metrics] for of in scores]),
    )


def bleuscore(texts: Texts, flags: argparse.Namespace) -> Task:
    """The API of bleuscore, with sacreBLEU's reference length; its only tokenizer is 13a."""
    from bleuscore import compute

    groups = [list(of_text) for of_text in zip(*texts[1], strict=True)]
    return Task(
        lambda: compute(groups, texts[0], ref_len_method="closest"),
        lambda result: [round(100 * result["bleu"], 9)],
    )


def score(texts: Texts, flags: argparse.Namespace) -> Task:
    """The function `score`, without standard errors, which sacreBLEU does not give either."""
    from beam_bleu import score

    score(["the cat sat on the mat"], [["a cat sat on the mat"]])  # loads the compiled code
    return Task(
        lambda: score(*texts, uncertainty=False), lambda scores: [round(scores["bleu"].score, 9)]
    )


def score_segments(texts: Texts, flags: argparse.Namespace) -> Task:
    """The function `score_segments`: one call for the scores of all segments in lists."""
    from beam_bleu import score_segments

    score_segments(["the cat sat on the mat"] * 2, [["a cat sat on the mat"] * 2])
    return Task(lambda: score_segments(*texts), lambda table: table["bleu"].to_numpy())


def corpus_bleu(texts: Texts, flags: argparse.Namespace) -> Task:
    """The function of sacreBLEU for lists."""
    import sacrebleu

    return Task(lambda: sacrebleu.corpus_bleu(*texts), lambda found: [round(found.score, 9)])


_FAST = (kernel, universal_edit_distance, rapidfuzz, score, score_segments)
"""These are timed several times. The others take long, or cache the lines that they have seen."""

CONTESTANTS: dict[str, Callable[[Texts, argparse.Namespace], Task]] = {
    function.__name__: function
    for function in (
        *_FAST,
        *(sacrebleu, fastchrf, squad, jiwer, rouge_score, bleuscore, corpus_bleu),
    )
}


def timed(name: str, texts: Texts, flags: argparse.Namespace) -> dict[str, Any]:
    """The median seconds of a contestant's passes, and its number, or a digest of its numbers."""
    import numpy as np

    if flags.metric == "rougeLsum":
        texts = _summaries(texts[0]), [*map(_summaries, texts[1])]
    task = CONTESTANTS[name](texts, flags)
    passes = []
    for _ in range(flags.passes if CONTESTANTS[name] in _FAST else 1):
        cpu, wall = time.process_time(), time.perf_counter()
        result = task.call()
        passes.append((time.process_time() - cpu, time.perf_counter() - wall))
    cpu, wall = map(statistics.median, zip(*passes, strict=True))
    numbers = np.ascontiguousarray(task.numbers(result))
    type_ = np.float64 if numbers.dtype.kind == "f" else np.int64
    digest = hashlib.sha256(numbers.astype(type_).tobytes()).hexdigest()
    return {"cpu": cpu, "wall": wall, "numbers": numbers.tolist() if len(numbers) == 1 else digest}


def _summaries(lines: list[str]) -> list[str]:
    """Texts of several lines each, like summaries of news articles."""
    return ["\n".join(lines[first : first + _LINES]) for first in range(0, len(lines), _LINES)]


def _lines(pattern: str) -> list[str]:
    lines: list[str] = []
    for path in sorted(glob.glob(pattern)):
        with open(path, encoding="utf-8", newline="\n") as file:
            lines += [line.removesuffix("\n") for line in file]
    return lines


def add_flags(parser: argparse.ArgumentParser | None = None) -> argparse.ArgumentParser:
    """Adds the flags that say what is counted to a parser."""
    parser = parser or argparse.ArgumentParser()
    parser.add_argument("--metric", default="bleu")
    parser.add_argument("--numbers", choices=["counts", "scores", "edits"], default="counts")
    parser.add_argument("--tokenize", default="13a", help="for BLEU")
    parser.add_argument("--lowercase", action="store_true", help="for BLEU")
    parser.add_argument("--word_order", type=int, default=0, help="for chrF")
    parser.add_argument("--stemmer", action="store_true", help="for ROUGE")
    parser.add_argument(
        "--passes", type=int, default=9, help="for fast programs; more for a profile, default 9"
    )
    return parser


def _main() -> None:
    parser = command_parser(__doc__)
    parser.add_argument("name", choices=CONTESTANTS)
    parser.add_argument("candidates", help="a pattern of files")
    parser.add_argument("references", nargs="+", help="a pattern for each stream")
    flags = add_flags(parser).parse_args()
    texts = _lines(flags.candidates), [_lines(pattern) for pattern in flags.references]
    print(json.dumps(timed(flags.name, texts, flags)))


if __name__ == "__main__":
    _main()
