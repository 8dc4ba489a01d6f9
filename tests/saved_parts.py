"""Runs over a whole corpus and over its parts, whose saved totals are compared."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from command_line import EXAMPLES, Run, called, read_lines, write_lines

CUTS = (0, 40, 72)
NAMES = ("atlas", "birch", "cobalt")
TEXTS = {
    "ref": read_lines(EXAMPLES / "references" / "a.txt"),
    **{name: read_lines(EXAMPLES / "systems" / f"{name}.txt") for name in NAMES},
}
DOMAINS = [["news", "talk", "law"][i * i % 3] for i in range(72)]
LANGUAGES = ["zh" if i % 3 else "de" for i in range(72)]

Records = Sequence[dict[str, Any]]


def lines_in(folder: Path, rows: slice, *flags: str) -> list[Path | str]:
    """The flags of line-parallel text with these rows, and with the labels that they need."""
    for name, text in {**TEXTS, "domain": DOMAINS, "language": LANGUAGES}.items():
        write_lines(folder / f"{name}.txt", text[rows])
    values = " ".join(flag.split("=")[-1] for flag in flags)
    named = [name for name in ("domain", "language") if name in values]
    labels = [f"--labels={name}={folder / name}.txt" for name in named]
    return [folder / "ref.txt", "-i", *(folder / f"{name}.txt" for name in NAMES), *labels, *flags]


def records_in(folder: Path, records: Records) -> list[Path | str]:
    """The flags of JSON lines with these records."""
    path = folder / "records.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return ["--input", path]


def run_into(out: Path, *arguments: Any) -> Run:
    """A run that must succeed, with saved totals."""
    run = called(*arguments, "--save_totals", "--output", out, "--quiet", "--format=json")
    assert run.code == 0, run.err
    return run


def ranges() -> list[slice]:
    """The rows of each part."""
    return [slice(*pair) for pair in itertools.pairwise(CUTS)]


def joined_in(folder: Path, rows: slice) -> list[Any]:
    """A join in which systems lack segments, and have unknown ones."""
    numbers = range(CUTS[-1])[rows]
    references = [{"id": f"s{i}", "ref": TEXTS["ref"][i]} for i in numbers]
    flags = [f"--references={records_in(folder / 'references', references)[1]}"]
    for place, name in enumerate(NAMES):
        own = [{"id": f"s{i}", "hyp": TEXTS[name][i]} for i in numbers if i % 9 != place]
        own += [{"id": f"unknown {i}", "hyp": "text"} for i in numbers if i % 19 == place]
        flags.append(f"--candidates={name}={records_in(folder / name, own)[1]}")
    flags += ["--join_on=id", "--candidate_columns=hyp", "--reference_columns=ref"]
    return flags
