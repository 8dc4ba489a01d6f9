"""The contestants that measure themselves, so that only the counting is timed.

    python -m benchmarks.speed.contestants NAME CANDIDATES REFERENCES... [--tokenize ...]

prints the seconds of the counting, and its result, as JSON.
"""

from __future__ import annotations

import argparse
import functools
import glob
import hashlib
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.program import command_parser

_ROUGE = {"rouge": ("rouge1", "rouge2", "rougeL"), "rougeLsum": ("rougeLsum",)}
"""The metrics of ROUGE that are computed at once."""

_LINES = 4
"""The lines of a summary."""


def kernel(candidates: list[str], references: list[list[str]], flags: argparse.Namespace) -> Any:
    """beam-bleu's kernel on batches that are ready; the median of several passes."""
    import numpy as np

    if flags.metric == "rougeLsum":
        candidates, references = _summaries(candidates, references)
    seconds, counted_batches = _passes(_batches(candidates, references), flags)
    compared = (_RESULTS if flags.results else _COUNTS)[flags.metric]
    counts = np.concatenate([compared(*counted) for counted in counted_batches])
    return {**seconds, "counts": _digest(counts)}


def sides(candidates: list[str], references: list[list[str]], flags: argparse.Namespace) -> Any:
    """CPU seconds of the kernel if both sides have text, one of them, or none; and of Arrow's check
    of UTF-8.
    """
    no_candidates, no_references = [""] * len(candidates), [[""] * len(candidates)]
    batches = {
        "both": _batches(candidates, references),
        "candidates": _batches(candidates, no_references),
        "references": _batches(no_candidates, references),
        "nothing": _batches(no_candidates, no_references),
    }
    seconds = {side: _passes(of_side, flags)[0]["cpu"] for side, of_side in batches.items()}
    columns = [
        column for batch in batches["both"] for column in (*batch.candidates, *batch.references)
    ]
    checks, _ = _repeated(lambda: [column.validate(full=True) for column in columns], flags)
    return {**seconds, "utf8": checks["cpu"]}


def sacrebleu(candidates: list[str], references: list[list[str]], flags: argparse.Namespace) -> Any:
    """The API of sacreBLEU; one pass, because it remembers lines."""
    import numpy as np
    from sacrebleu.metrics import BLEU, CHRF, TER

    metric = BLEU(tokenize=flags.tokenize, lowercase=flags.lowercase)
    if flags.metric == "chrf":
        metric = CHRF(word_order=flags.word_order, lowercase=flags.lowercase)
    if flags.metric == "ter":
        metric = TER()
    seconds, score = _timed(lambda: metric.corpus_score(candidates, references))
    # To compare every segment. The API has computed the same integers.
    counts = np.array(metric._extract_corpus_statistics(candidates, references))
    if flags.metric == "ter":
        counts = np.rint(counts * [1, _parts_of_a_word()])
    counts = counts.astype(np.int64)
    return {**seconds, "score": score.score, "counts": _digest(counts)}


def fastchrf(candidates: list[str], references: list[list[str]], flags: argparse.Namespace) -> Any:
    """The API of fastchrf: the scores of all segments by one call."""
    import numpy as np
    from fastchrf import pairwise_chrf

    (of_segments,) = references
    groups = [[candidate] for candidate in candidates], [[reference] for reference in of_segments]
    seconds, scores = _timed(lambda: pairwise_chrf(*groups))
    return {**seconds, "counts": _digest(np.array(scores, np.float64))}


def squad(candidates: list[str], references: list[list[str]], flags: argparse.Namespace) -> Any:
    """SQuAD's evaluation in pure Python, of each segment."""
    import numpy as np

    from benchmarks.speed.squad_evaluation import best_exact, best_f1

    of_metric = {"exact_match": best_exact, "token_f1": best_f1}[flags.metric]
    segments = list(zip(candidates, *references, strict=True))
    seconds, scores = _timed(
        lambda: [of_metric(candidate, of_segment) for candidate, *of_segment in segments]
    )
    return {**seconds, "counts": _digest(100 * np.array(scores))}


def jiwer(candidates: list[str], references: list[list[str]], flags: argparse.Namespace) -> Any:
    """The API of jiwer, with one reference for each segment; one pass."""
    import jiwer
    import numpy as np

    process: Any = jiwer.process_words if flags.metric == "wer" else jiwer.process_characters
    (of_segments,) = references
    seconds, output = _timed(lambda: process(of_segments, candidates))
    # To compare every segment. The API has computed the same integers.
    counts = []
    for pair in zip(of_segments, candidates, strict=True):
        of_pair = process(*pair)
        edits = (of_pair.substitutions, of_pair.deletions, of_pair.insertions)
        counts.append((*edits, of_pair.hits + of_pair.substitutions + of_pair.deletions))
    score = output.wer if flags.metric == "wer" else output.cer
    return {**seconds, "score": 100 * score, "counts": _digest(np.array(counts, np.int64))}


