"""The checks before a commit are those of CI, by the programs of the project's environment."""

from __future__ import annotations

import subprocess
import sys

import yaml
from command_line import PROJECT

CONFIG = PROJECT / ".pre-commit-config.yaml"


def test_the_configuration_is_valid():
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config", CONFIG], check=True)


def test_each_hook_is_a_check_of_ci_and_the_other_way_round():
    (repository,) = yaml.safe_load(CONFIG.read_text())["repos"]
    assert repository["repo"] == "local"  # so no version is declared here
    hooks = [hook["entry"] for hook in repository["hooks"]]
    ci = (PROJECT / ".ci" / "run").read_text()
    checks = [line.split(" || ")[0] for line in ci.splitlines() if line.startswith(".venv/bin/")]
    assert hooks == checks
    # A check sees the whole project, as it does in CI.
    assert not any(hook["pass_filenames"] for hook in repository["hooks"])
