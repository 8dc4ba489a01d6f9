"""What `cluster run` gives to beam-bleu on a host, and what `cluster status` shows."""

from __future__ import annotations

import shlex

import pytest
from command_line import PROJECT, called

from deploy.local.hosts import commands


@pytest.mark.parametrize("arguments", [["ref.txt", "-i", "out.txt"], ["doctor", "ref.txt"]])
def test_a_job_gets_the_flags(arguments, monkeypatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr("os.execvp", lambda program, words: started.append(words))
    commands.run({"command": ["enter", "head"], "flags": ["--runner=FlinkRunner"]}, arguments)
    (words,) = started
    assert words[words.index("beam-bleu") + 1 :] == [*arguments, "--runner=FlinkRunner"]


def test_the_job_in_the_docs_is_possible() -> None:
    """Here with the files themselves in place of their copies in the object store."""
    lines = (PROJECT / "docs" / "operating.md").read_text().replace("\\\n", " ").splitlines()
    typed = [shlex.split(line) for line in lines if line.startswith("./run.sh cluster ")]
    copies = {words[5]: words[4] for words in typed if words[2] == "put"}
    (job,) = [words[4:] for words in typed if words[2:4] == ["run", "flink"]]
    words = job[: job.index("--output")]
    for copy, original in copies.items():
        words = [word.replace(copy, str(PROJECT / original)) for word in words]
    assert not any(word.startswith("s3:") for word in words)
    run = called(*words, "--format=json")
    assert run.code == 0, run.err
