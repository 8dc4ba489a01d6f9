"""Results of programs that test generated code: a row for each task, with 0 and 1 as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.pairing.records.whole_files.json_documents import document

_PASSED = {"pass": True, "fail": False, "timeout": False}
_OUTCOMES = ("resolved", "unresolved", "empty_patch", "error", "incomplete")


def swe_bench(data: bytes) -> Iterator[dict[str, Any]]:
    """The report of swebench.harness.run_evaluation. As in its rate, instances that were not
    submitted, or could not be tested, are not resolved.
    """
    report = document(data)
    try:
        listed = [(id_, name) for name in _OUTCOMES for id_ in report[f"{name}_ids"]]
        outcomes, total = dict(listed), report["total_instances"]
    except (KeyError, TypeError):
        raise pa.ArrowInvalid("it has no lists of ids by outcome, such as resolved_ids") from None
    if not len(listed) == len(outcomes) == total:
        raise pa.ArrowInvalid(
            f"it has {total} total_instances, and {len(listed)} in its lists, of which "
            f"{len(outcomes)} are different"
        )
    for id_ in sorted(outcomes):
        name = outcomes[id_]
        yield {
            "instance_id": id_,
            "resolved": int(name == "resolved"),
            "submitted": int(name != "incomplete"),
        }


def evalplus(data: bytes) -> Iterator[dict[str, Any]]:
    """The results of evalplus.evaluate: for each task, the share of its samples that pass the base
    tests, and that also pass the further ones, if these were run.
    """
    try:
        for task, samples in document(data)["eval"].items():
            base = [_PASSED[sample["base_status"]] for sample in samples]
            row = {"task_id": task, "base": sum(base) / len(base)}
            if all(sample["plus_status"] is not None for sample in samples):
                plus = [_PASSED[sample["plus_status"]] for sample in samples]
                both = [a and b for a, b in zip(base, plus, strict=True)]
                row["plus"] = sum(both) / len(both)
            yield row
    except (KeyError, TypeError, AttributeError, ZeroDivisionError):
        raise pa.ArrowInvalid(
            "it has no eval with the samples of each task, with base_status and plus_status"
        ) from None
