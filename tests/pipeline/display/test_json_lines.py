"""With --log_format json each line of stderr is an object, whatever a run says."""

from __future__ import annotations

import json
import platform
from datetime import datetime, timedelta, timezone
from typing import Any

from command_line import REFERENCES, SYSTEMS, Run, called

WORDS = [REFERENCES[0], "-i", SYSTEMS["atlas"], "--score_only"]


def lines(run: Run) -> list[dict[str, Any]]:
    """The objects of stderr, each checked."""
    found = [json.loads(line) for line in run.err.splitlines()]
    for line in found:
        assert [*line][:5] == ["time", "level", "message", "run", "host"]
        assert line["time"].endswith("Z")
        when = datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
        assert abs(when - datetime.now(timezone.utc)) < timedelta(minutes=5)
        assert line["level"] in ("debug", "info", "warning", "error")
        assert line["host"] == platform.node()
    return found


def test_progress_warnings_and_logs_are_objects_with_the_name_of_the_run(tmp_path):
    short = tmp_path / "a.txt"
    short.write_text("a b\n" * 3)  # repeats its reference, which is worth a warning
    words = ["--output", tmp_path / "out", "--progress=on", "--verbose", "--score_only"]
    run = called(short, "-i", f"copy={short}", *words, "--log_format=json")
    assert run.code == 0
    assert run.out == called(short, "-i", f"copy={short}", "--score_only").out
    found = lines(run)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert {line["run"] for line in found} == {record["run"]}
    assert {line["level"] for line in found} == {"info", "warning"}
    messages = [line["message"] for line in found]
    assert any(message.startswith("starting") for message in messages)  # progress
    assert any(message.startswith("runner: ") for message in messages)  # --verbose
    warned = [line["message"] for line in found if line.get("logger") == "beam_bleu"]
    assert record["warnings"]
    assert [message for message in warned if message in record["warnings"]] == record["warnings"]


def test_a_usage_error_is_an_object():
    for words in (["--log_format", "json"], ["--log_format=text", "--log-format=json"]):
        (line,) = lines(called(*WORDS, "--smoth_method=exp", *words))
        assert (line["level"], line["exit_code"], line["run"]) == ("error", 2, None)
        assert line["message"] == "unknown flag --smoth_method"
        assert line["remedy"] == "did you mean --smooth_method?"


def test_bad_input_is_an_object_with_the_traceback_if_it_is_asked_for(tmp_path):
    (tmp_path / "bad\u202e.txt").write_text("one line\n")
    words = [REFERENCES[0], "-i", f"bad={tmp_path}/bad\u202e.txt", "--output", tmp_path / "out"]
    text = called(*words)
    run = called(*words, "--log_format=json")
    assert run.code == text.code == 3
    (line,) = lines(run)
    assert text.err == f"beam-bleu: {line['message']}\n  {line['remedy']}\n"
    assert line["exit_code"] == 3
    assert "traceback" not in line
    assert "\u202e" not in run.err  # a terminal would obey it
    *_, last = lines(called(*words, "--log_format=json", "--verbose"))
    assert last["traceback"].startswith("Traceback (most recent call last):\n")
