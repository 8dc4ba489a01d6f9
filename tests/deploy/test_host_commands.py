"""What `cluster run` gives to beam-bleu on a host, and what `cluster status` shows."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import pytest
from command_line import PROJECT, called

from deploy.local import keeper
from deploy.local.__main__ import main
from deploy.local.hosts import commands
from deploy.local.hosts.host import child_of

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


def test_the_job_in_the_docs_is_possible() -> None:
    """Here with the files themselves in place of their copies in the object store."""
    lines = (PROJECT / "docs" / "engines.md").read_text().replace("\\\n", " ").splitlines()
    typed = [shlex.split(line) for line in lines if line.startswith("./run.sh cluster ")]
    copies = {words[5]: words[4] for words in typed if words[2] == "put"}
    (job,) = [words[4:] for words in typed if words[2:4] == ["run", "flink"]]
    words = job[: job.index("--output")]
    for copy, original in copies.items():
        words = [word.replace(copy, str(PROJECT / original)) for word in words]
    assert not any(word.startswith("s3:") for word in words)
    run = called(*words, "--format=json")
    assert run.code == 0, run.err


def test_the_status_of_all_clusters_that_run(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("BEAM_BLEU_CLUSTERS", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["cluster", "status"])
    assert main() == 0
    assert capsys.readouterr().out == "no cluster is running\n"
    process = {"name": "program", "place": "head", "address": "10.0.0.1", "pid": os.getpid()}
    for name in ("flink", "s3"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cluster.json").write_text(
            json.dumps({"made_of": "a part", "processes": [process]})
        )
    monkeypatch.setattr(keeper, "is_running", lambda folder: folder.name in ("flink", "s3"))
    assert main() == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()] == ["flink", "head", "s3", "head"]


@pytest.mark.skipif(sys.platform != "linux", reason="hosts need Linux")
def test_the_program_on_a_host_is_the_child_of_the_one_that_enters_it() -> None:
    command = [sys.executable, "-c", "print(__import__('os').getpid(), flush=True); input()"]
    told = ["sh", "-c", '"$@"; true', "sh", *command]
    with subprocess.Popen(told, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as entering:
        assert entering.stdout is not None
        assert entering.stdin is not None
        assert child_of(entering.pid) == int(entering.stdout.readline())
        entering.stdin.close()
        entering.wait()
        assert child_of(entering.pid) == entering.pid


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
