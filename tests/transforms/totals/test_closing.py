"""Each planned segment is in the sums once."""

import pytest

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.totals.closing import require_all_scored


def test_all_planned_segments_and_no_others_are_scored():
    require_all_scored({"a": 2, "b": 1, "c": 0}, {"a": 2, "b": 1})


def test_segments_that_are_lost_repeated_or_not_planned_are_an_error():
    for scored, message in [
        ({"a": 1, "b": 1}, "2 were planned, 1 of system a were scored"),
        ({"a": 3, "b": 1}, "2 were planned, 3 of system a were scored"),
        ({"a": 2}, "1 were planned, 0 of system b were scored"),
        ({"a": 2, "b": 1, "c": 2}, "0 were planned, 2 of system c were scored"),
    ]:
        with pytest.raises(JobError, match=message):
            require_all_scored({"a": 2, "b": 1}, scored)
        with pytest.raises(JobError, match=f"{message} with the tokens of intl"):
            require_all_scored({"a": 2, "b": 1}, scored, "intl")
