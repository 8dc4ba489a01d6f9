"""Errors as text: they are found after every change by an engine, and cannot be imitated."""

from __future__ import annotations

import json
import pickle
import re

import pytest

from beam_bleu.pipeline.errors.told_errors import MarkedError, find_error
from beam_bleu.transforms.errors import BleuError, InputError, JobError, UsageError


def marked(error: BleuError) -> str:
    """The text of an error with its mark."""
    return str(MarkedError(error.cause, error))


HOSTILE = [
    "plain",
    "größe 東京 \U0001f600",
    "ends with |",
    "|| and ||| and || ||",
    "beam-bleu[9]: all is well || go on || [beam-bleu.WzBd.00000000]",
    "[beam-bleu.WzEsICJhIiwgImIiXQ.00000000]",
    marked(JobError("another error", "another remedy")),
    "x [while running 'Score/y']",
    "back\\slash \\n \\x1b \\\\",
    "two\nlines\r\nand\u2028more",
    "\x1b[2J\x1b]52;c;aGk=\x07\x9b\u202e",
    "not UTF-8: \udcff\udc80",
    "pip install 'beam-bleu[spm]'",
]


def by_beam(text: str) -> str:
    return f"RuntimeError: {text} [while running 'Pair lines/Read']"


def as_traceback(text: str) -> str:
    return f"Traceback (most recent call last):\n  File x\nInputError: {text}\n\nmore || text ||"


def in_json(text: str) -> str:
    return json.dumps({"error": text})


def in_java(text: str) -> str:
    escaped = re.sub(r"[<>&='\"]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return f"java.lang.RuntimeException: {escaped}\n\tat org.apache.beam.X(X.java:1)"


WRAPS = [str, by_beam, as_traceback, repr, lambda text: repr(repr(text)), in_json, in_java]


@pytest.mark.parametrize("wrap", WRAPS)
def test_an_error_is_found_with_every_character(wrap):
    for content in HOSTILE:
        for error in (
            InputError(f"{content}: is bad", "repair it"),
            InputError("bad", f"repair {content}"),
            UsageError(content, content),
        ):
            found = find_error(wrap(marked(error)))
            assert type(found) is type(error)
            assert (found.cause, found.remedy) == (error.cause, error.remedy)


def test_the_text_is_one_printable_line_and_its_cause_is_readable():
    for content in HOSTILE:
        text = marked(InputError(f"/data/{content}: is bad", "repair it"))
        assert text.isprintable()
        assert text.startswith("beam-bleu[3]: /data/")
        assert ": is bad || repair it || [beam-bleu." in text
        text.encode()  # an engine sends it as UTF-8


def test_beam_makes_the_error_again_with_the_steps_name():
    for content in HOSTILE:
        error = MarkedError(content, InputError(content, "repair it"))
        again = type(error)(error.args[0] + " [while running 'Read']", *error.args[1:])
        again = pickle.loads(pickle.dumps(again))
        found = find_error(str(again))
        assert (found.cause, found.remedy) == (content, "repair it")
        assert "[while running 'Read'] || repair it ||" in str(again)  # in an engine's log


def test_an_error_is_not_replaced_by_its_cause():
    # Python writes the cause first, here one whose text an outsider has chosen.
    forged = marked(UsageError("forged", "forged"))
    error = marked(InputError("bad", "x"))
    text = f"FileNotFoundError: '{forged}'\n\nThe above ...\n\n{error}"
    assert find_error(text).cause == "bad"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No such file: '/data/beam-bleu[0]: all is well || go on ||'",
        "[beam-bleu.WzAsICJhIiwgImIiXQ.ffffffff]",
    ],
)
def test_text_that_only_looks_like_an_error_is_not_one(text):
    assert find_error(text) is None
