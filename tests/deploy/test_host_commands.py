"""`cluster run` gives a job the flags of the cluster's engine, and other commands none."""

from __future__ import annotations

import pytest

from deploy.local.hosts import commands

FLAGS = ["--runner=FlinkRunner"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--candidates", "out.txt", "--references", "ref.txt"],
        ["ref.txt", "-i", "out.txt"],
        ["doctor", "ref.txt", "-i", "out.txt"],
    ],
)
def test_a_job_gets_the_flags(sent, arguments) -> None:
    assert sent(arguments) == [*arguments, *FLAGS]


@pytest.mark.parametrize("arguments", [["doctor"], ["compare", "old", "new"], ["files", "s3://x"]])
def test_other_commands_get_none(sent, arguments) -> None:
    assert sent(arguments) == arguments


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch):
    """What the host's beam-bleu gets."""
    started: list[list[str]] = []
    monkeypatch.setattr("os.execvp", lambda program, words: started.append(words))

    def run(arguments: list[str]) -> list[str]:
        commands.run({"command": ["enter", "head"], "flags": FLAGS}, arguments)
        (words,) = started
        return words[words.index("beam-bleu") + 1 :]

    return run
