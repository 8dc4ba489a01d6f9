"""Ends a job with an error if its result misses a threshold.

The last step of a job calls this, because there may be no launcher that waits for the result. The
launcher calls `judged` as well, for the warnings.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.gates.judging import gate_error, judge
from beam_bleu.pipeline.gates.results import gated
from beam_bleu.pipeline.gates.thresholds import Gates
from beam_bleu.transforms.errors import GateError

_LOGGER = logging.getLogger("beam_bleu.gates")


@dataclasses.dataclass(frozen=True)
class Judged:
    """What thresholds say of a result.

    Attributes:
      error: the error if one of them fails.
      warnings: what a reader of the result must know.
    """

    error: GateError | None = None
    warnings: tuple[str, ...] = ()


def judged(gates: Gates, document: Mapping[str, Any], output: str) -> Judged:
    """What thresholds say of a result.

    Args:
      gates: the thresholds.
      document: the result document.
      output: the folder where it is; "" if it is not kept.
    """
    if not gates:
        return Judged()
    checks = judge(gated(document), gates)
    remedy = "look for what has changed, or change the threshold"
    if output:
        remedy = f"the result in {output} is complete: beam-bleu gate {output} can judge it again"
    warnings = tuple(each.text for each in checks if each.warns)
    return Judged(gate_error(checks, remedy), warnings)


def enforce(gates: Gates, document: Mapping[str, Any], output: str, *, warn: bool) -> None:
    """Raises an error if a result misses a threshold.

    A repeated call raises the same error: it depends only on the result and on the thresholds.

    Args:
      gates: the thresholds.
      document: the result document. It has been written.
      output: the folder where it is; "" if it is not kept.
      warn: whether to write warnings into the worker's log.

    Raises:
      GateError: the result misses a threshold.
    """
    found = judged(gates, document, output)
    if warn:
        for each in found.warnings:
            _LOGGER.warning("%s", each)
    if found.error is not None:
        raise found.error
