"""The right result: from sacreBLEU, jiwer, rouge_score and SQuAD's rules, or from brute force if
sacreBLEU lacks the definition of BLEU."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import brute_force
import pyarrow.parquet as pq
from definition import ROUGE, Definition
from jiwer_counts import best_of_jiwer, jiwers
from rouge_score.tokenize import tokenize
from sacrebleu.metrics import BLEU
from texts import Corpus

from beam_bleu.transforms.known_metrics import METRICS
from benchmarks.speed.squad_evaluation import best_exact, best_f1, normalize_answer

_EXACT = ("score", "precisions", "matches", "totals", "bp", "ratio", "sys_len", "ref_len")


def differences(document: dict[str, Any], corpus: Corpus, definition: Definition) -> Iterator[str]:
    """The mistakes in a result document; empty if it is right."""
    if document["segments"] != corpus.segments:
        yield f"segments: {document['segments']}, expected {corpus.segments}"
    metrics = [each["metric"] for each in document["metrics"]]
    if metrics != list(definition.metrics):
        yield f"metrics {metrics}, expected {definition.metrics}"
    if len(document["scores"]) != len(corpus.systems) * len(definition.metrics):
        yield f"{len(document['scores'])} scores of {len(corpus.systems)} systems"
    counters = {
        "segments": corpus.segments,
        "empty_candidates": sum(
            not units for candidate in corpus.systems for units in _units(candidate, definition)
        ),
        "bytes": sum(len(line.encode()) for text in corpus.texts for line in text),
    }
    for name, value in counters.items():
        if document["counters"][name] != value:
            yield f"counters: {name}: {document['counters'][name]}, expected {value}"
    for metric, expected in _EXPECTED.items():
        of_metric = [each for each in document["scores"] if each["metric"] == metric]
        for got, candidate in zip(of_metric, corpus.systems, strict=False):
            for name, value in expected(candidate, corpus.references, definition).items():
                # The oracles of these means add up rounded F-scores in the order of the segments.
                if not _equal(got[name], value, exactly=metric not in ("token_f1", *ROUGE)):
                    yield f"{got['system']}: {metric}: {name}: {got[name]}, expected {value}"
    of_bleu = [each for each in document["scores"] if each["metric"] == "bleu"]
    score = _by_sacrebleu if definition.reference_length == "closest" else _by_brute_force
    for got, candidate in zip(of_bleu, corpus.systems, strict=False):
        for name, value in score(candidate, corpus.references, definition).items():
            if not _equal(got[name], value, exactly=score is _by_sacrebleu):
                yield f"{got['system']}: {name}: {got[name]}, expected {value}"


def segment_differences(folder: Path, corpus: Corpus, definition: Definition) -> Iterator[str]:
    """The mistakes in Parquet files of segment scores."""
    rows = [
        row for path in sorted(folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]
    got = {(row["metric"], row["system"], row["index"]): row for row in rows}
    expected_rows = corpus.segments * len(corpus.systems) * len(definition.metrics)
    if not len(got) == len(rows) == expected_rows:
        yield f"{len(rows)} rows of segment scores, {len(got)} of them different"
        return
    same = {"bleu": _same_bleu, "chrf": _same_chrf, "ter": _same_ter}
    same |= dict.fromkeys(("wer", "cer"), _same_errors) | dict.fromkeys(ROUGE, _same_rouge)
    for metric in definition.metrics:
        for number, candidate in enumerate(corpus.systems):
            counts = _of_segments(metric, candidate, corpus.references, definition)
            for index, of_segment in enumerate(counts):
                row = got[metric, f"s{number}", index]
                if not same.get(metric, _same_score)(row, of_segment, definition):
                    yield f"s{number}: {metric}: segment {index}: {row}, expected {of_segment}"


def _of_segments(
    metric: str,
    candidate: Sequence[str],
    references: Sequence[Sequence[str]],
    definition: Definition,
) -> Sequence[Any]:
    """What is right for each segment: the counts, or the score of SQuAD's metrics, 0 to 1; or the
    scores of ROUGE, 0 to 1.
    """
    if metric in ("bleu", "chrf", "ter"):
        peers = {
            "bleu": BLEU(**definition.sacrebleu_arguments, force=True),
            "chrf": definition.chrf,
            "ter": definition.ter,
        }
        counts: Sequence[Any] = peers[metric]._extract_corpus_statistics(candidate, references)
        return counts
    texts = [(text, list(others)) for text, *others in zip(candidate, *references, strict=True)]
    if metric in ("wer", "cer"):
        return [best_of_jiwer(segment, definition.error_rate(metric)) for segment in texts]
    if metric in ROUGE:
        scorer = definition.rouge
        return [scorer.score_multi(others, text)[metric] for text, others in texts]
    score = {"exact_match": best_exact, "token_f1": best_f1}[metric]
    return [score(*segment) for segment in texts]


def _same_bleu(row: Mapping[str, Any], counts: Sequence[int], definition: Definition) -> bool:
    sys_len, ref_len, *others = counts
    same_length = definition.reference_length != "closest" or row["ref_len"] == ref_len
    same_counts = row["sys_len"] == sys_len and row["matches"] + row["totals"] == others
    return bool(same_length and same_counts)


def _same_chrf(row: Mapping[str, Any], counts: Sequence[int], definition: Definition) -> bool:
    found = zip(row["hyp_ngrams"], row["ref_ngrams"], row["matches"], strict=True)
    return [each for of_order in found for each in of_order] == counts


def _same_ter(row: Mapping[str, Any], counts: Sequence[float], definition: Definition) -> bool:
    return [row["edits"], row["ref_length"]] == counts


def _same_errors(row: Mapping[str, Any], counts: Sequence[int], definition: Definition) -> bool:
    names = ("substitutions", "deletions", "insertions", "ref_length")
    return [row[name] for name in names] == [*counts]


def _same_rouge(row: Mapping[str, Any], score: Any, definition: Definition) -> bool:
    found = row["precision"], row["recall"], row["score"]
    return found == tuple(100.0 * value for value in score)


def _same_score(row: Mapping[str, Any], score: float, definition: Definition) -> bool:
    return bool(row["score"] == 100 * score)


def _chrf(
    candidate: Sequence[str], references: Sequence[Sequence[str]], definition: Definition
) -> dict[str, Any]:
    """The score of chrF, and its integers."""
    metric = definition.chrf
    of_segments = metric._extract_corpus_statistics(candidate, references)
    counts = [sum(each) for each in zip(*of_segments, strict=True)]
    return {
        "score": metric.corpus_score(candidate, references).score,
        "hyp_ngrams": counts[0::3],
        "ref_ngrams": counts[1::3],
        "matches": counts[2::3],
    }


def _ter(
    candidate: Sequence[str], references: Sequence[Sequence[str]], definition: Definition
) -> dict[str, Any]:
    """The score of TER, its edits and the length of the references.

    sacreBLEU adds up rounded means of three references. The exact sum is that of fractions.
    """
    of_references = [
        definition.ter._extract_corpus_statistics(candidate, [reference])
        for reference in references
    ]
    edits, length = 0, Fraction()
    for of_segment in zip(*of_references, strict=True):
        edits += min(of_reference for of_reference, _ in of_segment)
        length += Fraction(sum(int(words) for _, words in of_segment), len(of_segment))
    score = 100 * (edits / float(length)) if length else 100.0 * bool(edits)
    return {"score": score, "edits": edits, "ref_length": float(length)}


def _error_rate(
    metric: str,
    candidate: Sequence[str],
    references: Sequence[Sequence[str]],
    definition: Definition,
) -> dict[str, Any]:
    """WER or CER, and its integers."""
    counts = _of_segments(metric, candidate, references, definition)
    substitutions, deletions, insertions, length = map(sum, zip(*counts, strict=True))
    edits = substitutions + deletions + insertions
    return {
        "score": 100 * (edits / max(length, 1)),
        "substitutions": substitutions,
        "deletions": deletions,
        "insertions": insertions,
        "edits": edits,
        "ref_length": length,
    }


def _mean(
    metric: str,
    candidate: Sequence[str],
    references: Sequence[Sequence[str]],
    definition: Definition,
) -> dict[str, Any]:
    """Exact match or token F1."""
    scores = _of_segments(metric, candidate, references, definition)
    return {"score": 100 * sum(scores) / len(scores)}


def _rouge(
    metric: str,
    candidate: Sequence[str],
    references: Sequence[Sequence[str]],
    definition: Definition,
) -> dict[str, Any]:
    """A metric of ROUGE: the means of its three values."""
    scores = _of_segments(metric, candidate, references, definition)
    means = (100 * math.fsum(values) / len(scores) for values in zip(*scores, strict=True))
    return dict(zip(("precision", "recall", "score"), means, strict=True))


_EXPECTED: Mapping[str, Callable[..., dict[str, Any]]] = {
    "chrf": _chrf,
    "ter": _ter,
    **{name: functools.partial(_error_rate, name) for name in ("wer", "cer")},
    **{name: functools.partial(_mean, name) for name in ("exact_match", "token_f1")},
    **{name: functools.partial(_rouge, name) for name in ROUGE},
}
"""What a score of each metric but BLEU must have."""


def _equal(got: Any, value: Any, exactly: bool) -> bool:
    if exactly or isinstance(value, list):
        return bool(got == value)
    return math.isclose(got, value, rel_tol=1e-9, abs_tol=1e-9)


def _by_sacrebleu(
    candidate: Sequence[str], references: Sequence[Sequence[str]], definition: Definition
) -> dict[str, Any]:
    arguments = {**definition.sacrebleu_arguments, "force": True}
    # sacreBLEU's add-k changes the counts that it returns; these are the ones before smoothing.
    unsmoothed = {**arguments, "smooth_method": "none", "smooth_value": None}
    score = BLEU(**arguments).corpus_score(candidate, references)
    counts = BLEU(**unsmoothed).corpus_score(candidate, references)
    values = {
        "score": score.score,
        "precisions": score.precisions,
        "matches": counts.counts,
        "totals": counts.totals,
        "bp": score.bp,
        "ratio": score.ratio,
        "sys_len": score.sys_len,
        "ref_len": score.ref_len,
    }
    return {name: values[name] for name in _EXACT}


def _by_brute_force(
    candidate: Sequence[str], references: Sequence[Sequence[str]], definition: Definition
) -> dict[str, Any]:
    texts = [_tokens(text, definition) for text in (candidate, *references)]
    segments = [(tokens[0], list(tokens[1:])) for tokens in zip(*texts, strict=True)]
    sums = brute_force.corpus_sums(
        segments, definition.max_ngram_order, definition.reference_length
    )
    score = brute_force.sacrebleu(
        sums, definition.smooth_method, definition.smooth_value, definition.effective_order
    )
    return {
        "score": 100 * score,
        "matches": sums.matches,
        "totals": sums.totals,
        "sys_len": sums.candidate_length,
        "ref_len": float(sums.reference_length),
    }


def _units(text: Sequence[str], definition: Definition) -> list[Sequence[str]]:
    """What the metric that counts empty candidates has in each line: tokens or characters."""
    metric = next(name for name in METRICS if name in definition.metrics)
    if metric == "bleu":
        return [*_tokens(text, definition)]
    if metric == "chrf":
        return [line if definition.chrf_whitespace else "".join(line.split()) for line in text]
    if metric == "ter":
        return [definition.ter._preprocess_segment(line).split() for line in text]
    if metric in ROUGE:
        return [tokenize(line, None) for line in text]
    if metric in ("wer", "cer"):
        config = definition.error_rate(metric)
        return [jiwers(line, "", config).hypotheses[0] for line in text]
    return [normalize_answer(line) for line in text]


def _tokens(text: Sequence[str], definition: Definition) -> list[list[str]]:
    """The tokens that sacreBLEU makes of each line."""
    bleu = BLEU(tokenize=definition.tokenize, lowercase=definition.lowercase, force=True)
    return [bleu._preprocess_segment(line).split() for line in text]
