"""The right result: from sacreBLEU, or from brute force if sacreBLEU lacks the definition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import brute_force
import pyarrow.parquet as pq
from definition import Definition
from sacrebleu.metrics import BLEU, CHRF
from texts import Corpus

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
            not tokens for candidate in corpus.systems for tokens in _tokens(candidate, definition)
        ),
        "bytes": sum(len(line.encode()) for text in corpus.texts for line in text),
    }
    for name, value in counters.items():
        if document["counters"][name] != value:
            yield f"counters: {name}: {document['counters'][name]}, expected {value}"
    of_chrf = [each for each in document["scores"] if each["metric"] == "chrf"]
    for got, candidate in zip(of_chrf, corpus.systems, strict=False):
        for name, value in _chrf(candidate, corpus.references).items():
            if got[name] != value:
                yield f"{got['system']}: chrF: {name}: {got[name]}, expected {value}"
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
    bleu = BLEU(**definition.sacrebleu_arguments, force=True)
    order = definition.max_ngram_order
    for number, candidate in enumerate(corpus.systems):
        counts = bleu._extract_corpus_statistics(candidate, corpus.references)
        for index, (sys_len, ref_len, *others) in enumerate(counts):
            row = got["bleu", f"s{number}", index]
            same = row["sys_len"] == sys_len and row["matches"] + row["totals"] == others
            if definition.reference_length == "closest":
                same &= row["ref_len"] == ref_len
            if not same:
                expected = f"{sys_len} {ref_len} {others[:order]} {others[order:]}"
                yield f"s{number}: segment {index}: {row}, expected {expected}"
        if "chrf" in definition.metrics:
            for index, counts_of_segment in enumerate(
                CHRF()._extract_corpus_statistics(candidate, corpus.references)
            ):
                row = got["chrf", f"s{number}", index]
                found = zip(row["hyp_ngrams"], row["ref_ngrams"], row["matches"], strict=True)
                if [each for of_order in found for each in of_order] != counts_of_segment:
                    yield f"s{number}: segment {index}: {row}, expected {counts_of_segment}"


def _chrf(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The score of chrF, and its integers."""
    metric = CHRF()
    of_segments = metric._extract_corpus_statistics(candidate, references)
    counts = [sum(each) for each in zip(*of_segments, strict=True)]
    return {
        "score": metric.corpus_score(candidate, references).score,
        "hyp_ngrams": counts[0::3],
        "ref_ngrams": counts[1::3],
        "matches": counts[2::3],
    }


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


def _tokens(text: Sequence[str], definition: Definition) -> list[list[str]]:
    """The tokens that sacreBLEU makes of each line."""
    bleu = BLEU(tokenize=definition.tokenize, lowercase=definition.lowercase, force=True)
    return [bleu._preprocess_segment(line).split() for line in text]
