"""docs/notebook.md: its programs print what it shows, on the result of its command."""

from __future__ import annotations

import contextlib
import io
import re
import shlex

from command_line import PROJECT, called

PAGE = (PROJECT / "docs" / "notebook.md").read_text()


def test_the_program_prints_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    (command,) = re.findall(r"```sh\n\./run\.sh (.*?)```", PAGE, re.DOTALL)
    arguments = [
        path
        for word in shlex.split(command.replace("\\\n", ""))
        for path in (sorted(map(str, tmp_path.glob(word))) if "*" in word else [word])
    ]
    assert called(*arguments).code == 0
    ((program, shown),) = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "docs/notebook.md", "exec"), {})
    assert printed.getvalue() == shown
