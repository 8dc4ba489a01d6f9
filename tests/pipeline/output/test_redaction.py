"""Secrets on the command line are not written to run.json."""

from __future__ import annotations

import json

import pytest
from command_line import EXAMPLE, called

from beam_bleu.pipeline.command_line.config import flags_without_secrets, our_parser
from beam_bleu.pipeline.output.run_record import redacted

PLAIN = frozenset(["--tokenize", "--candidates", "--output"])


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--s3_secret_access_key=abc"], ["--s3_secret_access_key=***"]),
        (["--s3_secret_access_key", "abc"], ["--s3_secret_access_key", "***"]),
        (["--experiments=auth_token=abc,other=1"], ["--experiments=***"]),
        (["--spark_master_url=https://me:abc@host/x"], ["--spark_master_url=https://***@host/x"]),
        (["--output", "s3://key:abc@host/x"], ["--output", "s3://***@host/x"]),
        # Names in a value:
        (["--headers=Authorization: Bearer abc"], ["--headers=***"]),
        ([r'--config={"env": "{\"DB_PASSWORD\": \"a b\"}"}'], ["--config=***"]),
        # Names without a gap:
        (["--", "--apikey", "abc"], ["--", "--apikey", "***"]),
        # Values that begin with a minus:
        (["--", "--use_token", "--password", "abc"], ["--", "--use_token", "***", "***"]),
        (["--use_token", "--output", "/data"], ["--use_token", "--output", "/data"]),
        # URLs:
        (["https://h/x?sig=abc&sv=1"], ["https://h/x?sig=***&sv=1"]),
        (["https://me:a@b/c@host/x"], ["https://***@host/x"]),
        (["hdfs://host:9000/a@b"], ["hdfs://host:9000/a@b"]),
        # Not secrets:
        (["--candidates", "token=a.txt"], ["--candidates", "token=a.txt"]),
        (["data/key=1/a.txt"], ["data/key=1/a.txt"]),
        (["--hdfs_port=1", "--save_main_session"], ["--hdfs_port=1", "--save_main_session"]),
    ],
)
def test_secrets_are_hidden(words, shown):
    assert redacted(words, PLAIN) == shown


def shown(flag: str) -> bool:
    return redacted([flag, "value"], flags_without_secrets()) == [flag, "value"]


def test_all_values_of_our_flags_are_shown():
    flags = [word for each in our_parser().actions() for word in each.option_strings]
    assert "--tokenize" in flags
    assert [word for word in flags if not shown(word)] == []


def test_the_command_hides_them(tmp_path):
    secret = "ab12cd34"
    for number, flags in enumerate(
        [
            [f"--s3_secret_access_key={secret}", "--s3_session_token", secret],
            [f"--s3_endpoint_url=https://me:{secret}@host"],
        ]
    ):
        out = tmp_path / str(number)
        called(*EXAMPLE, "--output", out, *flags)
        files = [path.read_text() for path in out.iterdir() if path.name != "manifest.json"]
        assert len(files) >= 2
        assert not [text for text in files if secret in text]
        assert "***" in json.dumps(json.loads((out / "run.json").read_text())["arguments"])
