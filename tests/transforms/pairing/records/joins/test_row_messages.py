"""The folder in which the messages of a join wait."""

from __future__ import annotations

import pytest

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.records.joins.rows import RowFolder

MESSAGES = [(3, b"one"), (0, b""), (3, b"three" * 1000)]


def test_messages_come_back(tmp_path):
    folder = RowFolder(str(tmp_path))
    kept = list(folder.keep(MESSAGES)) + list(folder.keep([(1, b"other")]))
    assert [bucket for bucket, _ in kept] == [3, 0, 3, 1]
    assert all(len(each) < 100 for _, each in kept)  # only places go through the shuffle
    expected = [message for _, message in MESSAGES] + [b"other"]
    assert list(folder.messages(each for _, each in kept)) == expected


def test_a_folder_that_cannot_be_written_is_an_error_of_the_job(tmp_path):
    with pytest.raises(JobError, match="cannot be kept: No such file"):
        list(RowFolder(str(tmp_path / "missing")).keep(MESSAGES))
