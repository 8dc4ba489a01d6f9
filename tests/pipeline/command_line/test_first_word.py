"""The first word of a command line, if it is meant as a subcommand and is none."""

from __future__ import annotations

import pytest
from command_line import REFERENCES, SYSTEMS, called

from beam_bleu.pipeline.command_line.first_word import REMEDIES
from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS

ATLAS = SYSTEMS["atlas"]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["help"], "see beam-bleu --help"),
        (["doctr"], "did you mean the subcommand doctor?"),
        (["Doctor", "--format", "json"], "did you mean the subcommand doctor?"),
        (["score", REFERENCES[0], "-i", ATLAS], "leave it out: beam-bleu REF... -i FILE..."),
        (["report", "out"], "to show saved totals again, write beam-bleu rescore FILE"),
        (["diff", "a", "b"], "write beam-bleu compare OLD NEW"),
        (["combine", "a", "b"], "write beam-bleu merge FILE..."),
        (["isntall", "ja"], "did you mean install? write ./run.sh install"),
    ],
    ids=str,
)
def test_a_word_that_is_near_a_subcommand_is_not_taken_for_a_file(words, remedy):
    cause = f"there is no file {words[0]}, and no subcommand of this name\n"
    called(*words).assert_failed(2, cause, remedy)


@pytest.mark.parametrize("word", ["reference", "./doctr", "doctr*", "dt"])
def test_other_words_are_files_that_may_be_missing(word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    called(word, "-i", ATLAS).assert_failed(3, "references: ", word)


def test_a_file_may_have_such_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for word in ("help", "doctr"):
        (tmp_path / word).write_bytes(ATLAS.read_bytes())
        assert called(word, "-i", ATLAS, "-b").out == b"100.0\n"


def test_no_subcommand_has_a_remedy():
    assert not REMEDIES.keys() & SUBCOMMANDS.keys()
