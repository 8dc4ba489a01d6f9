"""Finds out which engines can be tested on this machine, and which engines must be tested."""

from __future__ import annotations

import os

import pytest

from deploy.local import parts
from deploy.local.engines import ENGINES

REQUIRED = os.environ.get("BEAM_BLEU_REQUIRED_ENGINES", "").split()
"""If one of these engines is missing, its tests fail. Tests of another missing one are skipped."""


def need(engine: str) -> None:
    """Fetches the parts of an engine, or Beam's boot program. Skips the test if that fails."""
    assert set(REQUIRED) <= set(ENGINES), REQUIRED
    try:
        if engine == "prism":
            parts.prism()
        elif engine == "boot":
            parts.boot()
        elif engine == "flink":
            parts.flink(parts.flink_job_server().engine)
        else:
            parts.spark(parts.spark_job_server().engine)
    except parts.PartMissingError as missing:
        if engine in REQUIRED:
            raise
        pytest.skip(f"no {engine} here: {missing}")
