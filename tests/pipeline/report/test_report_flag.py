"""--report and `beam-bleu report` where a page cannot be made."""

from __future__ import annotations

import importlib.util

import pytest
from command_line import EXAMPLE, called
from made_reports import of_two_systems, written_result

INSTALLING = "./run.sh install report"


@pytest.fixture
def _without_the_extra(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jinja2" else find(name)
    )


@pytest.mark.usefixtures("_without_the_extra")
def test_without_jinja2_nothing_is_scored(tmp_path):
    run = called(*EXAMPLE, "--report", "--output", tmp_path / "out")
    run.assert_failed(2, "a report needs the library jinja2", INSTALLING)
    assert not (tmp_path / "out" / "scores.json").exists()
    folder = written_result(tmp_path / "night", of_two_systems())
    called("report", folder).assert_failed(2, INSTALLING)


def test_a_run_needs_a_folder_for_its_report():
    called(*EXAMPLE, "--report").assert_failed(2, "--report needs --output")
