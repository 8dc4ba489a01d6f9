"""The name of a job on an engine: one that people recognize and every engine allows."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_bleu.pipeline.engines.runners import job_name

RUN = "5f0c" + 28 * "1"
NIGHT = datetime.datetime(2026, 11, 19, 2, 0, 3, tzinfo=datetime.timezone.utc)
END = "-20261119-020003-5f0c"


@pytest.mark.parametrize(
    ("systems", "middle"),
    [
        (["atlas", "birch"], "atlas-birch"),
        (["système", "b"], "syst-me-b"),
        (["x" * 33], "x" * 32),
        ([f"s{number}" for number in range(20)], "s0-s1-s2-s3-s4-s5-s6-s7-s8-s9-s1"),
        (["a", "新"], "a"),
    ],
)
def test_the_systems_are_in_the_name_as_far_as_there_is_room(systems, middle) -> None:
    assert job_name(systems, RUN, NIGHT) == f"beam-bleu-{middle}{END}"


def test_a_name_without_a_letter_of_ascii_is_left_out() -> None:
    assert job_name(["基线"], RUN, NIGHT) == f"beam-bleu{END}"


@given(st.lists(st.text(min_size=1), min_size=1, max_size=500))
def test_every_name_is_legal_on_dataflow(systems) -> None:
    name = job_name(systems, RUN, NIGHT)
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name)
    assert len(name) <= 63
    assert "--" not in name
