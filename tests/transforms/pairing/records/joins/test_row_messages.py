"""The folder in which the messages of a join wait."""

from __future__ import annotations

import pytest

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.records.joins.rows import kept, taken

MESSAGES = [(3, b"one"), (0, b""), (3, b"three" * 1000)]


def test_messages_come_back(tmp_path):
    folder = str(tmp_path)
    sent = [*kept(folder, MESSAGES), *kept(folder, [(1, b"other")])]
    assert [bucket for bucket, _ in sent] == [3, 0, 3, 1]
    assert all(len(each) < 300 for _, each in sent)  # only places go through the shuffle
    expected = [message for _, message in MESSAGES] + [b"other"]
    assert list(taken(folder, (each for _, each in sent))) == expected


def test_a_folder_that_cannot_be_written_is_an_error_of_the_job(tmp_path):
    with pytest.raises(JobError, match="cannot be kept: No such file"):
        list(kept(str(tmp_path / "missing"), MESSAGES))