def universal_edit_distance(
    candidates: list[str], references: list[list[str]], flags: argparse.Namespace
) -> Any:
    """The API of universal-edit-distance: the edits of all segments, in words, by one call."""
    import numpy as np
    from universal_edit_distance import word_edit_distance_array

    (of_segments,) = references
    seconds, edits = _repeated(lambda: word_edit_distance_array(candidates, of_segments), flags)
    return {**seconds, "counts": _digest(np.array(edits, np.int64))}


def rapidfuzz(candidates: list[str], references: list[list[str]], flags: argparse.Namespace) -> Any:
    """RapidFuzz's Levenshtein distance: the edits in characters, of each segment."""
    import numpy as np
    from rapidfuzz.distance import Levenshtein

    (of_segments,) = references
    seconds, edits = _repeated(lambda: [*map(Levenshtein.distance, of_segments, candidates)], flags)
    return {**seconds, "counts": _digest(np.array(edits, np.int64))}


def rouge_score(
    candidates: list[str], references: list[list[str]], flags: argparse.Namespace
) -> Any:
    """The API of rouge_score, of each segment."""
    import numpy as np
    from rouge_score.rouge_scorer import RougeScorer

    if flags.metric == "rougeLsum":
        candidates, references = _summaries(candidates, references)
    metrics = _ROUGE[flags.metric]
    scorer = RougeScorer([*metrics], use_stemmer=flags.stemmer)
    segments = list(zip(candidates, *references, strict=True))
    seconds, scores = _timed(
        lambda: [scorer.score_multi(of_segment, candidate) for candidate, *of_segment in segments]
    )
    values = [[of_segment[name].fmeasure for name in metrics] for of_segment in scores]
    return {**seconds, "counts": _digest(100 * np.array(values, np.float64))}


def bleuscore(candidates: list[str], references: list[list[str]], flags: argparse.Namespace) -> Any:
    """The API of bleuscore, with sacreBLEU's reference length; it has one tokenizer, 13a."""
    from bleuscore import compute

    groups = [list(of_segment) for of_segment in zip(*references, strict=True)]
    seconds, result = _timed(lambda: compute(groups, candidates, ref_len_method="closest"))
    return {**seconds, "score": 100 * result["bleu"]}


def _summaries(
    candidates: list[str], references: list[list[str]]
) -> tuple[list[str], list[list[str]]]:
    """Texts of some lines each, as the summaries of news articles have them."""
    joined = [
        ["\n".join(lines[first : first + _LINES]) for first in range(0, len(lines), _LINES)]
        for lines in (candidates, *references)
    ]
    return joined[0], joined[1:]


def _batches(candidates: list[str], references: list[list[str]]) -> list[Any]:
    from beam_bleu.transforms.pairing.batch import usual_rows
    from beam_bleu.transforms.pairing.segments.batching import to_batch

    segments = [
        (candidate, of_segment)
        for candidate, *of_segment in zip(candidates, *references, strict=True)
    ]
    rows = usual_rows(1 + len(references))
    return [to_batch(segments[first : first + rows]) for first in range(0, len(segments), rows)]


def _passes(batches: Sequence[Any], flags: argparse.Namespace) -> tuple[dict[str, float], Any]:
    """(seconds of a pass of the kernel, for each batch the statistics of its metrics)."""
    from beam_bleu import BleuConfig, ChrfConfig, TerConfig
    from beam_bleu.pipeline.starting.freed_memory import keep_freed_memory
    from beam_bleu.transforms.chosen_metrics import definition_of
    from beam_bleu.transforms.known_metrics import config_type
    from beam_bleu.transforms.statistics.counting import PreparedBatch

    config: Any = BleuConfig(tokenize=flags.tokenize, lowercase=flags.lowercase)
    if flags.metric == "chrf":
        config = ChrfConfig(word_order=flags.word_order, lowercase=flags.lowercase)
    if flags.metric == "ter":
        config = TerConfig()
    if flags.metric in ("wer", "cer", "exact_match", "token_f1"):
        config = config_type(flags.metric)()
    configs = [config]
    if flags.metric in _ROUGE:
        types: list[Any] = [config_type(name) for name in _ROUGE[flags.metric]]
        configs = [of_metric(stemmer=flags.stemmer) for of_metric in types]
    counted = [(text, definition.metric) for text, definition in map(definition_of, configs)]

    def statistics(batch: Any) -> list[Any]:
        prepared = PreparedBatch(batch)
        return [prepared.count(*of_metric) for of_metric in counted]

    keep_freed_memory()  # as the command does
    statistics(batches[0])  # loads the compiled code
    return _repeated(lambda: [*map(statistics, batches)], flags)


def _repeated(work: Callable[[], Any], flags: argparse.Namespace) -> tuple[dict[str, float], Any]:
    """(medians of the seconds of several passes, result)."""
    passes = [_timed(work) for _ in range(flags.passes)]
    seconds = {
        name: statistics.median(of_pass[name] for of_pass, _ in passes) for name in ("cpu", "wall")
    }
    return seconds, passes[-1][1]


