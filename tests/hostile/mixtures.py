"""Mixtures: files of several tasks or domains in one run, which differ only in their paths.

The oracle scores each task by itself, with sacreBLEU, from the texts that were written.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from case import Case
from checks import check, check_refusal, check_success
from command_line import Argument
from sacrebleu.metrics import BLEU

_WORDS = ["a", "the", "cat", "Hund", "chat", "猫", "犬", "1,000.5", "&lt;", "end.", "é", "-"]
_TASKS = ["wmt16-en-de", "wmt_en_fr", "flores|zh", "a", "a_b", "b", "x.y", "größe", "2026", "T(1)"]
_TIMES = ["_2024-11-19T10-11-12.345678", "_2026-01-01T00-00-00.000000"]

Pairs = Sequence[tuple[str, str]]
"""The candidates and references of a task."""


def attack(case: Case) -> None:
    """One mixture, or several files of one task."""
    names = case.random.sample(_TASKS, case.random.randint(1, 5))
    corpus = {name: _pairs(case) for name in names}
    case.random.choice(_WAYS)(case, corpus)


def _pairs(case: Case) -> Pairs:
    return [(_text(case), _text(case)) for _ in range(case.random.randint(1, 12))]


def _text(case: Case) -> str:
    return " ".join(case.random.choices(_WORDS, k=case.random.randint(1, 14)))


def _lm_eval(case: Case, corpus: dict[str, Pairs]) -> None:
    """Samples of lm-eval: no common score of several tasks, unless it is asked for."""
    pools = case.chance(0.3)
    case.what = f"samples of {len(corpus)} tasks{', pooled' if pools else ''}"
    time = case.random.choice(_TIMES)
    for task, pairs in corpus.items():
        rows = [
            {"doc_id": number, "target": reference, "filtered_resps": [text], "filter": "none"}
            for number, (text, reference) in enumerate(pairs)
        ]
        _write(case.folder / f"samples_{task}{time}.jsonl", [json.dumps(row) for row in rows])
    flags = ["--layout", "lm-eval", "--where", "filter=none", "--format", "json"]
    files = ["--input", f"{case.folder}/samples_*.jsonl"]
    if case.chance(0.3):
        files = [f"{case.folder}/samples_*.jsonl", "-i", f"m={case.folder}/samples_*.jsonl"]
        if len(corpus) > 1 and case.chance(0.3):
            # The ids of the tasks are equal. A join without the task must not bring them together.
            check_refusal(case.run(*files, *flags, *["--pool_tasks"] * pools))
            return
        flags += ["--join_on", "task,doc_id"]
    run = case.run(*files, *flags, *["--pool_tasks"] * pools)
    document = check_success(run)
    _check_slices(document, "task", corpus)
    _check_whole(document, corpus, has_whole=pools or len(corpus) == 1)
    if not pools and len(corpus) > 1:
        (average,) = document["macro_average"]
        mean = math.fsum(_score(pairs)["score"] for pairs in corpus.values()) / len(corpus)
        check(math.isclose(average["score"], mean), f"mean {average['score']}, expected {mean}")


def _merged(case: Case, corpus: dict[str, Pairs]) -> None:
    """Each task in a run of its own: their merged totals have no common score either."""
    case.what = f"merged totals of {len(corpus)} tasks"
    folders: list[Argument] = []
    for number, (task, pairs) in enumerate(corpus.items()):
        rows = [
            {"target": reference, "filtered_resps": [text], "filter": "none"}
            for text, reference in pairs
        ]
        # Equal texts would be refused, because they look like one run, given twice.
        path = case.folder / f"samples_{task}.jsonl"
        _write(path, [json.dumps({**row, "n": number}) for row in rows])
        flags = ["--layout", "lm-eval", "--input", path, "--where", "filter=none", "--save_totals"]
        flags += ["--partition", f"part {number}"]
        output = case.folder / f"out{number}"
        run = case.run(*flags, "--output", output, "--format", "json")
        check_success(run)
        folders.append(output)
    document = check_success(case.run("merge", *folders, "--format", "json"))
    _check_slices(document, "task", corpus)
    _check_whole(document, corpus, has_whole=len(corpus) == 1)


def _paths(case: Case, corpus: dict[str, Pairs]) -> None:
    """Any input, with a label from the path: each slice has the score of its files alone."""
    form = case.random.choice(["jsonl", "tsv", "text", "compressed text"])
    case.what = f"{form} of {len(corpus)} folders, with a label from the path"
    for name, pairs in corpus.items():
        within = Path("news", str(case.random.randint(2020, 2026)), name)
        folder = case.folder / within
        for part, some in enumerate(_parts(case, pairs)):
            candidates, references = zip(*some, strict=True)
            if form == "jsonl":
                rows = [json.dumps({"hyp": text, "ref": ref}) for text, ref in some]
                _write(folder / f"x{part}.jsonl", rows)
            elif form == "tsv":
                _write(folder / f"x{part}.tsv", ["hyp\tref", *map("\t".join, some)])
            else:
                suffix = ".txt.gz" if form == "compressed text" else ".txt"
                _write(case.folder / "h" / within / f"x{part}{suffix}", candidates)
                _write(case.folder / "r" / within / f"x{part}{suffix}", references)
    within_all = "news/*/*/x*"
    files = ["--input", f"{case.folder}/{within_all}.{form}"]
    if "text" in form:
        suffix = ".txt.gz" if form == "compressed text" else ".txt"
        references_of_all, candidates_of_all = (
            f"{case.folder}/{stream}/{within_all}{suffix}" for stream in "rh"
        )
        files = [references_of_all, "-i", f"s={candidates_of_all}"]
    flags = ["--slice_by", "pair", "--format", "json"]
    if case.chance(0.2):
        wrong = ["--label_from_path", "pair=news/*/*/*/(*)/"]
        check_refusal(case.run(*files, *wrong, *flags), names=["--label_from_path pair="])
    pattern = case.random.choice(["news/*/(.*)/", "news/*/(*)/", "(*)/*", "news/????/(*)/"])
    document = check_success(case.run(*files, "--label_from_path", f"pair={pattern}", *flags))
    _check_slices(document, "pair", corpus)
    _check_whole(document, corpus, has_whole=True)


_WAYS: list[Callable[[Case, dict[str, Pairs]], None]] = [_lm_eval, _lm_eval, _merged, _paths]


def _parts(case: Case, pairs: Pairs) -> list[Pairs]:
    """The pairs in one file, or in two."""
    at = case.random.randint(0, len(pairs))
    return [part for part in (pairs[:at], pairs[at:]) if part]


def _write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def _score(pairs: Pairs) -> dict[str, Any]:
    candidates, references = zip(*pairs, strict=True)
    score = BLEU(force=True).corpus_score(candidates, [references])
    counts = {"matches": score.counts, "totals": score.totals}
    return {"score": score.score, "sys_len": score.sys_len, "ref_len": score.ref_len, **counts}


def _check_slices(document: dict[str, Any], label: str, corpus: dict[str, Pairs]) -> None:
    found = {each["slice"][label]: each for each in document["scores"] if each["slice"] is not None}
    check(found.keys() == corpus.keys(), f"slices {list(found)}, expected {list(corpus)}")
    for name, pairs in corpus.items():
        for key, value in _score(pairs).items():
            check(found[name][key] == value, f"{name}: {key}: {found[name][key]}, expected {value}")


def _check_whole(document: dict[str, Any], corpus: dict[str, Pairs], *, has_whole: bool) -> None:
    whole = [each for each in document["scores"] if each["slice"] is None]
    check(len(whole) == has_whole, f"{len(whole)} scores of the whole corpus")
    segments = sum(map(len, corpus.values()))
    check(document["segments"] == segments, f"segments: {document['segments']}, not {segments}")
    for each in whole:
        for key, value in _score([pair for pairs in corpus.values() for pair in pairs]).items():
            check(each[key] == value, f"whole: {key}: {each[key]}, expected {value}")
