"""The checks before a commit are those of `./run.sh lint`, with the same programs."""

from __future__ import annotations

import re

from command_line import PROJECT


def test_each_hook_is_a_check_of_run_sh_and_the_other_way_round() -> None:
    # `./run.sh lint` also lets pre-commit check that this file is valid.
    config = (PROJECT / ".pre-commit-config.yaml").read_text()
    (lint,) = re.findall(
        r"^  lint\)\n(.*?)^    ;;\n", (PROJECT / "run.sh").read_text(), re.M | re.S
    )
    checks = re.findall(r'^ +"\$venv/bin/(\S+)"(.*) \|\| status', lint, re.M)
    assert checks.pop() == ("pre-commit", " validate-config")
    hooks = re.findall(r"^ +entry: \.venv/bin/(\S+)(.*)$", config, re.M)
    assert hooks == checks
    assert re.findall("repo: (.*)", config) == ["local"]  # so no version is declared here
    # A check sees the whole project, as in CI.
    assert config.count("pass_filenames: false") == len(hooks)