def _timed(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """(CPU seconds of all threads and wall seconds, result)."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}, result


def _counts(counted: Any) -> Any:
    """The counts of the first system in the order of sacreBLEU, int64 (segments, 2 + 2 N)."""
    import numpy as np

    from beam_bleu.transforms.metrics.bleu.columns import BleuColumns

    columns = BleuColumns(counted.counts[0].T)
    reference_length, _ = columns.reference_length("closest")
    return np.column_stack(
        [columns.candidate_length, reference_length, *columns.matches, *columns.totals]
    )


def _counts_of_chrf(counted: Any) -> Any:
    """The counts of the first system in the order of sacreBLEU, int64 (segments, 3 N)."""
    import numpy as np

    from beam_bleu.transforms.metrics.chrf.columns import FIRST_NGRAMS

    return np.ascontiguousarray(counted.counts[0, :, FIRST_NGRAMS:])


def _counts_of_ter(counted: Any) -> Any:
    """The edits of the first system, and the lengths in parts of a word, int64 (segments, 2)."""
    import numpy as np

    from beam_bleu.transforms.metrics.ter.columns import EDITS, reference_parts

    counts = counted.counts[0]
    return np.column_stack([counts[:, EDITS], reference_parts(counts.T)])


def _counts_of_errors(counted: Any) -> Any:
    """The substitutions, deletions, insertions and lengths, int64 (segments, 4)."""
    import numpy as np

    from beam_bleu.transforms.metrics.error_rates.columns import SUBSTITUTIONS

    return np.ascontiguousarray(counted.counts[0, :, SUBSTITUTIONS:])


def _edits(counted: Any) -> Any:
    """The substitutions, deletions and insertions together, int64 (segments,)."""
    return _counts_of_errors(counted)[:, :-1].sum(axis=1)


def _scores_of_segments(names: Sequence[str], *counted: Any) -> Any:
    """The scores of the segments of the first system, 0..100, float64 (segments, metrics)."""
    import numpy as np

    from beam_bleu.transforms.known_metrics import config_type

    scores = []
    for name, of_metric in zip(names, counted, strict=True):
        scores.append(config_type(name)().metric.segment_scores(of_metric.rows))
    return np.column_stack(scores)


_COUNTS: dict[str, Callable[[Any], Any]] = {
    "bleu": _counts,
    "chrf": _counts_of_chrf,
    "ter": _counts_of_ter,
    "wer": _counts_of_errors,
    "cer": _counts_of_errors,
    "exact_match": functools.partial(_scores_of_segments, ["exact_match"]),
    "token_f1": functools.partial(_scores_of_segments, ["token_f1"]),
    **{name: functools.partial(_scores_of_segments, names) for name, names in _ROUGE.items()},
}
"""By metric, what of the statistics of a batch is compared with the other program."""

_RESULTS: dict[str, Callable[[Any], Any]] = {
    "chrf": functools.partial(_scores_of_segments, ["chrf"]),
    "wer": _edits,
    "cer": _edits,
}
"""The same for programs that do not give all counts."""


def _parts_of_a_word() -> int:
    from beam_bleu.transforms.metrics.ter.columns import PARTS_OF_A_WORD

    return PARTS_OF_A_WORD


def _digest(counts: Any) -> str:
    """The digest of counts, int64 (segments, counts), or of scores.

    Both scorers have the same order. For BLEU it is: length of the candidate, length of the
    reference, matches, totals. For chrF it is: hyp, ref and match of each order. For
    TER it is: edits, and the mean length of the references in parts of a word. For WER and CER it
    is: substitutions, deletions, insertions, length of the reference.
    """
    return hashlib.sha256(counts.tobytes()).hexdigest()


def _lines(pattern: str) -> list[str]:
    lines: list[str] = []
    for path in sorted(glob.glob(pattern)):
        with open(path, encoding="utf-8", newline="\n") as file:
            lines += [line.removesuffix("\n") for line in file]
    return lines


def _main() -> None:
    contestants = {
        function.__name__: function
        for function in (
            *(kernel, sides, sacrebleu, fastchrf, squad, jiwer),
            *(universal_edit_distance, rapidfuzz, rouge_score, bleuscore),
        )
    }
    parser = command_parser("Counts one contestant.")
    parser.add_argument("name", choices=contestants)
    parser.add_argument("candidates", help="a pattern")
    parser.add_argument("references", nargs="+", help="a pattern for each stream")
    parser.add_argument("--metric", choices=_COUNTS, default="bleu")
    parser.add_argument("--word_order", type=int, default=0, help="of chrF")
    parser.add_argument("--stemmer", action="store_true", help="of ROUGE")
    parser.add_argument(
        "--results",
        action="store_true",
        help="compare the scores of chrF, the edits of WER and CER, not all their counts",
    )
    parser.add_argument("--tokenize", default="13a")
    parser.add_argument(
        "--passes",
        type=int,
        default=9,
        help="of the kernel, and of programs as fast; many for a profile, default 9",
    )
    parser.add_argument("--lowercase", action="store_true")
    flags = parser.parse_args()
    references = [_lines(pattern) for pattern in flags.references]
    result = contestants[flags.name](_lines(flags.candidates), references, flags)
    print(json.dumps(result))


if __name__ == "__main__":
    _main()
