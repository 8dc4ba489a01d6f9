"""Unknown words: the flag or the subcommand that is meant, what to use instead, or nothing."""

from __future__ import annotations

import argparse
import signal

import pytest
from command_line import SYSTEMS, called

from beam_bleu.pipeline.command_line.config import our_parser
from beam_bleu.pipeline.command_line.options import ABSENT

ATLAS = SYSTEMS["atlas"]
OURS = {spelling for flag in our_parser().actions() for spelling in flag.option_strings}


def flags_of_sacrebleu(monkeypatch) -> set[str]:
    """All spellings of all flags of sacreBLEU's command."""
    # Its import lets a closed pipe end the process, which is here pytest's process.
    handler = signal.getsignal(signal.SIGPIPE)
    from sacrebleu import sacrebleu

    signal.signal(signal.SIGPIPE, handler)
    parsers = []

    def parse_nothing(self, *_):
        parsers.append(self)
        return argparse.Namespace()

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_nothing)
    monkeypatch.delenv("SACREBLEU_FORMAT", raising=False)
    sacrebleu.parse_args()
    return {flag for action in parsers[0]._actions for flag in action.option_strings}


def test_every_flag_of_sacrebleu_is_accepted_or_its_error_says_what_to_use(monkeypatch):
    with monkeypatch.context() as patched:
        flags = flags_of_sacrebleu(patched)
    assert len(flags) > 60
    absent = {flag for flags in ABSENT.values() for flag in flags}
    assert absent <= flags  # each row is about a flag that sacreBLEU has
    ours = flags - absent
    assert {flag.replace("-", "_").replace("__", "--", 1) for flag in ours if "--" in flag} <= OURS
    assert {flag for flag in ours if "--" not in flag} <= OURS
    assert not absent & OURS


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["help"], "did you mean --help?"),
        (["doctr"], "did you mean doctor?"),
        (["Doctor", "--format", "json"], "did you mean doctor?"),
    ],
    ids=str,
)
def test_a_word_that_is_near_a_subcommand_is_not_taken_for_a_file(words, remedy):
    cause = f"there is no file {words[0]}, and no subcommand of this name\n"
    called(*words).assert_failed(2, cause, remedy)


def test_a_file_may_have_such_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for word in ("help", "doctr"):
        (tmp_path / word).write_bytes(ATLAS.read_bytes())
        assert called(word, "-i", ATLAS, "-b").out == b"100.0\n"
