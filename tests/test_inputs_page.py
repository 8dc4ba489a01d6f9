"""The page about forms of input: its examples run, and it names what the code knows."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest
from command_line import COMMAND, PROJECT, called, without_progress

PAGE = (PROJECT / "docs" / "inputs.md").read_text()
EXAMPLES = re.findall(r"```console\n\$ (.*?)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[each[0][-70:] for each in EXAMPLES])
def test_an_example_prints_what_the_page_shows(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    if command.startswith("./run.sh "):
        run = called(*shlex.split(command.removeprefix("./run.sh ")))
        assert run.err + run.out.decode() == shown
        return
    piped = command.replace("./run.sh", shlex.join(COMMAND))  # this takes a process
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, check=True)
    assert without_progress(done.stderr) + done.stdout == shown
