"""Runs of the command whose totals.json has every field of the format, in small corpora."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from command_line import Argument, Run, called
from pieces import WORDS

NAMES = ("alpha", "beta", "gamma")
_DOMAINS = ("law", "news")
_LANGUAGES = ("de", "zh")

Runner = Callable[..., Run]
"""Runs the command with arguments."""


def make_runs(folder: Path, chooser: random.Random, run: Runner = called) -> dict[str, Path]:
    """Runs the command in many ways.

    Args:
      folder: gets the files of the runs.
      chooser: makes the choices.
      run: runs the command.

    Returns:
      By name, the totals.json of each run.
    """
    return {name: make_run(name, folder / name, chooser, run) for name in [*_RUNS, _MERGED]}


def make_run(name: str, folder: Path, chooser: random.Random, run: Runner = called) -> Path:
    """Runs the command in the way that has this name, or merges; returns its totals.json."""
    if name != _MERGED:
        return _saved(run, folder, *_RUNS[name](folder, chooser))
    parts = [_part(folder / f"part{number}", chooser, run, number) for number in (1, 2)]
    _succeed(run("merge", *parts, "--output", folder / "out"))
    return folder / "out" / "totals.json"


def _part(folder: Path, chooser: random.Random, run: Runner, number: int) -> Path:
    flags = ["--slice_by=domain", "--resample=bootstrap", "--resamples=7"]
    return _saved(
        run, folder, *_lines(folder, chooser, "domain"), *flags, f"--partition=2026-11-2{number}"
    )


def _saved(run: Runner, folder: Path, *arguments: Argument) -> Path:
    _succeed(run(*arguments, "--save_totals", "--output", folder / "out", "--quiet"))
    return folder / "out" / "totals.json"


def _succeed(run: Run) -> None:
    if run.code:
        raise AssertionError(run.err)


def _texts(chooser: random.Random, streams: int, segments: int) -> list[list[str]]:
    """Candidates and references with much in common, of words without other characters."""
    texts: list[list[str]] = [[] for _ in range(streams)]
    for _ in range(segments):
        words = chooser.choices(WORDS, k=chooser.choice([1, 2, 3, 6, 9, 14]))
        for text in texts:
            changed = (word if chooser.random() < 0.8 else chooser.choice(WORDS) for word in words)
            text.append(" ".join(changed) + chooser.choice(["", "", " .", " and"]))
    return texts


def _lines(
    folder: Path, chooser: random.Random, *labels: str, systems: int = 2, references: int = 1
) -> list[Argument]:
    """The flags of line-parallel text with these labels."""
    folder.mkdir(parents=True, exist_ok=True)
    segments = chooser.randint(14, 22)
    names = [*NAMES[:systems], *(f"ref{number}" for number in range(references))]
    columns = dict(zip(names, _texts(chooser, len(names), segments), strict=True))
    columns["domain"] = [*chooser.choices(_DOMAINS, k=segments - 2), *_DOMAINS]
    columns["language"] = [*chooser.choices(_LANGUAGES, k=segments - 2), *_LANGUAGES]
    for name, lines in columns.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return [
        *(f"--candidates={folder / name}.txt" for name in names[:systems]),
        *(f"--references={folder / name}.txt" for name in names[systems:]),
        *(f"--labels={name}={folder / name}.txt" for name in labels),
    ]


def _records(folder: Path, chooser: random.Random) -> list[Argument]:
    """The flags of records: with conditions, bad records, and one or two references."""
    segments = chooser.randint(20, 26)
    alpha, beta, one, other = _texts(chooser, 4, segments)
    records = [
        {
            "alpha": 7 if row % 8 == 3 else alpha[row],
            "beta": None if row % 8 == 5 else beta[row],
            "one": one[row],
            "other": None if row % 5 == 0 else other[row],
            "domain": _DOMAINS[row % 2],
            "lang": _LANGUAGES[row // 4 % 2],
        }
        for row in range(segments)
    ]
    path = _written(folder / "records.jsonl", records)
    flags = ["--candidate_columns=alpha,beta", "--reference_columns=one,other"]
    flags += ["--where=lang!=zh", "--on_bad_record=reject", "--max_rejected=0.9"]
    return [f"--input={path}", *flags, "--slice_by=domain"]


def _join(folder: Path, chooser: random.Random) -> list[Argument]:
    """The flags of a join in which systems lack segments, and have unknown ones."""
    segments = chooser.randint(18, 24)
    *candidates, references = _texts(chooser, 3, segments)
    rows = [{"id": f"s{i}", "ref": text} for i, text in enumerate(references)]
    arguments: list[Argument] = [f"--references={_written(folder / 'ref.jsonl', rows)}"]
    for number, (name, texts) in enumerate(zip(NAMES, candidates, strict=False)):
        rows = [{"id": f"s{i}", "hyp": each} for i, each in enumerate(texts) if i % 5 != number]
        rows += [{"id": f"unknown {number}", "hyp": "a"}]
        arguments.append(f"--candidates={name}={_written(folder / f'{name}.jsonl', rows)}")
    return [*arguments, "--join_on=id", "--candidate_columns=hyp", "--reference_columns=ref"]


def _written(path: Path, records: Sequence[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


_MERGED = "merged"

_RUNS: dict[str, Callable[[Path, random.Random], list[Argument]]] = {
    "one system": lambda folder, chooser: [
        *_lines(folder, chooser, systems=1),
        "--no_uncertainty",
    ],
    "several systems": lambda folder, chooser: [
        *_lines(folder, chooser, systems=3, references=2),
        "--compare=all",
        "--compare_presets=all",
        "--segment_scores",
    ],
    "slices": lambda folder, chooser: [
        *_lines(folder, chooser, "domain"),
        "--slice_by=domain,length,domain*length",
        "--length_edges=3,9",
        "--baseline=beta",
    ],
    "documents": lambda folder, chooser: [
        *_lines(folder, chooser, "domain", "language"),
        "--documents=domain",
        "--slice_by=language",
        "--resample=bootstrap",
        "--resamples=7",
    ],
    "randomization": lambda folder, chooser: [
        *_lines(folder, chooser, references=2),
        "--resample=randomization",
        "--resamples=7",
        "--no_uncertainty",
    ],
    "several metrics": lambda folder, chooser: [
        *_lines(folder, chooser, "domain", references=2),
        *("--metrics", "chrf", "bleu", "--slice_by=domain", "--segment_scores"),
        *("--resample=bootstrap", "--resamples=7"),
    ],
    "records": _records,
    "join": lambda folder, chooser: [*_join(folder, chooser), "--coverage=each"],
    "common join": lambda folder, chooser: [*_join(folder, chooser), "--coverage=common"],
    "languages": lambda folder, chooser: [
        *_lines(folder, chooser, "language"),
        "--language_column=language",
        "--slice_by=length",
    ],
}

RUN_NAMES = (*_RUNS, _MERGED)
