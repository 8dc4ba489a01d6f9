"""Files whose names look like NAME=FILE, and patterns that match references, too."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Sequence

from case import Case
from checks import check, check_refusal, check_success
from command_line import Run
from sacrebleu.metrics import BLEU
from texts import make_corpus

Lines = Sequence[str]

_NAMES = ["a", "b", "beam=a", "beam=b", "x=beam=a", "ref", "a=ref", "soft", "hard"]
"""The names of files, without their suffix."""


def attack(case: Case) -> None:
    """Writes files with such names, and scores a word or a pattern of -i."""
    chooser = case.random
    folder = case.folder / "in"
    folder.mkdir()
    segments = chooser.choice([3, 12, 35])
    texts: dict[str, Lines] = {}
    for name in ["ref", *chooser.sample(_NAMES, chooser.randint(2, len(_NAMES)))]:
        if name in texts:
            continue
        texts[name] = make_corpus(chooser, segments, plain=True).references[0]
        path = folder / f"{name}.txt"
        if name == "soft":
            path.symlink_to("ref.txt")
        elif name == "hard":
            path.hardlink_to(folder / "ref.txt")
        else:
            path.write_text("".join(f"{line}\n" for line in texts[name]))
    before = os.getcwd()
    os.chdir(folder)
    try:
        if case.chance(0.5):
            _score_word(case, texts, chooser.choice([*_NAMES, "beam=ref", "y=a"]) + ".txt")
        else:
            _score_pattern(case, texts, chooser.choice(["[abh]*.txt", "*=*.txt", "[!s]*.txt"]))
    finally:
        os.chdir(before)


def _score_word(case: Case, texts: dict[str, Lines], word: str) -> None:
    """A word is a system with a name, or a file: what both could be is refused."""
    case.what = f"-i {word}"
    run = _run(case, word)
    name, equals, path = word.partition("=")
    exists = {f"{each}.txt" for each in texts}
    if not equals:
        if word in exists:
            _check(run, texts, {word.removesuffix(".txt"): word})
        else:
            check_refusal(run, (3,), ())
    elif word not in exists:
        if path in exists:
            _check(run, texts, {name: path})
        else:
            check_refusal(run, (3,), ())
    else:
        check_refusal(run, (2,), ())
        check(f"./{word}" in run.err, f"the message does not say ./{word}: {run.err.strip()}")
        _check(_run(case, f"./{word}"), texts, {word.removesuffix(".txt"): word})
        if path in exists:
            check(f"{name}=./{path}" in run.err, f"not said: {name}=./{path}: {run.err.strip()}")
            _check(_run(case, f"{name}=./{path}"), texts, {name: path})


def _score_pattern(case: Case, texts: dict[str, Lines], pattern: str) -> None:
    """A pattern makes each of its files a system, but the reference and links to it."""
    case.what = f"-i {pattern!r}"
    references = {"ref.txt", "soft.txt", "hard.txt"}
    matched = {f"{name}.txt" for name in texts if fnmatch.fnmatchcase(f"{name}.txt", pattern)}
    run = _run(case, pattern)
    if "soft.txt" in matched and len(matched & references) > 1:
        # A symbolic link and its file in one pattern: its lines would be scored twice.
        check_refusal(run, (2, 3), ())
    elif matched <= references:
        check_refusal(run, (2,) if matched else (3,), ())
    else:
        _check(run, texts, {path.removesuffix(".txt"): path for path in matched - references})
        left_out = sorted(matched & references)
        check(
            all(f"{path} (references)" in run.err for path in left_out),
            f"{left_out} are left out without a word: {run.err.strip()}",
        )


def _run(case: Case, word: str) -> Run:
    return case.run("./ref.txt", "-i", word, "--format=json")


def _check(run: Run, texts: dict[str, Lines], expected: dict[str, str]) -> None:
    """Checks the systems of a run, by name and by sacreBLEU's score of their file."""
    document = check_success(run)
    links = {"soft": "ref", "hard": "ref"}
    scores = {}
    for name, path in expected.items():
        file = path.removesuffix(".txt")
        lines = texts[links.get(file, file)]
        scores[name] = BLEU().corpus_score(lines, [texts["ref"]]).score
    found = {each["system"]: each["score"] for each in document["scores"]}
    check(found == scores, f"{found}, expected {scores}")
